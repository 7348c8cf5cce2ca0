/* SPDX-License-Identifier: MIT */
/* Results of the event pass as public structs. */
#include <inttypes.h>

#include "analysis/identity.h"
#include "analysis/pass/tables.h"
#include "analysis/public.h"
#include "base/error.h"
#include "base/text/name.h"
#include "base/opts.h"

/* Copies `ours` to a struct of the caller's size. */
/* Adds the cost of recording a process's events. @return false if its trace has no cost. */
static bool facts_add_recording_cost(const struct upmu_overview *overview, size_t i, uint64_t *ns)
{
    struct upmu_trace_process p = {.size = sizeof p};
    const struct ov_process *of = &overview->pass.processes[i];
    if (of->full + of->compact == 0)
        return true;
    if (upmu_overview_process_at(overview, i, &p) != 0 || p.event_cost_ps == 0)
        return false;
    double ps = (double)of->full * (double)p.event_cost_ps + (double)of->compact * (double)p.compact_cost_ps +
                (double)of->stacked * (double)p.stack_cost_ps;
    *ns += (uint64_t)(ps / 1000 + 0.5);
    return true;
}

static uint64_t facts_recording_cost(const struct upmu_overview *overview)
{
    uint64_t ns = 0;
    bool known = true;
    for (size_t i = 0; known && i < overview->pass.n_processes; i++)
        known = facts_add_recording_cost(overview, i, &ns);
    return known ? ns : UPMU_NO_VALUE;
}

static uint64_t facts_life(const struct overview *o, const struct ov_thread *t)
{
    return recorded_ns(o, t->process, t->begin_ns, t->end_ns);
}

static uint64_t facts_lifetime(const struct overview *o)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < o->n_threads; i++)
        ns += facts_life(o, &o->threads[i]);
    return ns;
}

int upmu_overview_totals_read(const struct upmu_overview *overview, struct upmu_overview_totals *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    const struct upmu_overview_totals ours = {
        .events = o->events,
        .unknown = o->unknown,
        .begin_ns = o->begin_ns,
        .end_ns = o->end_ns,
        .lost = overview->lost,
        .unmatched = o->unmatched,
        .unfinished = o->unfinished,
        .n_processes = o->n_processes,
        .n_threads = o->n_thread_order,
        .n_objects = o->n_object_order,
        .n_regions = o->n_region_order,
        .n_damages = overview->n_damages,
        .own_cost_ns = facts_recording_cost(overview),
        .lifetime_ns = facts_lifetime(o),
        .openmp = o->openmp,
        .from_ns = o->window.from_ns ? o->window.from_ns : o->begin_ns,
        .to_ns = o->window.to_ns ? o->window.to_ns : o->end_ns,
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_TOTALS_SIZE_V1);
}

int upmu_overview_process_at(const struct upmu_overview *overview, size_t i, struct upmu_trace_process *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    return i < overview->pass.n_processes ? upmu_trace_process_at(overview->trace, i, out) : UPMU_E_END;
}

/* The pauses between two times, cut at them; number `i` goes to `out`. @return their number. */
static size_t facts_pauses(const struct ov_process *p, uint64_t begin_ns, uint64_t end_ns, size_t i,
                           struct upmu_trace_pause *out)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n_pauses; k++) {
        uint64_t from = p->pauses[k].begin_ns > begin_ns ? p->pauses[k].begin_ns : begin_ns;
        uint64_t to = p->pauses[k].end_ns < end_ns ? p->pauses[k].end_ns : end_ns;
        if (from >= to)
            continue;
        if (n == i)
            *out = (struct upmu_trace_pause){.begin_ns = from, .end_ns = to, .counted = p->pauses[k].counted};
        n++;
    }
    return n;
}

/* Nanoseconds between two times in which only counts were recorded, and in how many stretches. */
static uint64_t facts_counted_ns(const struct ov_process *p, uint64_t begin_ns, uint64_t end_ns, uint64_t *stretches)
{
    struct upmu_trace_pause pause = {0};
    size_t n = facts_pauses(p, begin_ns, end_ns, SIZE_MAX, NULL);
    uint64_t ns = 0;
    *stretches = 0;
    for (size_t i = 0; i < n; i++) {
        (void)facts_pauses(p, begin_ns, end_ns, i, &pause);
        if (!pause.counted)
            continue;
        ns += pause.end_ns - pause.begin_ns;
        ++*stretches;
    }
    return ns;
}

int upmu_overview_recorded_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_recorded *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    if (i >= o->n_processes)
        return UPMU_E_END;
    const struct ov_process *p = &o->processes[i];
    struct upmu_trace_process of = {.size = sizeof of};
    int rc = upmu_trace_process_at(overview->trace, i, &of);
    struct upmu_overview_recorded ours = {.begin_ns = p->start_ns, .end_ns = p->last_ns};
    for (size_t k = 0; k < o->n_threads; k++)
        if (o->threads[k].process == i && o->threads[k].end_ns > ours.end_ns)
            ours.end_ns = o->threads[k].end_ns;
    if (ours.end_ns < ours.begin_ns)
        ours.end_ns = ours.begin_ns;
    ours.stopped_ns = ours.end_ns - ours.begin_ns - recorded_ns(o, (uint32_t)i, ours.begin_ns, ours.end_ns);
    ours.more_ns = of.paused_more_ns;
    ours.stops = facts_pauses(p, ours.begin_ns, ours.end_ns, SIZE_MAX, NULL);
    ours.counted_ns = facts_counted_ns(p, ours.begin_ns, ours.end_ns, &ours.counted);
    return rc == 0 ? OPTS_GIVE(out, ours, UPMU_OVERVIEW_RECORDED_SIZE_V1) : rc;
}

int upmu_overview_pause_at(const struct upmu_overview *overview, size_t process, size_t i, struct upmu_trace_pause *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    struct upmu_overview_recorded of = {.size = sizeof of};
    struct upmu_trace_pause ours = {0};
    int rc = upmu_overview_recorded_at(overview, process, &of);
    if (rc != 0)
        return rc;
    if (facts_pauses(&overview->pass.processes[process], of.begin_ns, of.end_ns, i, &ours) <= i)
        return UPMU_E_END;
    return OPTS_GIVE(out, ours, UPMU_TRACE_PAUSE_SIZE_V1);
}

size_t upmu_overview_pause_count(const struct upmu_overview *overview, size_t process)
{
    struct upmu_overview_recorded of = {.size = sizeof of};
    return overview && upmu_overview_recorded_at(overview, process, &of) == 0 ? of.stops : 0;
}

const char *upmu_overview_damage_message(const struct upmu_overview *overview, size_t i)
{
    return overview && i < overview->n_damages ? overview->damages[i] : NULL;
}

const char *upmu_overview_counter_name(const struct upmu_overview *overview, size_t process, size_t i)
{
    return overview ? upmu_trace_counter_name(overview->trace, process, i) : NULL;
}

const char *upmu_wait_kind_name(int kind)
{
    static const char *const names[] = {"mutex", "cond",  "sem",   "custom", "join",   "rwlock", "spin",  "barrier",
                                        "once",  "futex", "sleep", "poll",   "signal", "read",   "write", "child"};
    return NAME_OF(names, kind);
}

/* ----------------------------------------------------------------------------------------------------- threads */

int upmu_overview_thread_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_thread *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    if (i >= o->n_thread_order)
        return UPMU_E_END;
    const struct ov_thread *t = &o->threads[o->thread_order[i]];
    const struct upmu_overview_thread ours = {
        .process = t->process,
        .pid = t->pid,
        .tid = t->tid,
        .creator = t->creator,
        .started = t->started,
        .ended = t->ended,
        .name = identity_thread(overview, o->thread_order[i]),
        .begin_ns = t->begin_ns,
        .end_ns = t->end_ns,
        .events = t->events,
        .blocked_ns = t->blocked_ns,
        .switches = t->switches,
        .n_counts = t->n_counts,
        .counts = t->counts,
        .cpu_ns = t->cpu_ns,
        .ready_ns = t->ready_ns,
        .stopped_ns = t->end_ns - t->begin_ns - facts_life(o, t),
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_THREAD_SIZE_V1);
}

int upmu_overview_thread_wait_at(const struct upmu_overview *overview, size_t i, int kind,
                                 struct upmu_overview_thread_wait *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    if (i >= o->n_thread_order || kind < 0 || kind >= WAIT_KINDS)
        return UPMU_E_END;
    const struct upmu_overview_thread_wait ours = {.waits = o->threads[o->thread_order[i]].waits[kind]};
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_THREAD_WAIT_SIZE_V1);
}

size_t upmu_overview_thread_wait_count(const struct upmu_overview *overview, size_t i)
{
    return overview && i < overview->pass.n_thread_order ? WAIT_KINDS : 0;
}

const char *upmu_overview_thread_name(const struct upmu_overview *overview, size_t process, pid_t tid)
{
    if (!overview || process >= overview->pass.n_processes)
        return "";
    uint32_t thread = map_find(&overview->pass.by_tid, process, (uint32_t)tid);
    return thread == MAP_NONE ? "" : identity_thread(overview, thread);
}

const char *upmu_sched_state_name(int state)
{
    static const char *const names[] = {"unknown", "running", "preempted", "blocked"};
    return NAME_OF(names, state);
}

size_t upmu_overview_cpu_count(const struct upmu_overview *overview, size_t process)
{
    size_t n = 0;
    for (size_t i = 0; overview && process < overview->pass.n_processes && i < OV_CPUS / 64; i++)
        n += (size_t)__builtin_popcountll(overview->pass.processes[process].cpus[i]);
    return n == 0 && overview && process < overview->pass.n_processes ? overview->pass.processes[process].cpus_allowed
                                                                      : n;
}

int upmu_overview_sched_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_sched *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    if (i >= o->n_thread_order)
        return UPMU_E_END;
    const struct ov_thread *t = &o->threads[o->thread_order[i]];
    const struct ov_sched *s = &t->sched;
    uint64_t life = facts_life(o, t);
    uint64_t known = s->ns[UPMU_SCHED_RUNNING] + s->ns[UPMU_SCHED_PREEMPTED] + s->ns[UPMU_SCHED_BLOCKED];
    const struct upmu_overview_sched ours = {
        .recorded = s->recorded,
        .running_ns = s->ns[UPMU_SCHED_RUNNING],
        .preempted_ns = s->ns[UPMU_SCHED_PREEMPTED],
        .blocked_ns = s->ns[UPMU_SCHED_BLOCKED],
        .unknown_ns = life > known ? life - known : 0,
        .voluntary = s->voluntary,
        .involuntary = s->involuntary,
        .lost = s->lost,
        .futexes_counted = t->futexes.counted,
        .futex_waits = t->futexes.waits,
        .futex_recorded = t->futexes.recorded,
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_SCHED_SIZE_V1);
}

int upmu_overview_waker_at(const struct upmu_overview *overview, size_t i, size_t k, struct upmu_overview_waker *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    if (i >= o->n_thread_order || o->n_wakers == 0)
        return UPMU_E_END;
    const struct ov_waker *w = o->wakers, *end = w + o->n_wakers;
    while (w < end && (w->wakee != o->thread_order[i] || k-- > 0))
        w++;
    if (w == end)
        return UPMU_E_END;
    const struct ov_thread *t = &o->threads[w->waker];
    const struct upmu_overview_waker ours = {
        .tid = t->tid, .name = identity_thread(overview, w->waker), .waits = w->waits};
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_WAKER_SIZE_V1);
}

int upmu_overview_kernel_lock_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_kernel_lock *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (i >= overview->pass.n_kernel_locks)
        return UPMU_E_END;
    const struct ov_kernel_lock *l = &overview->pass.kernel_locks[i];
    const struct upmu_overview_kernel_lock ours = {
        .process = l->process, .kinds = l->kinds, .address = l->address, .waits = l->waits};
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_KERNEL_LOCK_SIZE_V1);
}

/* ----------------------------------------------------------------------------------------------------- objects */

/* The object of rank `i`, or NULL. */
static const struct ov_object *facts_object(const struct overview *o, size_t i)
{
    return i < o->n_object_order ? &o->objects[o->object_order[i]] : NULL;
}

/* Condition variables, barriers, futexes and threads have no hold times, nor have semaphores that are not used as locks. */
static bool facts_can_be_held(const struct ov_object *object)
{
    switch (object->type) {
    case UPMU_OBJECT_MUTEX:
    case UPMU_OBJECT_CUSTOM:
    case UPMU_OBJECT_RWLOCK:
    case UPMU_OBJECT_SPIN:
    case UPMU_OBJECT_ONCE:
    case UPMU_OBJECT_QMUTEX:
    case UPMU_OBJECT_QRWLOCK:
    case UPMU_OBJECT_ABSL_MUTEX:
        return true;
    case UPMU_OBJECT_SEM:
        return object->was_held && !object->is_signal;
    default:
        return false;
    }
}

static void facts_add_holds(uint64_t *holds, uint64_t *ns, uint64_t *max_ns, const struct upmu_wait_sum *sum)
{
    *holds += sum->count;
    *ns += sum->total_ns;
    *max_ns = sum->max_ns > *max_ns ? sum->max_ns : *max_ns;
}

/* @return whether `paired` of its threads and call sites is all holds that begin and end in the recording. */
static bool facts_add_thread_stats(const struct overview *o, const struct ov_object *object,
                                   struct upmu_overview_object *out)
{
    out->counts_exact = o->processes[object->process].whole;
    bool paired = facts_can_be_held(object) && out->counts_exact;
    for (uint32_t k = 0; k < object->n_thread_stats; k++) {
        const struct ov_thread_stats *stats = &o->thread_stats[object->first_thread_stats + k];
        out->acquisitions += stats_acquisitions(stats);
        out->contended += stats_contended(stats);
        out->shared += stats_shared(stats);
        out->counts_exact &= stats_counts_exact(stats);
        /* A thread that only waited has no holds. */
        paired &= stats_holds_complete(stats) || (stats->taken == 0 && !stats->has_counts);
        if (!facts_can_be_held(object))
            continue;
        facts_add_holds(&out->holds, &out->hold_ns, &out->hold_max_ns, stats_holds(stats));
        facts_add_holds(&out->samples, &out->sample_ns, &out->sample_max_ns, &stats->sampled);
        const struct upmu_wait_sum partial = stats_partial_holds(stats);
        facts_add_holds(&out->partial_holds, &out->partial_ns, &out->partial_max_ns, &partial);
        out->before_holds += stats->before.count;
    }
    out->holds_complete = paired && out->partial_holds == 0;
    return paired;
}

/* Of a barrier that processes share, the last one to arrive in a round may be another process's: each arrival of a thread is of a round. */
static uint64_t facts_rounds(const struct overview *o, const struct ov_object *object)
{
    uint64_t rounds = object->rounds;
    for (uint32_t k = 0; object->shared && k < object->n_thread_stats; k++) {
        const struct ov_thread_stats *stats = &o->thread_stats[object->first_thread_stats + k];
        uint64_t arrivals = stats->waits.count + stats->last;
        rounds = arrivals > rounds ? arrivals : rounds;
    }
    return rounds;
}

/* Of arrivals at a barrier, all but the last of a round wait, `lasts` of those recorded. Of arrivals that were only counted it is not
 * recorded whether the thread waited. */
static uint64_t facts_contended(const struct ov_object *object, uint64_t acquisitions, uint64_t contended,
                                const struct upmu_wait_sum *waits, uint64_t lasts)
{
    uint64_t waited = waits->count + waits->unfinished;
    if (object->type != UPMU_OBJECT_BARRIER)
        return contended;
    return acquisitions > waited + lasts ? UPMU_NO_VALUE : waited < acquisitions ? waited : acquisitions;
}

static void facts_add_calls(const struct ov_object *object, struct upmu_overview_object *out)
{
    out->call_kind = -1;
    for (int k = 0; k < CALL_KINDS; k++) {
        out->call_ns += object->call_ns[k];
        if (object->call_ns[k] <= out->call_kind_ns)
            continue;
        out->call_kind = UPMU_WAIT_SLEEP + k;
        out->call_kind_ns = object->call_ns[k];
    }
}

/* The first event of a thread may come after the begin of the wait for its end. */
static pid_t facts_joined(const struct overview *o, const struct ov_object *x)
{
    uint32_t thread =
        x->type == UPMU_OBJECT_THREAD && x->peer == 0 ? thread_of_handle(o, x->process, x->address) : MAP_NONE;
    return thread != MAP_NONE ? o->threads[thread].tid : x->peer;
}

static int facts_fill_object(const struct upmu_overview *overview, uint32_t index, struct upmu_overview_object *out)
{
    const struct overview *o = &overview->pass;
    const struct ov_object *object = &o->objects[index];
    const struct identity identity = identity_object(overview, index);
    struct upmu_overview_object ours = {
        .process = object->process,
        .pid = object->pid,
        .type = object->type,
        .generation = object->generation,
        .address = object->address,
        .name = identity.name,
        .named_by = identity.kind,
        .group = identity.group,
        .variable = identity.variable,
        .created = object->created,
        .destroyed = object->destroyed,
        .init_site = object->init_site,
        .init_stack = object->init_stack,
        .waits = object->waits,
        .failed = object->failed,
        .signals = object->signals,
        .broadcasts = object->broadcasts,
        .misuses = object->misuses,
        .longest = object->longest,
        .peer = facts_joined(o, object),
        .n_threads = object->n_thread_stats,
        .n_call_sites = object->n_sites,
        .shared_waits = object->shared_waits,
        .before_waits = object->before_waits,
        .tries_failed = object->tries_failed,
        .rounds = facts_rounds(o, object),
        .in_vain = object->in_vain,
        .timed_holds_ns = object->timed_holds_ns,
    };
    facts_add_calls(object, &ours);
    (void)facts_add_thread_stats(o, object, &ours);
    ours.contended = facts_contended(object, ours.acquisitions, ours.contended, &object->waits, object->rounds);
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_OBJECT_SIZE_V1);
}

int upmu_overview_object_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_object *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct ov_object *object = facts_object(&overview->pass, i);
    return object ? facts_fill_object(overview, (uint32_t)(object - overview->pass.objects), out) : UPMU_E_END;
}

int upmu_overview_object_find(const struct upmu_overview *overview, size_t process, int type, uint64_t address,
                              struct upmu_overview_object *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.n_processes)
        return UPMU_E_END;
    uint32_t last = object_last(&overview->pass, (uint32_t)process, type, address);
    if (last == MAP_NONE)
        return upmu_fail(UPMU_E_NAME, "no object of this type was recorded at address 0x%" PRIx64 " of process %zu",
                         address, process);
    return facts_fill_object(overview, last, out);
}

int upmu_overview_object_thread_at(const struct upmu_overview *overview, size_t i, size_t k,
                                   struct upmu_overview_object_thread *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    const struct ov_object *object = facts_object(o, i);
    if (!object || k >= object->n_thread_stats)
        return UPMU_E_END;
    const struct ov_thread_stats *stats = &o->thread_stats[object->first_thread_stats + k];
    bool whole = o->processes[object->process].whole;
    struct upmu_overview_object_thread ours = {
        .tid = o->threads[stats->thread].tid,
        .thread_name = identity_thread(overview, stats->thread),
        .acquisitions = stats_acquisitions(stats),
        .contended =
            facts_contended(object, stats_acquisitions(stats), stats_contended(stats), &stats->waits, stats->last),
        .counts_exact = whole && stats_counts_exact(stats),
        .waits = stats->waits,
        .blocked = stats->blocked,
        .blocked_ns = stats->blocked_ns,
        .shared = stats_shared(stats),
        .last_arrivals = stats->last,
    };
    if (facts_can_be_held(object)) {
        facts_add_holds(&ours.holds, &ours.hold_ns, &ours.hold_max_ns, stats_holds(stats));
        const struct upmu_wait_sum partial = stats_partial_holds(stats);
        facts_add_holds(&ours.partial_holds, &ours.partial_ns, &ours.partial_max_ns, &partial);
        ours.holds_complete = whole && stats_holds_complete(stats) && partial.count == 0;
    }
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_OBJECT_THREAD_SIZE_V1);
}

int upmu_overview_call_site_at(const struct upmu_overview *overview, size_t i, size_t k,
                               struct upmu_overview_call_site *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    const struct ov_object *object = facts_object(o, i);
    if (!object || k >= object->n_sites)
        return UPMU_E_END;
    const struct ov_call_site *site = &o->sites[object->first_site + k];
    struct upmu_overview_object all = {0};
    struct upmu_overview_call_site ours = {
        .address = site->address,
        .stack = site->stack,
        .acquisitions = site->taken,
        .waits = site->waits,
        .blocked = site->blocked,
        .blocked_ns = site->blocked_ns,
    };
    bool paired = facts_add_thread_stats(o, object, &all);
    facts_add_holds(&ours.holds, &ours.hold_ns, &ours.hold_max_ns, paired ? &site->paired : &site->known);
    if (!paired)
        facts_add_holds(&ours.partial_holds, &ours.partial_ns, &ours.partial_max_ns, &site->partial);
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_CALL_SITE_SIZE_V1);
}

int upmu_overview_section_read(const struct upmu_overview *overview, size_t i, int kind,
                               struct upmu_overview_section *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (kind != UPMU_SECTION_HELD && kind != UPMU_SECTION_WAITED)
        return upmu_fail(UPMU_E_INVAL, "upmu_overview_section_read: kind %d is not in enum upmu_section_kind", kind);
    const struct ov_object *object = facts_object(&overview->pass, i);
    if (!object)
        return UPMU_E_END;
    const struct ov_section_sums *s = kind == UPMU_SECTION_HELD ? &object->held : &object->waited;
    const struct upmu_overview_section ours = {
        .sections = s->n, .ns = s->ns, .n_counts = s->n_counts, .counts = s->counts};
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_SECTION_SIZE_V1);
}

/* ----------------------------------------------------------------------------------------------------- regions */

int upmu_overview_region_at(const struct upmu_overview *overview, size_t i, struct upmu_overview_region *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    const struct overview *o = &overview->pass;
    if (i >= o->n_region_order)
        return UPMU_E_END;
    const struct ov_region *r = &o->regions[o->region_order[i]];
    const struct upmu_overview_region ours = {
        .process = r->process,
        .pid = r->pid,
        .name = r->name,
        .count = r->count,
        .wall_ns = r->wall_ns,
        .max_ns = r->max_ns,
        .min_ns = r->min_ns,
        .unfinished = r->unfinished,
        .n_counts = r->n_counts,
        .counts = r->counts,
    };
    return OPTS_GIVE(out, ours, UPMU_OVERVIEW_REGION_SIZE_V1);
}

/* ------------------------------------------------------------------------------------------------------ counts */

size_t upmu_overview_process_count(const struct upmu_overview *overview)
{
    return overview ? overview->pass.n_processes : 0;
}

size_t upmu_overview_thread_count(const struct upmu_overview *overview)
{
    return overview ? overview->pass.n_thread_order : 0;
}

size_t upmu_overview_object_count(const struct upmu_overview *overview)
{
    return overview ? overview->pass.n_object_order : 0;
}

size_t upmu_overview_region_count(const struct upmu_overview *overview)
{
    return overview ? overview->pass.n_region_order : 0;
}

size_t upmu_overview_kernel_lock_count(const struct upmu_overview *overview)
{
    return overview ? overview->pass.n_kernel_locks : 0;
}

size_t upmu_overview_damage_count(const struct upmu_overview *overview)
{
    return overview ? overview->n_damages : 0;
}

size_t upmu_overview_counter_count(const struct upmu_overview *overview, size_t process)
{
    return overview ? upmu_trace_counter_count(overview->trace, process) : 0;
}

size_t upmu_overview_waker_count(const struct upmu_overview *overview, size_t i)
{
    size_t n = 0;
    if (!overview || i >= overview->pass.n_thread_order)
        return 0;
    for (size_t k = 0; k < overview->pass.n_wakers; k++)
        n += overview->pass.wakers[k].wakee == overview->pass.thread_order[i];
    return n;
}

size_t upmu_overview_object_thread_count(const struct upmu_overview *overview, size_t i)
{
    const struct ov_object *object = overview ? facts_object(&overview->pass, i) : NULL;
    return object ? object->n_thread_stats : 0;
}

size_t upmu_overview_call_site_count(const struct upmu_overview *overview, size_t i)
{
    const struct ov_object *object = overview ? facts_object(&overview->pass, i) : NULL;
    return object ? object->n_sites : 0;
}

/* SPDX-License-Identifier: MIT */
/* Statistics of regions over all threads. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/tick.h"
#include "region/region_frames.h"

/* ------------------------------------------------------------------------------------------- consistent copies */

static void stats_copy_words(void *to, const void *from, size_t bytes)
{
    uint64_t *out = to;
    const uint64_t *in = from;
    for (size_t i = 0; i < bytes / sizeof *in; i++)
        out[i] = __atomic_load_n(&in[i], __ATOMIC_ACQUIRE);
}

/* The owner is inside the short write section of an end, perhaps waiting for a CPU: let it finish. If it was stopped there
 * (killed thread, debugger), the reader gives up after a second and uses the values as they are. */
static bool stats_owner_is_stuck(unsigned tries, uint64_t *since)
{
    enum { SOON = 100, SECOND = 1000000000 };
    if (tries < SOON)
        return false;
    if (tries == SOON)
        *since = tick_portable();
    sched_yield();
    return tick_portable() - *since > SECOND;
}

bool region_record_copy(const struct region_thread *t, uint32_t id, struct region_record *out)
{
    const struct region_record *r = region_thread_record(t, id);
    uint64_t since = 0;
    uint32_t before;
    unsigned tries = 0;
    if (!r)
        return false;
    do {
        before = __atomic_load_n(&t->version, __ATOMIC_ACQUIRE);
        stats_copy_words(out, r, upmu_regions.record_bytes);
    } while ((before & 1 || __atomic_load_n(&t->version, __ATOMIC_RELAXED) != before) &&
             !stats_owner_is_stuck(tries++, &since));
    region_record_leave_late(out, __atomic_load_n(&t->kept->late, __ATOMIC_RELAXED));
    return true;
}

int region_each_thread(int (*each)(const struct region_thread_info *info, void *arg), void *arg)
{
    struct region_process *p = &upmu_regions;
    int rc = 0;
    region_lock();
    for (struct region_kept *k = p->threads; k && rc == 0; k = k->next) {
        struct region_thread_info info = {.thread = k->thread, .tid = k->thread->tid};
        memcpy(info.name, k->thread->name, sizeof info.name);
        info.ended = __atomic_load_n(&k->thread->ended, __ATOMIC_ACQUIRE);
        info.n_records = __atomic_load_n(&k->thread->n_records, __ATOMIC_ACQUIRE);
        rc = each(&info, arg);
    }
    if (rc == 0 && p->merged) {
        struct region_thread_info info = {.thread = p->merged, .ended = true, .n_records = p->merged->n_records};
        rc = each(&info, arg);
    }
    region_unlock();
    return rc;
}

/* --------------------------------------------------------------------------------------------------- units */

static double stats_ns_per_tick(void)
{
    return 1e9 / clock_hz(1000000);
}

static uint64_t stats_scale(uint64_t ticks, double factor)
{
    double scaled = (double)ticks * factor;
    uint64_t whole = (uint64_t)scaled;
    return whole +
           (scaled - (double)whole >= 0.5); /* without llround(), for which each recorded process would load libm */
}

static struct upmu_stat public_stat(const struct region_sum *s, double factor)
{
    struct upmu_stat out = {.min = UPMU_NO_VALUE, .last = UPMU_NO_VALUE};
    if (s->count == 0)
        return out;
    out.count = s->count;
    out.sum = factor == 1.0 ? s->sum : stats_scale(s->sum, factor);
    out.min = factor == 1.0 ? s->min : stats_scale(s->min, factor);
    out.max = factor == 1.0 ? s->max : stats_scale(s->max, factor);
    out.last = factor == 1.0 ? s->last : stats_scale(s->last, factor);
    out.sum_squares = s->squares * factor * factor;
    return out;
}

static bool stats_is_switches(size_t i)
{
    const struct event *e = &upmu_regions.list.events[i];
    return e->type == KERNEL_TYPE_SOFTWARE && e->config == KERNEL_SW_CONTEXT_SWITCHES;
}

/* Events that read 0 where the CPU lacks them, or where another user has the PMU: an event that has never counted is
 * reported as not counted. */
static void stats_doubt_zeros(struct region_stats *s)
{
    for (size_t i = 0; i < s->n_events; i++) {
        struct upmu_region_event_stats *e = &s->events[i];
        const struct event *event = &upmu_regions.list.events[i];
        if ((!event->zero_unsure && !event_always_moves(event, true)) || e->stat.sum != 0 || e->stat.count == 0)
            continue;
        e->status = upmu_status_weakest(e->status, UPMU_NOT_COUNTED);
        e->without_value += e->stat.count;
        e->stat = (struct upmu_stat){.min = UPMU_NO_VALUE, .last = UPMU_NO_VALUE};
    }
}

void region_record_stats(const struct region_record *r, struct region_stats *out)
{
    double factor = stats_ns_per_tick();
    *out = (struct region_stats){
        .count = r->count,
        .open = r->open,
        .wall = public_stat(&r->wall, factor),
        .self_ns = stats_scale(r->self, factor),
        .descheduled = r->descheduled,
        .deschedule_unknown = r->deschedule_unknown,
        .threads = out->threads,
        .n_events = (uint32_t)upmu_regions.list.n,
    };
    for (size_t i = 0; i < upmu_regions.list.n; i++) {
        const struct region_event_sum *e = &r->events[i];
        double time_factor = stats_is_switches(i) ? factor : 1.0; /* their times are those of the region */
        out->events[i] = (struct upmu_region_event_stats){
            .stat = public_stat(&e->sum, 1.0),
            .enabled = time_factor == 1.0 ? e->enabled : stats_scale(e->enabled, factor),
            .running = time_factor == 1.0 ? e->running : stats_scale(e->running, factor),
            .without_value = e->without_value,
            .status = e->status,
            .cause = e->cause,
        };
    }
    stats_doubt_zeros(out);
}

/* ---------------------------------------------------------------------------------------------- public functions */

static bool regions_on(void)
{
    return upmu_regions.shared && __atomic_load_n(&upmu_regions.shared->alive, __ATOMIC_ACQUIRE);
}

struct collect {
    uint32_t id;
    pid_t tid;
    uint32_t threads;
    struct region_record *sum, *one;
};

static int stats_collect_thread(const struct region_thread_info *info, void *arg)
{
    struct collect *c = arg;
    if (c->tid != UPMU_ALL_THREADS && info->tid != c->tid)
        return 0;
    if (!region_record_copy(info->thread, c->id, c->one))
        return 0;
    c->threads++;
    region_record_merge(c->sum, c->one);
    return 0;
}

/* The sums of region `name` over thread `thread`. */
static int region_stats_of(const char *name, pid_t thread, struct region_stats *out)
{
    if (!regions_on())
        return upmu_fail(UPMU_E_STATE, "regions are off; set UPMU_EVENTS or call upmu_region_setup()");
    struct collect c = {.id = region_name_find(name), .tid = thread};
    if (!c.id)
        return upmu_fail(UPMU_E_NAME, "no region '%s' was entered", name);
    c.sum = calloc(2, upmu_regions.record_bytes);
    if (!c.sum)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    c.one = (struct region_record *)(void *)((unsigned char *)c.sum + upmu_regions.record_bytes);
    region_blocks_check();
    region_each_thread(stats_collect_thread, &c);
    out->threads = (uint32_t)c.sum->threads;
    if (c.threads > 0)
        region_record_stats(c.sum, out);
    free(c.sum);
    return c.threads > 0 ? 0 : upmu_fail(UPMU_E_NAME, "region '%s' was not run by thread %d", name, (int)thread);
}

static struct upmu_region_stats stats_public(const struct region_stats *s)
{
    return (struct upmu_region_stats){
        .count = s->count,
        .open = s->open,
        .wall = s->wall,
        .self_ns = s->self_ns,
        .descheduled = s->descheduled,
        .deschedule_unknown = s->deschedule_unknown,
        .threads = s->threads,
        .n_events = s->n_events,
    };
}

int upmu_region_stats_read(const char *name, pid_t thread, struct upmu_region_stats *out)
{
    struct region_stats s = {0};
    int rc = name ? OPTS_CHECK(out, UPMU_REGION_STATS_SIZE_V1) : argument_null(__func__, "name");
    if (rc == 0)
        rc = region_stats_of(name, thread, &s);
    if (rc != 0)
        return rc;
    const struct upmu_region_stats ours = stats_public(&s);
    return OPTS_GIVE(out, ours, UPMU_REGION_STATS_SIZE_V1);
}

int upmu_region_stats_read_all(const char *name, pid_t thread, struct upmu_region_stats *out,
                               struct upmu_region_event_stats *events, size_t max)
{
    struct region_stats s = {0};
    size_t size = 0, n;
    int rc = name ? OPTS_CHECK(out, UPMU_REGION_STATS_SIZE_V1) : argument_null(__func__, "name");
    if (rc == 0 && max > 0)
        rc = OPTS_CHECK(events, UPMU_REGION_EVENT_STATS_SIZE_V1);
    if (rc == 0)
        rc = region_stats_of(name, thread, &s);
    if (rc != 0)
        return rc;
    if (max > 0)
        size = events->size;
    for (n = 0; n < max && n < s.n_events; n++)
        opts_fill((unsigned char *)events + n * size, size, &s.events[n], sizeof s.events[n]);
    const struct upmu_region_stats ours = stats_public(&s);
    rc = OPTS_GIVE(out, ours, UPMU_REGION_STATS_SIZE_V1);
    return rc < 0 ? rc : (int)n;
}

int upmu_region_event_stats_at(const char *name, pid_t thread, size_t i, struct upmu_region_event_stats *out)
{
    struct region_stats s = {0};
    int rc = name ? OPTS_CHECK(out, UPMU_REGION_EVENT_STATS_SIZE_V1) : argument_null(__func__, "name");
    if (rc == 0)
        rc = region_stats_of(name, thread, &s);
    if (rc != 0)
        return rc;
    return i < s.n_events ? OPTS_GIVE(out, s.events[i], UPMU_REGION_EVENT_STATS_SIZE_V1) : UPMU_E_END;
}

size_t upmu_region_event_count(void)
{
    return regions_on() ? upmu_regions.list.n : 0;
}

int upmu_region_event_name_at(size_t i, const char **name)
{
    if (!name)
        return argument_null(__func__, "name");
    *name = i < upmu_region_event_count() ? upmu_regions.event_names[i] : NULL;
    return *name ? 0 : UPMU_E_END;
}

const char *region_event_name(size_t i)
{
    return i < upmu_region_event_count() ? upmu_regions.event_names[i] : "";
}

static struct upmu_value stats_event_value(const struct region_stats *s, size_t i)
{
    const struct upmu_region_event_stats *e = &s->events[i];
    struct upmu_value v = {.value = e->stat.sum,
                           .raw = e->stat.sum,
                           .enabled = e->enabled,
                           .running = e->running,
                           .status = e->status,
                           .cause = e->cause};
    if (e->without_value > 0 || e->stat.count == 0)
        v.value = UPMU_NO_VALUE;
    return v;
}

void region_stats_values(const struct region_stats *s, const char **names, struct upmu_value *values)
{
    for (size_t i = 0; i < s->n_events; i++) {
        names[i] = region_event_name(i);
        values[i] = stats_event_value(s, i);
    }
}

/* -------------------------------------------------------------------------------------------------- own cost */

static void region_cost_measure(struct region_process *p)
{
    struct region_thread *t = region_thread_get();
    uint64_t begin, end;
    if (!t || !region_pair_cost(t, &begin, &end))
        return;
    p->begin_ticks = begin;
    p->end_ticks = end;
}

/* ----------------------------------------------------------------------------------------------------- health */

static int health_add_misuse(const struct region_thread_info *info, void *arg)
{
    region_misuse_add(arg, &info->thread->misuse);
    return 0;
}

int upmu_region_health_read(struct upmu_region_health *out)
{
    struct region_process *p = &upmu_regions;
    int rc = OPTS_CHECK(out, UPMU_REGION_HEALTH_SIZE_V1);
    if (rc != 0)
        return rc;
    if (!regions_on())
        return upmu_fail(UPMU_E_STATE, "regions are off; set UPMU_EVENTS or call upmu_region_setup()");
    struct region_misuse m = {0};
    tiny_lock_take(&p->shared->cost);
    if (p->begin_ticks == 0)
        region_cost_measure(p);
    tiny_lock_give(&p->shared->cost);
    region_each_thread(health_add_misuse, &m);
    double factor = stats_ns_per_tick();
    struct upmu_region_health full = {
        .end_without_begin = m.end_without_begin,
        .closed_by_outer = m.closed_by_outer,
        .too_deep = m.too_deep,
        .names_cut = m.names_cut,
        .names_refused = m.names_refused,
        .interrupted = m.interrupted + __atomic_load_n(&p->turned_away, __ATOMIC_RELAXED),
        .never_ended = m.never_ended,
        .threads_without_counters =
            __atomic_load_n(&p->threads_short, __ATOMIC_RELAXED) + __atomic_load_n(&p->threads_lost, __ATOMIC_RELAXED),
        .threads_merged = __atomic_load_n(&p->threads_merged, __ATOMIC_RELAXED),
        .marks = m.marks,
        .trace_lost = p->trace ? trace_writer_lost(p->trace) : m.trace_lost,
        .begin_ns = p->begin_ticks ? stats_scale(p->begin_ticks, factor) : UPMU_NO_VALUE,
        .end_ns = p->begin_ticks ? stats_scale(p->end_ticks, factor) : UPMU_NO_VALUE,
    };
    return OPTS_GIVE(out, full, UPMU_REGION_HEALTH_SIZE_V1);
}

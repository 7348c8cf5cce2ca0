/* SPDX-License-Identifier: MIT */
/* Facts of a recording as JSON. */
#include "facts/facts.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------ numbers */

void facts_value_members(struct textbuf *b, const struct upmu_value *v)
{
    json_uint_if(b, "value", v->status == UPMU_EXACT || v->status == UPMU_SCALED, v->value);
    json_string(b, "status", upmu_status_name(v->status));
    json_string(b, "cause", v->cause ? upmu_strerror(v->cause) : NULL);
}

void facts_value(struct textbuf *b, const char *key, const struct upmu_value *v)
{
    json_object(b, key);
    facts_value_members(b, v);
    json_object_end(b);
}

/* A number, null for UPMU_NO_VALUE. */
static void facts_uint(struct textbuf *b, const char *key, uint64_t n)
{
    json_uint_if(b, key, n != UPMU_NO_VALUE, n);
}

void facts_address(struct textbuf *b, const char *key, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    json_string(b, key, address ? text : NULL);
}

/* A text, null if it is empty. */
static void facts_text(struct textbuf *b, const char *key, const char *text)
{
    json_string(b, key, text[0] ? text : NULL);
}

static void facts_waits(struct textbuf *b, const char *key, const struct upmu_wait_sum *w)
{
    json_object(b, key);
    json_uint(b, "count", w->count);
    json_uint(b, "total_ns", w->total_ns);
    json_uint(b, "max_ns", w->max_ns);
    json_uint(b, "unfinished", w->unfinished);
    json_uint(b, "unfinished_ns", w->unfinished_ns);
    json_object_end(b);
}

/* Holds with a certain begin and end, and those of which a part is recorded. */
static void facts_holds(struct textbuf *b, uint64_t n, uint64_t ns, uint64_t max_ns, uint64_t partial,
                        uint64_t partial_ns, uint64_t partial_max_ns)
{
    json_uint(b, "holds", n);
    json_uint(b, "hold_ns", ns);
    json_uint(b, "hold_max_ns", max_ns);
    json_uint(b, "partial_holds", partial);
    json_uint(b, "partial_hold_ns", partial_ns);
    json_uint(b, "partial_hold_max_ns", partial_max_ns);
}

void facts_counters(struct textbuf *b, const struct upmu_overview *o, uint32_t process,
                    const struct upmu_overview_count *counts, size_t n)
{
    json_array(b, "counters");
    for (size_t i = 0; i < n; i++) {
        json_object(b, NULL);
        json_string(b, "name", upmu_overview_counter_name(o, process, i));
        facts_value(b, "sum", &counts[i].sum);
        json_uint(b, "without_value", counts[i].without_value);
        json_object_end(b);
    }
    json_array_end(b);
}

/* -------------------------------------------------------------------------------------- recording and processes */

void facts_totals(struct textbuf *b, const struct upmu_overview_totals *t)
{
    json_uint(b, "events", t->events);
    json_uint(b, "begin_ns", t->begin_ns);
    json_uint(b, "end_ns", t->end_ns);
    json_uint(b, "from_ns", t->from_ns);
    json_uint(b, "to_ns", t->to_ns);
    json_uint(b, "lost", t->lost);
    facts_uint(b, "own_cost_ns", t->own_cost_ns);
    json_uint(b, "lifetime_ns", t->lifetime_ns);
    json_uint(b, "unmatched", t->unmatched);
    json_uint(b, "unfinished", t->unfinished);
    json_uint(b, "unknown", t->unknown);
    json_uint(b, "openmp", t->openmp);
    json_uint(b, "threads", t->n_threads);
    json_uint(b, "objects", t->n_objects);
    json_uint(b, "regions", t->n_regions);
}

void facts_damages(struct textbuf *b, const struct upmu_overview *o, const struct upmu_overview_totals *t)
{
    json_array(b, "damages");
    for (size_t i = 0; i < t->n_damages; i++)
        json_string(b, NULL, upmu_overview_damage_message(o, i));
    json_array_end(b);
}

void facts_process(struct textbuf *b, const struct upmu_trace_process *p)
{
    bool has_costs = p->event_cost_ps != 0;
    json_int(b, "pid", p->pid);
    json_string(b, "host", p->host);
    json_string(b, "command", p->command);
    json_string(b, "kernel", p->kernel);
    json_uint(b, "start_ns", p->start_ns);
    json_uint(b, "clock_hz", p->clock_hz);
    json_uint(b, "records", p->events);
    json_uint(b, "lost", p->lost);
    json_uint(b, "overwritten", p->overwritten);
    facts_uint(b, "clock_error_ns", p->clock_error_ns);
    json_uint_if(b, "event_cost_ps", has_costs, p->event_cost_ps);
    json_uint_if(b, "compact_event_cost_ps", has_costs, p->compact_cost_ps);
    json_uint_if(b, "stack_cost_ps", has_costs, p->stack_cost_ps);
    facts_text(b, "lost_note", p->lost_note);
    facts_text(b, "sched_note", p->sched_note);
    json_bool(b, "stopped", p->stopped != 0);
    json_uint_if(b, "children_filtered", p->children_filtered != 0, p->children_filtered);
    json_uint_if(b, "children_failed", p->children_failed != 0, p->children_failed);
    json_uint_if(b, "children_unrecorded", p->children_unrecorded != 0, p->children_unrecorded);
    json_bool(b, "complete", p->complete != 0);
    json_bool(b, "execed", p->execed != 0);
    facts_text(b, "snapshot", p->snapshot);
    json_uint_if(b, "memory_bytes", p->memory_bytes != 0, p->memory_bytes);
    json_uint_if(b, "memory_threads", p->memory_threads != 0, p->memory_threads);
}

void facts_recorded(struct textbuf *b, const struct upmu_overview *o, size_t i, const struct upmu_trace_process *p)
{
    struct upmu_overview_recorded of = {.size = sizeof of};
    struct upmu_trace_pause pause = {.size = sizeof pause};
    if (p->pauses == 0 || upmu_overview_recorded_at(o, i, &of) != 0)
        return;
    json_uint(b, "run_ns", of.end_ns - of.begin_ns);
    json_uint(b, "stopped_ns", of.stopped_ns);
    json_uint_if(b, "counted_ns", of.counted > 0, of.counted_ns);
    json_uint_if(b, "stopped_more_ns", of.more_ns != 0, of.more_ns);
    json_array(b, "stops");
    for (size_t k = 0; upmu_overview_pause_at(o, i, k, &pause) == 0; k++) {
        json_object(b, NULL);
        json_uint(b, "begin_ns", pause.begin_ns);
        json_uint(b, "end_ns", pause.end_ns);
        json_bool(b, "counted", pause.counted != 0);
        json_object_end(b);
    }
    json_array_end(b);
}

/* ------------------------------------------------------------------------------------------------------ threads */

static void facts_sched(struct textbuf *b, const struct upmu_overview_sched *s)
{
    if (!s->recorded) {
        json_null(b, "sched");
        return;
    }
    json_object(b, "sched");
    json_uint(b, "running_ns", s->running_ns);
    json_uint(b, "preempted_ns", s->preempted_ns);
    json_uint(b, "blocked_ns", s->blocked_ns);
    json_uint(b, "unknown_ns", s->unknown_ns);
    json_uint(b, "voluntary", s->voluntary);
    json_uint(b, "involuntary", s->involuntary);
    json_uint(b, "lost", s->lost);
    json_object_end(b);
}

static void facts_futexes(struct textbuf *b, const struct upmu_overview_sched *s)
{
    if (!s->futexes_counted) {
        json_null(b, "futexes");
        return;
    }
    json_object(b, "futexes");
    json_uint(b, "waits", s->futex_waits);
    json_uint(b, "recorded", s->futex_recorded);
    json_object_end(b);
}

void facts_thread(struct textbuf *b, const struct upmu_overview *o, size_t i, const struct upmu_overview_thread *t)
{
    struct upmu_overview_thread_wait w = {.size = sizeof w};
    struct upmu_overview_sched s = {.size = sizeof s};
    json_uint(b, "process", t->process);
    json_int(b, "pid", t->pid);
    json_int(b, "tid", t->tid);
    facts_text(b, "name", t->name);
    json_bool(b, "started", t->started != 0);
    json_bool(b, "ended", t->ended != 0);
    json_uint(b, "events", t->events);
    json_uint(b, "blocked_ns", t->blocked_ns);
    json_object(b, "waits");
    for (int kind = 0; upmu_overview_thread_wait_at(o, i, kind, &w) == 0; kind++)
        facts_waits(b, upmu_wait_kind_name(kind), &w.waits);
    json_object_end(b);
    facts_value(b, "switches", &t->switches);
    facts_uint(b, "cpu_ns", t->cpu_ns);
    facts_uint(b, "ready_ns", t->ready_ns);
    json_uint_if(b, "stopped_ns", t->stopped_ns != 0, t->stopped_ns);
    if (upmu_overview_sched_at(o, i, &s) != 0)
        s = (struct upmu_overview_sched){.size = sizeof s};
    facts_sched(b, &s);
    facts_futexes(b, &s);
}

/* ------------------------------------------------------------------------------------------------------ objects */

void facts_object(struct textbuf *b, const struct upmu_overview_object *x)
{
    facts_address(b, "address", x->address);
    json_uint(b, "generation", x->generation);
    facts_text(b, "name", x->name);
    facts_text(b, "group", x->group);
    json_uint_if(b, "variable", x->variable != 0, x->variable);
    json_uint_if(b, "peer", x->peer != 0, (uint64_t)x->peer);
    json_uint(b, "acquisitions", x->acquisitions);
    facts_uint(b, "contended", x->contended);
    json_bool(b, "counts_exact", x->counts_exact != 0);
    facts_waits(b, "waits", &x->waits);
    json_uint(b, "failed", x->failed);
    facts_holds(b, x->holds, x->hold_ns, x->hold_max_ns, x->partial_holds, x->partial_ns, x->partial_max_ns);
    json_bool(b, "holds_complete", x->holds_complete != 0);
    json_uint(b, "before_holds", x->before_holds);
    json_uint(b, "before_waits", x->before_waits);
    json_uint(b, "signals", x->signals);
    json_uint(b, "broadcasts", x->broadcasts);
    json_uint(b, "in_vain", x->in_vain);
    json_uint(b, "timed_holds_ns", x->timed_holds_ns);
    json_uint(b, "call_ns", x->call_ns);
    facts_text(b, "call_kind", x->call_kind < 0 ? "" : upmu_wait_kind_name(x->call_kind));
    json_uint(b, "misuses", x->misuses);
    json_uint(b, "shared", x->shared);
    facts_waits(b, "shared_waits", &x->shared_waits);
    json_uint(b, "tries_failed", x->tries_failed);
    json_uint(b, "rounds", x->rounds);
    json_uint(b, "samples", x->samples);
    json_uint(b, "sample_ns", x->sample_ns);
    json_uint(b, "sample_max_ns", x->sample_max_ns);
}

void facts_object_thread(struct textbuf *b, const struct upmu_overview_object_thread *t)
{
    json_uint(b, "acquisitions", t->acquisitions);
    facts_uint(b, "contended", t->contended);
    json_bool(b, "counts_exact", t->counts_exact != 0);
    facts_waits(b, "waits", &t->waits);
    facts_holds(b, t->holds, t->hold_ns, t->hold_max_ns, t->partial_holds, t->partial_ns, t->partial_max_ns);
    json_uint(b, "blocked", t->blocked);
    json_uint(b, "blocked_ns", t->blocked_ns);
    json_uint(b, "shared", t->shared);
    json_uint(b, "last", t->last_arrivals);
}

void facts_call_site(struct textbuf *b, const struct upmu_overview_call_site *s)
{
    json_uint(b, "acquisitions", s->acquisitions);
    facts_waits(b, "waits", &s->waits);
    facts_holds(b, s->holds, s->hold_ns, s->hold_max_ns, s->partial_holds, s->partial_ns, s->partial_max_ns);
    json_uint(b, "blocked", s->blocked);
    json_uint(b, "blocked_ns", s->blocked_ns);
}

void facts_sections(struct textbuf *b, const struct upmu_overview *o, size_t i, uint32_t process)
{
    static const char *const keys[] = {[UPMU_SECTION_HELD] = "held", [UPMU_SECTION_WAITED] = "waited"};
    struct upmu_overview_section s = {.size = sizeof s};
    for (int kind = UPMU_SECTION_HELD; kind <= UPMU_SECTION_WAITED; kind++) {
        if (upmu_overview_section_read(o, i, kind, &s) != 0 || s.sections == 0) {
            json_null(b, keys[kind]);
            continue;
        }
        json_object(b, keys[kind]);
        json_uint(b, "times", s.sections);
        json_uint(b, "ns", s.ns);
        facts_counters(b, o, process, s.counts, s.n_counts);
        json_object_end(b);
    }
}

/* -------------------------------------------------------------------------- regions, critical paths and findings */

void facts_region(struct textbuf *b, const struct upmu_overview_region *r)
{
    json_uint(b, "process", r->process);
    json_int(b, "pid", r->pid);
    json_string(b, "name", r->name);
    json_uint(b, "count", r->count);
    json_uint(b, "wall_ns", r->wall_ns);
    facts_uint(b, "min_ns", r->min_ns);
    json_uint(b, "max_ns", r->max_ns);
    json_uint(b, "unfinished", r->unfinished);
}

void facts_path(struct textbuf *b, const struct upmu_overview_path *p)
{
    json_uint(b, "run_ns", p->run_ns);
    json_uint(b, "wake_ns", p->wake_ns);
    json_uint(b, "unknown_ns", p->unknown_ns);
    json_uint_if(b, "stopped_ns", p->stopped_ns != 0, p->stopped_ns);
    json_uint(b, "hops", p->handoffs);
}

void facts_path_object(struct textbuf *b, const struct upmu_overview_path_object *x)
{
    json_uint(b, "held_ns", x->held_ns);
    json_uint(b, "wakes", x->wakes);
    json_uint(b, "wake_ns", x->wake_ns);
    json_uint(b, "unknown_ns", x->unknown_ns);
    facts_uint(b, "gain_ns", x->gain_ns);
    facts_uint(b, "gain_half_ns", x->gain_half_ns);
}

void facts_finding(struct textbuf *b, const struct upmu_finding *f)
{
    json_string(b, "kind", upmu_finding_kind_name(f->kind));
    json_string(b, "text", f->text);
    json_uint(b, "process", f->process);
    json_uint_if(b, "object", f->object != UPMU_NO_INDEX, f->object);
    json_uint_if(b, "thread", f->thread != UPMU_NO_INDEX, f->thread);
    json_uint_if(b, "deadlock", f->deadlock != UPMU_NO_INDEX, f->deadlock);
    facts_uint(b, "gain_ns", f->gain_ns);
    json_uint(b, "run_ns", f->run_ns);
}

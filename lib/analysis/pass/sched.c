/* SPDX-License-Identifier: MIT */
/*
 * Scheduler states of threads: running, preempted, blocked.
 *
 * The kernel records context switches, so a state is known from one to the next. The time before the first, after the last,
 * around lost records, and between two switches that contradict each other is UPMU_SCHED_UNKNOWN.
 */
#include <string.h>

#include "analysis/pass/handlers.h"
#include "analysis/pass/tables.h"

/* Adds the interval from `since_ns` to `until` in `state`, and calls the timeline hook. */
static int sched_add_interval(struct overview *o, uint32_t thread, int state, uint64_t until)
{
    struct ov_sched *s = &o->threads[thread].sched;
    const struct sched_span span = {
        .thread = thread, .state = state, .cpu = s->cpu, .begin_ns = s->since_ns, .end_ns = until};
    if (until <= s->since_ns)
        return 0;
    s->ns[state] += recorded_ns(o, o->threads[thread].process, s->since_ns, until);
    s->since_ns = until;
    return o->hooks && o->hooks->sched ? o->hooks->sched(o->hooks->arg, &span) : 0;
}

static void sched_note_cpu(struct overview *o, uint32_t thread, uint32_t cpu)
{
    if (cpu < OV_CPUS)
        o->processes[o->threads[thread].process].cpus[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

/* A switch out or in: the interval before it is known if the state before it fits. */
static int sched_change(struct overview *o, uint32_t thread, bool out, int next, const struct upmu_trace_event *e)
{
    struct ov_sched *s = &o->threads[thread].sched;
    bool fits = out == (s->state == UPMU_SCHED_RUNNING) && s->state != UPMU_SCHED_UNKNOWN;
    int rc = sched_add_interval(o, thread, fits ? s->state : UPMU_SCHED_UNKNOWN, e->time_ns);
    if (rc == 0 && !out)
        rc = wake_arrived(o, thread, e->time_ns);
    s->woken_ns = 0;
    s->since_ns = s->seen_ns = e->time_ns;
    s->state = next;
    s->cpu = e->sched.cpu;
    sched_note_cpu(o, thread, s->cpu);
    return rc;
}

static int sched_out(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_sched *s = &o->threads[thread].sched;
    bool preempted = e->flags & UPMU_TRACE_FLAG_PREEMPTED;
    s->involuntary += preempted;
    s->voluntary += !preempted;
    return sched_change(o, thread, true, preempted ? UPMU_SCHED_PREEMPTED : UPMU_SCHED_BLOCKED, e);
}

static int sched_lost(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_sched *s = &o->threads[thread].sched;
    int rc = sched_add_interval(o, thread, s->state, s->seen_ns);
    s->lost += e->sched_count.switches;
    s->state = UPMU_SCHED_UNKNOWN;
    s->woken_ns = 0;
    return rc;
}

/* The thread that begins; a new one if the tid belonged to a thread that has switches already, or has ended. */
static uint32_t sched_begin_thread(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    const struct ov_thread *t = &o->threads[thread];
    return t->ended || t->sched.recorded ? thread_new(o, e->process, e->pid, e->tid, e->time_ns) : thread;
}

int sched_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_SCHED_BEGIN) {
        thread = sched_begin_thread(o, thread, e);
        if (thread == MAP_NONE)
            return overview_no_memory();
        o->threads[thread].sched = (struct ov_sched){.recorded = true,
                                                     .state = UPMU_SCHED_RUNNING,
                                                     .cpu = e->sched.cpu,
                                                     .since_ns = e->time_ns,
                                                     .seen_ns = e->time_ns};
        sched_note_cpu(o, thread, e->sched.cpu);
        return 0;
    }
    if (e->kind == UPMU_TRACE_SCHED_WAKE)
        return wake_event(o, thread, e);
    if (e->kind == UPMU_TRACE_KERNEL_LOCK_BLOCK || e->kind == UPMU_TRACE_KERNEL_LOCK_DONE)
        return kernel_lock_event(o, thread, e);
    if (e->kind == UPMU_TRACE_FUTEX_COUNTS) { /* often recorded after the thread's last event */
        o->threads[thread].futexes =
            (struct ov_futexes){.counted = true, .waits = e->futex_counts.waits, .recorded = e->futex_counts.recorded};
        return 0;
    }
    struct ov_sched *s = &o->threads[thread].sched;
    if (o->threads[thread].ended) /* no longer part of its lifetime */
        return 0;
    if (!s->recorded) /* a ring that lost its beginning */
        *s = (struct ov_sched){.recorded = true, .since_ns = e->time_ns, .seen_ns = e->time_ns};
    switch (e->kind) {
    case UPMU_TRACE_SCHED_OUT:
        return sched_out(o, thread, e);
    case UPMU_TRACE_SCHED_IN:
        return sched_change(o, thread, false, UPMU_SCHED_RUNNING, e);
    case UPMU_TRACE_SCHED_LOST:
        return sched_lost(o, thread, e);
    default:
        s->seen_ns = e->time_ns;
        return 0;
    }
}

void sched_start(struct ov_thread *t, uint64_t time_ns)
{
    struct ov_sched *s = &t->sched;
    for (int i = 0; i < SCHED_STATES; i++)
        s->ns[i] = 0;
    s->since_ns = s->since_ns < time_ns ? time_ns : s->since_ns;
}

void sched_restart(struct overview *o, uint32_t thread)
{
    struct ov_sched *s = &o->threads[thread].sched;
    memset(s->ns, 0, sizeof s->ns);
    s->voluntary = s->involuntary = s->lost = 0;
    if (s->recorded && s->state == UPMU_SCHED_RUNNING)
        sched_note_cpu(o, thread, s->cpu);
}

int sched_end(struct overview *o, uint32_t thread)
{
    struct ov_thread *t = &o->threads[thread];
    struct ov_sched *s = &t->sched;
    int rc = 0;
    if (!s->recorded)
        return 0;
    /* A thread that records its exit runs; for any other the state is known up to the kernel's last record. */
    uint64_t known = t->ended || s->seen_ns > t->end_ns ? t->end_ns : s->seen_ns;
    rc = sched_add_interval(o, thread, s->state, known);
    return rc == 0 ? sched_add_interval(o, thread, UPMU_SCHED_UNKNOWN, t->end_ns) : rc;
}

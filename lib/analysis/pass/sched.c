/* SPDX-License-Identifier: MIT */
/*
 * How threads ran: on a CPU, put off it though they could have gone on, or waiting for something. Room: analysis. Before
 * it: overview.c; after it: facts.c and whoever looks on.
 *
 * The kernel tells of the moments in between, so a state is known only from one of them to the next. What lies before the
 * first, behind the last, and around a loss is unknown, and so is what two moments that do not fit together enclose.
 */
#include "analysis/pass/overview.h"

/* The state from `since_ns` to `until` was `state`: add it up, and tell those who look on. */
static int add_interval(struct overview *o, uint32_t thread, int state, uint64_t until)
{
    struct ov_sched *s = &o->threads[thread].sched;
    const struct sched_span span = {
        .thread = thread, .state = state, .cpu = s->cpu, .begin_ns = s->since_ns, .end_ns = until};
    if (until <= s->since_ns)
        return 0;
    s->ns[state] += until - s->since_ns;
    s->since_ns = until;
    return o->hooks && o->hooks->sched ? o->hooks->sched(o->hooks->arg, &span) : 0;
}

/* The thread has left the CPU, or comes to one: what it did before follows from that, unless we knew otherwise. */
static int change(struct overview *o, uint32_t thread, bool out, int next, const struct upmu_trace_event *e)
{
    struct ov_sched *s = &o->threads[thread].sched;
    bool fits = out == (s->state == UPMU_SCHED_RUNNING) && s->state != UPMU_SCHED_UNKNOWN;
    int rc = add_interval(o, thread, fits ? s->state : UPMU_SCHED_UNKNOWN, e->time_ns);
    if (rc == 0 && !out)
        rc = wake_arrived(o, thread, e->time_ns);
    s->woken_ns = 0;
    s->since_ns = s->seen_ns = e->time_ns;
    s->state = next;
    s->cpu = (uint32_t)e->count;
    return rc;
}

static int out(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_sched *s = &o->threads[thread].sched;
    bool preempted = e->flags & UPMU_TRACE_FLAG_PREEMPTED;
    s->involuntary += preempted;
    s->voluntary += !preempted;
    return change(o, thread, true, preempted ? UPMU_SCHED_PREEMPTED : UPMU_SCHED_BLOCKED, e);
}

static int lost(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_sched *s = &o->threads[thread].sched;
    int rc = add_interval(o, thread, s->state, s->seen_ns);
    s->lost += e->count;
    s->state = UPMU_SCHED_UNKNOWN;
    s->woken_ns = 0;
    return rc;
}

/* A thread whose id was another's before it: that one's switches are told already, or it has ended. */
static uint32_t beginner(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    const struct ov_thread *t = &o->threads[thread];
    return t->ended || t->sched.told ? thread_new(o, e->process, e->pid, e->tid, e->time_ns) : thread;
}

int sched_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_SCHED_BEGIN) {
        thread = beginner(o, thread, e);
        if (thread == MAP_NONE)
            return overview_no_memory();
        o->threads[thread].sched = (struct ov_sched){.told = true,
                                                     .state = UPMU_SCHED_RUNNING,
                                                     .cpu = (uint32_t)e->count,
                                                     .since_ns = e->time_ns,
                                                     .seen_ns = e->time_ns};
        return 0;
    }
    if (e->kind == UPMU_TRACE_SCHED_WAKE)
        return wake_event(o, thread, e);
    if (e->kind == UPMU_TRACE_KERNEL_LOCK_BLOCK || e->kind == UPMU_TRACE_KERNEL_LOCK_DONE)
        return kernel_lock_event(o, thread, e);
    if (e->kind == UPMU_TRACE_FUTEX_COUNTS) { /* often told of after the thread's last event */
        o->threads[thread].futexes = (struct ov_futexes){.told = true, .waits = e->count, .recorded = e->contended};
        return 0;
    }
    struct ov_sched *s = &o->threads[thread].sched;
    if (o->threads[thread].ended) /* what follows the thread's last event is no part of its life */
        return 0;
    if (!s->told) /* a ring that has lost its beginning */
        *s = (struct ov_sched){.told = true, .since_ns = e->time_ns, .seen_ns = e->time_ns};
    switch (e->kind) {
    case UPMU_TRACE_SCHED_OUT:
        return out(o, thread, e);
    case UPMU_TRACE_SCHED_IN:
        return change(o, thread, false, UPMU_SCHED_RUNNING, e);
    case UPMU_TRACE_SCHED_LOST:
        return lost(o, thread, e);
    default:
        s->seen_ns = e->time_ns;
        return 0;
    }
}

void sched_start(struct ov_thread *t, uint64_t time_ns)
{
    struct ov_sched *s = &t->sched;
    for (int i = 0; i < UPMU_SCHED_STATES; i++)
        s->ns[i] = 0;
    s->since_ns = s->since_ns < time_ns ? time_ns : s->since_ns;
}

int sched_end(struct overview *o, uint32_t thread)
{
    struct ov_thread *t = &o->threads[thread];
    struct ov_sched *s = &t->sched;
    int rc = 0;
    if (!s->told)
        return 0;
    /* A thread that tells of its own end runs; of any other we know no more than the kernel told. */
    uint64_t known = t->ended || s->seen_ns > t->end_ns ? t->end_ns : s->seen_ns;
    rc = add_interval(o, thread, s->state, known);
    return rc == 0 ? add_interval(o, thread, UPMU_SCHED_UNKNOWN, t->end_ns) : rc;
}

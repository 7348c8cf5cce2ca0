/* SPDX-License-Identifier: MIT */
/*
 * Context switches of threads, from the kernel's records.
 *
 * The thread copies the kernel's records to the trace at its slow events, when a packet of its trace is full, and at its end;
 * the thread that ends the process drains the rest. The records are older than the thread's last events, so they have a
 * stream of their own. `draining` is a try-lock: if it is taken, also by the drain that a signal handler interrupted, the
 * work is left to the holder.
 *
 * The records' clock is CLOCK_MONOTONIC_RAW. Each drain reads both clocks once, and a record's tick is interpolated between
 * this reading and the last one, so the error does not grow with the time between two drains.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/tick.h"
#include "region/region.h"
#include "upmu/trace.h"

enum {
    LOG_BYTES = 64 * 1024, /* some 1,300 pairs of switches */
    SEEN_PER_SECOND = 100, /* sched_seen events of a thread without switches */
};

/* -------------------------------------------------------------------------------------------------- clocks */

/* Read both clocks, again if a delay in between would add to the error. */
static struct region_moment sched_moment_now(void)
{
    enum { TRIES = 4, TIGHT_PER_SECOND = 1000000 };
    struct region_moment best = {0};
    uint64_t width = UINT64_MAX, tight = upmu_regions.sched_hz / TIGHT_PER_SECOND;
    for (int i = 0; i < TRIES && width > tight; i++) {
        uint64_t before = tick_now(), raw = tick_clock_ns(CLOCK_MONOTONIC_RAW), after = tick_now();
        if (after - before >= width)
            continue;
        width = after - before;
        best = (struct region_moment){.tick = before + width / 2, .raw_ns = raw};
    }
    return best;
}

static uint64_t sched_tick_of(const struct region_moment *a, const struct region_moment *b, uint64_t raw_ns)
{
    if (raw_ns <= a->raw_ns)
        return a->tick;
    if (raw_ns >= b->raw_ns) /* switched while draining */
        return b->tick + mul_div_u64(raw_ns - b->raw_ns, upmu_regions.sched_hz, 1000000000);
    return a->tick + mul_div_u64(raw_ns - a->raw_ns, b->tick - a->tick, b->raw_ns - a->raw_ns);
}

/* -------------------------------------------------------------------------------------------------- writing */

/* Ticks never decrease in a stream, whatever the uncertainty of the clocks. */
static uint64_t sched_tick_in_order(struct region_sched *s, uint64_t tick)
{
    s->last_tick = tick > s->last_tick ? tick : s->last_tick;
    return s->last_tick;
}

/* Records that do not fit into the trace become a gap once there is space again. */
static void sched_put(struct region_sched *s, uint64_t tick, int32_t kind, uint64_t count, uint32_t flags,
                      uint64_t switches)
{
    if (s->missing > 0 && trace_sched(s->stream, tick, UPMU_TRACE_SCHED_LOST, s->missing, 0))
        s->missing = 0;
    if (s->missing > 0 || !trace_sched(s->stream, tick, kind, count, flags))
        s->missing += switches;
    s->switches += switches;
}

static void sched_put_record(struct region_sched *s, uint64_t tick, const struct kernel_switch *r)
{
    switch (r->kind) {
    case KERNEL_SWITCH_IN:
        sched_put(s, tick, UPMU_TRACE_SCHED_IN, r->cpu, 0, 1);
        break;
    case KERNEL_SWITCH_OUT:
    case KERNEL_SWITCH_PREEMPTED:
        sched_put(s, tick, UPMU_TRACE_SCHED_OUT, r->cpu,
                  r->kind == KERNEL_SWITCH_PREEMPTED ? UPMU_TRACE_FLAG_PREEMPTED : 0, 1);
        break;
    case KERNEL_SWITCH_LOST:
        sched_put(s, tick, UPMU_TRACE_SCHED_LOST, r->value, 0, r->value);
        break;
    case KERNEL_SWITCH_WAKES: /* losses of this kind and the next ones are only counted by the writer */
        (void)trace_point(s->stream, tick, UPMU_TRACE_SCHED_WAKE, r->value, 0);
        break;
    case KERNEL_SWITCH_LOCK_BEGIN:
        (void)trace_point(s->stream, tick, UPMU_TRACE_KERNEL_LOCK_BLOCK, r->value, r->more);
        break;
    case KERNEL_SWITCH_LOCK_END:
        (void)trace_point(s->stream, tick, UPMU_TRACE_KERNEL_LOCK_DONE, r->value, r->more);
        break;
    default:
        trace_lost(upmu_regions.trace, LOSS_KERNEL, r->value);
        break;
    }
}

static bool sched_try_lock(struct region_sched *s)
{
    uint32_t unused = 0;
    return __atomic_compare_exchange_n(&s->draining, &unused, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void sched_unlock(struct region_sched *s)
{
    __atomic_store_n(&s->draining, 0, __ATOMIC_RELEASE);
}

/* Whether the next sched_seen event is due. */
static bool sched_seen_is_due(const struct region_sched *s, uint64_t tick)
{
    uint64_t seen = __atomic_load_n(&s->seen_tick, __ATOMIC_RELAXED);
    return tick > seen && tick - seen > upmu_regions.sched_hz / SEEN_PER_SECOND;
}

/* A loss begins after the last record: the kernel reports it late, maybe after the thread has ended. */
static uint64_t sched_record_tick(struct region_sched *s, const struct region_moment *now,
                                  const struct kernel_switch *r)
{
    return r->kind == KERNEL_SWITCH_LOST ? s->last_tick
                                         : sched_tick_in_order(s, sched_tick_of(&s->moment, now, r->raw_ns));
}

/* The kernel's records are times of the host. Those of a time namespace that is not known (no /proc) are no times of this process. */
static void sched_refuse_foreign_time(const struct region_sched *s, const struct region_moment *now,
                                      struct kernel_switch *r)
{
    enum { NS_PER_S = 1000000000 };
    bool is_switch = r->kind == KERNEL_SWITCH_IN || r->kind == KERNEL_SWITCH_OUT || r->kind == KERNEL_SWITCH_PREEMPTED;
    bool is_loss = r->kind == KERNEL_SWITCH_LOST || r->kind == KERNEL_SWITCH_POINTS_LOST;
    if (is_loss || (r->raw_ns + NS_PER_S >= s->moment.raw_ns && r->raw_ns <= now->raw_ns + NS_PER_S))
        return;
    r->kind = is_switch ? KERNEL_SWITCH_LOST : KERNEL_SWITCH_POINTS_LOST;
    r->value = 1;
}

/* The clocks are read first: everything before that is in the buffer, and recorded when this returns. `last`: no drain
 *  follows soon. */
static void sched_drain(struct region_sched *s, bool last)
{
    struct region_moment now = sched_moment_now();
    struct kernel_switch r;
    while (core_kernel()->switches_next(&s->log, &r)) {
        sched_refuse_foreign_time(s, &now, &r);
        sched_put_record(s, sched_record_tick(s, &now, &r), &r);
    }
    s->moment = now;
    if (!last && !sched_seen_is_due(s, now.tick))
        return;
    sched_put(s, sched_tick_in_order(s, now.tick), UPMU_TRACE_SCHED_SEEN, s->switches, 0, 0);
    region_futexes_write(&s->futexes, s->stream, s->last_tick);
    __atomic_store_n(&s->seen_tick, s->last_tick, __ATOMIC_RELAXED);
}

/* Whether there are records, or a sched_seen event is due. */
static inline bool sched_drain_is_due(const struct region_sched *s, uint64_t tick)
{
    return kernel_switches_waiting(&s->log) || sched_seen_is_due(s, tick);
}

/* ---------------------------------------------------------------------------------------------------- life */

static void sched_open_log(struct region_thread *t)
{
    struct region_sched *s = &t->kept->sched;
    const struct kernel_ops *k = core_kernel();
    if (k->switches_open(&s->log, LOG_BYTES, upmu_regions.sched_points) < 0)
        return; /* limits: this thread has no records, which the report shows */
    if (trace_stream_acquire(upmu_regions.trace, t->tid, t->name, &s->stream) < 0) {
        k->switches_close(&s->log);
        return;
    }
    int cpu = sched_getcpu();
    s->moment = sched_moment_now();
    s->seen_tick = s->last_tick = s->moment.tick;
    sched_put(s, s->last_tick, UPMU_TRACE_SCHED_BEGIN, cpu < 0 ? 0 : (uint64_t)cpu, 0, 0);
    region_futexes_open(&s->futexes);
    __atomic_store_n(&s->open, 1, __ATOMIC_RELEASE);
}

void region_sched_open(struct region_thread *t)
{
    struct region_sched *s = &t->kept->sched;
    int saved = errno;
    struct cancel_hold cancel;
    if (s->tried || !upmu_regions.trace || t->ended)
        return;
    cancel_hold(&cancel);
    if (!sched_try_lock(s)) {
        cancel_resume(&cancel);
        return;
    }
    s->tried = 1;
    sched_open_log(t);
    sched_unlock(s);
    errno = saved;
    cancel_resume(&cancel);
}

void region_sched_drain(struct region_thread *t, uint64_t tick)
{
    struct region_sched *s = &t->kept->sched;
    if (!s->tried)
        region_sched_open(t);
    if (!__atomic_load_n(&s->open, __ATOMIC_RELAXED) || !sched_drain_is_due(s, tick) || !sched_try_lock(s))
        return;
    int saved = errno;
    sched_drain(s, false);
    errno = saved;
    sched_unlock(s);
}

/* The thread that ends the process may hold the buffer for a moment. If it never releases it (its own drain was left by
 * longjmp), the buffer stays. */
static bool sched_wait_lock(struct region_sched *s)
{
    enum { TRIES = 1000 };
    for (int i = 0; i < TRIES; i++) {
        if (sched_try_lock(s))
            return true;
        usleep(10);
    }
    return false;
}

void region_sched_end(struct region_thread *t)
{
    struct region_sched *s = &t->kept->sched;
    if (!s->open || !sched_wait_lock(s))
        return;
    sched_drain(s, true);
    __atomic_store_n(&s->open, 0, __ATOMIC_RELAXED);
    trace_stream_release(s->stream);
    s->stream = NULL;
    core_kernel()->switches_close(&s->log);
    region_futexes_close(&s->futexes);
    sched_unlock(s);
}

void region_sched_finish(void)
{
    if (!upmu_regions.sched)
        return;
    region_lock(); /* no thread's block is freed meanwhile */
    for (struct region_kept *k = upmu_regions.threads; k; k = k->next) {
        struct region_sched *s = &k->sched;
        if (!__atomic_load_n(&s->open, __ATOMIC_ACQUIRE) || !sched_try_lock(s))
            continue;
        if (s->open)
            sched_drain(s, true);
        sched_unlock(s);
    }
    region_unlock();
    region_futexes_finish();
}

/* ------------------------------------------------------------------------------------------------- switching on */

static const char *sched_refusal(int err)
{
    switch (err) {
    case EOPNOTSUPP:
        return "this kernel does not record whether a switched thread was preempted. Use Linux 4.17 or newer";
    case EACCES:
        return "the kernel refuses them (EACCES). Set kernel.perf_event_paranoid to 2 or less; see 'upmu doctor'";
    case EPERM:
        return "the kernel refuses them (EPERM): not enough memory may be locked (ulimit -l, "
               "kernel.perf_event_mlock_kb), "
               "or a sandbox forbids perf_event_open";
    case ENOSYS:
        return "there is no perf_event_open here (ENOSYS), or a sandbox forbids it";
    default:
        return NULL;
    }
}

/* What makes the tracepoints of the kernel's locks available. */
static const char *sched_points_remedy(int err)
{
    switch (err) {
    case ENOENT:
        return "Mount tracefs: mount -t tracefs tracefs /sys/kernel/tracing. Linux has them from 5.19 on";
    case EACCES:
    case EPERM:
        return "Run as root";
    default:
        return "See 'upmu doctor'";
    }
}

/* Try once, in the thread that begins recording, to get the reason of a refusal. */
static void sched_try_log(struct region_process *p)
{
    struct kernel_switch_log log;
    const struct kernel_ops *k = core_kernel();
    /* Wakeups are recorded if permitted, the kernel's locks only on request. */
    uint32_t wanted = 1u << KERNEL_POINT_WAKING;
    uint32_t locks = p->kernel_locks ? 1u << KERNEL_POINT_LOCK_BEGIN | 1u << KERNEL_POINT_LOCK_END : 0;
    int found = k->points_find(wanted | locks, p->sched_points);
    int rc = k->switches_open(&log, LOG_BYTES, p->sched_points);
    found = found < 0 ? found : -log.refused;
    k->switches_close(&log);
    if (rc == 0)
        __atomic_store_n(&p->sched, 1, __ATOMIC_RELEASE);
    const char *known = sched_refusal(-rc);
    if (rc < 0)
        snprintf(p->sched_note, sizeof p->sched_note, "switches of threads are not recorded: %s%s",
                 known ? known : "the kernel refuses them, ", known ? "" : upmu_errno_name(-rc));
    else if (found < 0 && locks)
        snprintf(p->sched_note, sizeof p->sched_note,
                 "waits for the kernel's locks are not recorded: its tracepoints cannot be opened (%s). %s",
                 upmu_errno_name(-found), sched_points_remedy(-found));
}

void region_sched_start(struct region_process *p)
{
    struct cancel_hold cancel;
    if (p->sched)
        return;
    p->sched_note[0] = '\0';
    cancel_hold(&cancel);
    p->sched_hz = (uint64_t)clock_hz(200000);
    sched_try_log(p);
    if (p->sched)
        region_futexes_start(p);
    cancel_resume(&cancel);
}

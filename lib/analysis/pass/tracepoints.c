/* SPDX-License-Identifier: MIT */
/* Wake-up latencies and waits for kernel locks, from the kernel's tracepoints. */
#include "analysis/pass/handlers.h"
#include "analysis/pass/values.h"

/* ------------------------------------------------------------------------------------------------------- wake-ups */

int wake_event(struct overview *o, uint32_t waker, const struct upmu_trace_event *e)
{
    uint32_t wakee = map_find(&o->by_tid, e->process, (uint32_t)e->sched_wake.woken);
    if (wakee == MAP_NONE) /* a thread of another process, or one that is not recorded */
        return 0;
    struct ov_sched *s = &o->threads[wakee].sched;
    /* Only the first wake-up of a blocked thread counts. */
    if (s->state != UPMU_SCHED_BLOCKED || s->woken_ns != 0)
        return 0;
    s->woken_ns = e->time_ns;
    s->waker = waker;
    return o->hooks && o->hooks->wake ? o->hooks->wake(o->hooks->arg, waker, wakee, e->time_ns) : 0;
}

static struct ov_waker *thread_waker(struct overview *o, uint32_t wakee, uint32_t waker)
{
    uint32_t found = map_find(&o->by_waker, wakee, waker);
    if (found != MAP_NONE)
        return &o->wakers[found];
    struct ov_waker *all = array_reserve(o->wakers, o->n_wakers, &o->cap_wakers, sizeof *all);
    if (!all)
        return NULL;
    o->wakers = all;
    if (!map_put(&o->by_waker, wakee, waker, (uint32_t)o->n_wakers))
        return NULL;
    all[o->n_wakers] = (struct ov_waker){.wakee = wakee, .waker = waker};
    return &all[o->n_wakers++];
}

int wake_arrived(struct overview *o, uint32_t thread, uint64_t time_ns)
{
    struct ov_sched *s = &o->threads[thread].sched;
    if (s->woken_ns == 0)
        return 0;
    struct ov_waker *w = thread_waker(o, thread, s->waker);
    if (!w)
        return overview_no_memory();
    wait_sum_add(&w->waits, recorded_ns(o, o->threads[thread].process, s->woken_ns, time_ns));
    s->woken_ns = 0;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ kernel
 * locks */

static struct ov_kernel_lock *kernel_lock(struct overview *o, uint32_t process, uint64_t address)
{
    uint32_t found = map_find(&o->by_kernel_lock, process, address);
    if (found != MAP_NONE)
        return &o->kernel_locks[found];
    struct ov_kernel_lock *all = array_reserve(o->kernel_locks, o->n_kernel_locks, &o->cap_kernel_locks, sizeof *all);
    if (!all)
        return NULL;
    o->kernel_locks = all;
    if (!map_put(&o->by_kernel_lock, process, address, (uint32_t)o->n_kernel_locks))
        return NULL;
    all[o->n_kernel_locks] = (struct ov_kernel_lock){.process = process, .address = address};
    return &all[o->n_kernel_locks++];
}

/* A second begin for the same lock: the kernel stopped spinning and sleeps; that is one wait. */
static int kernel_lock_begin(struct overview *o, struct ov_thread *t, const struct upmu_trace_event *e)
{
    struct ov_kernel_lock *l = kernel_lock(o, e->process, e->object);
    if (!l)
        return overview_no_memory();
    l->kinds |= e->kernel_lock.kinds;
    for (size_t i = 0; i < t->n_kernel_waits; i++)
        if (t->kernel_waits[i].address == e->object)
            return 0;
    if (t->n_kernel_waits == KERNEL_WAITS_MAX) /* ends were lost */
        t->n_kernel_waits = 0;
    t->kernel_waits[t->n_kernel_waits++] = (struct ov_kernel_wait){.address = e->object, .begin_ns = e->time_ns};
    return 0;
}

static int kernel_lock_end(struct overview *o, struct ov_thread *t, const struct upmu_trace_event *e)
{
    size_t at = t->n_kernel_waits;
    while (at > 0 && t->kernel_waits[at - 1].address != e->object)
        at--;
    if (at == 0)
        return 0;
    struct ov_kernel_lock *l = kernel_lock(o, e->process, e->object);
    if (!l)
        return overview_no_memory();
    wait_sum_add(&l->waits, recorded_ns(o, t->process, t->kernel_waits[at - 1].begin_ns, e->time_ns));
    t->n_kernel_waits = at - 1;
    return 0;
}

int kernel_lock_event(struct overview *o, uint32_t thread, const struct upmu_trace_event *e)
{
    struct ov_thread *t = &o->threads[thread];
    return e->kind == UPMU_TRACE_KERNEL_LOCK_BLOCK ? kernel_lock_begin(o, t, e) : kernel_lock_end(o, t, e);
}

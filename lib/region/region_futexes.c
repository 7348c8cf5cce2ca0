/* SPDX-License-Identifier: MIT */
/*
 * Futex waits that no wrapper sees, from the kernel's records.
 *
 * Futex calls within recorded waits are subtracted. The rest are the C library's own locks, languages and programs with
 * system calls of their own, and waits while recording was paused. The ending process reads the counts of running threads,
 * which takes a consistent set of values.
 */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "region/region.h"
#include "trace/write/writer.h"

static const char *futexes_refusal(int err)
{
    switch (err) {
    case ENOENT:
        return "there is no tracefs in /sys/kernel/tracing, or this kernel has no tracepoints of system calls (ENOENT)";
    case EACCES:
    case EPERM:
        return "the kernel's tracepoints may not be read (EACCES); run the program as root";
    case EMFILE:
    case ENFILE:
        return "no descriptor was left for it";
    case EPROTO:
        return "this kernel's tracepoints do not count as they should";
    default:
        return upmu_errno_name(err);
    }
}

static void futexes_set_note(struct region_process *p, int err)
{
    snprintf(p->futex_note, sizeof p->futex_note, "%s", futexes_refusal(err));
}

void region_futexes_start(struct region_process *p)
{
    int rc = core_kernel()->futexes_find(&p->futex_points);
    p->futex_note[0] = '\0';
    if (rc < 0)
        futexes_set_note(p, -rc);
}

void region_futexes_open(struct region_futexes *f)
{
    struct region_process *p = &upmu_regions;
    if (p->futex_points.id[0] == 0)
        return;
    int rc = core_kernel()->futexes_open(&f->count, &p->futex_points);
    if (rc < 0)
        __atomic_store_n(&p->futex_refused, -rc, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&f->open, 1, __ATOMIC_RELEASE);
}

void region_futexes_close(struct region_futexes *f)
{
    if (!f->open)
        return;
    __atomic_store_n(&f->open, 0, __ATOMIC_RELAXED);
    core_kernel()->futexes_close(&f->count);
}

/* -------------------------------------------------------------------------------------------- recorded waits */

/* The version is odd during a change. It becomes odd before each release store, so a reader that acquires one of these values
 * sees it, too. */
static void futexes_store(struct region_futexes *f, uint64_t *value, uint64_t to, uint32_t waits)
{
    __atomic_store_n(&f->version, f->version + 1, __ATOMIC_RELAXED);
    __atomic_store_n(value, to, __ATOMIC_RELEASE);
    __atomic_store_n(&f->waits, waits, __ATOMIC_RELEASE);
    __atomic_store_n(&f->version, f->version + 1, __ATOMIC_RELEASE);
}

void region_futexes_wait_begin(struct region_futexes *f)
{
    if (!f->open || f->depth++ > 0) /* a wait of a signal handler, or within a custom lock */
        return;
    futexes_store(f, &f->before, kernel_futexes_so_far(&f->count), 1);
}

void region_futexes_wait_end(struct region_futexes *f)
{
    if (!f->open || f->depth == 0 || --f->depth > 0)
        return;
    futexes_store(f, &f->inside, f->inside + kernel_futexes_so_far(&f->count) - f->before, 0);
}

/* @return false if the thread changes them concurrently. */
static bool futexes_try_read(const struct region_futexes *f, uint64_t *all, uint64_t *inside)
{
    uint32_t version = __atomic_load_n(&f->version, __ATOMIC_ACQUIRE);
    *inside = __atomic_load_n(&f->inside, __ATOMIC_ACQUIRE);
    uint64_t before = __atomic_load_n(&f->before, __ATOMIC_ACQUIRE);
    *all = kernel_futexes_so_far(&f->count);
    if (__atomic_load_n(&f->waits, __ATOMIC_ACQUIRE))
        *inside += *all - before;
    return version % 2 == 0 && version == __atomic_load_n(&f->version, __ATOMIC_RELAXED);
}

void region_futexes_write(struct region_futexes *f, struct trace_stream *stream, uint64_t tick)
{
    enum { TRIES = 100 };
    uint64_t all, inside;
    bool known = false;
    if (!__atomic_load_n(&f->open, __ATOMIC_ACQUIRE))
        return;
    for (int i = 0; i < TRIES && !known; i++)
        known = futexes_try_read(f, &all, &inside);
    if (!known || (f->reported && all == f->reported_all && inside == f->reported_inside))
        return;
    if (!trace_futexes(stream, tick, all, inside))
        return; /* counted as lost, and retried next time */
    f->reported = true;
    f->reported_all = all;
    f->reported_inside = inside;
}

void region_futexes_finish(void)
{
    struct region_process *p = &upmu_regions;
    int refused = __atomic_load_n(&p->futex_refused, __ATOMIC_RELAXED);
    if (refused == 0 || p->futex_note[0])
        return;
    futexes_set_note(p, refused);
    if (p->trace)
        trace_writer_futex_note(p->trace, p->futex_note);
}

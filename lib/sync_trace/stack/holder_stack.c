/* SPDX-License-Identifier: MIT */
/*
 * The call stack of a held lock's acquisition, unwound by another thread.
 *
 * The holder has kept the innermost words of its stack, because functions that were active then (lock wrappers) may have
 * returned, and others use their memory. The words behind them are read from the holder's stack, which may change or vanish
 * meanwhile: through the kernel, which fails where there is no memory, and valid only if the lock is still held afterwards.
 */
#include "sync_trace/stack/holder_stack.h"

#include <sys/uio.h>
#include <unistd.h>

#include "sync_trace/libc/resolve.h"
#include "sync_trace/stack/cfi.h"
#include "sync_trace/stack/unwind.h"
#include "sync_trace/state/held.h"

size_t sync_stack_read(struct sync_thread *t, uintptr_t at)
{
    static uint32_t refused; /* by a filter of system calls: it is not tried again */
    const struct iovec to = {.iov_base = t->snapshot, .iov_len = sizeof t->snapshot};
    const struct iovec from = {.iov_base = (void *)at, .iov_len = sizeof t->snapshot};
    if (__atomic_load_n(&refused, __ATOMIC_RELAXED))
        return 0;
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    if (got < 0)
        __atomic_store_n(&refused, 1, __ATOMIC_RELAXED);
    return got > 0 ? (size_t)got : 0;
}

/* Addresses from `at` to the end of the thread's own stack, which need no copy; 0: it is another thread's, or not in use. */
static size_t holder_own_bytes(const struct sync_thread *t, const struct sync_thread *holder, uintptr_t at)
{
    uintptr_t top = 0;
    if (holder == t && !SYNC_UNDER_SANITIZER && at >= (uintptr_t)__builtin_frame_address(0))
        top = cfi_own_top(at, sync_stack_low());
    return top > at ? top - at : 0;
}

uint32_t sync_holder_stack(struct sync_thread *t, uint64_t tick, const struct sync_thread *holder,
                           const struct sync_held *entry)
{
    enum { POINTER, SITE, INNERMOST }; /* of the words at the frame pointer */
    struct sync_origin o, again;
    bool whole;
    if (sync_option(depth) == 0 || !sync_origin_read(holder, entry, &o))
        return 0;
    if (o.frame == 0)
        return o.stack;
    if (o.word[SITE] != entry->site)
        return 0;
    uintptr_t innermost = o.frame + INNERMOST * sizeof(uintptr_t), live = o.frame + sizeof o.word;
    size_t own = holder_own_bytes(t, holder, live), got = own ? own : sync_stack_read(t, live);
    if (!sync_origin_read(holder, entry, &again))
        return 0;
    const struct cfi_memory parts[] = {{o.frame, sizeof o.word, o.word},
                                       {live, got, own ? (const void *)live : t->snapshot}};
    const struct cfi_frame from = {.pc = entry->site, .sp = innermost, .bp = o.word[POINTER]};
    uint32_t n = cfi_walk(from, parts, sizeof parts / sizeof *parts, t->frames, sync_option(depth), &whole);
    return sync_stack_add(t, tick, n, n > 1 ? UPMU_STACK_COPIED : UPMU_STACK_NONE, !whole);
}

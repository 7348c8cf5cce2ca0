/* SPDX-License-Identifier: MIT */
/** @file Private interface of libupmu_sync to libupmu_mpi (node UPMU_PRIVATE): what a library does within its calls is left out. */
#ifndef UPMU_SYNC_LEAVE_OUT_H
#define UPMU_SYNC_LEAVE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/sync.h"

/** Id of the calling thread's stack, for an event of `tick` in its stream; 0: none, or the thread is not recorded. `site` is the
 *  innermost frame, the return address of the active function whose frame pointer is `frame`, or of one around it. Keeps errno. */
UPMU_API uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site, const void *frame);

/** Begin recording in a forked child that is not recorded so far, from a call that no allocator is active below. Keeps errno.
 *  @return whether the process is recorded. */
UPMU_API bool upmu_sync_child_begin_(void);

/** Record no lock event of the calling thread, and none of threads that it creates, until upmu_sync_resume_(). `stack` becomes what
 *  upmu_sync_stack_() returns, 0 if `site` is 0. Keeps errno.
 *  @return false: the thread was not recorded anyway, do not call upmu_sync_resume_(). */
UPMU_API bool upmu_sync_withhold_(uint64_t tick, uintptr_t site, uint32_t *stack);

/** End upmu_sync_withhold_(). Keeps errno. */
UPMU_API void upmu_sync_resume_(void);

/* ------------------------------------------------------------------------------- both, in most cases without a call */

enum { SYNC_SITES = 64 /**< call sites with a cached stack id, power of two */ };
struct sync_site {
    uintptr_t key; /**< sync_site_key() */
    uint32_t id;
};

/** The part of a thread's state that they change. */
struct sync_leave_out {
    uint32_t inside; /**< the thread is in a library whose locks are left out: threads it creates are not recorded */
    uint32_t *ready; /**< enum sync_ready of the thread's block; NULL: it has none */
    const struct sync_site *sites; /**< of that block */
};

/** That of the calling thread, as long as it runs. */
UPMU_API struct sync_leave_out *upmu_sync_state_(void);

/** What they read of the process: pointers to members of sync_gate and sync_process. */
struct sync_leave_out_process {
    const uint32_t **mode;
    const uint32_t *depth;
    const uintptr_t *unloads;
};
extern UPMU_API const struct sync_leave_out_process upmu_sync_process_;

enum {
    SYNC_INSIDE = 1,
    /**< sync_leave_out.inside: plus the value of `ready` before */ SYNC_INSIDE_READY = 1 + SYNC_INSIDE
};

/** upmu_sync_withhold_() of the thread of `l`. */
static inline __attribute__((always_inline)) bool sync_withhold(struct sync_leave_out *l, uint64_t tick, uintptr_t site,
                                                                uint32_t *stack)
{
    const struct sync_leave_out_process *p = &upmu_sync_process_;
    const uint32_t *mode = __atomic_load_n(p->mode, __ATOMIC_ACQUIRE);
    uint32_t word = __builtin_expect(mode != NULL, 1) ? __atomic_load_n(mode, __ATOMIC_RELAXED) : 0;
    bool known = word != 0 && word != 1 + UPMU_SYNC_COUNTS && l->ready &&
                 __atomic_load_n(l->ready, __ATOMIC_RELAXED) == SYNC_INSIDE_READY - SYNC_INSIDE;
    if (__builtin_expect(known, 1) && site) {
        const struct sync_site *s = &l->sites[(site ^ site >> 6) % SYNC_SITES];
        known = __atomic_load_n(p->depth, __ATOMIC_RELAXED) == 0 &&
                s->key == (site ^ __atomic_load_n(p->unloads, __ATOMIC_RELAXED));
        *stack = s->id;
    }
    if (__builtin_expect(!known, 0))
        return upmu_sync_withhold_(tick, site, stack);
    l->inside = SYNC_INSIDE_READY;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(l->ready, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

/** upmu_sync_resume_() of the thread of `l`. In a forked child, where there is no mode, that function. */
static inline __attribute__((always_inline)) void sync_resume(struct sync_leave_out *l)
{
    uint32_t *ready = l->ready;
    if (__builtin_expect(!ready || !__atomic_load_n(upmu_sync_process_.mode, __ATOMIC_RELAXED), 0)) {
        upmu_sync_resume_();
        return;
    }
    uint32_t before = l->inside - SYNC_INSIDE;
    l->inside = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(ready, before, __ATOMIC_RELAXED);
}

#endif

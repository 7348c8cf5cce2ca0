/* SPDX-License-Identifier: MIT */
/** @file The call stack of an event, as an id in the trace. */
#ifndef UPMU_SYNC_UNWIND_H
#define UPMU_SYNC_UNWIND_H

#include "sync_trace/state/thread.h"

/** Default of UPMU_SYNC_STACKS. */
enum { SYNC_FRAMES_DEFAULT = 16 };

/** Open libunwind. */
void sync_unwind_start(void);
/** Let the calling thread, which has no block yet, unwind with libunwind. May allocate: only to be called where the program's
 *  allocator cannot be active below. Keeps errno. */
void sync_unwind_thread(void);

/** Id of the call stack here, for an event of `tick`; without stacks, of the call site alone. 0: none. Keeps errno. */
uint32_t sync_stack(struct sync_thread *t, uint64_t tick, uintptr_t site);
/** The same from `frame` on: the frame pointer of an active function that has been called, maybe by others, from `site`. The fewer functions are
 *  in between, the faster. */
uint32_t sync_stack_behind(struct sync_thread *t, uint64_t tick, uintptr_t site, uintptr_t frame);
/** The same for an event that comes after the walk: `*tick` is read then. Keeps errno. */
uint32_t sync_stack_then_tick(struct sync_thread *t, uint64_t *tick, uintptr_t site);
/** Id of the stack that is the call site alone, at its first use in this thread. */
uint32_t sync_site_find(struct sync_thread *t, uint64_t tick, uintptr_t site);

/** Id of a stack of `n` frames in t->frames, found by `method`. Under sync_guard(). */
uint32_t sync_stack_add(struct sync_thread *t, uint64_t tick, uint32_t n, uint32_t method, bool truncated);

static inline uint32_t sync_site_id(struct sync_thread *t, uint64_t tick, uintptr_t site)
{
    const struct sync_site *s = &t->sites[(site ^ site >> 6) % SYNC_SITES];
    return LIKELY(s->key == sync_site_key(site)) ? s->id : sync_site_find(t, tick, site);
}

/** An address below which the stack that the calling thread began with does not reach; 0: not known. */
uintptr_t sync_stack_low(void);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Call stacks that a thread has met before, known again without a walk. Room: sync_trace; before it unwind.c, after it the
 * block, which keeps them.
 *
 * A walk goes from one frame to the next by tables, which stay as they are, and by words of the stack: the return addresses
 * and the frame registers that functions have saved. A memo has all the words that one walk read, in its order, and the
 * number of the stack. While every one of them is where it was and what it was, another walk would read the same and end
 * the same. Fewer words would not do: two stacks may agree in some return addresses and lie differently all the same. A
 * word is looked at only when those before it were right, so it lies in a frame that is really there.
 */
#ifndef UPMU_SYNC_MEMO_H
#define UPMU_SYNC_MEMO_H

#include "sync_trace/sync.h"

/** Find what is needed in libunwind. Without it, and on machines whose stacks are not known here, there are no memos. */
void sync_memo_start(void *libunwind);
/** The number of the stack behind `frame`, a frame pointer (the caller's one lies there, the return address behind it),
 *  that has `site` in it; 0: not known. Under sync_guard(). */
uint32_t sync_memo_find(struct sync_thread *t, uintptr_t frame, uintptr_t site);
/** That stack was walked by libunwind in a function whose frame pointer is `frame`, and has the number `id`: keep it, if
 *  its place has come up often enough. `frames`: from `site` on. Called by that function. Under sync_guard(). */
void sync_memo_learn(struct sync_thread *t, uintptr_t frame, uintptr_t site, uint32_t id, const void *const *frames,
                     uint32_t n);

#endif

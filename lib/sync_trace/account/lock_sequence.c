/* SPDX-License-Identifier: MIT */
/* Numbers of sequences of held locks. */
#include "sync_trace/account/lock_sequence.h"

#include "sync_trace/state/held.h"

uint32_t sync_generations[SYNC_GENERATIONS];

uint64_t sync_sequence_held(struct sync_thread *t)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < t->depth;) {
        struct sync_held *h = &t->held[i];
        uintptr_t lock = __atomic_load_n(&h->lock, __ATOMIC_RELAXED);
        if (UNLIKELY(lock == 0)) { /* another thread has released it: Python's conditions do so at each wait */
            sync_held_remove_entry(t, i);
            continue;
        }
        if (h->number == 0)
            h->number = sync_sequence_add(number, lock);
        number = h->number;
        i++;
    }
    return number;
}

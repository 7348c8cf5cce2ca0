/* SPDX-License-Identifier: MIT */
/* Numbers of sequences of held locks. */
#include "sync_trace/account/lock_sequence.h"

uint32_t sync_generations[SYNC_GENERATIONS];

uint64_t sync_sequence_held(struct sync_thread *t)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < t->depth; i++) {
        struct sync_held *h = &t->held[i];
        if (h->number == 0)
            h->number = sync_sequence_add(number, __atomic_load_n(&h->lock, __ATOMIC_RELAXED));
        number = h->number;
    }
    return number;
}

/* SPDX-License-Identifier: MIT */
/* Time without the stretches in which recording was stopped. */
#include "analysis/pass/state.h"

uint64_t recorded_ns_paused(const struct ov_process *p, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t ns = end_ns - begin_ns;
    size_t low = 0, high = p->n_pauses;
    while (low < high) { /* the first that ends after the begin */
        size_t middle = low + (high - low) / 2;
        if (p->pauses[middle].end_ns <= begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->n_pauses && p->pauses[low].begin_ns < end_ns; low++) {
        const struct ov_pause *pause = &p->pauses[low];
        uint64_t from = pause->begin_ns > begin_ns ? pause->begin_ns : begin_ns;
        ns -= (pause->end_ns < end_ns ? pause->end_ns : end_ns) - from;
    }
    return ns;
}

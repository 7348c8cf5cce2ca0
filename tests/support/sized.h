/* SPDX-License-Identifier: MIT */
/** @file A call with a sized struct of several releases: the first one's size, a smaller one, larger ones with two tails. */
#ifndef UPMU_TESTS_SIZED_H
#define UPMU_TESTS_SIZED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upmu/upmu.h"

enum { SIZED_TAIL = 16 };

static inline int sized_wrong(const char *call, size_t size, unsigned tail, int rc, int want)
{
    if (rc == want)
        return 0;
    printf("FAILED: %s with size %zu, tail %u: %d instead of %d: %s\n", call, size, tail, rc, want, upmu_error());
    return 1;
}

/** Adds the wrong results of `call`, in which `p` points to a `struct type`, to `failures`. */
#define SIZED_RUN(failures, type, v1, call)                                                              \
    do {                                                                                                 \
        const size_t now_ = sizeof(struct type);                                                         \
        const size_t sizes_[] = {(v1), (v1)-1, now_ + SIZED_TAIL, now_ + SIZED_TAIL};                    \
        for (unsigned i_ = 0; i_ < 4; i_++) {                                                            \
            void *p = calloc(1, now_ + SIZED_TAIL);                                                      \
            memcpy(p, &sizes_[i_], sizeof sizes_[i_]);                                                   \
            ((unsigned char *)p)[now_ + SIZED_TAIL - 1] = i_ == 3;                                       \
            (failures) += sized_wrong(#call, sizes_[i_], i_ == 3, call, i_ % 2 == 1 ? UPMU_E_INVAL : 0); \
            if (i_ == 1 && !strstr(upmu_error(), "size"))                                                \
                (failures) += sized_wrong(#call, sizes_[i_], 0, 1, 0);                                   \
            free(p);                                                                                     \
        }                                                                                                \
    } while (0)

#endif

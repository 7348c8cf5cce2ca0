/* SPDX-License-Identifier: MIT */
/** @file Samples within constructs of OpenMP: call stacks as the program was written. */
#ifndef UPMU_SAMPLES_OPENMP_H
#define UPMU_SAMPLES_OPENMP_H

#include "samples/samples.h"

/** Functions of a stack, innermost first. */
struct openmp_functions {
    uint32_t *all;
    size_t n, cap;
    bool is_joined; /**< the rest is of another stack, which is whole if `is_whole` */
    bool is_whole;
    bool has_gap; /**< functions between the sample and a construct are not known */
};

/** Read what threads do in the recording `dir`; a recording without a trace has nothing. @return 0 or a negative code. */
int samples_openmp_open(struct upmu_samples *s, const char *dir, int32_t stacks);
void samples_openmp_close(struct samples_openmp *o);

/** Whether stacks of the process change. */
bool samples_openmp_has(const struct upmu_samples *s, uint32_t pid);

/** Fold the first `n` addresses of a stack of a sample at row->raw_ns by row->thread. @return false without memory. */
bool samples_openmp_fold(struct upmu_samples *s, const struct space *space, const struct samples_stack *in, size_t n,
                         const struct samples_row *row, struct openmp_functions *out);

#endif

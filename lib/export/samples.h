/* SPDX-License-Identifier: MIT */
/** @file Samples in profiles, and the graph of wall time that they form with waits. */
#ifndef UPMU_EXPORT_SAMPLES_H
#define UPMU_EXPORT_SAMPLES_H

#include "export/export.h"

enum { SAMPLES_NAME_MAX = 320 };

/** The name of a function, or its place in its module, in `text`. */
const char *export_sampled_name(const struct upmu_sample_function *f, char text[SAMPLES_NAME_MAX]);

/** Whether waits are in the profile by their call stacks. */
bool export_with_waits(const struct export_job *job);
/** Add the samples to the tree; of a graph of wall time those outside of waits. */
int export_samples(struct export_job *job);
/** Whether a function of this name only starts threads or the program. */
bool export_is_start(const char *name);
/** Begin to collect waits for a graph of wall time. */
int export_wall_start(struct export_job *job);
/** A wait has ended. */
int export_wall_wait(struct export_job *job, const struct span *span);
/** Add the part of each thread's life that is neither in samples nor in waits. */
int export_wall_rest(struct export_job *job);
void export_wall_free(struct export_job *job);

#endif

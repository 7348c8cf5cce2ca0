/* SPDX-License-Identifier: MIT */
/** @file Critical path of each process, and the gains of shorter critical sections. */
#ifndef UPMU_ANALYSIS_PATH_H
#define UPMU_ANALYSIS_PATH_H

#include "analysis/pass/state.h"
struct overview;

/** Find all paths in the complete wakeup graph. @return 0; UPMU_E_NOMEM. */
int paths_find(struct overview *o);
void paths_free(struct paths *p);

enum { PATH_GAINS_MAX = 8 };

/* path_gain.c: compute the gains of the first PATH_GAINS_MAX locks, and condition variables with wakes in vain, of each path. */
int paths_gain(struct overview *o);

#endif

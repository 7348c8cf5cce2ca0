/* SPDX-License-Identifier: MIT */
/** @file Begin of recording in the process. */
#ifndef UPMU_OPENMP_PROCESS_H
#define UPMU_OPENMP_PROCESS_H

#include <stdbool.h>

/** Begin to record, if UPMU_OPENMP is set and it is not done yet. @return whether OpenMP is recorded. Not signal safe. */
bool omp_process_begin(void);

#endif

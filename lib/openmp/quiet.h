/* SPDX-License-Identifier: MIT */
/** @file Locks of LLVM's runtime, which are not those of the program. */
#ifndef UPMU_OPENMP_QUIET_H
#define UPMU_OPENMP_QUIET_H

/** Let the runtime, in the file that has `address`, call the C library's lock functions without libupmu_sync. Not signal safe. */
void omp_quiet(const void *address);

#endif

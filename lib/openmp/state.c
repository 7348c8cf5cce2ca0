/* SPDX-License-Identifier: MIT */
/* Gate and thread-local state of OpenMP recording. */
#include "openmp/state.h"

#include "base/tick.h"

int (*tick_clock_gettime)(clockid_t, struct timespec *) = clock_gettime; /* both are set by process.c */
#ifdef TICK_ISA_NAME
uint32_t tick_use_isa;
#endif

_Thread_local struct omp_tls omp_tls;
struct omp_process omp_process;

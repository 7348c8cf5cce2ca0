/* SPDX-License-Identifier: MIT */
/* Gate and thread-local state of MPI recording. */
#include "mpi/state.h"

#include "base/tick.h"

int (*tick_clock_gettime)(clockid_t, struct timespec *) = clock_gettime; /* both are set by process.c */
#ifdef TICK_ISA_NAME
uint32_t tick_use_isa;
#endif

_Thread_local struct mpi_tls mpi_tls;
struct mpi_process mpi_process;

/* SPDX-License-Identifier: MIT */
/* Gate, settings and thread-local state of sync tracing. */
#include "sync_trace/state/state.h"

#include "base/tick.h"

#ifdef TICK_ISA_NAME
uint32_t tick_use_isa;
#endif
int (*tick_clock_gettime)(clockid_t, struct timespec *) = clock_gettime;

_Thread_local struct sync_tls sync_tls;
struct sync_gate sync_gate __attribute__((aligned(SYNC_PAGE_MAX)));
struct sync_process sync_process;

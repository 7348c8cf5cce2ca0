/* SPDX-License-Identifier: MIT */
/** @file Locks within MPI calls left out by libupmu_sync, which need not be loaded: its names are NULL then. */
#ifndef UPMU_MPI_WITHHOLD_H
#define UPMU_MPI_WITHHOLD_H

#include "sync_trace/leave_out.h"

#pragma weak upmu_sync_stack_
#pragma weak upmu_sync_withhold_
#pragma weak upmu_sync_resume_
#pragma weak upmu_sync_state_
#pragma weak upmu_sync_process_

#endif

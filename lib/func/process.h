/* SPDX-License-Identifier: MIT */
/** @file Begin of function recording in a process. */
#ifndef UPMU_FUNC_PROCESS_H
#define UPMU_FUNC_PROCESS_H

#include <stdbool.h>

/** Set up recording, as the environment has it; once. `paused`: no call is recorded yet. @return 0 or an error code, with its message. */
int func_process_begin(bool paused);

#endif

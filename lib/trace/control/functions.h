/* SPDX-License-Identifier: MIT */
/** @file Function recording of a process, as its switch file has it. */
#ifndef UPMU_TRACE_CONTROL_FUNCTIONS_H
#define UPMU_TRACE_CONTROL_FUNCTIONS_H

#include <stdint.h>

/** State of the running process of a directory: enum upmu_control_functions. */
int32_t control_functions_status(const char *dir);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Processes with the same memory. */
#ifndef UPMU_BASE_SAME_MEMORY_H
#define UPMU_BASE_SAME_MEMORY_H

#include <stdbool.h>
#include <sys/types.h>

/** Whether another process has the memory of the live process `pid`, as far as /proc shows. */
bool same_memory_has(pid_t pid);

#endif

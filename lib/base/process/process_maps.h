/* SPDX-License-Identifier: MIT */
/** @file The memory map of another process, also after its first thread has ended. */
#ifndef UPMU_BASE_PROCESS_MAPS_H
#define UPMU_BASE_PROCESS_MAPS_H

#include <stdio.h>
#include <sys/types.h>

/** Open /proc/PID/maps. Once the first thread has ended that file is empty: then the one of another thread. To be closed with
 *  fclose(). @return NULL, and errno. */
FILE *process_maps_open(pid_t pid);

#endif

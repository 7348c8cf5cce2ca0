/* SPDX-License-Identifier: MIT */
/** @file Recordings in memory: a directory in /dev/shm that ends with its process. */
#ifndef UPMU_TRACE_MEMORY_H
#define UPMU_TRACE_MEMORY_H

enum { TRACE_MEMORY_PATH_MAX = 128 };

/**
 * Make a directory for the recording of the calling process, and remove those of processes that were killed. Not signal safe.
 * @param dir out: its path; "" on failure
 * @return 0; UPMU_E_IO (message set).
 */
int trace_memory_make(char dir[TRACE_MEMORY_PATH_MAX]);

/** Remove the directory with its files, and set `dir` to ""; "" does nothing. */
void trace_memory_remove(char *dir);

#endif

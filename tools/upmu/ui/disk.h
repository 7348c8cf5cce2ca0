/* SPDX-License-Identifier: MIT */
/** @file Disk space that a recording occupies, and memory that the recorder had. */
#ifndef UPMU_TOOL_DISK_H
#define UPMU_TOOL_DISK_H

#include <stddef.h>
#include <stdint.h>

/** Bytes allocated on disk for all files below `dir`; UINT64_MAX if it cannot be read. */
uint64_t disk_bytes(const char *dir);

/** "1.25 MiB"; to be freed. */
char *disk_size(double bytes);

/** "1.25 MiB, 320 KiB per thread, 4.5 GiB per hour": `bytes` of `n_threads` threads in `ns`; to be freed. The last part only if
 *  the recording lasted a second. */
char *disk_text(uint64_t bytes, size_t n_threads, uint64_t ns);

/** "1.5 MiB, 310 KiB per thread": the recorder's private memory in the processes of the recording `dir`; to be freed. NULL if no
 *  process has written it. */
char *disk_memory_text(const char *dir);

#endif

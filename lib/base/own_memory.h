/* SPDX-License-Identifier: MIT */
/** @file Private memory of the recorder, and how much of it is in use: what a recording costs the program in memory. */
#ifndef UPMU_BASE_OWN_MEMORY_H
#define UPMU_BASE_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define OWN_MEMORY_UNKNOWN UINT64_MAX

/** Map zeroed private memory; `flags` is 0, MAP_NORESERVE, or MAP_POPULATE for what is written at once. Signal safe, keeps errno. @return NULL if there is none. */
void *own_memory_map(size_t bytes, int flags);

/** The same, zeroed again in a forked child. */
void *own_memory_map_wiped(size_t bytes);

/** Unmap what own_memory_map() has mapped. Signal safe, keeps errno. */
void own_memory_unmap(void *memory, size_t bytes);

/** Address space that the process may still map under its limit (`ulimit -v`), in bytes; UINT64_MAX without a limit, 0
 *  also where /proc does not show how much is in use. Keeps errno. */
uint64_t own_memory_space_left(void);

/** Physical memory of all mappings that no earlier call has counted, in bytes; OWN_MEMORY_UNKNOWN if it cannot be found. Several
 *  libraries may share this function or have one each: the sum of their calls is right in both cases. */
uint64_t own_memory_count(void);

#endif

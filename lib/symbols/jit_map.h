/* SPDX-License-Identifier: MIT */
/**
 * @file
 * JIT symbol map: names of code generated at run time, from the file written for perf.
 *
 * A line has start and size in hexadecimal, and the name. Any user can create /tmp/perf-PID.map, so it is read only
 * if it is a regular file, no link, owned by the user of the recording and, as process ids are reused, not older than
 * the process.
 */
#ifndef UPMU_ANALYSIS_JIT_MAP_H
#define UPMU_ANALYSIS_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_name {
    uint64_t low, high;
    uint64_t reach; /**< largest `high` of this and all earlier entries */
    uint32_t order; /**< line number: a later entry replaces an earlier one */
    const char *name;
};

/** All zero is empty. */
struct jit_map {
    char *path; /**< of the file; NULL if there is none */
    char *text;
    struct jit_name *names; /**< sorted by low, then order */
    size_t n, cap;
};

/** Read the map of a process: `dir`/jit.map, saved by upmu record, else /tmp/perf-PID.map. @param dir the
 *  process's directory in the recording @param since_ns begin of its recording, nanoseconds since 1970 @return 0, also
 *  if there is none; UPMU_E_NOMEM. */
int jit_map_read(struct jit_map *m, const char *dir, pid_t pid, uint64_t since_ns);
/** Begin of the recording whose directory is `dir`, HOST-PID-SECONDS, in nanoseconds since 1970. */
uint64_t jit_map_since(const char *dir);
/** Copy the process's file in /tmp, if it is trusted, into the recording. @return 1; 0; UPMU_E_IO, UPMU_E_NOMEM. */
int jit_map_keep(const char *dir, pid_t pid, uint64_t since_ns);
/** The latest name of an address; NULL. */
const struct jit_name *jit_map_find(const struct jit_map *m, uint64_t address);
void jit_map_free(struct jit_map *m);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Names of code that a process made at run time, from the file that its compiler wrote for perf: lines of start, size and
 * name, the numbers in hexadecimal. Room: analysis. Before it: the recording's directory and /tmp; after it: places.c.
 *
 * /tmp/perf-PID.map is a name that anybody can take. So a file is read only if it is a plain one, no link, of the user
 * whose recording it is, and, since process ids come again, not older than the process.
 */
#ifndef UPMU_ANALYSIS_JIT_MAP_H
#define UPMU_ANALYSIS_JIT_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_name {
    uint64_t low, high;
    uint64_t reach; /**< largest `high` of this and all before it */
    uint32_t order; /**< place in the file: what comes later replaced what was there */
    const char *name;
};

/** All zero is empty. */
struct jit_map {
    char *path; /**< of the file; NULL if there is none */
    char *text;
    struct jit_name *names; /**< by low, then order */
    size_t n, cap;
};

/** Read the map of a process: `dir`/jit.map, which upmu record keeps, else /tmp/perf-PID.map.
 *  @param dir the process's directory in the recording
 *  @param since_ns when the process began to record, nanoseconds since 1970
 *  @return 0, also if there is none; UPMU_E_NOMEM. */
int jit_map_read(struct jit_map *m, const char *dir, pid_t pid, uint64_t since_ns);
/** Copy the process's file in /tmp, if there is one to be trusted, into the recording. @return 1; 0; UPMU_E_IO, UPMU_E_NOMEM. */
int jit_map_keep(const char *dir, pid_t pid, uint64_t since_ns);
/** The name at an address, the last one given to it; NULL. */
const struct jit_name *jit_map_find(const struct jit_map *m, uint64_t address);
void jit_map_free(struct jit_map *m);

#endif

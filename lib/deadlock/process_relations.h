/* SPDX-License-Identifier: MIT */
/** @file Relations of recorded processes: memory that they share, and forks and waits that order what they do. */
#ifndef UPMU_DEADLOCK_PROCESS_RELATIONS_H
#define UPMU_DEADLOCK_PROCESS_RELATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/trace.h"

/** A fork by a thread, or the end of a child that a thread has waited for. */
struct process_relation {
    uint64_t tick; /**< on the clock of the thread's events */
    uint64_t
        begin; /**< of system() or popen(), whose command `child` is, 0 if that is not recorded; 0: of another call */
    pid_t tid;
    uint32_t forked; /**< the new process; MAP_NONE: a child has ended */
    pid_t child;     /**< process id of the child */
    bool spawned;    /**< by posix_spawn() at `tick`; only while the notes are read */
};

struct related_process {
    pid_t pid, ppid;
    uint64_t since; /**< tick at which it began to record; with `pid` it identifies the process */
    struct shared_note {
        uint64_t low, high, offset;
        uint64_t file; /**< hash of device, inode and host */
    } * mappings;
    size_t n_mappings, cap_mappings;
    struct {
        pid_t pid, tid;
        uint64_t tick, since;
    } parent;                           /**< of a fork; `pid` 0: none is known */
    uint32_t parent_index;              /**< MAP_NONE: it is not recorded */
    struct process_relation *relations; /**< in time order */
    size_t n_relations, cap_relations;
    size_t applied; /**< relations that the user of this struct is done with */
    bool seen;      /**< for the user, too */
};

/** All zero: nothing is related. */
struct process_relations {
    struct related_process *all; /**< by number of the process in the trace */
    size_t n;
};

/** Read what the processes of a trace have noted. @return 0; UPMU_E_NOMEM. To be freed in any case. */
int process_relations_read(struct process_relations *r, const struct upmu_trace *trace);
void process_relations_free(struct process_relations *r);

/** The process with that number; NULL. */
struct related_process *process_relations_of(const struct process_relations *r, uint32_t process);

/** Whether an address is in memory that processes share. @param object out: a number that is the same for each address of the
 *  object, in every process. Where different memory was mapped in the course of time, the answer is no. */
bool process_relations_shared(const struct process_relations *r, uint32_t process, uint64_t address, uint64_t *object);

#endif

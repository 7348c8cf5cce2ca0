/* SPDX-License-Identifier: MIT */
/** @file Memory that processes share: which addresses of theirs are one object. */
#ifndef UPMU_DEADLOCK_SHARED_MEMORY_H
#define UPMU_DEADLOCK_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A shared mapping of a process. */
struct shared_mapping {
    uint32_t process; /**< number given to shared_memory_read() */
    uint64_t low, high, offset;
    uint64_t device, inode; /**< of the file; anonymous memory has one, too */
    bool unnamed;           /**< it is anonymous: only processes forked from one that has it have it */
    bool deleted;           /**< the name of the file that was mapped is gone; it may have others */
};

struct shared_memory {
    struct shared_mapping *mappings;
    size_t n, cap;
};

/** Add the shared mappings of the live process `pid`. @return 0, also if they cannot be read; UPMU_E_NOMEM. */
int shared_memory_read(struct shared_memory *m, uint32_t process, pid_t pid);
void shared_memory_free(struct shared_memory *m);

/** The mapping that contains an address of a process; NULL: it is private memory. */
const struct shared_mapping *shared_memory_at(const struct shared_memory *m, uint32_t process, uint64_t address);
/** Hash that identifies the object at an address: equal in all processes that share it; 0 for address 0. */
uint64_t shared_memory_object(const struct shared_memory *m, uint32_t process, uint64_t address);
/** Whether the process has the file of the mapping mapped, too. */
bool shared_memory_has(const struct shared_memory *m, uint32_t process, const struct shared_mapping *file);

/** Whether no further process can come to use the memory that process `pid` has mapped: it is anonymous, or its file has neither a
 *  name nor a descriptor any more. false also if that is not known, which needs privileges. */
bool shared_memory_is_closed(const struct shared_mapping *m, pid_t pid);
/** The next process after `pid` in /proc, in the order of ids, that has the file of the mapping mapped; 0: there is none. A
 *  process whose map cannot be read counts as one that has not. */
pid_t shared_memory_next_user(const struct shared_mapping *file, pid_t pid);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Recordings in memory: a directory in /dev/shm that ends with its process.
 *
 * Its name has the pid namespace, the pid and the start time of the process: directories that a killed process has left are
 * found by them, and removed by the next recording of the same user in memory. A program that another one replaced by exec() has
 * the names of that one, which is gone.
 */
#include "trace/write/memory.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/private_table.h"
#include "trace/format/control.h"

#define MEMORY_ROOT "/dev/shm"
#define MEMORY_PREFIX "upmu-memory-"

struct memory_owner {
    uint64_t namespace;
    pid_t pid;
};

static int memory_remove_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    (void)remove(path);
    return 0;
}

static int memory_remove_tree(void *dir)
{
    enum { DESCRIPTORS = 4 };
    return nftw(dir, memory_remove_file, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

void trace_memory_remove(char *dir)
{
    if (dir[0])
        (void)private_table_run(memory_remove_tree, dir);
    dir[0] = '\0';
}

/* Whether the process with a directory of this name has ended, or was replaced by `owner`. */
static bool memory_is_left(const char *name, const struct memory_owner *owner)
{
    uint64_t namespace, start;
    int pid, end = 0;
    if (sscanf(name, MEMORY_PREFIX "%" SCNu64 "-%d-%" SCNu64 "-%n", &namespace, &pid, &start, &end) != 3 || end == 0)
        return false;
    return namespace == owner->namespace && (pid == owner->pid || !control_same_start(control_start_ticks(pid), start));
}

/* Directories of other users cannot be removed; those of other pid namespaces cannot be judged. */
static int memory_remove_left(void *owner)
{
    char path[sizeof MEMORY_ROOT + NAME_MAX + 1];
    DIR *root = opendir(MEMORY_ROOT);
    const struct dirent *entry;
    if (!root)
        return -errno;
    while ((entry = readdir(root)) != NULL) {
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", MEMORY_ROOT, entry->d_name);
        if (memory_is_left(entry->d_name, owner) && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
            st.st_uid == geteuid())
            (void)memory_remove_tree(path);
    }
    closedir(root);
    return 0;
}

int trace_memory_make(char dir[TRACE_MEMORY_PATH_MAX])
{
    struct stat st;
    struct memory_owner owner = {.pid = getpid()};
    if (stat("/proc/self/ns/pid", &st) == 0)
        owner.namespace = (uint64_t)st.st_ino;
    (void)private_table_run(memory_remove_left, &owner); /* without success they are left to the next one */
    snprintf(dir, TRACE_MEMORY_PATH_MAX, MEMORY_ROOT "/" MEMORY_PREFIX "%" PRIu64 "-%d-%" PRIu64 "-XXXXXX",
             owner.namespace, (int)owner.pid, control_start_ticks(owner.pid));
    if (mkdtemp(dir))
        return 0;
    int err = errno;
    dir[0] = '\0';
    return upmu_fail(UPMU_E_IO, "cannot create a recording in memory (" MEMORY_ROOT "): %s. Name a directory instead.",
                     upmu_errno_name(err));
}

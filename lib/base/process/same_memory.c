/* SPDX-License-Identifier: MIT */
/*
 * Processes with the same memory: clone(CLONE_VM) without CLONE_THREAD, and vfork() until exec().
 *
 * Each may end a wait of the other, and acquires locks as the thread whose thread-local storage it has. Only kcmp() shows
 * them; where it is refused (seccomp, CONFIG_KCMP), equal maps count as the same memory.
 */
#include "base/process/same_memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/process_maps.h"

enum { SAME_MEMORY_KCMP_VM = 1 }; /* KCMP_VM of linux/kcmp.h */

/* @return 1; 0; -1: it cannot be compared. */
static int same_memory_compare(pid_t a, pid_t b)
{
    long order = syscall(SYS_kcmp, (long)a, (long)b, (long)SAME_MEMORY_KCMP_VM, 0L, 0L);
    return order < 0 ? -1 : order == 0;
}

/* Two programs differ in the first line: they are loaded at random addresses. */
static bool same_memory_maps_are_equal(pid_t a, pid_t b)
{
    char one[512], other[512];
    FILE *f = process_maps_open(a), *g = process_maps_open(b);
    bool equal = f && g, more = equal;
    for (size_t lines = 0; more; lines++) {
        more = fgets(one, sizeof one, f) != NULL;
        equal = (fgets(other, sizeof other, g) != NULL) == more && (more ? strcmp(one, other) == 0 : lines > 0);
        more = more && equal;
    }
    if (f)
        (void)fclose(f);
    if (g)
        (void)fclose(g);
    return equal;
}

/* Whether a task has memory: one that has ended has none, as kernel threads have none. */
static bool same_memory_is_there(pid_t pid, pid_t task)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/maps", (int)pid, (int)task);
    FILE *f = fopen(path, "re");
    bool there = f && fgetc(f) != EOF;
    if (f)
        (void)fclose(f);
    return there;
}

/* A thread that has the memory; 0: there is none. */
static pid_t same_memory_task(pid_t pid)
{
    char path[64];
    const struct dirent *entry;
    pid_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    while (dir && found == 0 && (entry = readdir(dir))) {
        pid_t task = (pid_t)strtol(entry->d_name, NULL, 10);
        found = task > 0 && same_memory_is_there(pid, task) ? task : 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

bool same_memory_has(pid_t pid)
{
    const struct dirent *entry;
    pid_t task = same_memory_task(pid);
    if (task == 0)
        return false;
    bool comparable = same_memory_compare(task, task) == 1, found = false;
    DIR *dir = opendir("/proc");
    while (dir && !found && (entry = readdir(dir))) {
        pid_t other = (pid_t)strtol(entry->d_name, NULL, 10);
        if (other > 0 && other != pid)
            found = comparable ? same_memory_compare(task, other) == 1 : same_memory_maps_are_equal(pid, other);
    }
    if (dir)
        closedir(dir);
    return found && same_memory_is_there(pid, task); /* else it may have been killed before it was compared */
}

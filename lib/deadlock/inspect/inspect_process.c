/* SPDX-License-Identifier: MIT */
/*
 * Process id, in this pid namespace, of the process that writes a directory of a recording.
 *
 * A process in another pid namespace records the id that it has there, which may be another process's here. The one that is
 * meant has the control file of the directory mapped.
 */
#include "deadlock/inspect/inspect_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format/control.h"

/* @return 1: the file is among the mappings; 0: it is not; -1: they cannot be read, or the thread has ended. */
static int process_maps_have(const char *maps, ino_t file)
{
    char line[PATH_MAX + 128];
    uint64_t inode;
    int found = 0, lines = 0;
    FILE *f = fopen(maps, "re");
    for (; f && !found && fgets(line, sizeof line, f); lines++) {
        size_t length = strcspn(line, "\n"), tail = strlen("/" CONTROL_FILE);
        found = sscanf(line, "%*s %*s %*s %*s %" SCNu64, &inode) == 1 && inode == file && length > tail &&
                strncmp(line + length - tail, "/" CONTROL_FILE, tail) == 0;
    }
    if (f)
        (void)fclose(f);
    return lines == 0 ? -1 : found;
}

/* Whether it has the file mapped: 1, 0, or -1 if its map cannot be read. That of any thread, because the first may have ended. */
static int process_maps_file(pid_t pid, ino_t file)
{
    char path[64];
    const struct dirent *entry;
    int found = -1;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    while (dir && found < 0 && (entry = readdir(dir))) {
        long task = strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%d/task/%ld/maps", (int)pid, task);
        found = task > 0 ? process_maps_have(path, file) : -1;
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Whether `pid` in this pid namespace is the process that made the control file: if it no longer maps it, it has called exec(), and
 * no other process is searched. */
static bool process_made_file(pid_t pid, const char *path)
{
    struct control_header h;
    int fd = control_open_at(AT_FDCWD, path);
    bool made = fd >= 0 && pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
                control_same_start(h.start_ticks, control_start_ticks(pid));
    if (fd >= 0)
        close(fd);
    return made;
}

static pid_t process_search_inner(pid_t own, ino_t file)
{
    const struct dirent *entry;
    pid_t found = 0;
    DIR *dir = opendir("/proc");
    while (dir && found == 0 && (entry = readdir(dir))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != own && control_inner_pid(pid) == own && process_maps_file(pid, file) == 1)
            found = pid;
    }
    if (dir)
        closedir(dir);
    return found;
}

pid_t inspect_process_of(const char *dir, pid_t own)
{
    char path[PATH_MAX];
    struct stat st;
    if (snprintf(path, sizeof path, "%s/" CONTROL_FILE, dir) >= (int)sizeof path || stat(path, &st) != 0)
        return 0;
    int maps = process_maps_file(own, st.st_ino);
    if (maps == 1)
        return own;
    return maps == 0 && process_made_file(own, path) ? 0 : process_search_inner(own, st.st_ino);
}

/* SPDX-License-Identifier: MIT */
/*
 * Control files of running processes.
 *
 * A recording process has its control file mapped. A forked child that has not recorded yet maps its parent's: the start
 * time in the file identifies the owner.
 */
#include "trace/control/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process/process_maps.h"
#include "trace/format/control.h"
#include "trace/read/packets.h"

#define CONTROL_TAIL "/" CONTROL_FILE

/* The path in a line of /proc/PID/maps, with newlines as \012, cut before the file name; NULL if it is not a control file.
 * Points into `line`. */
static char *maps_line_directory(char *line)
{
    char *path = strchr(line, '/'), *to;
    if (!path)
        return NULL;
    path[strcspn(path, "\n")] = '\0';
    size_t len = strlen(path), tail = strlen(CONTROL_TAIL);
    if (len <= tail || strcmp(path + len - tail, CONTROL_TAIL) != 0)
        return NULL;
    path[len - tail] = '\0';
    to = path;
    for (const char *p = path; *p; p++) {
        bool newline = strncmp(p, "\\012", 4) == 0;
        *to++ = newline ? '\n' : *p;
        p += newline ? 3 : 0;
    }
    *to = '\0';
    return path;
}

/* Where the process sees `path`, if that is not the same here: it may be in a container, with mounts of its own. Else `path`. NULL: out of
 * memory. To be freed. */
static char *directory_here(pid_t pid, const char *path)
{
    struct stat theirs, ours;
    char *there;
    if (asprintf(&there, "/proc/%d/root%s", (int)pid, path) < 0)
        return NULL;
    if (stat(there, &theirs) == 0 &&
        (stat(path, &ours) != 0 || ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino))
        return there;
    free(there);
    return strdup(path);
}

/* A process of another pid namespace may have seen another process's start time, under its own id. @return 1 if the control
 * file in `dir` belongs to the process that began at `start`, or has the id `inner` in its namespace, unless that is 0; 0 if
 * not; UPMU_E_IO, UPMU_E_NOMEM. */
static int control_is_of_process(const char *dir, uint64_t start, pid_t inner)
{
    struct control_header h;
    char *path = NULL;
    if (asprintf(&path, "%s" CONTROL_TAIL, dir) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the path of the control file in \"%s\"", dir);
    int fd = packets_open(path);
    int rc = fd < 0 ? fd : packets_read(fd, &h, sizeof h, 0);
    if (fd >= 0)
        close(fd);
    if (rc != 0)
        rc = packets_io_failed(path, -rc);
    else
        rc = memcmp(h.magic, CONTROL_MAGIC, sizeof h.magic) == 0 &&
             (control_same_start(h.start_ticks, start) || (inner != 0 && (pid_t)h.pid == inner));
    free(path);
    return rc;
}

static int maps_failed(pid_t pid, const char *maps, int err)
{
    if (err == ENOENT || err == ESRCH)
        return upmu_fail(UPMU_E_GONE, "there is no process %d", (int)pid);
    if (err == EACCES || err == EPERM)
        return upmu_fail(
            UPMU_E_PERM,
            "cannot inspect process %d: it belongs to another user, or has more privileges than this command",
            (int)pid);
    return packets_io_failed(maps, err);
}

/* @return 1 and the directory, 0 if there is none, or an error. */
static int maps_search(FILE *maps, const char *name, pid_t pid, char **dir)
{
    char *line = NULL;
    size_t capacity = 0;
    uint64_t start = control_start_ticks(pid);
    pid_t inner = control_inner_pid(pid);
    int rc = 0;
    while (rc == 0 && getline(&line, &capacity, maps) > 0) {
        const char *found = maps_line_directory(line);
        char *here = found ? directory_here(pid, found) : NULL;
        if (found && !here)
            rc = upmu_fail(UPMU_E_NOMEM, "out of memory for a path");
        else if (found)
            rc = control_is_of_process(here, start, inner == pid ? 0 : inner);
        if (rc > 0)
            *dir = here;
        else
            free(here);
    }
    if (rc == 0 && ferror(maps))
        rc = maps_failed(pid, name, errno);
    free(line);
    return rc;
}

int control_find(pid_t pid, char **dir)
{
    char path[40];
    *dir = NULL;
    if (pid <= 0)
        return upmu_fail(UPMU_E_GONE, "there is no process %d", (int)pid);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = process_maps_open(pid);
    if (!maps)
        return maps_failed(pid, path, errno);
    int rc = maps_search(maps, path, pid, dir);
    (void)fclose(maps); /* read only */
    if (rc == 0)
        return upmu_fail(UPMU_E_STATE,
                         "process %d records nothing: it was not started by \"upmu record\", nor with UPMU_TRACE set",
                         (int)pid);
    return rc < 0 ? rc : 0;
}

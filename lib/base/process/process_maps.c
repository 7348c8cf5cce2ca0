/* SPDX-License-Identifier: MIT */
/* The memory map of another process, of its first thread or any other. */
#include "base/process/process_maps.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool process_maps_are_empty(FILE *f)
{
    int c = getc(f);
    return c == EOF ? !ferror(f) : ungetc(c, f) == EOF;
}

/* The map of any thread; NULL if all have ended. */
static FILE *process_maps_of_threads(pid_t pid)
{
    char path[64];
    const struct dirent *entry;
    FILE *found = NULL;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    while (dir && !found && (entry = readdir(dir))) {
        long task = strtol(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%d/task/%ld/maps", (int)pid, task);
        found = task > 0 ? fopen(path, "re") : NULL;
        if (found && process_maps_are_empty(found)) {
            (void)fclose(found); /* read only */
            found = NULL;
        }
    }
    if (dir)
        closedir(dir);
    return found;
}

FILE *process_maps_open(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    FILE *other = f && process_maps_are_empty(f) ? process_maps_of_threads(pid) : NULL;
    if (other) {
        (void)fclose(f);
        return other;
    }
    return f;
}

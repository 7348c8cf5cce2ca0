/* SPDX-License-Identifier: MIT */
/* Lists of processes, threads and CPUs for upmu stat. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/memory.h"
#include "stat.h"

enum { LIST_MAX = 4096 };

bool stat_ids_has(const struct stat_ids *ids, int id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (ids->id[i] == id)
            return true;
    return false;
}

static void targets_ids_put(struct stat_ids *ids, int id)
{
    if (stat_ids_has(ids, id))
        return;
    ids->id = memory_resize(ids->id, ids->n + 1, sizeof *ids->id);
    ids->id[ids->n++] = id;
}

void stat_ids_free(struct stat_ids *ids)
{
    free(ids->id);
    *ids = (struct stat_ids){0};
}

/* A number at *text, which is moved behind it. */
static bool targets_ids_number(const char **text, long *out)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    *out = strtol(*text, &end, 10);
    *text = end;
    return *out <= INT_MAX;
}

bool stat_ids_add(struct stat_ids *ids, const char *list, bool ranges)
{
    for (;;) {
        long first, last;
        if (!targets_ids_number(&list, &first))
            return false;
        last = first;
        if (ranges && *list == '-') {
            list++;
            if (!targets_ids_number(&list, &last) || last < first || last - first > LIST_MAX)
                return false;
        }
        for (long id = first; id <= last; id++)
            targets_ids_put(ids, (int)id);
        if (*list == '\0')
            return true;
        if (*list++ != ',')
            return false;
    }
}

/* One line of a file. @return whether there is one. */
static bool targets_read_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    bool read = file && fgets(text, (int)size, file);
    if (file)
        (void)fclose(file); /* read only: no error is lost */
    if (read)
        text[strcspn(text, "\n")] = '\0';
    return read;
}

bool stat_ids_online(struct stat_ids *ids)
{
    char list[LIST_MAX];
    if (targets_read_line("/sys/devices/system/cpu/online", list, sizeof list) && stat_ids_add(ids, list, true))
        return true;
    complain("/sys/devices/system/cpu/online does not list the CPUs; name them with -C");
    return false;
}

bool stat_ids_threads(struct stat_ids *ids, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (isdigit((unsigned char)entry->d_name[0]))
            targets_ids_put(ids, atoi(entry->d_name));
    closedir(dir);
    return true;
}

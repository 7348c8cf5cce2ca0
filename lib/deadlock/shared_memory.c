/* SPDX-License-Identifier: MIT */
/*
 * Memory that processes share, by the files that they have mapped.
 *
 * An object in shared memory has an address of its own in each process. Device, inode and offset are the same in all; the
 * kernel gives anonymous shared memory and System V segments an inode as well.
 */
#include "deadlock/shared_memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/error.h"
#include "base/map.h"
#include "base/process/process_maps.h"

/* Parses "low-high rwxs offset major:minor inode   path". @return false if it is another mapping. */
static bool shared_mapping_parse(const char *line, struct shared_mapping *out)
{
    char how[5];
    unsigned major, minor;
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &out->low, &out->high, how,
               &out->offset, &major, &minor, &out->inode, &path) < 7 ||
        how[3] != 's' || path == 0)
        return false;
    static const char anonymous[] = "/dev/zero (deleted)\n", segment[] = "/SYSV", deleted[] = " (deleted)\n";
    size_t n = strlen(line + path), end = sizeof deleted - 1;
    out->device = (uint64_t)major << 32 | minor;
    out->unnamed = strcmp(line + path, anonymous) == 0;
    out->deleted = n >= end && strcmp(line + path + n - end, deleted) == 0 &&
                   strncmp(line + path, segment, sizeof segment - 1) != 0; /* has an id that others may use */
    return true;
}

int shared_memory_read(struct shared_memory *m, uint32_t process, pid_t pid)
{
    char line[PATH_MAX + 128];
    int rc = 0;
    FILE *f = process_maps_open(pid);
    while (f && rc == 0 && fgets(line, sizeof line, f)) {
        struct shared_mapping one = {.process = process};
        if (!shared_mapping_parse(line, &one))
            continue;
        struct shared_mapping *all = array_reserve(m->mappings, m->n, &m->cap, sizeof *all);
        if (!all)
            rc = upmu_fail(UPMU_E_NOMEM, "out of memory while searching for deadlocks");
        else
            (m->mappings = all)[m->n++] = one;
    }
    if (f)
        (void)fclose(f);
    return rc;
}

void shared_memory_free(struct shared_memory *m)
{
    free(m->mappings);
    *m = (struct shared_memory){0};
}

const struct shared_mapping *shared_memory_at(const struct shared_memory *m, uint32_t process, uint64_t address)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->mappings[i].process == process && address >= m->mappings[i].low && address < m->mappings[i].high)
            return &m->mappings[i];
    return NULL;
}

static uint64_t shared_memory_mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 29;
}

uint64_t shared_memory_object(const struct shared_memory *m, uint32_t process, uint64_t address)
{
    const struct shared_mapping *in = address ? shared_memory_at(m, process, address) : NULL;
    if (address == 0)
        return 0;
    if (!in)
        return shared_memory_mix(shared_memory_mix(process, 1), address);
    return shared_memory_mix(shared_memory_mix(in->device, in->inode), address - in->low + in->offset);
}

static bool shared_mapping_is_of(const struct shared_mapping *a, const struct shared_mapping *b)
{
    return a->device == b->device && a->inode == b->inode;
}

bool shared_memory_has(const struct shared_memory *m, uint32_t process, const struct shared_mapping *file)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->mappings[i].process == process && shared_mapping_is_of(&m->mappings[i], file))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------ who may come to use it */

static bool shared_mapping_is_file(const struct shared_mapping *m, const struct stat *s)
{
    return s->st_ino == m->inode && major(s->st_dev) == m->device >> 32 && minor(s->st_dev) == (uint32_t)m->device;
}

/* Whether the process has a descriptor of the file, or that is not known. */
static bool process_may_have_open(const char *pid, const struct shared_mapping *file)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    struct stat s;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *dir = opendir(path);
    if (!dir)
        return errno != ENOENT && errno != ESRCH;
    while (!found && (entry = readdir(dir)))
        found = fstatat(dirfd(dir), entry->d_name, &s, 0) == 0 && shared_mapping_is_file(file, &s);
    closedir(dir);
    return found;
}

static bool shared_mapping_is_open(const struct shared_mapping *file)
{
    const struct dirent *entry;
    DIR *dir = opendir("/proc");
    bool found = !dir;
    while (!found && (entry = readdir(dir)))
        found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && process_may_have_open(entry->d_name, file);
    if (dir)
        closedir(dir);
    return found;
}

bool shared_memory_is_closed(const struct shared_mapping *m, pid_t pid)
{
    char path[PATH_MAX];
    struct stat s;
    if (m->unnamed || !m->deleted)
        return m->unnamed;
    /* The name of a mapping may be one of several, as that of sem_open() is. */
    snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->low, m->high);
    return stat(path, &s) == 0 && shared_mapping_is_file(m, &s) && s.st_nlink == 0 && !shared_mapping_is_open(m);
}

static bool process_has_mapped(pid_t pid, const struct shared_mapping *file)
{
    char line[PATH_MAX + 128];
    bool found = false;
    FILE *f = process_maps_open(pid);
    while (f && !found && fgets(line, sizeof line, f)) {
        struct shared_mapping one;
        found = shared_mapping_parse(line, &one) && shared_mapping_is_of(&one, file);
    }
    if (f)
        (void)fclose(f);
    return found;
}

pid_t shared_memory_next_user(const struct shared_mapping *file, pid_t pid)
{
    const struct dirent *entry;
    pid_t next = 0;
    DIR *dir = opendir("/proc");
    while (dir && (entry = readdir(dir))) {
        pid_t one = (pid_t)strtol(entry->d_name, NULL, 10);
        if (one > pid && (next == 0 || one < next) && process_has_mapped(one, file))
            next = one;
    }
    if (dir)
        closedir(dir);
    return next;
}

/* SPDX-License-Identifier: MIT */
/*
 * Records of what a running process has mapped, and of the names of its threads.
 *
 * The kernel reports mappings and names when they change; for those made before, the same records are written from /proc.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampling/sampling.h"

enum { PATH_BYTES = 4096, COMM_BYTES = 16, WORD = 8 };

/** What follows each record that is no sample: the fields of sample_type that it shares with samples. */
struct record_tail {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
};

struct map_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t start, bytes, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
    char path[PATH_BYTES + sizeof(struct record_tail)];
};

struct comm_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    char name[COMM_BYTES + sizeof(struct record_tail)];
};

/* Ends a record whose text begins at `text`, and writes it. */
static void describe_write(struct upmu_sampler *s, struct perf_event_header *h, char *text, pid_t pid, pid_t tid)
{
    size_t n = (strlen(text) / WORD + 1) * WORD;
    const struct record_tail tail = {
        .pid = (uint32_t)pid, .tid = (uint32_t)tid, .time = s->header.raw_ns, .cpu = UINT32_MAX};
    memcpy(text + n, &tail, sizeof tail);
    h->size = (uint16_t)((size_t)(text - (char *)h) + n + sizeof tail);
    sampling_write(s, h, h->size);
}

static void describe_mapping(struct upmu_sampler *s, pid_t pid, const char *line)
{
    struct map_record r = {.header.type = PERF_RECORD_MMAP2, .pid = (uint32_t)pid, .tid = (uint32_t)pid};
    uint64_t end;
    char rights[5] = "";
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &r.start, &end, rights, &r.offset, &path) <
        4)
        return;
    if (rights[2] != 'x' || path == 0)
        return;
    r.bytes = end - r.start;
    r.protection = 5;
    size_t n = strcspn(line + path, "\n");
    memcpy(r.path, line + path, n < PATH_BYTES ? n : PATH_BYTES - 1);
    if (r.path[0] == '\0')
        memcpy(r.path, "//anon", sizeof "//anon");
    describe_write(s, &r.header, r.path, pid, pid);
}

static int describe_mappings(struct upmu_sampler *s, pid_t pid)
{
    char path[64], line[PATH_BYTES + 128];
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT ? -ESRCH : -errno;
    while (fgets(line, sizeof line, f))
        describe_mapping(s, pid, line);
    int rc = ferror(f) ? -EIO : 0;
    (void)fclose(f); /* it was read only */
    return rc;
}

static void describe_thread(struct upmu_sampler *s, pid_t pid, pid_t tid)
{
    char path[64];
    struct comm_record r = {.header.type = PERF_RECORD_COMM, .pid = (uint32_t)pid, .tid = (uint32_t)tid};
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/comm", (long)pid, (long)tid);
    FILE *f = fopen(path, "re");
    if (!f)
        return; /* it has ended */
    if (fgets(r.name, COMM_BYTES, f)) {
        r.name[strcspn(r.name, "\n")] = '\0';
        describe_write(s, &r.header, r.name, pid, tid);
    }
    (void)fclose(f);
}

int sampling_describe(struct upmu_sampler *s, pid_t pid)
{
    char path[64];
    const struct dirent *entry;
    int rc = describe_mappings(s, pid);
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = rc == 0 ? opendir(path) : NULL;
    if (!tasks)
        return rc != 0 ? rc : -errno;
    while ((entry = readdir(tasks)) != NULL) {
        long tid = strtol(entry->d_name, NULL, 10);
        if (tid > 0)
            describe_thread(s, pid, (pid_t)tid);
    }
    closedir(tasks);
    return 0;
}

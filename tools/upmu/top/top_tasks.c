/* SPDX-License-Identifier: MIT */
/* Scheduler statistics of the threads of a process, from /proc. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "top.h"

FILE *top_task_open(pid_t pid, pid_t tid, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/%s", (long)pid, (long)tid, name);
    return fopen(path, "re");
}

/* @return false if the task is gone, or the kernel has no such file. */
static bool task_read_times(pid_t pid, struct top_task *t)
{
    FILE *f = top_task_open(pid, t->tid, "schedstat");
    bool read = f && fscanf(f, "%" SCNu64 " %" SCNu64, &t->run_ns, &t->ready_ns) == 2;
    if (f)
        (void)fclose(f);
    return read;
}

static bool task_read_switches(pid_t pid, struct top_task *t)
{
    char line[256];
    int found = 0;
    FILE *f = top_task_open(pid, t->tid, "status");
    while (f && fgets(line, sizeof line, f)) {
        found += sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &t->voluntary) == 1;
        found += sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &t->involuntary) == 1;
    }
    if (f)
        (void)fclose(f);
    return found == 2;
}

static int task_compare(const void *a, const void *b)
{
    pid_t x = ((const struct top_task *)a)->tid, y = ((const struct top_task *)b)->tid;
    return x < y ? -1 : x > y;
}

void top_tasks_read(struct top_tasks *t, pid_t pid)
{
    char path[64];
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *dir = opendir(path);
    t->n = 0;
    while (dir && (entry = readdir(dir))) {
        struct top_task task = {.tid = (pid_t)strtol(entry->d_name, NULL, 10)};
        if (task.tid <= 0 || !task_read_times(pid, &task) || !task_read_switches(pid, &task))
            continue;
        if (t->n == t->cap) {
            t->cap = t->cap ? t->cap * 2 : 64;
            t->all = memory_resize(t->all, t->cap, sizeof *t->all);
        }
        t->all[t->n++] = task;
    }
    if (dir)
        closedir(dir);
    if (t->n > 0)
        qsort(t->all, t->n, sizeof *t->all, task_compare);
}

const struct top_task *top_task_find(const struct top_tasks *t, pid_t tid)
{
    const struct top_task wanted = {.tid = tid};
    return t->n > 0 ? bsearch(&wanted, t->all, t->n, sizeof *t->all, task_compare) : NULL;
}

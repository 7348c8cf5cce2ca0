/* SPDX-License-Identifier: MIT */
/* Children of a process that may be deadlocked while it waits for them. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "ui/command.h"
#include "deadlock.h"

enum { CHILDREN_DEPTH = 16 };

struct children_search {
    int (*run)(void *arg, pid_t child);
    void *arg;
    unsigned depth;
};

static int children_of(struct children_search *s, pid_t pid);

static int children_of_thread(struct children_search *s, pid_t pid, const char *tid)
{
    char path[64];
    long child;
    int status = EXIT_OK;
    snprintf(path, sizeof path, "/proc/%ld/task/%.20s/children", (long)pid, tid);
    FILE *f = fopen(path, "re");
    while (f && status == EXIT_OK && fscanf(f, "%ld", &child) == 1) { // NOLINT(cert-err34-c): written by the kernel
        status = s->run(s->arg, (pid_t)child);
        if (status == EXIT_OK)
            status = children_of(s, (pid_t)child);
    }
    if (f)
        fclose(f);
    return status;
}

static int children_of(struct children_search *s, pid_t pid)
{
    char path[64];
    int status = EXIT_OK;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = s->depth < CHILDREN_DEPTH ? opendir(path) : NULL;
    const struct dirent *task;
    s->depth++;
    while (tasks && status == EXIT_OK && (task = readdir(tasks)) != NULL)
        if (task->d_name[0] != '.')
            status = children_of_thread(s, pid, task->d_name);
    s->depth--;
    if (tasks)
        closedir(tasks);
    return status;
}

int deadlock_children(pid_t pid, int (*run)(void *arg, pid_t child), void *arg)
{
    struct children_search s = {.run = run, .arg = arg};
    return children_of(&s, pid);
}

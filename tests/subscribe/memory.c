/* SPDX-License-Identifier: MIT */
/* Recordings in memory: a program reads its own events and sums, each process has a directory of its own, and none is left. */
#include <signal.h>
#include <sys/wait.h>

#include "support/behavior.h"
#include "upmu/subscription.h"
#include "upmu/sync.h"

#define MUST(condition) CHECK(condition, "%s", upmu_error())

enum { MARKS = 200, DEADLINE_MS = 60000 };

/* Directories in memory of a process. */
static int directories_of(pid_t pid)
{
    DIR *root = opendir("/dev/shm");
    const struct dirent *entry;
    int n = 0;
    MUST(root != NULL);
    while ((entry = readdir(root)) != NULL) {
        unsigned long long namespace;
        int owner;
        n += sscanf(entry->d_name, "upmu-memory-%llu-%d-", &namespace, &owner) == 2 && owner == pid;
    }
    closedir(root);
    return n;
}

static int status_of(pid_t child)
{
    int status;
    MUST(waitpid(child, &status, 0) == child);
    return status;
}

/* Killed while it records: its directory stays. */
static pid_t kill_a_recorded_process(void)
{
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        const struct upmu_region_opts opts = {.size = sizeof opts, .trace = UPMU_TRACE_MEMORY};
        MUST(upmu_region_setup(&opts) == 0);
        upmu_mark("never read");
        raise(SIGKILL);
    }
    int status = status_of(child);
    MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    MUST(directories_of(child) == 1);
    return child;
}

static void read_own_marks(void)
{
    const int kinds[] = {UPMU_TRACE_MARK};
    const struct upmu_trace_filter_opts filter = {.size = sizeof filter, .kinds = kinds, .n_kinds = 1};
    const struct upmu_subscription_opts opts = {.size = sizeof opts, .filter = &filter, .interval_ms = 5};
    const struct upmu_trace_event *events[7];
    struct upmu_subscription *s;
    char text[32];
    for (int i = 0; i < MARKS; i++) {
        snprintf(text, sizeof text, "mark %d", i);
        upmu_mark(text); /* the first one of a forked child begins its recording */
        if (i == 0)
            MUST(upmu_subscription_open(&s, &opts) == 0);
    }
    for (int next = 0; next < MARKS;) {
        int n = upmu_subscription_read(s, events, 7, DEADLINE_MS);
        MUST(n > 0);
        for (int i = 0; i < n; i++, next++) {
            snprintf(text, sizeof text, "mark %d", next);
            MUST(strcmp(events[i]->name, text) == 0 && events[i]->pid == getpid());
        }
    }
    upmu_subscription_close(s);
}

/* A forked child has a recording of its own, and leaves that of its parent alone. */
static void fork_a_recorded_process(void)
{
    const pid_t parent = getpid();
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        read_own_marks();
        MUST(directories_of(getpid()) == 1 && directories_of(parent) == 1);
        exit(0);
    }
    MUST(status_of(child) == 0);
    MUST(directories_of(child) == 0 && directories_of(parent) == 1);
    child = fork(); /* one that records nothing */
    MUST(child >= 0);
    if (child == 0)
        exit(0);
    MUST(status_of(child) == 0 && directories_of(parent) == 1);
}

static void use_memory(pid_t killed)
{
    char here[] = "/tmp/upmu-memory-test-XXXXXX";
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = UPMU_TRACE_MEMORY};
    MUST(mkdtemp(here) != NULL && chdir(here) == 0);
    MUST(upmu_sync_begin(&opts) >= 0);
    MUST(directories_of(killed) == 0 && directories_of(getpid()) == 1);
    read_own_marks();
    fork_a_recorded_process();
    MUST(upmu_sync_end() >= 0);
    MUST(rmdir(here) == 0); /* nothing was written there */
}

int main(void)
{
    if (access("/dev/shm", W_OK) != 0) {
        printf("skipped, because /dev/shm is not writable here\n");
        return EXIT_SKIPPED;
    }
    pid_t killed = kill_a_recorded_process();
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        use_memory(killed);
        exit(0);
    }
    MUST(status_of(child) == 0);
    MUST(directories_of(child) == 0);
    return 0;
}

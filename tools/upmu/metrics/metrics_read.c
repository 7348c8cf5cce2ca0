/* SPDX-License-Identifier: MIT */
/* Reading of recorded processes for upmu metrics. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "ui/memory.h"

static char *metrics_command(pid_t pid)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    FILE *f = fopen(path, "re");
    if (f && !fgets(name, sizeof name, f))
        name[0] = '\0';
    if (f)
        (void)fclose(f);
    name[strcspn(name, "\n")] = '\0';
    return memory_copy(name);
}

int metrics_open(struct metrics_process *p, pid_t pid, size_t top)
{
    *p = (struct metrics_process){.pid = pid, .status.size = sizeof p->status};
    int rc = upmu_control_open_pid(&p->control, pid);
    if (rc == 0)
        rc = upmu_control_status_read(p->control, 0, &p->status);
    if (rc == 0)
        rc = upmu_monitor_open(&p->monitor, p->status.dir);
    if (rc == 0)
        rc = upmu_monitor_update(p->monitor);
    if (rc == 0)
        rc = upmu_deadlock_watch_open(&p->watch, p->status.dir);
    if (rc != 0) {
        metrics_close(p);
        return rc;
    }
    size_t n = upmu_monitor_lock_count(p->monitor);
    p->n_locks = n < top ? n : top;
    p->command = metrics_command(pid);
    top_tasks_read(&p->tasks, pid);
    return 0;
}

void metrics_close(struct metrics_process *p)
{
    upmu_deadlock_watch_close(p->watch);
    upmu_monitor_close(p->monitor);
    upmu_control_close(p->control);
    free(p->tasks.all);
    free(p->command);
}

static void metrics_count_deadlocked(struct metrics_process *p)
{
    struct upmu_deadlocks *deadlocks;
    struct upmu_deadlock d = {.size = sizeof d};
    if (upmu_deadlock_watch_take(p->watch, &deadlocks) != 0)
        return;
    for (size_t i = 0; upmu_deadlocks_at(deadlocks, i, &d) == 0; i++)
        if (d.certainty == UPMU_DEADLOCK_CERTAIN && !d.suppressed)
            p->n_deadlocked += d.n_threads;
    upmu_deadlocks_close(deadlocks);
}

/* A deadlock is certain when two snapshots are the same. */
void metrics_find_deadlocks(struct metrics_process *all, size_t n)
{
    enum { SNAPSHOTS = 2, BETWEEN_MS = 100 };
    const char *process;
    for (int snapshot = 0; snapshot < SNAPSHOTS && n > 0; snapshot++) {
        if (snapshot > 0)
            (void)poll(NULL, 0, BETWEEN_MS);
        for (size_t i = 0; i < n; i++)
            if (upmu_deadlock_watch_poll(all[i].watch, &process) > 0)
                metrics_count_deadlocked(&all[i]);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Processes that use the shared memory in which a thread waits, and those whose end one waits for.
 *
 * They may be of another recording, of this one if a single process is analyzed, or of none. They are not reported themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "deadlock/deadlocks.h"
#include "deadlock/shared_memory.h"
#include "trace/format/control.h"
#include "upmu/control.h"

static bool users_have(const struct upmu_deadlocks *d, pid_t pid)
{
    for (size_t i = 0; i < d->n_processes; i++)
        if (d->processes[i].outer_pid == pid)
            return true;
    return false;
}

/* Sets the directory of a recorded process. @return false without memory. */
static bool users_find_recording(struct dl_process *p)
{
    struct upmu_control *control;
    struct upmu_control_status status = {.size = sizeof status};
    if (upmu_control_open_pid(&control, p->outer_pid) != 0)
        return true;
    bool found = upmu_control_status_read(control, 0, &status) == 0 && status.running;
    if (found) {
        p->pid = status.pid;
        p->dir = strdup(status.dir);
    }
    upmu_control_close(control);
    return !found || p->dir;
}

static int users_add(struct upmu_deadlocks *d, pid_t pid)
{
    struct dl_process *all = users_have(d, pid) ? NULL : realloc(d->processes, (d->n_processes + 1) * sizeof *all);
    if (!all)
        return users_have(d, pid) ? 0 : deadlocks_no_memory();
    d->processes = all;
    struct dl_process *p = &all[d->n_processes++];
    *p = (struct dl_process){.pid = control_inner_pid(pid), .outer_pid = pid, .alive = true};
    int rc = users_find_recording(p) ? deadlocks_read_wait_state(p, p->dir) : deadlocks_no_memory();
    p->alive = rc == 0;
    return rc == UPMU_E_NOMEM ? rc : 0;
}

/* Adds those of the memory in which a thread of process `i` waits. */
static int users_add_of(struct upmu_deadlocks *d, size_t i, struct shared_memory *m)
{
    int rc = shared_memory_read(m, (uint32_t)i, d->processes[i].outer_pid);
    for (size_t k = 0; rc == 0 && k < d->processes[i].wait_state.file.n_threads; k++) {
        const struct wait_state *s = &d->processes[i].wait_state;
        const struct shared_mapping *in = deadlocks_thread_waits_for_shared(s, &s->file.threads[k])
                                              ? shared_memory_at(m, (uint32_t)i, s->file.threads[k].head.object)
                                              : NULL;
        pid_t pid = 0;
        while (rc == 0 && in && (pid = shared_memory_next_user(in, pid)) != 0)
            rc = users_add(d, pid);
    }
    return rc;
}

/* Adds those whose end a thread of process `i` waits for. */
static int users_add_children(struct upmu_deadlocks *d, size_t i)
{
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < d->processes[i].wait_state.kernel.n_threads; k++) {
        const struct kernel_view *v = &d->processes[i].wait_state.kernel;
        pid_t children[KERNEL_CHILDREN];
        bool all;
        size_t n = kernel_children(v, &v->threads[k], children, &all);
        for (size_t c = 0; rc == 0 && c < n; c++)
            rc = users_add(d, children[c]);
    }
    return rc;
}

int deadlocks_add_users(struct upmu_deadlocks *d)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < d->n_processes; i++) {
        struct shared_memory m = {0};
        if (d->processes[i].outer_pid != 0 && deadlocks_wait_for_shared(&d->processes[i].wait_state))
            rc = users_add_of(d, i, &m);
        if (rc == 0)
            rc = users_add_children(d, i);
        shared_memory_free(&m);
    }
    return rc;
}

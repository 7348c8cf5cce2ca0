/* SPDX-License-Identifier: MIT */
/*
 * Repeated search for deadlocks across ranks that run.
 *
 * Waiting ranks spin, so that the kernel shows nothing. A rank in a call that does not return records no event: once some ranks have
 * recorded none for a second, the recording is read. What is found is reported if these ranks have recorded none until then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "mpi_job/job.h"
#include "upmu/control.h"

enum { POLLS = 3, READ_SHARE = 20, RAN_MS = 50 };

struct watch_process {
    pid_t pid;
    uint64_t events;   /**< when it was last seen */
    uint64_t since_ns; /**< it has had as many since then */
    uint64_t cpu_ms;   /**< that it had used by then; UINT64_MAX: unknown */
    bool ran;          /**< it has used the CPU since then */
    bool running;
};

struct upmu_mpi_watch {
    char *dir;
    uint64_t polls, next_ns; /**< no search before that time */
    uint64_t searched;       /**< hash of the silent processes at the last search */
    struct watch_process *processes;
    size_t n_processes, cap_processes;
    struct map reported;
};

static uint64_t watch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int upmu_mpi_watch_open(struct upmu_mpi_watch **watch, const char *dir)
{
    if (watch)
        *watch = NULL;
    if (!watch || !dir)
        return ARGUMENT_NULL(watch, dir);
    struct upmu_mpi_watch *w = calloc(1, sizeof *w);
    char *copy = w ? strdup(dir) : NULL;
    if (!copy) {
        free(w);
        return upmu_fail(UPMU_E_NOMEM, "out of memory while watching MPI ranks");
    }
    w->dir = copy;
    *watch = w;
    return 0;
}

void upmu_mpi_watch_close(struct upmu_mpi_watch *w)
{
    if (!w)
        return;
    map_free(&w->reported);
    free(w->processes);
    free(w->dir);
    free(w);
}

/* State and CPU time of a process; `state` is 0 if it cannot be read. */
static uint64_t process_cpu_ms(pid_t pid, char *state)
{
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    enum { MS_PER_S = 1000 };
    *state = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        (void)fclose(f);
    text[n] = '\0';
    const char *name_end = strrchr(text, ')'); /* a name may have any characters */
    if (!name_end ||
        sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", state, &user, &system) != 3)
        return UINT64_MAX;
    return (uint64_t)(user + system) * MS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
}

static struct watch_process *watch_find(const struct upmu_mpi_watch *w, pid_t pid)
{
    for (size_t i = 0; i < w->n_processes; i++)
        if (w->processes[i].pid == pid)
            return &w->processes[i];
    return NULL;
}

/* Notes the events of all processes. @return 0; UPMU_E_NOMEM. */
static int watch_update(struct upmu_mpi_watch *w, uint64_t now)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    int rc = 0;
    if (upmu_control_open(&control, w->dir) != 0)
        return 0;
    for (size_t i = 0; rc == 0 && i < upmu_control_process_count(control); i++) {
        if (upmu_control_status_read(control, i, &s) != 0)
            continue;
        struct watch_process *p = watch_find(w, s.pid);
        char state;
        if (!p) {
            p = job_grow(&w->processes, &w->n_processes, &w->cap_processes, sizeof *w->processes);
            rc = p ? 0 : UPMU_E_NOMEM;
        }
        if (!p)
            break;
        if (p->pid == 0 || p->events != s.events)
            *p = (struct watch_process){
                .pid = s.pid, .events = s.events, .since_ns = now, .cpu_ms = process_cpu_ms(s.pid, &state)};
        p->running = s.running != 0;
    }
    upmu_control_close(control);
    return rc;
}

/* It has used the CPU since it recorded something, or sleeps: it is not merely out of turn, or stopped. */
static bool process_ran(struct watch_process *p)
{
    char state;
    uint64_t cpu_ms = p->ran ? 0 : process_cpu_ms(p->pid, &state);
    p->ran = p->ran || state == 'S' || (state == 'R' && p->cpu_ms != UINT64_MAX && cpu_ms >= p->cpu_ms + RAN_MS);
    return p->ran;
}

static bool watch_ran(void *arg, pid_t pid)
{
    struct watch_process *p = watch_find(arg, pid);
    return p && process_ran(p);
}

/* A hash of the processes without events for a second, and of what else a search goes by: whether they ran meanwhile, or the time is over
 * after which that no longer counts. 0: none. */
static uint64_t watch_silent(struct upmu_mpi_watch *w, uint64_t now)
{
    uint64_t h = 0;
    for (size_t i = 0; i < w->n_processes; i++) {
        struct watch_process *p = &w->processes[i];
        uint64_t silent_s = (now - p->since_ns) / NS_PER_S;
        if (!p->running || silent_s < 1)
            continue;
        uint64_t evidence = process_ran(p) ? 1 : silent_s >= JOB_LASTS_S ? 2 : 0;
        h += ((uint64_t)p->pid << 32 ^ p->events << 2 ^ evidence) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    }
    return h;
}

/* The ranks of a deadlock had the same number of events before and after it was looked for. `before` is by `processes`. */
static bool deadlock_is_confirmed(const struct upmu_mpi_watch *w, const struct upmu_mpi *m, size_t index,
                                  const uint64_t *before, size_t n_before)
{
    const struct job_deadlock *d = &m->deadlocks[index];
    for (uint32_t k = 0; k < d->n; k++) {
        const struct job_rank *r = m->ranks[m->deadlock_threads[d->first + k].rank];
        const struct watch_process *p = watch_find(w, r->pid);
        size_t at = p ? (size_t)(p - w->processes) : n_before;
        if (at >= n_before || before[at] != p->events || !r->evidence.running)
            return false;
    }
    return true;
}

/* @return 1: it was not reported; 0; UPMU_E_NOMEM. */
static int deadlock_is_new(struct upmu_mpi_watch *w, const struct upmu_mpi *m, size_t index)
{
    const struct job_deadlock *d = &m->deadlocks[index];
    uint64_t h = 0;
    for (uint32_t k = 0; k < d->n; k++) {
        const struct job_deadlock_thread *t = &m->deadlock_threads[d->first + k];
        h ^= ((uint64_t)t->tid << 32 ^ t->since_ns) * UINT64_C(0x9e3779b97f4a7c15);
    }
    if (map_find(&w->reported, h, 0) != MAP_NONE)
        return 0;
    return map_put(&w->reported, h, 0, 1) ? 1 : upmu_fail(UPMU_E_NOMEM, "out of memory while watching MPI ranks");
}

/* A later search, also after the end of the job, is to find the deadlock by the same evidence. */
static void watch_save(const struct upmu_mpi_watch *w, const struct upmu_mpi *m, size_t index)
{
    const struct job_deadlock *d = &m->deadlocks[index];
    for (uint32_t k = 0; k < d->n; k++) {
        const struct job_rank *r = m->ranks[m->deadlock_threads[d->first + k].rank];
        const struct watch_process *p = watch_find(w, r->pid);
        if (p && r->evidence.ran && watch_now() - p->since_ns >= NS_PER_S)
            job_save_ran(m, w->dir, r);
    }
}

/* Only what is confirmed stays. @return 1: one of them is new; 0; UPMU_E_NOMEM. */
static int watch_keep(struct upmu_mpi_watch *w, struct upmu_mpi *m, const uint64_t *before, size_t n_before)
{
    int found = 0;
    size_t kept = 0;
    for (size_t i = 0; found >= 0 && i < m->n_deadlocks; i++) {
        if (!deadlock_is_confirmed(w, m, i, before, n_before)) {
            w->searched = 0; /* it may be found again */
            continue;
        }
        int fresh = deadlock_is_new(w, m, i);
        if (fresh > 0) {
            watch_save(w, m, i);
            m->deadlocks[kept++] = m->deadlocks[i];
        }
        found = fresh < 0 ? fresh : found | fresh;
    }
    m->n_deadlocks = kept;
    return found;
}

static int watch_search(struct upmu_mpi_watch *w, struct upmu_mpi **mpi)
{
    struct upmu_mpi *m = NULL;
    size_t n = w->n_processes;
    uint64_t *before = calloc(n + 1, sizeof *before);
    if (!before)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while watching MPI ranks");
    for (size_t i = 0; i < n; i++)
        before[i] = w->processes[i].events;
    int rc = job_open_dir(&m, w->dir, watch_ran, w);
    if (rc == 0)
        rc = watch_update(w, watch_now());
    if (rc == 0)
        rc = watch_keep(w, m, before, n);
    free(before);
    if (rc > 0)
        *mpi = m;
    else
        upmu_mpi_close(m);
    return rc == UPMU_E_NOMEM ? rc : rc > 0;
}

int upmu_mpi_watch_poll(struct upmu_mpi_watch *watch, struct upmu_mpi **mpi)
{
    if (!watch || !mpi)
        return ARGUMENT_NULL(watch, mpi);
    *mpi = NULL;
    if (watch->polls++ % POLLS != 0)
        return 0;
    uint64_t now = watch_now();
    int rc = watch_update(watch, now);
    uint64_t silent = watch_silent(watch, now);
    if (rc != 0 || silent == 0 || silent == watch->searched || now < watch->next_ns)
        return rc;
    watch->searched = silent;
    rc = watch_search(watch, mpi);
    watch->next_ns = watch_now() + (watch_now() - now) * READ_SHARE;
    return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * Periodic search for deadlocks in running processes.
 *
 * A snapshot assembled slot by slot may show a state that never existed. A deadlock is therefore reported when the
 * next poll finds the same threads in the same waits: all of it was true between the two.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "deadlock/deadlocks.h"
#include "deadlock/inspect/inspect.h"
#include "deadlock/wait_state_only.h"
#include "base/map.h"
#include "base/error.h"
#include "base/opts.h"
#include "trace/format/control.h"
#include "upmu/control.h"
#include "upmu/deadlock.h"

enum {
    POLLS_CERTAIN = 2,
    POLLS_STALLED = 10, /* there is a waker that is not known: it may only be slow */
    POLLS_INSPECTION = 10,
};

/* A deadlock found by an earlier poll. */
struct seen {
    uint64_t signature;
    uint64_t polls; /* that have found it */
    bool again;     /* found by the present poll, too */
};

/* A live process. */
struct alive {
    char *dir;
    struct alive_time at; /* when it was last found alive */
    pid_t pid;            /* in this pid namespace, 0: not found */
    uint64_t search_at;   /* the poll that searches it again, and how many have */
    uint32_t searched;
    bool shared;    /* a thread waits for an object that processes may share */
    bool suspected; /* the last inspection of the process found something that its wait-state file does not show */
};

struct upmu_deadlock_watch {
    char *dir;
    uint64_t polls;
    struct alive *alive;
    size_t n_alive, cap_alive;
    struct seen *seen;
    size_t n_seen, cap_seen;
    struct map reported;          /* identities of deadlocks */
    struct map ended;             /* how often a directory had no live process, by its inode */
    char *found;                  /* the last reported process */
    struct wait_state wait_state; /* of that process, until upmu_deadlock_watch_take() */
    bool available;
    bool several; /* the last search in all processes together may have more */
};

static int watch_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while watching a recording");
}

int upmu_deadlock_watch_open(struct upmu_deadlock_watch **watch, const char *dir)
{
    if (!watch || !dir)
        return ARGUMENT_NULL(watch, dir);
    *watch = calloc(1, sizeof **watch);
    if (*watch)
        (*watch)->dir = strdup(dir);
    if (*watch && (*watch)->dir)
        return 0;
    free(*watch);
    *watch = NULL;
    return watch_no_memory();
}

/* Saves when the process was last found alive, which a report needs if the process was killed. */
static void watch_save_alive(struct upmu_deadlock_watch *w, size_t i)
{
    (void)wait_state_save_alive(w->alive[i].dir, &w->alive[i].at);
    free(w->alive[i].dir);
    w->alive[i] = w->alive[--w->n_alive];
}

void upmu_deadlock_watch_close(struct upmu_deadlock_watch *watch)
{
    if (!watch)
        return;
    while (watch->n_alive > 0)
        watch_save_alive(watch, watch->n_alive - 1);
    free(watch->alive);
    free(watch->dir);
    free(watch->seen);
    map_free(&watch->reported);
    map_free(&watch->ended);
    free(watch->found);
    wait_state_free(&watch->wait_state);
    free(watch);
}

/* @return 1 if `polls` polls found it and it was not reported; 0; UPMU_E_NOMEM. */
static int watch_add(struct upmu_deadlock_watch *w, uint64_t signature, uint64_t identity, uint64_t polls)
{
    if (map_find(&w->reported, identity, 0) != MAP_NONE)
        return 0;
    for (size_t i = 0; i < w->n_seen; i++) {
        struct seen *s = &w->seen[i];
        if (s->signature != signature)
            continue;
        s->again = true;
        if (++s->polls < polls)
            return 0;
        return map_put(&w->reported, identity, 0, 1) ? 1 : watch_no_memory();
    }
    struct seen *all = array_reserve(w->seen, w->n_seen, &w->cap_seen, sizeof *all);
    if (!all)
        return watch_no_memory();
    w->seen = all;
    all[w->n_seen++] = (struct seen){.signature = signature, .polls = 1, .again = true};
    return 0;
}

static void watch_drop_unseen(struct upmu_deadlock_watch *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n_seen; i++) {
        if (w->seen[i].again)
            w->seen[kept++] = (struct seen){.signature = w->seen[i].signature, .polls = w->seen[i].polls};
    }
    w->n_seen = kept;
}

static bool watch_all_wait(const struct wait_state *s)
{
    for (size_t i = 0; i < s->file.n_threads; i++)
        if (s->file.threads[i].head.state == WAIT_FILE_RUNNING)
            return false;
    return true;
}

/* Adds all deadlocks that are to be reported, and empties the others. @return 1 if there is a new one; 0; UPMU_E_NOMEM. */
static int watch_add_all(struct upmu_deadlock_watch *w, struct wait_state *s, uint64_t process)
{
    int found = 0;
    for (size_t i = 0; i < s->snapshot.n_deadlocks; i++) {
        struct wg_deadlock *f = &s->snapshot.deadlocks[i];
        uint64_t polls = f->certainty == WG_CERTAIN ? POLLS_CERTAIN : POLLS_STALLED;
        bool wanted = f->certainty == WG_CERTAIN || f->certainty == WG_STALLED;
        int fresh = wanted ? watch_add(w, wait_state_signature(s, f), wait_state_identity(s, f) ^ process, polls) : 0;
        if (fresh < 0)
            return fresh;
        if (!fresh)
            f->n = 0;
        found |= fresh;
    }
    return found;
}

/* Whether the snapshot has a finding that is not in the wait-state file. */
static bool watch_has_inspected(const struct wait_state *s)
{
    bool found = false;
    for (size_t i = 0; i < s->snapshot.n_deadlocks; i++)
        found |= s->snapshot.deadlocks[i].certainty <= WG_STALLED;
    return found && s->wakers.inspected > 0;
}

/* Whether the snapshot has a deadlock that was not reported yet. */
static bool watch_has_new(const struct upmu_deadlock_watch *w, const struct wait_state *s, uint64_t process)
{
    for (size_t i = 0; i < s->snapshot.n_deadlocks; i++) {
        const struct wg_deadlock *f = &s->snapshot.deadlocks[i];
        if (f->certainty <= WG_STALLED && map_find(&w->reported, wait_state_identity(s, f) ^ process, 0) == MAP_NONE)
            return true;
    }
    return false;
}

/* @return 0; an error. */
static int watch_read_wait_state(const struct alive *a, bool wanted, struct wait_state *s)
{
    int rc = wait_state_read(s, a->dir);
    wanted = wanted || (rc > 0 && watch_all_wait(s));
    if (rc >= 0 && wanted && a->pid != 0)
        rc = wait_state_read_wakers(s, a->pid);
    if (rc >= 0 && s->kernel.n_threads > 0)
        wait_state_save_left(s, a->dir);
    return rc >= 0 ? wait_state_find_blocked(s, a->pid) : rc;
}

/* An inspection reads some files for each thread: it is made where the wait-state file alone shows that nothing runs, about
 * once per second, and before a deadlock is reported. @return 1 if there is a new deadlock; 0; an error. */
static int watch_wait_state(struct upmu_deadlock_watch *w, struct alive *a)
{
    struct wait_state s;
    const char *dir = a->dir;
    uint64_t process = (uint64_t)a->pid << 32;
    int found = 0, rc = watch_read_wait_state(a, a->suspected || w->polls % POLLS_INSPECTION == 0, &s);
    if (rc == 0 && a->pid != 0 && s.kernel.n_threads == 0 && watch_has_new(w, &s, process)) {
        wait_state_free(&s);
        rc = watch_read_wait_state(a, true, &s);
    }
    a->suspected = rc == 0 && watch_has_inspected(&s);
    if (rc == 0 && s.kernel.n_threads > 0)
        a->shared = deadlocks_wait_for_shared(&s);
    bool any = s.snapshot.n_deadlocks > 0;
    if (rc == 0)
        rc = found = watch_add_all(w, &s, process);
    /* Saves what could end the waits while the threads are blocked, for reports after the end of the process. */
    if (rc >= 0 && any && s.wakers.known && s.wakers.asleep)
        (void)wait_state_save_wakers(&s, dir);
    if (found > 0) {
        inspect_stacks_add(&s);
        wait_state_save_inspected(&s, dir);
        wait_state_free(&w->wait_state);
        w->wait_state = s;
    } else {
        wait_state_free(&s);
    }
    /* A file that is being created, or of another version, is skipped. */
    return rc == UPMU_E_NOMEM ? rc : found > 0;
}

/* The process that writes the directory, in this pid namespace. */
static pid_t watch_process_id(const char *dir)
{
    struct upmu_control *control;
    struct upmu_control_status status = {.size = sizeof status};
    if (upmu_control_open(&control, dir) != 0)
        return 0;
    int rc = upmu_control_status_read(control, 0, &status);
    pid_t pid = rc == 0 ? inspect_process_of(dir, status.pid) : 0;
    upmu_control_close(control);
    return pid;
}

/* A process that has just begun may not have its control file mapped yet. The search reads much of /proc, so its intervals
 * grow. */
static void watch_search_process(const struct upmu_deadlock_watch *w, struct alive *a)
{
    enum { DOUBLINGS = 4 };
    if (a->pid != 0 || w->polls < a->search_at)
        return;
    a->pid = watch_process_id(a->dir);
    a->search_at = w->polls + ((uint64_t)1 << (a->searched < DOUBLINGS ? a->searched : (uint32_t)DOUBLINGS));
    a->searched++;
}

/* @return the live process, NULL if it is none or there is no memory. */
static struct alive *watch_set_alive(struct upmu_deadlock_watch *w, const char *dir, bool running,
                                     const struct alive_time *now)
{
    size_t i = 0;
    while (i < w->n_alive && strcmp(w->alive[i].dir, dir) != 0)
        i++;
    if (i < w->n_alive && !running)
        watch_save_alive(w, i);
    else if (i < w->n_alive)
        w->alive[i].at = *now;
    if (!running)
        return NULL;
    if (i < w->n_alive)
        return &w->alive[i];
    struct alive *all = array_reserve(w->alive, w->n_alive, &w->cap_alive, sizeof *all);
    char *copy = all ? strdup(dir) : NULL;
    w->alive = all ? all : w->alive;
    if (!copy)
        return NULL;
    all[w->n_alive] = (struct alive){.dir = copy, .at = *now};
    return &all[w->n_alive++];
}

/* Polls a process's directory if a live process writes it. */
static int watch_process(struct upmu_deadlock_watch *w, const char *dir)
{
    const struct alive_time now = alive_time_now();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool running = fd >= 0 && control_is_running(fd) == 1;
    if (fd >= 0)
        close(fd);
    struct alive *a = watch_set_alive(w, dir, running, &now);
    if (running && !a)
        return watch_no_memory();
    if (running)
        watch_search_process(w, a);
    int found = running ? watch_wait_state(w, a) : 0;
    if (found > 0) {
        free(w->found);
        w->found = strdup(dir);
        found = w->found ? 1 : watch_no_memory();
        w->available = found > 0;
    }
    return found;
}

/* ------------------------------------------------------------------------------------- all processes together */

static const struct alive *watch_alive(const struct upmu_deadlock_watch *w, const char *dir)
{
    for (size_t i = 0; i < w->n_alive; i++)
        if (strcmp(w->alive[i].dir, dir) == 0)
            return &w->alive[i];
    return NULL;
}

/* @return 0, also if the wait state cannot be read; UPMU_E_NOMEM. */
static int watch_read_one(const struct upmu_deadlock_watch *w, const struct upmu_control_status *status,
                          struct dl_process *p)
{
    const struct alive *a = watch_alive(w, status->dir);
    *p = (struct dl_process){.pid = status->pid, .alive = a != NULL, .outer_pid = a ? a->pid : 0};
    p->dir = strdup(status->dir);
    if (!p->dir)
        return watch_no_memory();
    int rc = deadlocks_read_wait_state(p, p->dir);
    p->alive = p->alive && rc == 0;
    return rc == UPMU_E_NOMEM ? rc : 0;
}

static int watch_read_all(const struct upmu_deadlock_watch *w, struct upmu_deadlocks *d)
{
    struct upmu_control *control;
    struct upmu_control_status status = {.size = sizeof status};
    if (upmu_control_open(&control, w->dir) != 0)
        return 0;
    size_t n = upmu_control_process_count(control);
    int rc = 0;
    d->processes = calloc(n + 1, sizeof *d->processes);
    if (!d->processes)
        rc = watch_no_memory();
    for (size_t i = 0; d->processes && rc == 0 && i < n; i++)
        if (upmu_control_status_read(control, i, &status) == 0)
            rc = watch_read_one(w, &status, &d->processes[d->n_processes++]);
    upmu_control_close(control);
    return rc;
}

/* Keeps the deadlocks of a process that were found in several together and are new. @return 1 if there are any; 0;
 * UPMU_E_NOMEM. */
static int watch_keep_several(struct upmu_deadlock_watch *w, struct dl_process *p)
{
    int found = 0;
    for (size_t i = 0; i < p->wait_state.snapshot.n_deadlocks; i++) {
        struct wg_deadlock *f = &p->wait_state.snapshot.deadlocks[i];
        uint64_t identity =
            f->n > 0 ? wait_state_identity(&p->wait_state, f) ^ (uint64_t)(uint32_t)p->outer_pid << 32 : 0;
        if (!f->several || f->n == 0 || map_find(&w->reported, identity, 0) != MAP_NONE) {
            f->n = 0;
            continue;
        }
        if (!map_put(&w->reported, identity, 0, 1))
            return watch_no_memory();
        found = 1;
    }
    return found;
}

/* Searches all processes together. Each poll returns one process: the others are searched by the next one. @return as
 * watch_process(). */
static int watch_across(struct upmu_deadlock_watch *w)
{
    struct upmu_deadlocks d = {0};
    int found = 0, rc = watch_read_all(w, &d);
    if (rc == 0)
        rc = deadlocks_find_across(&d);
    for (size_t i = 0; d.processes && rc == 0 && found == 0 && i < d.n_processes; i++) {
        struct dl_process *p = &d.processes[i];
        rc = found = p->alive ? watch_keep_several(w, p) : 0;
        if (found <= 0)
            continue;
        wait_state_free(&w->wait_state);
        w->wait_state = p->wait_state;
        p->wait_state = (struct wait_state){0};
        free(w->found);
        w->found = strdup(p->dir);
        rc = w->found ? 0 : watch_no_memory();
    }
    for (size_t i = 0; d.processes && i < d.n_processes; i++)
        deadlocks_process_free(&d.processes[i]);
    free(d.processes);
    w->several = w->available = rc == 0 && found > 0;
    return rc < 0 ? rc : found;
}

static bool watch_any_shared(const struct upmu_deadlock_watch *w)
{
    for (size_t i = 0; i < w->n_alive; i++)
        if (w->alive[i].shared)
            return true;
    return false;
}

/* An inspection of a single process has its poll, that of all another one. */
static bool watch_across_is_due(const struct upmu_deadlock_watch *w)
{
    return (w->several || w->polls % POLLS_INSPECTION == POLLS_INSPECTION / 2) && watch_any_shared(w);
}

/* A process that begins has a directory first and its control file later; one that was not alive for so many polls has ended. */
static bool watch_has_ended(const struct upmu_deadlock_watch *w, ino_t dir)
{
    enum { POLLS_ENDED = 10 };
    uint32_t polls = map_find(&w->ended, dir, 0);
    return polls != MAP_NONE && polls >= POLLS_ENDED;
}

static void watch_count_ended(struct upmu_deadlock_watch *w, const char *path, ino_t dir)
{
    uint32_t polls = map_find(&w->ended, dir, 0);
    if (!watch_alive(w, path)) /* without memory it is polled again */
        (void)map_put(&w->ended, dir, 0, polls == MAP_NONE ? 1 : polls + 1);
    else if (polls != MAP_NONE)
        (void)map_put(&w->ended, dir, 0, 0);
}

/* Polls a directory as that of a single process, else those in it: of processes, or of hosts that have processes. */
static int watch_directory(struct upmu_deadlock_watch *w, const char *path, ino_t inode, int depth)
{
    char below[PATH_MAX];
    const struct dirent *entry;
    int found = watch_process(w, path);
    bool is_process =
        snprintf(below, sizeof below, "%s/" CONTROL_FILE, path) < (int)sizeof below && access(below, F_OK) == 0;
    if (is_process)
        watch_count_ended(w, path, inode);
    DIR *dir = found == 0 && !is_process && depth > 0 ? opendir(path) : NULL;
    while (dir && found == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && !watch_has_ended(w, entry->d_ino) &&
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below)
            found = watch_directory(w, below, entry->d_ino, depth - 1);
    if (dir)
        closedir(dir);
    return found;
}

int upmu_deadlock_watch_poll(struct upmu_deadlock_watch *watch, const char **process)
{
    enum { RECORDING_DEPTH = 2 };
    if (!watch || !process)
        return ARGUMENT_NULL(watch, process);
    watch->polls++;
    int found = watch_directory(watch, watch->dir, 0, RECORDING_DEPTH);
    if (found == 0)
        watch_drop_unseen(watch);
    if (found == 0 && watch_across_is_due(watch))
        found = watch_across(watch);
    *process = watch->found;
    return found;
}

int upmu_deadlock_watch_take(struct upmu_deadlock_watch *watch, struct upmu_deadlocks **deadlocks)
{
    if (!watch || !deadlocks)
        return ARGUMENT_NULL(watch, deadlocks);
    *deadlocks = NULL;
    if (!watch->available)
        return upmu_fail(UPMU_E_STATE,
                         "upmu_deadlock_watch_take: the last poll found no deadlock, or it was taken already");
    watch->available = false;
    return deadlocks_from_wait_state(deadlocks, watch->found, &watch->wait_state);
}

/* SPDX-License-Identifier: MIT */
/* Deadlocks of a recording: its wait states and its acquisition log. */
#include "deadlock/deadlocks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deadlock/inspect/inspect.h"
#include "deadlock/wait_state_only.h"
#include "base/map.h"
#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"
#include "trace/read/bare.h"
#include "upmu/control.h"

enum { INTERVAL_NS = 50 * 1000 * 1000 };

/* --------------------------------------------------------------------------------------------------- processes */

static bool deadlocks_are_confirmed(const struct wait_state *before, uint64_t signature)
{
    for (size_t i = 0; i < before->snapshot.n_deadlocks; i++)
        if (wait_state_signature(before, &before->snapshot.deadlocks[i]) == signature)
            return true;
    return false;
}

/* Whether there is a deadlock, or all threads are asleep. */
static bool deadlocks_found_any(const struct wait_state *s)
{
    bool found = false;
    for (size_t i = 0; i < s->snapshot.n_deadlocks; i++)
        found |= s->snapshot.deadlocks[i].n > 0 && s->snapshot.deadlocks[i].certainty <= WG_STALLED;
    return found;
}

/* Whether a thread is elsewhere than in the wait of its slot. */
static bool deadlocks_has_left(const struct wait_state *s)
{
    bool left = false;
    for (size_t i = 0; i < s->file.n_threads; i++)
        left |= s->file.threads[i].left;
    return left;
}

/* A thread that is not in its wait may be in a signal handler for a moment: it is read again then, some times. */
static int deadlocks_read_settled(struct dl_process *p, const char *dir)
{
    enum { TRIES = 10 };
    const struct timespec pause = {.tv_nsec = INTERVAL_NS};
    int rc = deadlocks_read_wait_state(p, dir);
    for (int i = 1; rc == 0 && i < TRIES && deadlocks_has_left(&p->wait_state); i++) {
        wait_state_free(&p->wait_state);
        nanosleep(&pause, NULL);
        rc = deadlocks_read_wait_state(p, dir);
    }
    if (rc == 0 && p->wait_state.kernel.n_threads > 0)
        wait_state_save_left(&p->wait_state, dir);
    return rc;
}

/* Of a live process, keeps the deadlocks found in two successive readings. */
static int deadlocks_read_confirmed(struct dl_process *p, const char *dir)
{
    const struct timespec pause = {.tv_nsec = INTERVAL_NS};
    int rc = deadlocks_read_settled(p, dir);
    if (rc != 0 || !p->alive || p->wait_state.snapshot.n_deadlocks == 0)
        return rc;
    struct wait_state before = p->wait_state;
    nanosleep(&pause, NULL);
    rc = deadlocks_read_settled(p, dir);
    struct wg_snapshot *now = &p->wait_state.snapshot;
    for (size_t i = 0; rc == 0 && i < now->n_deadlocks; i++)
        if (!deadlocks_are_confirmed(&before, wait_state_signature(&p->wait_state, &now->deadlocks[i])))
            now->deadlocks[i].n = 0; /* a thread has resumed */
    if (rc == 0 && deadlocks_found_any(&p->wait_state)) {
        inspect_stacks_add(&p->wait_state);
        wait_state_save_inspected(&p->wait_state, dir);
    }
    wait_state_free(&before);
    return rc;
}

/* Whether a recorded wait continues, or one that another process may end: the process is not ending. */
static bool deadlocks_still_wait(const struct wait_state *s)
{
    if (deadlocks_wait_for_shared(s))
        return true;
    for (size_t i = 0; i < s->file.n_threads; i++) {
        const struct wait_state_thread *t = &s->file.threads[i];
        const struct kernel_thread *k = kernel_view_thread(&s->kernel, t->head.tid);
        if (t->head.state == WAIT_FILE_BLOCKED && !t->inspected && k && k->asleep)
            return true;
    }
    return false;
}

/* Readings of a process that is ending: one that was killed ends, but may not get a CPU for long. */
struct ending_tries {
    int all, killed;
};

/* Whether to wait for its end once more. */
static bool ending_again(struct ending_tries *t, bool killed)
{
    enum { TRIES = 20, TRIES_KILLED = 1200 };
    t->all += !killed;
    t->killed += killed;
    return t->all < TRIES && t->killed < TRIES_KILLED;
}

/* A process whose inspection found a deadlock, and that has none any more, is ending: its end is awaited, for a second at
 * most if it is not being killed, and what was found before is used. */
static int deadlocks_read_ending(struct dl_process *p, const char *dir)
{
    const struct timespec pause = {.tv_nsec = INTERVAL_NS};
    struct ending_tries tries = {0};
    bool ending = p->alive && !deadlocks_found_any(&p->wait_state) && !deadlocks_still_wait(&p->wait_state) &&
                  wait_state_was_inspected(dir);
    int rc = 0;
    while (rc == 0 && ending) {
        nanosleep(&pause, NULL);
        wait_state_free(&p->wait_state);
        rc = deadlocks_read_wait_state(p, dir);
        p->alive = p->wait_state.kernel.n_threads > 0;
        ending = p->alive && ending_again(&tries, p->wait_state.kernel.killed);
    }
    return rc;
}

/* Searches all processes together; once more if a thread of a deadlock has run, as one that a recorder has stopped to read its
 * call stack. */
static int deadlocks_search_across(struct upmu_deadlocks *d)
{
    enum { TRIES = 3 };
    int rc = deadlocks_find_across(d);
    for (int i = 1; rc == 0 && d->unconfirmed && i < TRIES; i++) {
        d->unconfirmed = false;
        for (size_t k = 0; rc == 0 && k < d->n_processes; k++) {
            struct dl_process *p = &d->processes[k];
            wait_state_free(&p->wait_state);
            if (!p->problem)
                rc = p->dir ? deadlocks_read_confirmed(p, p->dir) : deadlocks_read_wait_state(p, NULL);
            p->alive = p->alive && rc == 0;
            rc = rc == UPMU_E_NOMEM ? rc : 0;
        }
        if (rc == 0)
            rc = deadlocks_find_across(d);
    }
    return rc;
}

/* Whether a process that was alive has ended, for a second at most if it is not being killed; not if all its threads sleep. */
static bool deadlocks_has_ended(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = INTERVAL_NS};
    bool gone, asleep, again;
    struct ending_tries tries = {0};
    do {
        struct kernel_view v;
        gone = kernel_view_read(&v, pid) != 0;
        asleep = !gone && !v.killed;
        for (size_t k = 0; k < v.n_threads; k++)
            asleep &= v.threads[k].asleep;
        again = ending_again(&tries, v.killed) && !gone && !asleep;
        kernel_view_free(&v);
        if (again)
            nanosleep(&pause, NULL);
    } while (again);
    return gone;
}

/* A process that ended while the processes were searched together: what was found in it before is used. */
static int deadlocks_read_ended(struct upmu_deadlocks *d)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < d->n_processes; i++) {
        struct dl_process *p = &d->processes[i];
        if (!p->alive || !p->dir || p->outer_pid == 0 || deadlocks_found_any(&p->wait_state) ||
            !wait_state_was_inspected(p->dir) || !deadlocks_has_ended(p->outer_pid))
            continue;
        wait_state_free(&p->wait_state);
        rc = deadlocks_read_wait_state(p, p->dir);
        p->alive = false;
        if (rc == 0)
            rc = deadlocks_restore_across(&p->wait_state);
    }
    return rc;
}

/* A problem of one process hides no other process: it is kept and reported with the damages of the recording. */
static int deadlocks_read_process(struct upmu_deadlocks *d, struct dl_process *p, const struct upmu_control *control,
                                  size_t i)
{
    struct upmu_control_status status = {.size = sizeof status};
    const struct alive_time now = alive_time_now();
    int rc = upmu_control_status_read(control, i, &status);
    if (rc == 0 && status.running) /* only a later report of a killed process needs it */
        (void)wait_state_save_alive(status.dir, &now);
    *p = (struct dl_process){.pid = status.pid, .alive = status.running != 0};
    if (p->alive)
        p->outer_pid = inspect_process_of(status.dir, status.pid);
    d->n_processes++;
    p->dir = rc == 0 ? strdup(status.dir) : NULL;
    if (rc == 0)
        rc = p->dir ? deadlocks_read_confirmed(p, p->dir) : deadlocks_no_memory();
    if (rc == 0)
        rc = deadlocks_read_ending(p, p->dir);
    if (rc == 0 || rc == UPMU_E_NOMEM)
        return rc;
    p->problem = strdup(upmu_error());
    return p->problem ? 0 : deadlocks_no_memory();
}

static int deadlocks_read_processes(struct upmu_deadlocks *d, const struct upmu_control *control)
{
    size_t n = upmu_control_process_count(control);
    int rc = 0;
    d->processes = calloc(n, sizeof *d->processes);
    if (!d->processes)
        return deadlocks_no_memory();
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = deadlocks_read_process(d, &d->processes[d->n_processes], control, i);
    return rc;
}

static bool deadlocks_find_in_overview(const struct upmu_overview *o, struct dl_process *p)
{
    for (size_t i = 0; p->dir && i < o->pass.n_processes; i++) {
        p->index = (uint32_t)i;
        if (strcmp(trace_process_dir(o->trace, i), p->dir) == 0)
            return true;
    }
    return false;
}

/* Finds the index of each process in the overview, which lacks those that it could not read. */
static int deadlocks_match_processes(struct upmu_deadlocks *d)
{
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; i < d->n_processes; i++) {
        struct dl_process p = d->processes[i];
        if (deadlocks_find_in_overview(d->overview, &p)) {
            rc = rc == 0 && p.problem ? overview_note_damage(d->overview, p.problem) : rc;
            d->processes[kept++] = p;
        } else {
            deadlocks_process_free(&p);
        }
    }
    d->n_processes = kept;
    return rc;
}

/* The call stacks that were read from the process itself. */
static int deadlocks_add_stacks(struct upmu_deadlocks *d)
{
    int rc = 0;
    for (size_t i = 0; i < d->n_processes; i++) {
        const struct wait_state_file *f = &d->processes[i].wait_state.file;
        for (size_t k = 0; rc == 0 && k < f->n_threads; k++) {
            const struct wait_file_stack *s = &f->threads[k].stack;
            const struct upmu_trace_stack stack = {
                .frames = s->frames, .n_frames = s->n, .method = s->method, .truncated = s->truncated};
            if (f->threads[k].inspected && s->id != 0 && s->n <= WAIT_FILE_FRAMES_MAX)
                rc = trace_bare_stack(d->overview->trace, d->processes[i].index, s->id, &stack);
        }
    }
    return rc;
}

/* ------------------------------------------------------------------------------------------------------- items */

static int deadlocks_add(struct upmu_deadlocks *d, uint32_t process, uint32_t found)
{
    const struct wait_state *s = &d->processes[process].wait_state;
    const struct wg_deadlock *f = &s->snapshot.deadlocks[found];
    struct dl_item *all = array_reserve(d->items, d->n_items, &d->cap_items, sizeof *all);
    if (!all)
        return deadlocks_no_memory();
    d->items = all;
    struct dl_item *item = &all[d->n_items];
    struct textbuf why = {0};
    if (f->certainty != WG_CERTAIN)
        wait_state_wakers_text(s, f, &why);
    *item = (struct dl_item){.process = process, .deadlock = found, .could_end = why.data};
    if (!why.data && !why.failed)
        item->could_end = strdup("");
    if (!item->could_end || why.failed) {
        free(item->could_end);
        return deadlocks_no_memory();
    }
    for (size_t i = 0; i < s->file.n_threads; i++)
        item->n_behind += s->snapshot.threads[i].deadlock == found && s->snapshot.threads[i].behind;
    d->n_items++;
    return 0;
}

static int deadlocks_add_all(struct upmu_deadlocks *d)
{
    int rc = 0;
    for (int certainty = WG_CERTAIN; certainty < WG_CERTAINTIES; certainty++)
        for (size_t i = 0; i < d->n_processes; i++) {
            const struct wg_snapshot *p = &d->processes[i].wait_state.snapshot;
            for (size_t k = 0; rc == 0 && k < p->n_deadlocks; k++)
                if ((int)p->deadlocks[k].certainty == certainty && p->deadlocks[k].n > 0)
                    rc = deadlocks_add(d, (uint32_t)i, (uint32_t)k);
        }
    return rc;
}

/* ---------------------------------------------------------------------------------------------- open and close */

static int deadlocks_log_event(void *arg, const struct overview *pass, uint32_t thread,
                               const struct upmu_trace_event *e)
{
    struct upmu_deadlocks *d = arg;
    (void)pass;
    (void)thread;
    d->has_ranks |= e->kind == UPMU_TRACE_MPI_ENV;
    return acquisition_log_add(&d->log, e);
}

static int deadlocks_read_relations(void *arg, const struct upmu_trace *trace)
{
    struct upmu_deadlocks *d = arg;
    return process_relations_read(&d->log.relations, trace);
}

static int deadlocks_open_into(struct upmu_deadlocks *d, const char *dir, const struct upmu_deadlocks_opts *opts)
{
    struct upmu_control *control = NULL;
    int rc = opts->suppressions ? suppressions_read(&d->suppressions, opts->suppressions) : 0;
    /* Wait states are read first: what they refer to is in the trace by then. */
    if (rc == 0)
        rc = upmu_control_open(&control, dir);
    if (rc == 0)
        rc = deadlocks_read_processes(d, control);
    if (rc == 0)
        rc = deadlocks_add_users(d);
    if (rc == 0)
        rc = deadlocks_search_across(d);
    if (rc == 0)
        rc = deadlocks_read_ended(d);
    upmu_control_close(control);
    const struct timeline_hooks hooks = {.arg = d, .opened = deadlocks_read_relations, .event = deadlocks_log_event};
    const struct timeline_names names = {.debug_dir = opts->debug_dir};
    if (rc == 0)
        rc = timeline_read(&d->overview, dir, &names, &hooks);
    if (rc == 0)
        rc = deadlocks_match_processes(d);
    if (rc == 0)
        rc = deadlocks_add_stacks(d);
    if (rc == 0)
        rc = deadlocks_add_all(d);
    if (rc == 0)
        rc = deadlocks_find_cycles(d);
    if (rc == 0)
        deadlocks_suppress(d);
    return rc;
}

int upmu_deadlocks_open(struct upmu_deadlocks **deadlocks, const char *dir, const struct upmu_deadlocks_opts *opts)
{
    struct upmu_deadlocks_opts ours = {0};
    if (!deadlocks || !dir)
        return ARGUMENT_NULL(deadlocks, dir);
    *deadlocks = NULL;
    int rc = OPTS_TAKE(ours, opts, UPMU_DEADLOCKS_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    struct upmu_deadlocks *d = calloc(1, sizeof *d);
    if (!d)
        return deadlocks_no_memory();
    rc = deadlocks_open_into(d, dir, &ours);
    if (rc == 0)
        *deadlocks = d;
    else
        upmu_deadlocks_close(d);
    return rc;
}

static int deadlocks_open_wait_state(struct upmu_deadlocks *d, const char *dir, struct wait_state *s)
{
    d->processes = calloc(1, sizeof *d->processes);
    if (!d->processes)
        return deadlocks_no_memory();
    int rc = wait_state_overview(&d->overview, dir, s);
    if (rc <= 0)
        return rc;
    d->processes[d->n_processes++] =
        (struct dl_process){.pid = (pid_t)s->file.header.pid, .alive = true, .recorded = true, .wait_state = *s};
    *s = (struct wait_state){0};
    rc = deadlocks_add_all(d);
    return rc == 0 ? 1 : rc;
}

int deadlocks_from_wait_state(struct upmu_deadlocks **deadlocks, const char *dir, struct wait_state *s)
{
    *deadlocks = NULL;
    struct upmu_deadlocks *d = calloc(1, sizeof *d);
    int rc = d ? deadlocks_open_wait_state(d, dir, s) : deadlocks_no_memory();
    wait_state_free(s);
    if (rc > 0) {
        *deadlocks = d;
        return 0;
    }
    upmu_deadlocks_close(d);
    return rc == 0 ? upmu_deadlocks_open(deadlocks, dir, NULL) : rc;
}

void upmu_deadlocks_close(struct upmu_deadlocks *deadlocks)
{
    if (!deadlocks)
        return;
    for (size_t i = 0; i < deadlocks->n_items; i++)
        free(deadlocks->items[i].could_end);
    for (size_t i = 0; i < deadlocks->n_processes; i++)
        deadlocks_process_free(&deadlocks->processes[i]);
    acquisition_log_cycles_free(&deadlocks->order);
    acquisition_log_free(&deadlocks->log);
    free(deadlocks->cycles);
    suppressions_free(&deadlocks->suppressions);
    free(deadlocks->items);
    free(deadlocks->processes);
    upmu_overview_close(deadlocks->overview);
    free(deadlocks);
}

struct upmu_overview *upmu_deadlocks_overview(struct upmu_deadlocks *deadlocks)
{
    return deadlocks ? deadlocks->overview : NULL;
}

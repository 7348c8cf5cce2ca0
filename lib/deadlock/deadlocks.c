/* SPDX-License-Identifier: MIT */
/* A recording with what its threads stand at. Room: analysis. Before it: status.c, the overview; after it:
 * deadlock_facts.c. */
#include "deadlock/deadlocks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deadlock/wait_state_only.h"
#include "base/map.h"
#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"
#include "trace/read/bare.h"
#include "upmu/control.h"

enum { BETWEEN_LOOKS_NS = 50 * 1000 * 1000 };

int deadlocks_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory for the deadlocks of a recording");
}

/* --------------------------------------------------------------------------------------------------- processes */

static int read_wait_state(struct dl_process *p, const char *dir)
{
    int rc = wait_state_read(&p->wait_state, dir);
    p->recorded = rc > 0;
    if (rc > 0 && p->alive)
        wait_state_ask(&p->wait_state);
    return rc < 0 ? rc : wait_state_solve(&p->wait_state);
}

static bool stood_before(const struct wait_state *before, uint64_t signature)
{
    for (size_t i = 0; i < before->picture.n_found; i++)
        if (wait_state_signature(before, &before->picture.found[i]) == signature)
            return true;
    return false;
}

/* Of a process that lives, what two looks agree on. */
static int read_twice(struct dl_process *p, const char *dir)
{
    const struct timespec pause = {.tv_nsec = BETWEEN_LOOKS_NS};
    int rc = read_wait_state(p, dir);
    if (rc != 0 || !p->alive || p->wait_state.picture.n_found == 0)
        return rc;
    struct wait_state before = p->wait_state;
    nanosleep(&pause, NULL);
    rc = read_wait_state(p, dir);
    struct wg_picture *now = &p->wait_state.picture;
    for (size_t i = 0; rc == 0 && i < now->n_found; i++)
        if (!stood_before(&before, wait_state_signature(&p->wait_state, &now->found[i])))
            now->found[i].n = 0; /* it has moved */
    wait_state_free(&before);
    return rc;
}

/* Damage of one process hides no other process: it is kept and reported with the damages of the recording. */
static int read_process(struct upmu_deadlocks *d, struct dl_process *p, const struct upmu_control *control, size_t i)
{
    struct upmu_control_status status = {.size = sizeof status};
    const struct stand_moment now = wait_state_moment();
    int rc = upmu_control_status_read(control, i, &status);
    if (rc == 0 && status.running) /* where it cannot be kept, those who come later know less */
        (void)wait_state_keep_alive(status.dir, &now);
    *p = (struct dl_process){.pid = status.pid, .alive = status.running != 0};
    d->n_processes++;
    p->dir = rc == 0 ? strdup(status.dir) : NULL;
    if (rc == 0)
        rc = p->dir ? read_twice(p, p->dir) : deadlocks_no_memory();
    if (rc == 0 || rc == UPMU_E_NOMEM)
        return rc;
    p->problem = strdup(upmu_error());
    return p->problem ? 0 : deadlocks_no_memory();
}

static int read_processes(struct upmu_deadlocks *d, const struct upmu_control *control)
{
    size_t n = upmu_control_process_count(control);
    int rc = 0;
    d->processes = calloc(n, sizeof *d->processes);
    if (!d->processes)
        return deadlocks_no_memory();
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = read_process(d, &d->processes[d->n_processes], control, i);
    return rc;
}

static void process_free(struct dl_process *p)
{
    wait_state_free(&p->wait_state);
    free(p->problem);
    free(p->dir);
}

static bool find_in_overview(const struct upmu_overview *o, struct dl_process *p)
{
    for (size_t i = 0; p->dir && i < o->pass.n_processes; i++) {
        p->index = (uint32_t)i;
        if (strcmp(trace_process_dir(o->trace, i), p->dir) == 0)
            return true;
    }
    return false;
}

/* The overview has the processes in the order of their begins, without those that it could not read and names itself. */
static int place_processes(struct upmu_deadlocks *d)
{
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; i < d->n_processes; i++) {
        struct dl_process p = d->processes[i];
        if (find_in_overview(d->overview, &p)) {
            rc = rc == 0 && p.problem ? overview_note_damage(d->overview, p.problem) : rc;
            d->processes[kept++] = p;
        } else {
            process_free(&p);
        }
    }
    d->n_processes = kept;
    return rc;
}

/* ------------------------------------------------------------------------------------------------------- items */

static int add_item(struct upmu_deadlocks *d, uint32_t process, uint32_t found)
{
    const struct wait_state *s = &d->processes[process].wait_state;
    const struct wg_trouble_found *f = &s->picture.found[found];
    struct dl_item *all = array_room(d->items, d->n_items, &d->cap_items, sizeof *all);
    if (!all)
        return deadlocks_no_memory();
    d->items = all;
    struct dl_item *item = &all[d->n_items];
    struct textbuf why = {0};
    if (f->certainty != WG_CERTAIN)
        wait_state_wakers_text(s, f, &why);
    *item = (struct dl_item){.process = process, .found = found, .could_end = why.data};
    if (!why.data && !why.failed)
        item->could_end = strdup("");
    if (!item->could_end || why.failed) {
        free(item->could_end);
        return deadlocks_no_memory();
    }
    for (size_t i = 0; i < s->n_threads; i++)
        item->n_behind += s->picture.threads[i].trouble == found && s->picture.threads[i].behind;
    d->n_items++;
    return 0;
}

static int add_items(struct upmu_deadlocks *d)
{
    int rc = 0;
    for (int certainty = WG_CERTAIN; certainty < WG_CERTAINTIES; certainty++)
        for (size_t i = 0; i < d->n_processes; i++) {
            const struct wg_picture *p = &d->processes[i].wait_state.picture;
            for (size_t k = 0; rc == 0 && k < p->n_found; k++)
                if ((int)p->found[k].certainty == certainty && p->found[k].n > 0)
                    rc = add_item(d, (uint32_t)i, (uint32_t)k);
        }
    return rc;
}

/* ---------------------------------------------------------------------------------------------- open and close */

static int hear(void *arg, const struct overview *pass, uint32_t thread, const struct upmu_trace_event *e)
{
    (void)pass;
    (void)thread;
    return order_book_add(arg, e);
}

static int open_into(struct upmu_deadlocks *d, const char *dir, const struct upmu_deadlocks_opts *opts)
{
    struct upmu_control *control = NULL;
    int rc = opts->suppressions ? suppressions_read(&d->suppressions, opts->suppressions) : 0;
    /* What threads stand at comes first: whatever it names is in the trace by then. */
    if (rc == 0)
        rc = upmu_control_open(&control, dir);
    if (rc == 0)
        rc = read_processes(d, control);
    upmu_control_close(control);
    const struct timeline_hooks hooks = {.arg = &d->book, .event = hear};
    if (rc == 0)
        rc = timeline_read(&d->overview, dir, opts->debug_dir, &hooks);
    if (rc == 0)
        rc = place_processes(d);
    if (rc == 0)
        rc = add_items(d);
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
        return upmu_fail(UPMU_E_INVAL, "no directory, or no place for the deadlocks");
    *deadlocks = NULL;
    if (opts && !opts_take(&ours, sizeof ours, opts, opts->size, sizeof ours))
        return upmu_fail(UPMU_E_INVAL, "struct upmu_deadlocks_opts: its size or its tail is not valid");
    struct upmu_deadlocks *d = calloc(1, sizeof *d);
    if (!d)
        return deadlocks_no_memory();
    int rc = open_into(d, dir, &ours);
    if (rc == 0)
        *deadlocks = d;
    else
        upmu_deadlocks_close(d);
    return rc;
}

static int of_wait_state(struct upmu_deadlocks *d, const char *dir, struct wait_state *s)
{
    d->processes = calloc(1, sizeof *d->processes);
    if (!d->processes)
        return deadlocks_no_memory();
    int rc = at_once_overview(&d->overview, dir, s);
    if (rc <= 0)
        return rc;
    d->processes[d->n_processes++] =
        (struct dl_process){.pid = (pid_t)s->header.pid, .alive = true, .recorded = true, .wait_state = *s};
    *s = (struct wait_state){0};
    rc = add_items(d);
    return rc == 0 ? 1 : rc;
}

int deadlocks_at_once(struct upmu_deadlocks **deadlocks, const char *dir, struct wait_state *s)
{
    *deadlocks = NULL;
    struct upmu_deadlocks *d = calloc(1, sizeof *d);
    int rc = d ? of_wait_state(d, dir, s) : deadlocks_no_memory();
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
        process_free(&deadlocks->processes[i]);
    order_book_cycles_free(&deadlocks->order);
    order_book_free(&deadlocks->book);
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

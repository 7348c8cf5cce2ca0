/* SPDX-License-Identifier: MIT */
/* Reading of a recording into an overview. */
#include <stdlib.h>
#include <string.h>

#include "analysis/locations.h"
#include "analysis/pass/timeline.h"
#include "analysis/public.h"
#include "analysis/window_pass.h"
#include "base/error.h"
#include "base/opts.h"

/* Index of the counter of context switches, SIZE_MAX if there is none. */
static size_t overview_switches_counter(const struct upmu_trace *trace, size_t process)
{
    static const char name[] = "context-switches";
    const char *counter;
    for (size_t i = 0; (counter = upmu_trace_counter_name(trace, process, i)) != NULL; i++)
        if (strncmp(counter, name, sizeof name - 1) == 0 && strchr(":", counter[sizeof name - 1]))
            return i;
    return SIZE_MAX;
}

int overview_read_pauses(const struct upmu_trace *trace, size_t process, struct ov_process *p)
{
    size_t n = upmu_trace_pause_count(trace, process);
    struct upmu_trace_pause pause = {.size = sizeof pause};
    struct ov_pause *all = n > 0 ? calloc(n, sizeof *all) : NULL;
    if (n > 0 && !all)
        return overview_no_memory();
    p->n_pauses = 0;
    for (size_t i = 0; i < n && upmu_trace_pause_at(trace, process, i, &pause) == 0; i++)
        if (pause.end_ns > pause.begin_ns)
            all[p->n_pauses++] = (struct ov_pause){pause.begin_ns, pause.end_ns, pause.counted != 0};
    free(p->pauses);
    p->pauses = all;
    return 0;
}

static int overview_add_processes(struct upmu_overview *o)
{
    bool twice = (o->opts.from_ns | o->opts.to_ns) != 0 && !o->pass.window.whole;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < upmu_trace_process_count(o->trace); i++) {
        struct upmu_trace_process p = {.size = sizeof p};
        rc = upmu_trace_process_at(o->trace, i, &p);
        if (rc != 0)
            break;
        o->lost += p.lost;
        o->n_all += o->pass.window.whole ? 0 : twice ? 2 * p.events : p.events;
        uint64_t from_ns = o->pass.window.from_ns;
        struct ov_process ours = {.start_ns = p.start_ns < from_ns ? from_ns : p.start_ns,
                                  .killed = !p.complete,
                                  .whole = p.complete && p.lost == 0 && p.overwritten == 0,
                                  .overwritten = p.overwritten > 0,
                                  .switches = overview_switches_counter(o->trace, i)};
        rc = p.pauses > 0 ? overview_read_pauses(o->trace, i, &ours) : 0;
        rc = rc == 0 ? overview_process(&o->pass, &ours) : rc;
        if (rc != 0)
            free(ours.pauses);
    }
    return rc;
}

int overview_note_damage(struct upmu_overview *o, const char *message)
{
    char **all = array_reserve(o->damages, o->n_damages, &o->cap_damages, sizeof *all);
    if (!all)
        return overview_no_memory();
    o->damages = all;
    all[o->n_damages] = strdup(message);
    return all[o->n_damages] ? (o->n_damages++, 0) : overview_no_memory();
}

static void overview_report_progress(struct upmu_overview *o)
{
    enum { EVERY = 1 << 16 };
    if (o->opts.progress && ++o->n_read % EVERY == 0)
        o->opts.progress(o->opts.arg, o->n_read, o->n_all);
}

static int overview_add_event(struct upmu_overview *o, const struct upmu_trace_event *e)
{
    struct upmu_trace_event changed;
    int rc = o->stacks == UPMU_STACKS_MACHINE ? 0 : omp_contexts_event(&o->omp, o->trace, e, &changed, &e);
    return rc == 0 ? (o->pass.window.whole ? window_add : overview_add)(&o->pass, e) : rc;
}

static int overview_add_events(struct upmu_overview *o)
{
    const struct upmu_trace_event *e;
    int rc, more;
    do {
        more = upmu_trace_next(o->trace, &e);
        rc = more > 0 ? overview_add_event(o, e) : 0;
        overview_report_progress(o);
        /* The reader continues with the other streams after damage; any other error would be returned again. */
        if (more < 0)
            rc = more == UPMU_E_FORMAT ? overview_note_damage(o, upmu_error()) : more;
    } while (rc == 0 && more != 0);
    return rc;
}

/* `whole`: the same recording without the window of `o`; NULL: it has none. */
static int open_into(struct upmu_overview *o, const char *dir, struct upmu_overview *whole)
{
    o->dir = strdup(dir);
    int rc = o->dir ? upmu_trace_open(&o->trace, dir) : overview_no_memory();
    o->pass.start_ns = upmu_trace_begin_ns(o->trace);
    if (rc == 0)
        rc = lookup_open(o, o->opts.debug_dir);
    if (rc == 0)
        rc = overview_add_processes(o);
    if (rc == 0 && o->pass.hooks && o->pass.hooks->opened)
        rc = o->pass.hooks->opened(o->pass.hooks->arg, o->trace);
    if (rc == 0)
        rc = overview_add_events(o);
    if (rc == 0)
        rc = killed_waits_extend(o);
    if (rc == 0 && whole)
        rc = window_add_threads(&o->pass);
    if (rc == 0 && whole)
        rc = window_note_stuck(&o->pass);
    rc = rc == 0 ? overview_end(&o->pass) : rc;
    if (rc == 0 && whole)
        window_complete(&o->pass, &whole->pass);
    rc = rc == 0 ? overview_conclude(&o->pass) : rc;
    o->pass.window.whole = NULL;
    return rc;
}

static int overview_read_all(struct upmu_overview **overview, const char *dir, const struct upmu_overview_opts *opts,
                             const struct timeline_hooks *hooks, struct upmu_overview *whole)
{
    struct upmu_overview *o = calloc(1, sizeof *o);
    struct timeline_window window = {0};
    *overview = NULL;
    if (!o)
        return overview_no_memory();
    int rc = whole ? timeline_window(whole, opts->from_ns, opts->to_ns, &window) : 0;
    if (whole) {
        uint64_t end_ns = whole->pass.end_ns;
        /* The process may have begun before its first event. */
        o->pass.window = (struct ov_window){.whole = &whole->pass,
                                            .from_ns = opts->from_ns ? window.from_ns : 0,
                                            .to_ns = window.to_ns < end_ns ? window.to_ns : end_ns};
        o->n_read = whole->n_read;
        o->n_all = whole->n_all;
    }
    o->pass.hooks = hooks;
    o->opts = *opts;
    o->stacks = opts->stacks;
    rc = rc == 0 ? open_into(o, dir, whole) : rc;
    o->opts = (struct upmu_overview_opts){0};
    if (rc == 0)
        *overview = o;
    else
        upmu_overview_close(o);
    return rc;
}

int upmu_overview_open(struct upmu_overview **overview, const char *dir, const struct upmu_overview_opts *opts)
{
    struct upmu_overview_opts ours = {0};
    if (!overview || !dir)
        return ARGUMENT_NULL(overview, dir);
    *overview = NULL;
    int rc = OPTS_TAKE(ours, opts, UPMU_OVERVIEW_OPTS_SIZE_V1);
    rc = rc == 0 ? stacks_check(__func__, ours.stacks) : rc;
    if (rc != 0)
        return rc;
    rc = overview_read_all(overview, dir, &ours, NULL, NULL);
    if (rc == 0 && (ours.from_ns | ours.to_ns) != 0) {
        struct upmu_overview *whole = *overview;
        rc = overview_read_all(overview, dir, &ours, NULL, whole);
        upmu_overview_close(whole);
    }
    return rc;
}

int timeline_read(struct upmu_overview **overview, const char *dir, const struct timeline_names *names,
                  const struct timeline_hooks *hooks)
{
    const struct upmu_overview_opts opts = {.debug_dir = names->debug_dir, .stacks = names->stacks};
    return overview_read_all(overview, dir, &opts, hooks, NULL);
}

int stacks_check(const char *function, int32_t stacks)
{
    if (stacks >= UPMU_STACKS_USER && stacks <= UPMU_STACKS_MACHINE)
        return 0;
    return upmu_fail(UPMU_E_INVAL, "%s: opts->stacks is %d, which is not in enum upmu_stacks", function, (int)stacks);
}

int timeline_none(struct upmu_overview **overview)
{
    *overview = calloc(1, sizeof **overview);
    return *overview ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory while reading a recording");
}

void upmu_overview_close(struct upmu_overview *overview)
{
    if (!overview)
        return;
    for (size_t i = 0; i < overview->n_damages; i++)
        free(overview->damages[i]);
    free(overview->dir);
    free(overview->damages);
    overview_free(&overview->pass);
    lookup_close(overview->lookup);
    upmu_trace_close(overview->trace);
    omp_contexts_free(&overview->omp);
    free(overview);
}

/* SPDX-License-Identifier: MIT */
/*
 * Snapshots at triggers: requests of recorded processes, taken at a limited rate.
 *
 * A process makes one request and no other until it is allowed to (control_header.snapshot_ready): within the interval it only
 * counts.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/map.h"
#include "base/opts.h"
#include "base/process/host_clock.h"
#include "trace/control/control_file.h"
#include "trace/control/snapshot.h"
#include "trace/format/trigger.h"
#include "trace/read/packets.h"
#include "upmu/region.h"

enum { SEARCH_SHARE = 20, MOST_DEFAULT = 16 };
#define INTERVAL_DEFAULT_NS UINT64_C(10000000000)

/* A process whose control file is mapped. */
struct watched {
    char *dir;
    struct control_header *control;
    uint64_t requests; /* of its triggers, those that were carried out */
};

struct upmu_snapshot_watch {
    char *recording, *directory;
    uint64_t interval_ns;
    uint32_t most;
    struct watched *processes;
    size_t n, cap;
    uint64_t search_ns; /* no search for new processes before */
    uint64_t next_ns;   /* no snapshot before */
    uint64_t number;    /* of the last directory */
    struct upmu_snapshot_totals totals;
    uint64_t refused; /* calls of upmu_snapshot_watch_take() within the interval */
    char *path;
    char reason[UPMU_REGION_NAME_MAX + 1];
};

int upmu_trigger_check(const char *text)
{
    struct trigger t;
    if (!text)
        return argument_null(__func__, "text");
    int rc = trigger_parse(text, strlen(text), &t);
    if (rc == 0 && strchr(text, ';'))
        return upmu_fail(UPMU_E_INVAL, "trigger \"%s\": the name of a region with ';' cannot be used in a trigger",
                         t.text);
    return rc == 0 ? (int)t.kind : rc;
}

static int watch_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while watching a recording");
}

int upmu_snapshot_watch_open(struct upmu_snapshot_watch **watch, const char *recording, const char *directory,
                             const struct upmu_snapshot_watch_opts *opts)
{
    struct upmu_snapshot_watch_opts o;
    if (!watch || !recording || !directory)
        return argument_null(__func__, !watch ? "watch" : !recording ? "recording" : "directory");
    *watch = NULL;
    int rc = OPTS_TAKE(o, opts, UPMU_SNAPSHOT_WATCH_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    struct upmu_snapshot_watch *w = calloc(1, sizeof *w);
    if (!w)
        return watch_no_memory();
    w->interval_ns = o.interval_ns ? o.interval_ns : INTERVAL_DEFAULT_NS;
    w->most = o.most ? o.most : MOST_DEFAULT;
    w->recording = strdup(recording);
    w->directory = strdup(directory);
    if (!w->recording || !w->directory) {
        upmu_snapshot_watch_close(w);
        return watch_no_memory();
    }
    *watch = w;
    return 0;
}

void upmu_snapshot_watch_close(struct upmu_snapshot_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < watch->n; i++) {
        control_file_unmap(watch->processes[i].control);
        free(watch->processes[i].dir);
    }
    free(watch->processes);
    free(watch->recording);
    free(watch->directory);
    free(watch->path);
    free(watch);
}

/* ------------------------------------------------------------------------------------------------- processes */

static bool watch_has(const struct upmu_snapshot_watch *w, const char *dir)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->processes[i].dir, dir) == 0)
            return true;
    return false;
}

static int watch_add(struct upmu_snapshot_watch *w, const char *dir)
{
    struct watched *all = array_reserve(w->processes, w->n, &w->cap, sizeof *all);
    if (!all)
        return watch_no_memory();
    w->processes = all;
    struct watched p = {.dir = strdup(dir)};
    int rc = p.dir ? control_file_map(dir, &p.control) : watch_no_memory();
    if (rc != 0 || !p.control) {
        free(p.dir);
        return rc;
    }
    all[w->n++] = p;
    return 0;
}

/* Processes that have begun since, which takes one part in SEARCH_SHARE of the time if there are many. A recording that has
 * none yet is no failure. */
static int watch_search(struct upmu_snapshot_watch *w, uint64_t now)
{
    struct path_list dirs = {0};
    if (now < w->search_ns)
        return 0;
    int rc = 0;
    if (recording_processes(w->recording, &dirs) != 0)
        dirs = (struct path_list){0};
    for (size_t i = 0; rc == 0 && i < dirs.n; i++)
        if (!watch_has(w, dirs.paths[i]))
            rc = watch_add(w, dirs.paths[i]);
    path_list_free(&dirs);
    uint64_t end = host_clock_raw_ns();
    w->search_ns = end + SEARCH_SHARE * (end - now);
    return rc;
}

static bool watch_allows(const struct upmu_snapshot_watch *w, uint64_t now)
{
    return w->totals.taken + w->totals.failed < w->most && now >= w->next_ns;
}

/* A process accepts its next request once the interval has passed. */
static void watch_arm(struct upmu_snapshot_watch *w, uint64_t now)
{
    w->totals.skipped = w->refused;
    w->totals.programs = 0;
    w->totals.deadlocks = 0;
    for (size_t i = 0; i < w->n; i++) {
        struct watched *p = &w->processes[i];
        uint64_t exceeded = __atomic_load_n(&p->control->exceeded, __ATOMIC_RELAXED);
        bool pending = __atomic_load_n(&p->control->snapshot_asked, __ATOMIC_ACQUIRE) != 0;
        w->totals.skipped += exceeded > p->requests + pending ? exceeded - p->requests - pending : 0;
        w->totals.programs += p->control->triggers != 0;
        w->totals.deadlocks += p->control->on_deadlock != 0;
        if (watch_allows(w, now) && !pending && p->control->triggers != 0)
            __atomic_store_n(&p->control->snapshot_ready, 1, __ATOMIC_RELEASE);
    }
}

/* ------------------------------------------------------------------------------------------------- snapshots */

/* The next directory that does not exist. */
static int watch_next_path(struct upmu_snapshot_watch *w)
{
    struct stat st;
    if (mkdir(w->directory, 0700) != 0 && errno != EEXIST)
        return upmu_fail(UPMU_E_IO, "cannot create the directory \"%s\" of snapshots: %s", w->directory,
                         strerrordesc_np(errno));
    do {
        free(w->path);
        w->number++;
        if (asprintf(&w->path, "%s/%llu", w->directory, (unsigned long long)w->number) < 0) {
            w->path = NULL;
            return watch_no_memory();
        }
    } while (lstat(w->path, &st) == 0);
    return 0;
}

static int watch_snapshot(struct upmu_snapshot_watch *w, struct upmu_snapshot *out)
{
    int rc = watch_next_path(w);
    if (rc == 0)
        rc = upmu_snapshot_take(w->recording, w->path, w->reason, out);
    w->next_ns = host_clock_raw_ns() + w->interval_ns;
    w->totals.taken += rc == 0;
    w->totals.failed += rc != 0;
    w->totals.missed += rc == 0 ? out->missed : 0;
    return rc == 0 ? 1 : rc;
}

/* "wait > 100 ms: 153.2 ms in thread 4711". */
static void watch_describe(struct upmu_snapshot_watch *w, const struct watched *p)
{
    const struct control_request *r = &p->control->request;
    struct meta m;
    double ms = 0;
    if (recording_metadata(p->dir, &m, NULL, NULL) == 0) {
        ms = m.clock.hz ? (double)r->ticks * 1e3 / (double)m.clock.hz : 0;
        meta_free(&m);
    }
    enum { TAIL = 64 }; /* for what follows the trigger */
    snprintf(w->reason, sizeof w->reason, "%.*s: %.*f ms in thread %d", (int)sizeof w->reason - TAIL, r->text,
             ms < 10 ? 3 : 1, ms, (int)r->tid);
}

int upmu_snapshot_watch_poll(struct upmu_snapshot_watch *watch, struct upmu_snapshot *out)
{
    if (!watch || !out)
        return ARGUMENT_NULL(watch, out);
    int rc = OPTS_CHECK(out, UPMU_SNAPSHOT_SIZE_V1);
    uint64_t now = host_clock_raw_ns();
    if (rc == 0)
        rc = watch_search(watch, now);
    for (size_t i = 0; rc == 0 && i < watch->n; i++) {
        struct watched *p = &watch->processes[i];
        if (!__atomic_load_n(&p->control->snapshot_asked, __ATOMIC_ACQUIRE) || !watch_allows(watch, now))
            continue;
        watch_describe(watch, p);
        p->requests++;
        __atomic_store_n(&p->control->snapshot_asked, 0, __ATOMIC_RELEASE);
        rc = watch_snapshot(watch, out);
    }
    watch_arm(watch, host_clock_raw_ns());
    return rc;
}

int upmu_snapshot_watch_take(struct upmu_snapshot_watch *watch, const char *reason, struct upmu_snapshot *out)
{
    if (!watch || !reason || !out)
        return argument_null(__func__, !watch ? "watch" : !reason ? "reason" : "out");
    int rc = OPTS_CHECK(out, UPMU_SNAPSHOT_SIZE_V1);
    if (rc != 0)
        return rc;
    if (!watch_allows(watch, host_clock_raw_ns())) {
        watch->refused++;
        watch->totals.skipped++;
        return 0;
    }
    snprintf(watch->reason, sizeof watch->reason, "%s", reason);
    return watch_snapshot(watch, out);
}

int upmu_snapshot_watch_totals_read(const struct upmu_snapshot_watch *watch, struct upmu_snapshot_totals *out)
{
    if (!watch || !out)
        return ARGUMENT_NULL(watch, out);
    return OPTS_GIVE(out, watch->totals, UPMU_SNAPSHOT_TOTALS_SIZE_V1);
}

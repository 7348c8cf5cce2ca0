/* SPDX-License-Identifier: MIT */
/* upmu top --json: one JSON document per line and update. */
#include <poll.h>
#include <stdlib.h>

#include "facts/facts.h"
#include "ui/json.h"
#include "ui/output.h"
#include "report/report.h"
#include "stat/stat.h"
#include "top.h"

static void json_share(struct textbuf *j, const char *key, const struct top_thread *t, double share)
{
    if (t->has_task)
        json_double(j, key, share);
    else
        json_null(j, key);
}

static void json_wait(struct textbuf *j, const struct top *t, const struct upmu_monitor_thread *l)
{
    if (l->wait_kind < 0) {
        json_null(j, "waits_for");
        return;
    }
    struct upmu_symbol line = {.size = sizeof line};
    bool has_line =
        l->site != 0 && upmu_monitor_line_at(t->live, l->process, l->site, 0, &line) == 0 && line.line > 0 && line.file;
    char *location = top_location(t, l->process, l->site);
    json_object(j, "waits_for");
    json_string(j, "kind", upmu_wait_kind_name(l->wait_kind));
    json_string(j, "type", report_type_name(l->object_type));
    if (l->object != 0)
        facts_address(j, "address", l->object);
    else
        json_null(j, "address");
    json_string(j, "name", l->object_name[0] ? l->object_name : NULL);
    json_int_if(j, "holder", l->holder != 0, l->holder);
    json_uint_if(j, "since_ns", l->since_ns > 0, l->since_ns);
    json_string(j, "site", location[0] ? location : NULL);
    json_string(j, "file", has_line ? line.file : NULL);
    json_int_if(j, "line", has_line, line.line);
    json_object_end(j);
    free(location);
}

static void json_threads(struct textbuf *j, const struct top *t)
{
    json_array(j, "threads");
    for (size_t i = 0; i < t->n_threads; i++) {
        const struct top_thread *x = &t->threads[i];
        json_object(j, NULL);
        json_int(j, "pid", x->live.pid);
        json_int(j, "tid", x->live.tid);
        json_string(j, "name", x->live.name[0] ? x->live.name : NULL);
        json_share(j, "running", x, x->running);
        json_share(j, "preempted", x, x->ready);
        json_share(j, "blocked", x, x->off);
        json_uint_if(j, "voluntary", x->has_task, x->voluntary);
        json_uint_if(j, "involuntary", x->has_task, x->involuntary);
        json_uint_if(j, "waits", t->live != NULL, x->live.waits);
        json_uint_if(j, "waited_ns", t->live != NULL, x->live.waited_ns);
        json_uint_if(j, "stopped_ns", t->live != NULL, x->live.stopped_ns);
        json_wait(j, t, &x->live);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_locks(struct textbuf *j, const struct top *t)
{
    struct upmu_monitor_lock l = {.size = sizeof l};
    json_array(j, "locks");
    for (size_t i = 0; upmu_monitor_lock_at(t->live, i, &l) == 0; i++) {
        json_object(j, NULL);
        json_int(j, "pid", l.pid);
        json_string(j, "type", report_type_name(l.type));
        facts_address(j, "address", l.address);
        json_uint(j, "generation", l.generation);
        json_string(j, "group", l.group[0] ? l.group : NULL);
        json_string(j, "name", l.name[0] ? l.name : NULL);
        json_uint(j, "waiters", l.waiters);
        json_int_if(j, "holder", l.holder != 0, l.holder);
        json_uint(j, "waits", l.waits);
        json_uint(j, "waited_ns", l.waited_ns);
        json_uint(j, "total_ns", l.total_ns);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_counters(struct textbuf *j, const struct top *t)
{
    json_array(j, "counters");
    for (size_t i = 0; i < t->n_counts; i++) {
        json_object(j, NULL);
        json_string(j, "name", upmu_set_name(t->set, i));
        facts_value(j, "total", &t->counts[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_deadlocks(struct textbuf *j, const struct top *t)
{
    json_array(j, "deadlocks");
    for (size_t i = 0; i < t->n_deadlocks; i++) {
        const struct top_deadlock *d = &t->deadlocks[i];
        json_object(j, NULL);
        json_int(j, "pid", d->pid);
        json_string(j, "headline", d->headline);
        json_array(j, "threads");
        for (size_t k = 0; k < d->n_threads; k++) {
            json_object(j, NULL);
            json_int(j, "tid", d->threads[k].tid);
            json_string(j, "text", d->threads[k].text);
            json_object_end(j);
        }
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static int json_start(void)
{
    return 0;
}

/* The reader of the stream went away, or the user wants no more. */
static bool top_json_is_over(void)
{
    return ferror(stdout) || stat_signals_seen() != 0;
}

static bool json_show(const struct top *t, double seconds)
{
    struct json_document doc;
    struct textbuf *j = json_begin_line(&doc, stdout, "upmu-top");
    json_uint(j, "time_ns", t->totals.now_ns);
    json_uint(j, "interval_ns", t->totals.interval_ns);
    json_uint_if(j, "events", t->live != NULL, t->totals.events);
    json_uint_if(j, "all_events", t->live != NULL, t->totals.all_events);
    json_uint_if(j, "missed_packets", t->live != NULL, t->totals.missed);
    json_uint_if(j, "damages", t->live != NULL, t->totals.n_damages);
    json_uint_if(j, "stopped_processes", t->live != NULL, t->totals.n_stopped);
    json_bool(j, "running", t->running);
    json_threads(j, t);
    json_locks(j, t);
    json_counters(j, t);
    json_deadlocks(j, t);
    json_end(&doc);
    if (fflush(stdout) != 0 || top_json_is_over())
        return false;
    if (t->running && seconds > 0)
        (void)poll(NULL, 0, (int)(seconds * 1000)); /* a signal ends it early */
    return !top_json_is_over();
}

static void json_stop(void)
{
}

const struct top_view top_json = {.begin = json_start, .show = json_show, .end = json_stop};

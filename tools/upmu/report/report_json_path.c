/* SPDX-License-Identifier: MIT */
/* Waits between threads and the critical path as JSON. */
#include "facts/facts.h"
#include "report.h"

/* A thread by its kernel id; those not known are null. */
static void json_tid(struct textbuf *j, const struct report *r, const char *key, uint32_t thread)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    if (thread != UINT32_MAX && upmu_overview_thread_at(r->overview, thread, &t) == 0)
        json_int(j, key, t.tid);
    else
        json_null(j, key);
}

void report_json_pairs(struct textbuf *j, const struct report *r)
{
    struct upmu_overview_pair p = {.size = sizeof p};
    struct upmu_trace_process of = {.size = sizeof of};
    json_array(j, "pairs");
    for (size_t i = 0; i < r->top && upmu_overview_pair_at(r->overview, i, &p) == 0; i++) {
        json_object(j, NULL);
        json_uint(j, "process", p.process);
        if (upmu_overview_process_at(r->overview, p.process, &of) == 0)
            json_int(j, "pid", of.pid);
        json_int(j, "waiter", p.waiter_tid);
        json_tid(j, r, "other", p.other);
        json_uint(j, "count", p.waits.count);
        json_uint(j, "total_ns", p.waits.total_ns);
        json_uint(j, "max_ns", p.waits.max_ns);
        json_uint(j, "unfinished", p.waits.unfinished);
        json_uint(j, "unfinished_ns", p.waits.unfinished_ns);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_path_objects(struct textbuf *j, const struct report *r, size_t process)
{
    struct upmu_overview_path_object l = {.size = sizeof l};
    struct upmu_overview_object o = {.size = sizeof o};
    json_array(j, "objects");
    for (size_t i = 0; i < r->top && upmu_overview_path_object_at(r->overview, process, i, &l) == 0 &&
                       upmu_overview_object_at(r->overview, l.object, &o) == 0;
         i++) {
        json_object(j, NULL);
        json_string(j, "type", report_type_name(o.type));
        facts_address(j, "address", o.address);
        json_uint(j, "generation", o.generation);
        json_string(j, "name", o.name[0] ? o.name : NULL);
        facts_path_object(j, &l);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_path_steps(struct textbuf *j, const struct report *r, size_t process)
{
    static const char *const kinds[] = {[UPMU_PATH_RUNNING] = "runs",
                                        [UPMU_PATH_WAKEUP] = "wakes",
                                        [UPMU_PATH_WAITING] = "waits",
                                        [UPMU_PATH_STOPPED] = "stopped"};
    struct upmu_overview_path_segment s = {.size = sizeof s};
    json_array(j, "steps");
    for (size_t i = 0; i < r->top && upmu_overview_path_segment_at(r->overview, process, i, &s) == 0; i++) {
        json_object(j, NULL);
        json_string(j, "kind", kinds[s.kind]);
        json_tid(j, r, "thread", s.thread);
        json_tid(j, r, "from", s.waker);
        json_uint(j, "begin_ns", s.begin_ns);
        json_uint(j, "end_ns", s.end_ns);
        json_object_end(j);
    }
    json_array_end(j);
}

void report_json_paths(struct textbuf *j, const struct report *r)
{
    struct upmu_overview_path p = {.size = sizeof p};
    struct upmu_trace_process of = {.size = sizeof of};
    json_array(j, "paths");
    for (size_t i = 0; i < r->totals.n_processes && upmu_overview_path_read(r->overview, i, &p) == 0; i++) {
        json_object(j, NULL);
        json_uint(j, "process", i);
        if (upmu_overview_process_at(r->overview, i, &of) == 0)
            json_int(j, "pid", of.pid);
        json_uint(j, "begin_ns", p.begin_ns);
        json_uint(j, "end_ns", p.end_ns);
        facts_path(j, &p);
        json_path_objects(j, r, i);
        json_path_steps(j, r, i);
        json_object_end(j);
    }
    json_array_end(j);
}

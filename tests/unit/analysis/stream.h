/* SPDX-License-Identifier: MIT */
/* Event streams written by hand for the analysis pass, and its results. */
#ifndef UPMU_TESTS_ANALYSIS_STREAM_H
#define UPMU_TESTS_ANALYSIS_STREAM_H

#include "support/quick_check.h"
#include <stdlib.h>
#include <string.h>

#include "analysis/public.h"

/* Process 0 with pid 100, which began at time 1 and lost nothing. */
static struct upmu_overview subject;

static void begin_stream(bool whole)
{
    const struct ov_process p = {.start_ns = 1, .whole = whole, .switches = 0};
    memset(&subject, 0, sizeof subject);
    ck_assert_int_eq(overview_process(&subject.pass, &p), 0);
}

/* Recording was stopped from `begin` to `end`, after the stops added before. */
static inline void stop(uint64_t begin, uint64_t end)
{
    struct ov_process *p = &subject.pass.processes[0];
    struct ov_pause *all = realloc(p->pauses, (p->n_pauses + 1) * sizeof *all);
    ck_assert_ptr_nonnull(all);
    all[p->n_pauses++] = (struct ov_pause){begin, end, false};
    p->pauses = all;
}

static void end_stream(void)
{
    overview_free(&subject.pass);
}

static struct upmu_trace_event event(int kind, pid_t tid, uint64_t time, uint64_t object)
{
    return (struct upmu_trace_event){.size = sizeof(struct upmu_trace_event),
                                     .kind = kind,
                                     .pid = 100,
                                     .tid = tid,
                                     .time_ns = time,
                                     .object = object,
                                     .object_type = UPMU_OBJECT_MUTEX,
                                     .name = ""};
}

static void add(const struct upmu_trace_event *e)
{
    ck_assert_int_eq(overview_add(&subject.pass, e), 0);
}

static inline void put(int kind, pid_t tid, uint64_t time, uint64_t object)
{
    struct upmu_trace_event e = event(kind, tid, time, object);
    add(&e);
}

static inline void put_typed(int kind, int type, pid_t tid, uint64_t time, uint64_t object)
{
    struct upmu_trace_event e = event(kind, tid, time, object);
    e.object_type = type;
    add(&e);
}

/* A wait that begins, with what is known of the holder. */
static inline void block(pid_t tid, uint64_t time, uint64_t object, pid_t holder, uint64_t since)
{
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_BLOCK, tid, time, object);
    e.lock_block = (struct upmu_trace_lock_block){.holder = holder, .holder_since = since, .holder_site = 0x2000};
    e.site = 0x1000;
    e.stack = 7;
    add(&e);
}

static inline void counts(pid_t tid, uint64_t time, uint64_t object, uint64_t count, uint64_t contended)
{
    struct upmu_trace_event e = event(UPMU_TRACE_LOCK_COUNTS, tid, time, object);
    e.lock_counts = (struct upmu_trace_lock_counts){.acquisitions = count, .contended = contended, .thread = tid};
    add(&e);
}

static inline void named(int kind, pid_t tid, uint64_t time, uint64_t object, const char *name)
{
    struct upmu_trace_event e = event(kind, tid, time, object);
    e.name = name;
    add(&e);
}

static void finish(void)
{
    ck_assert_int_eq(overview_end(&subject.pass), 0);
    ck_assert_int_eq(overview_conclude(&subject.pass), 0);
}

static inline struct upmu_overview_totals totals(void)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    ck_assert_int_eq(upmu_overview_totals_read(&subject, &t), 0);
    return t;
}

static inline struct upmu_overview_object object(uint64_t address, uint32_t generation, size_t *index)
{
    struct upmu_overview_object o = {.size = sizeof o};
    for (size_t i = 0; upmu_overview_object_at(&subject, i, &o) == 0; i++) {
        if (o.address == address && o.generation == generation) {
            if (index)
                *index = i;
            return o;
        }
    }
    ck_abort_msg("no object %#lx of generation %u", (unsigned long)address, generation);
}

/* The thread of that id, the one that came `nth`. */
/* Waits of one kind of the only thread with that tid. */
static inline struct upmu_wait_sum thread_waits(pid_t tid, int kind)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    struct upmu_overview_thread_wait w = {.size = sizeof w};
    size_t i = 0;
    while (upmu_overview_thread_at(&subject, i, &t) == 0 && t.tid != tid)
        i++;
    ck_assert_int_eq(upmu_overview_thread_wait_at(&subject, i, kind, &w), 0);
    return w.waits;
}

static inline struct upmu_overview_thread thread(pid_t tid, size_t nth)
{
    struct upmu_overview_thread t = {.size = sizeof t}, best = {0};
    uint64_t after = 0;
    for (size_t round = 0; round <= nth; round++) {
        best = (struct upmu_overview_thread){.begin_ns = UINT64_MAX};
        for (size_t i = 0; upmu_overview_thread_at(&subject, i, &t) == 0; i++)
            if (t.tid == tid && t.begin_ns > after && t.begin_ns < best.begin_ns)
                best = t;
        after = best.begin_ns;
    }
    ck_assert_msg(best.tid == tid, "no thread %d", (int)tid);
    return best;
}

static inline struct upmu_overview_object_thread use(size_t object_index, pid_t tid)
{
    struct upmu_overview_object_thread u = {.size = sizeof u};
    for (size_t k = 0; upmu_overview_object_thread_at(&subject, object_index, k, &u) == 0; k++)
        if (u.tid == tid)
            return u;
    ck_abort_msg("thread %d did not use it", (int)tid);
}

static inline struct upmu_overview_call_site site(size_t object_index, uint64_t address)
{
    struct upmu_overview_call_site s = {.size = sizeof s};
    for (size_t k = 0; upmu_overview_call_site_at(&subject, object_index, k, &s) == 0; k++)
        if (s.address == address)
            return s;
    ck_abort_msg("no site %#lx", (unsigned long)address);
}

#endif

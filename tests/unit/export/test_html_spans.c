/* SPDX-License-Identifier: MIT */
/* What the HTML page draws: certain holds, wakers of waits, scheduling of threads. */
#include <stdlib.h>

#include "../analysis/stream.h"
#include "export/html/html.h"
#include "export/spans.h"
#include "unit/suite.h"

enum { LOCK = 0x100, OTHER = 0x200 };

/* As an export does: the events are read for what they name, then again for what happens. */
static struct upmu_overview facts;
static struct export_job job;
static struct timeline_hooks hooks;

typedef void (*story)(void);

static void report(story s)
{
    begin_stream(true);
    s();
    finish();
    facts = subject;
    job = (struct export_job){.format = &export_html, .facts = &facts, .fd = -1, .window.to_ns = UINT64_MAX};
    ck_assert_int_eq(export_names_start(&job), 0);
    ck_assert_int_eq(tree_start(&job.tree, 0), 0);
    ck_assert_int_eq(export_html.start(&job), 0);
    hooks = spans_hooks(&job);
    begin_stream(true);
    subject.pass.hooks = &hooks;
    s();
    finish();
    ck_assert_int_eq(spans_finish(&job, facts.pass.end_ns), 0);
    ck_assert_int_eq(html_holds_finish(&job), 0);
}

static void forget(void)
{
    export_html.free(&job);
    export_names_free(&job);
    spans_free(&job);
    textbuf_free(&job.out);
    end_stream();
    overview_free(&facts.pass);
}

static pid_t tid_of(uint32_t thread)
{
    return facts.pass.threads[thread].tid;
}

static void is_hold(size_t i, pid_t tid, uint64_t begin_ns, uint64_t ns, uint32_t flags)
{
    ck_assert_uint_gt(job.html->holds.n, i);
    const struct html_span *h = &job.html->holds.spans[i];
    ck_assert_int_eq(tid_of(h->row_b), tid);
    ck_assert_uint_eq(h->begin_ns, begin_ns);
    ck_assert_uint_eq(h->ns, ns);
    ck_assert_uint_eq(h->flags, flags);
}

/* Thread 101 has the lock; 102 waits for it, and records since when. */
static void waiter_with_time(void)
{
    put(UPMU_TRACE_MARK, 101, 5, 0);
    block(102, 30, LOCK, 101, 10);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 50, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 60, LOCK);
    put(UPMU_TRACE_MARK, 102, 90, 0);
}

START_TEST(a_hold_begins_when_the_waiter_recorded_it)
{
    report(waiter_with_time);
    ck_assert_uint_eq(job.html->holds.n, 1);
    is_hold(0, 101, 10, 40, 0);
    forget();
}
END_TEST

START_TEST(a_wait_was_ended_by_the_thread_that_released_the_lock)
{
    report(waiter_with_time);
    ck_assert_uint_eq(job.html->waits.n, 1);
    const struct html_wait *w = (const struct html_wait *)(const void *)job.html->waits.extras;
    ck_assert_int_eq(tid_of(w->waker), 101);
    ck_assert_uint_eq(w->waker_ns, 50);
    ck_assert_int_eq(tid_of(w->holder), 101);
    ck_assert_uint_eq(w->holder_since, 10);
    ck_assert_uint_eq(job.html->waits.spans[0].ns, 30);
    forget();
}
END_TEST

static void waiter_without_time(void)
{
    put(UPMU_TRACE_MARK, 101, 5, 0);
    block(102, 30, LOCK, 101, 0);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 50, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRED, 102, 60, LOCK);
}

START_TEST(without_a_since_it_is_at_least_from_the_wait_on)
{
    report(waiter_without_time);
    ck_assert_uint_eq(job.html->holds.n, 1);
    is_hold(0, 101, 30, 20, HTML_AT_LEAST);
    forget();
}
END_TEST

static void never_given_back(void)
{
    put(UPMU_TRACE_MARK, 101, 5, 0);
    block(102, 30, LOCK, 101, 10);
    put(UPMU_TRACE_MARK, 101, 80, 0);
}

START_TEST(a_lock_still_waited_for_is_held_to_the_end)
{
    report(never_given_back);
    ck_assert_uint_eq(job.html->holds.n, 1);
    is_hold(0, 101, 10, 70, HTML_UNFINISHED);
    ck_assert_uint_eq(job.html->waits.spans[0].flags, HTML_UNFINISHED);
    forget();
}
END_TEST

/* In mode contended the release after an acquisition need not be its own. */
static void with_gaps(void)
{
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 10, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 500, LOCK);
    counts(101, 600, LOCK, 9, 0);
}

START_TEST(what_is_not_certain_is_not_drawn)
{
    report(with_gaps);
    ck_assert_uint_eq(job.html->holds.n, 0);
    forget();
}
END_TEST

static void all_recorded(void)
{
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 10, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 12, LOCK); /* once more: it is recursive */
    put(UPMU_TRACE_LOCK_RELEASE, 101, 18, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 20, LOCK);
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 30, LOCK);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 35, LOCK);
    counts(101, 40, LOCK, 3, 0);
}

START_TEST(where_all_was_recorded_holds_are_paired)
{
    report(all_recorded);
    ck_assert_uint_eq(job.html->holds.n, 2);
    is_hold(0, 101, 10, 10, 0);
    is_hold(1, 101, 30, 5, 0);
    forget();
}
END_TEST

static void in_a_cond(int kind, uint64_t time)
{
    struct upmu_trace_event e = event(kind, 101, time, OTHER);
    e.object_type = UPMU_OBJECT_COND;
    e.cond.mutex = LOCK;
    add(&e);
}

static void waits_in_between(void)
{
    put(UPMU_TRACE_LOCK_ACQUIRE, 101, 10, LOCK);
    in_a_cond(UPMU_TRACE_COND_WAIT, 20);
    in_a_cond(UPMU_TRACE_COND_WAKE, 50);
    put(UPMU_TRACE_LOCK_RELEASE, 101, 55, LOCK);
    counts(101, 60, LOCK, 1, 0);
}

START_TEST(a_mutex_is_not_held_while_its_condition_is_waited_for)
{
    report(waits_in_between);
    ck_assert_uint_eq(job.html->holds.n, 2);
    is_hold(0, 101, 10, 10, 0);
    is_hold(1, 101, 50, 5, 0);
    forget();
}
END_TEST

static void switches(int kind, uint64_t time, uint32_t flags)
{
    struct upmu_trace_event e = event(kind, 101, time, 0);
    e.object_type = UPMU_OBJECT_NONE;
    e.flags = flags;
    e.sched.cpu = 1;
    add(&e);
}

static void is_scheduled(void)
{
    put(UPMU_TRACE_MARK, 101, 5, 0);
    switches(UPMU_TRACE_SCHED_BEGIN, 10, 0);
    switches(UPMU_TRACE_SCHED_OUT, 20, UPMU_TRACE_FLAG_PREEMPTED);
    switches(UPMU_TRACE_SCHED_IN, 25, 0);
    switches(UPMU_TRACE_SCHED_OUT, 40, 0);
    switches(UPMU_TRACE_SCHED_IN, 70, 0);
    switches(UPMU_TRACE_SCHED_OUT, 80, 0);
    put(UPMU_TRACE_MARK, 102, 90, 0);
}

START_TEST(how_a_thread_ran_is_kept)
{
    static const struct {
        uint64_t begin, ns;
        uint32_t state;
    } expected[] = {{10, 10, UPMU_SCHED_RUNNING},
                    {20, 5, UPMU_SCHED_PREEMPTED},
                    {25, 15, UPMU_SCHED_RUNNING},
                    {40, 30, UPMU_SCHED_BLOCKED},
                    {70, 10, UPMU_SCHED_RUNNING}};
    report(is_scheduled);
    const struct html_table *t = &job.html->runs;
    ck_assert_uint_ge(t->n, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ck_assert_uint_eq(t->spans[i].begin_ns, expected[i].begin);
        ck_assert_uint_eq(t->spans[i].ns, expected[i].ns);
        ck_assert_uint_eq(t->spans[i].what, expected[i].state);
        ck_assert_int_eq(tid_of(t->spans[i].row_a), 101);
    }
    forget();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, a_hold_begins_when_the_waiter_recorded_it);
    tcase_add_test(cases, a_wait_was_ended_by_the_thread_that_released_the_lock);
    tcase_add_test(cases, without_a_since_it_is_at_least_from_the_wait_on);
    tcase_add_test(cases, a_lock_still_waited_for_is_held_to_the_end);
    tcase_add_test(cases, what_is_not_certain_is_not_drawn);
    tcase_add_test(cases, where_all_was_recorded_holds_are_paired);
    tcase_add_test(cases, a_mutex_is_not_held_while_its_condition_is_waited_for);
    tcase_add_test(cases, how_a_thread_ran_is_kept);
    return run_suite("export.html_spans", cases);
}

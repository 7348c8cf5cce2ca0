/* SPDX-License-Identifier: MIT */
/* Counter values of waits and holds. */
#include "stream.h"

#include "unit/suite.h"

enum { LOCK = 0xa0, OTHER = 0xb0, COND = 0xc0 };

/* The counter is `raw` at the next event of that tick about `object`. */
static void counted(pid_t tid, uint64_t tick, uint64_t object, const struct upmu_value *values, size_t n)
{
    struct upmu_trace_event e = event(UPMU_TRACE_COUNTERS, tid, tick, object);
    e.tick = tick;
    e.values = values;
    e.n_values = n;
    add(&e);
}

static void at(pid_t tid, uint64_t tick, uint64_t object, uint64_t raw)
{
    const struct upmu_value v = {.value = raw, .raw = raw, .enabled = tick, .running = tick, .status = UPMU_EXACT};
    counted(tid, tick, object, &v, 1);
}

static void does(int kind, pid_t tid, uint64_t tick, uint64_t object)
{
    struct upmu_trace_event e = event(kind, tid, tick, object);
    e.tick = tick;
    if (kind == UPMU_TRACE_COND_WAIT || kind == UPMU_TRACE_COND_WAKE) {
        e.object_type = UPMU_OBJECT_COND;
        e.cond.mutex = LOCK;
    }
    add(&e);
}

static void does_counted(int kind, pid_t tid, uint64_t tick, uint64_t object, uint64_t raw)
{
    at(tid, tick, object, raw);
    does(kind, tid, tick, object);
}

static struct upmu_overview_section section(uint64_t address, int kind)
{
    struct upmu_overview_section s = {.size = sizeof s};
    size_t index;
    (void)object(address, 0, &index);
    ck_assert_int_eq(upmu_overview_section_read(&subject, index, kind, &s), 0);
    return s;
}

static void expect(uint64_t address, int kind, uint64_t sections, uint64_t ns, uint64_t count)
{
    struct upmu_overview_section s = section(address, kind);
    ck_assert_uint_eq(s.sections, sections);
    ck_assert_uint_eq(s.ns, ns);
    ck_assert_uint_eq(s.n_counts, sections ? 1 : 0);
    if (sections == 0)
        return;
    ck_assert_int_eq(s.counts[0].sum.status, UPMU_EXACT);
    ck_assert_uint_eq(s.counts[0].sum.value, count);
}

START_TEST(wait_and_hold_have_what_was_counted_between_their_ends)
{
    begin_stream(true);
    does_counted(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK, 10);
    does_counted(UPMU_TRACE_LOCK_ACQUIRED, 101, 1500, LOCK, 13);
    does_counted(UPMU_TRACE_LOCK_RELEASE, 101, 1700, LOCK, 113);
    does_counted(UPMU_TRACE_LOCK_ACQUIRE, 102, 2000, LOCK, 1000);
    does_counted(UPMU_TRACE_LOCK_RELEASE, 102, 2050, LOCK, 1001);
    finish();
    expect(LOCK, UPMU_SECTION_WAITED, 1, 500, 3);
    expect(LOCK, UPMU_SECTION_HELD, 2, 250, 101);
    end_stream();
}
END_TEST

START_TEST(section_that_lacks_an_end_is_not_counted)
{
    begin_stream(true);
    does_counted(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK, 10);
    does(UPMU_TRACE_LOCK_ACQUIRED, 101, 1500, LOCK); /* nor does the hold have a begin */
    does_counted(UPMU_TRACE_LOCK_RELEASE, 101, 1700, LOCK, 113);
    does_counted(UPMU_TRACE_LOCK_ACQUIRE, 101, 2000, LOCK, 200);
    does(UPMU_TRACE_LOCK_RELEASE, 101, 2050, LOCK);
    does_counted(UPMU_TRACE_LOCK_RELEASE, 101, 2100, LOCK, 300);
    finish();
    expect(LOCK, UPMU_SECTION_WAITED, 0, 0, 0);
    expect(LOCK, UPMU_SECTION_HELD, 0, 0, 0);
    end_stream();
}
END_TEST

START_TEST(begin_without_a_release_does_not_reach_to_the_next_one)
{
    begin_stream(true);
    does_counted(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK, 100);
    does(UPMU_TRACE_LOCK_ACQUIRE, 101, 2000, LOCK);
    does_counted(UPMU_TRACE_LOCK_RELEASE, 101, 2100, LOCK, 900);
    finish();
    expect(LOCK, UPMU_SECTION_HELD, 0, 0, 0);
    end_stream();
}
END_TEST

START_TEST(counters_of_another_object_or_moment_are_not_taken)
{
    begin_stream(true);
    at(101, 1000, OTHER, 10); /* its own event was lost */
    does(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK);
    at(101, 1400, LOCK, 20);
    does(UPMU_TRACE_LOCK_ACQUIRED, 101, 1500, LOCK);
    finish();
    expect(LOCK, UPMU_SECTION_WAITED, 0, 0, 0);
    end_stream();
}
END_TEST

START_TEST(mutex_is_not_held_while_its_condition_is_waited_for)
{
    begin_stream(true);
    does_counted(UPMU_TRACE_LOCK_ACQUIRE, 101, 1000, LOCK, 100);
    does_counted(UPMU_TRACE_COND_WAIT, 101, 1100, COND, 101);
    does_counted(UPMU_TRACE_COND_WAKE, 101, 1900, COND, 151);
    does_counted(UPMU_TRACE_LOCK_RELEASE, 101, 2000, LOCK, 158);
    finish();
    expect(LOCK, UPMU_SECTION_HELD, 2, 200, 1 + 7);
    expect(COND, UPMU_SECTION_WAITED, 1, 800, 50);
    end_stream();
}
END_TEST

START_TEST(unfinished_and_abandoned_waits_leave_nothing_behind)
{
    begin_stream(true);
    does_counted(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK, 10);
    does_counted(UPMU_TRACE_LOCK_BLOCK, 101, 1100, LOCK, 20); /* the end of the first was lost */
    does_counted(UPMU_TRACE_LOCK_BLOCK, 101, 1200, OTHER, 30);
    does_counted(UPMU_TRACE_LOCK_ACQUIRED, 101, 1300, LOCK, 40); /* with all that began inside it */
    does_counted(UPMU_TRACE_LOCK_BLOCK, 102, 1400, OTHER, 50);
    finish();
    expect(LOCK, UPMU_SECTION_WAITED, 1, 200, 20);
    expect(OTHER, UPMU_SECTION_WAITED, 0, 0, 0);
    end_stream();
}
END_TEST

START_TEST(refused_counter_stays_refused_beside_one_that_counts)
{
    struct upmu_value v[2] = {
        {.value = 5, .raw = 5, .enabled = 9, .running = 9, .status = UPMU_EXACT},
        {.value = UPMU_NO_VALUE, .status = UPMU_REFUSED, .cause = UPMU_E_PERM},
    };
    begin_stream(true);
    counted(101, 1000, LOCK, v, 2);
    does(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK);
    v[0] = (struct upmu_value){.value = 9, .raw = 9, .enabled = 19, .running = 14, .status = UPMU_SCALED};
    counted(101, 1500, LOCK, v, 2);
    does(UPMU_TRACE_LOCK_ACQUIRED, 101, 1500, LOCK);
    finish();
    struct upmu_overview_section s = section(LOCK, UPMU_SECTION_WAITED);
    ck_assert_uint_eq(s.n_counts, 2);
    ck_assert_int_eq(s.counts[0].sum.status, UPMU_SCALED);
    ck_assert_uint_eq(s.counts[0].sum.value, 8); /* 4 in half of the time */
    ck_assert_int_eq(s.counts[1].sum.status, UPMU_REFUSED);
    ck_assert_int_eq(s.counts[1].sum.cause, UPMU_E_PERM);
    ck_assert_uint_eq(s.counts[1].sum.value, UPMU_NO_VALUE);
    ck_assert_uint_eq(s.counts[1].without_value, 1);
    end_stream();
}
END_TEST

START_TEST(what_is_asked_wrongly_is_an_error)
{
    struct upmu_overview_section s = {.size = sizeof s};
    begin_stream(true);
    does(UPMU_TRACE_LOCK_BLOCK, 101, 1000, LOCK);
    finish();
    ck_assert_int_eq(upmu_overview_section_read(&subject, 0, 2, &s), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_overview_section_read(&subject, 1, 0, &s), UPMU_E_END);
    s.size = 4;
    ck_assert_int_eq(upmu_overview_section_read(&subject, 0, 0, &s), UPMU_E_INVAL);
    end_stream();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sections");
    tcase_add_test(cases, wait_and_hold_have_what_was_counted_between_their_ends);
    tcase_add_test(cases, section_that_lacks_an_end_is_not_counted);
    tcase_add_test(cases, begin_without_a_release_does_not_reach_to_the_next_one);
    tcase_add_test(cases, counters_of_another_object_or_moment_are_not_taken);
    tcase_add_test(cases, mutex_is_not_held_while_its_condition_is_waited_for);
    tcase_add_test(cases, unfinished_and_abandoned_waits_leave_nothing_behind);
    tcase_add_test(cases, refused_counter_stays_refused_beside_one_that_counts);
    tcase_add_test(cases, what_is_asked_wrongly_is_an_error);
    return run_suite("sections", cases);
}

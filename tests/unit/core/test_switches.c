/* SPDX-License-Identifier: MIT */
/*
 * Context switches without an event: the page's lock word where it agrees with the kernel's count.
 *
 * Otherwise the kernel's count, or no number if neither is available. The check is made once per process; each test is one.
 */
#include <errno.h>

#include "core/set/counters.h"
#include "support/machine.h"
#include "unit/suite.h"

static const struct scripted_sample steady[] = {{100, 1000, 1000}};
static bool pages_follow;
static size_t asked;

/* Between the first and the second look of the start-up check the thread sleeps four times. */
static void sleeping_thread(enum scripted_op op, int fd, void *arg)
{
    (void)fd, (void)arg;
    if (op == SCRIPTED_SWITCHES && ++asked == 2)
        scripted_switch(4, pages_follow);
}

static struct upmu_set *opened(void)
{
    struct upmu_set *set;
    ck_assert_int_eq(upmu_set_open(&set, "context-switches", NULL), 0);
    ck_assert_int_eq(upmu_set_start(set), 0);
    return set;
}

static struct upmu_value read_one(struct upmu_set *set)
{
    struct upmu_value v;
    ck_assert_int_eq(upmu_set_read(set, &v, 1), 1);
    return v;
}

static void expect_count(struct upmu_set *set, uint64_t n)
{
    struct upmu_value v = read_one(set);
    ck_assert_int_eq(v.status, UPMU_EXACT);
    ck_assert_uint_eq(v.value, n);
}

static void set_up(void)
{
    machine_plain(steady, 1);
    scripted_hook(sleeping_thread, NULL);
    asked = 0;
}

START_TEST(while_the_page_stays_as_it_was_there_is_no_call)
{
    pages_follow = true;
    struct upmu_set *set = opened();
    ck_assert(upmu_set_user_read(set, 0));
    expect_count(set, 0);
    size_t calls = scripted_count(SCRIPTED_SWITCHES);
    expect_count(set, 0);
    ck_assert_uint_eq(scripted_count(SCRIPTED_SWITCHES), calls);
    scripted_switch(3, true);
    expect_count(set, 3);
    expect_count(set, 3);
    ck_assert_uint_eq(scripted_count(SCRIPTED_SWITCHES), calls + 1);
    ck_assert_uint_eq(scripted_count(SCRIPTED_READ), 0);
    ck_assert_uint_eq(scripted_open_now(), 0); /* the page outlives its descriptor */
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_mapped_now(), 0);
}
END_TEST

/* Enabling another event of the thread, or of its CPU, rewrites the page too. */
START_TEST(a_page_that_is_rewritten_without_a_switch_counts_none)
{
    pages_follow = true;
    struct upmu_set *set = opened();
    scripted_rewrite_pages(5);
    expect_count(set, 0);
    scripted_switch(2, true);
    scripted_rewrite_pages(1);
    expect_count(set, 2);
    upmu_set_close(set);
}
END_TEST

START_TEST(a_page_that_does_not_agree_is_not_believed)
{
    pages_follow = false;
    struct upmu_set *set = opened();
    ck_assert(!upmu_set_user_read(set, 0));
    scripted_switch(7, false);
    expect_count(set, 7);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_mapped_now(), 0);
}
END_TEST

/* Under a tracer each system call stops the thread: the word changes at each read. */
static void traced_thread(enum scripted_op op, int fd, void *arg)
{
    (void)fd, (void)arg;
    if (op == SCRIPTED_SWITCHES)
        scripted_switch(1, true);
}

START_TEST(under_a_tracer_the_check_ends_and_the_kernel_is_asked)
{
    scripted_hook(traced_thread, NULL);
    struct upmu_set *set = opened();
    ck_assert(!upmu_set_user_read(set, 0));
    expect_count(set, 1); /* the reading itself */
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_mapped_now(), 0);
}
END_TEST

START_TEST(without_a_page_the_kernel_is_asked)
{
    scripted_hook(NULL, NULL);
    scripted_map_limit(0, EPERM);
    struct upmu_set *set = opened();
    ck_assert(!upmu_set_user_read(set, 0));
    scripted_switch(7, true);
    expect_count(set, 7);
    upmu_set_close(set);
    ck_assert_uint_eq(scripted_open_now(), 0);
}
END_TEST

START_TEST(without_perf_events_the_kernel_is_asked)
{
    int err = ENOSYS;
    scripted_hook(NULL, NULL);
    scripted_rule(scripted_rule_deny, &err);
    struct upmu_set *set = opened();
    scripted_switch(7, true);
    expect_count(set, 7);
    upmu_set_close(set);
}
END_TEST

START_TEST(without_either_there_is_no_number)
{
    scripted_map_limit(0, EPERM);
    scripted_switches_error(ENOSYS);
    struct upmu_set *set = opened();
    struct upmu_value v = read_one(set);
    ck_assert_int_eq(v.status, UPMU_REFUSED);
    ck_assert_int_lt(v.cause, 0);
    ck_assert_uint_eq(v.value, UPMU_NO_VALUE);
    upmu_set_close(set);
}
END_TEST

START_TEST(switches_while_stopped_do_not_count)
{
    pages_follow = true;
    struct upmu_set *set = opened();
    scripted_switch(2, true);
    ck_assert_int_eq(upmu_set_stop(set), 0);
    scripted_switch(10, true);
    expect_count(set, 2);
    ck_assert_int_eq(upmu_set_start(set), 0);
    scripted_switch(1, true);
    expect_count(set, 3);
    ck_assert_int_eq(upmu_set_reset(set), 0);
    expect_count(set, 0);
    ck_assert_int_eq(upmu_set_stop(set), 0);
    ck_assert_int_eq(upmu_set_reset(set), 0);
    scripted_switch(5, true);
    ck_assert_int_eq(read_one(set).status, UPMU_NOT_COUNTED); /* no time has passed since the set's zero */
    ck_assert_int_eq(upmu_set_start(set), 0);
    scripted_switch(1, true);
    expect_count(set, 1);
    upmu_set_close(set);
}
END_TEST

START_TEST(switches_before_the_first_start_do_not_count)
{
    struct upmu_set *set;
    pages_follow = true;
    ck_assert_int_eq(upmu_set_open(&set, "context-switches", NULL), 0);
    scripted_switch(10, true);
    ck_assert_int_eq(upmu_set_start(set), 0);
    scripted_switch(1, true);
    expect_count(set, 1);
    upmu_set_close(set);
}
END_TEST

START_TEST(the_word_may_wrap_around)
{
    struct kernel_page page = {.lock = UINT32_MAX - 15};
    pages_follow = true;
    scripted_page_contents(&page);
    struct upmu_set *set = opened();
    ck_assert(upmu_set_user_read(set, 0));
    scripted_switch(40, true);
    expect_count(set, 40);
    upmu_set_close(set);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("switches");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, while_the_page_stays_as_it_was_there_is_no_call);
    tcase_add_test(cases, a_page_that_is_rewritten_without_a_switch_counts_none);
    tcase_add_test(cases, a_page_that_does_not_agree_is_not_believed);
    tcase_add_test(cases, under_a_tracer_the_check_ends_and_the_kernel_is_asked);
    tcase_add_test(cases, without_a_page_the_kernel_is_asked);
    tcase_add_test(cases, without_perf_events_the_kernel_is_asked);
    tcase_add_test(cases, without_either_there_is_no_number);
    tcase_add_test(cases, switches_while_stopped_do_not_count);
    tcase_add_test(cases, switches_before_the_first_start_do_not_count);
    tcase_add_test(cases, the_word_may_wrap_around);
    return run_suite("switches", cases);
}

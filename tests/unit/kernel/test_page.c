/* SPDX-License-Identifier: MIT */
/* The page protocol on pages of our own: torn writes, widths, grants, and times computed by hand. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "kernel/page.h"
#include "unit/suite.h"

static uint64_t counter_gives;
static uint32_t counter_asked;
static uint64_t tick_gives;

static uint64_t scripted_counter_read(uint32_t index)
{
    counter_asked = index;
    return __atomic_load_n(&counter_gives, __ATOMIC_RELAXED);
}

static uint64_t scripted_tick(void)
{
    return tick_gives;
}

/* A granted page: counter 3 - 1, no user-space clock, times equal. */
static struct kernel_page granted(void)
{
    struct kernel_page page = {.lock = 8, .index = 3, .time_enabled = 500, .time_running = 500, .pmc_width = 48};
    page.caps.bit.bit0_deprecated = 1;
    page.caps.bit.user_rdpmc = 1;
    return page;
}

static int page_read(const struct kernel_page *page, struct kernel_page_count *out)
{
    memset(out, 0xa5, sizeof *out);
    return kernel_page_read_with(page, scripted_counter_read, scripted_tick, out);
}

START_TEST(value_is_offset_plus_counter)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.offset = 1000;
    counter_gives = 234;
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert_uint_eq(count.value, 1234);
    ck_assert_uint_eq(counter_asked, 3);
}
END_TEST

/* The kernel starts a counter at minus its period: all ones is -1, whatever the width. */
static const struct {
    uint16_t width;
    uint64_t counter;
    int64_t offset;
    uint64_t value;
} widths[] = {
    {32, 0xffffffffu, 100, 99},
    {32, 0x80000000u, INT64_C(0x80000000), 0},
    {32, 0x7fffffffu, 1, 0x80000000u},
    {40, 0xffffffffffu, 100, 99},
    {40, 0x8000000000u, INT64_C(0x8000000007), 7},
    {48, 0xffffffffffffu, 100, 99},
    {48, 0x7fffffffffffu, 0, 0x7fffffffffffu},
    {48, 0x800000000000u, INT64_C(0x800000000000), 0},
    {48, 0xffff000000000005u, 0, 5}, /* bits above the width are not the counter's */
    {64, UINT64_MAX, 100, 99},
    {64, 5, -5, 0},
    {1, 1, 2, 1},
};

START_TEST(counter_is_sign_extended_from_its_width)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.pmc_width = widths[_i].width;
    page.offset = widths[_i].offset;
    counter_gives = widths[_i].counter;
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert_uint_eq(count.value, widths[_i].value);
}
END_TEST

START_TEST(width_that_cannot_be_is_not_read)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.pmc_width = 0;
    ck_assert_int_eq(page_read(&page, &count), -EAGAIN);
    page.pmc_width = 65;
    ck_assert_int_eq(page_read(&page, &count), -EAGAIN);
}
END_TEST

START_TEST(event_on_no_counter_is_not_read)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    counter_asked = 99;
    page.index = 0;
    ck_assert_int_eq(page_read(&page, &count), -EAGAIN);
    ck_assert_uint_eq(counter_asked, 99);
}
END_TEST

START_TEST(counter_is_not_touched_without_the_grant)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    counter_asked = 99;
    page.caps.bit.user_rdpmc = 0;
    ck_assert_int_eq(page_read(&page, &count), -EAGAIN);
    ck_assert_uint_eq(counter_asked, 99);
}
END_TEST

START_TEST(isa_without_counter_read_uses_read)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    ck_assert_int_eq(kernel_page_read_with(&page, NULL, scripted_tick, &count), -EAGAIN);
}
END_TEST

START_TEST(page_under_rewrite_is_given_up)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.lock = 7;
    ck_assert_int_eq(page_read(&page, &count), -EAGAIN);
}
END_TEST

static struct kernel_page *page_rewritten;

static uint64_t rewriting_counter_read(uint32_t index)
{
    (void)index;
    page_rewritten->lock += 2;
    return 1;
}

START_TEST(page_rewritten_in_each_try_is_given_up)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page_rewritten = &page;
    ck_assert_int_eq(kernel_page_read_with(&page, rewriting_counter_read, scripted_tick, &count), -EAGAIN);
    ck_assert_uint_gt(page.lock, 10);
}
END_TEST

/* A context switch between the page's fields and the counter: the first try must not be believed. */
static uint64_t switching_counter_read(uint32_t index)
{
    if (page_rewritten->lock == 8) {
        page_rewritten->lock += 2;
        page_rewritten->offset = 5000;
        page_rewritten->index = 1;
        return 77;
    }
    ck_assert_uint_eq(index, 1);
    return 3;
}

START_TEST(switch_between_fields_and_counter_is_read_again)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page_rewritten = &page;
    ck_assert_int_eq(kernel_page_read_with(&page, switching_counter_read, scripted_tick, &count), 0);
    ck_assert_uint_eq(count.value, 5003);
}
END_TEST

START_TEST(times_without_clock_are_marked_stale_while_equal)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert_uint_eq(count.enabled, 500);
    ck_assert_uint_eq(count.running, 500);
    ck_assert(count.stale_times);
}
END_TEST

START_TEST(times_without_clock_are_refused_once_they_differ)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.time_running = 499;
    ck_assert_int_eq(page_read(&page, &count), -EAGAIN);
}
END_TEST

START_TEST(clock_of_an_isa_without_one_is_not_asked)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.caps.bit.user_time = 1;
    ck_assert_int_eq(kernel_page_read_with(&page, scripted_counter_read, NULL, &count), 0);
    ck_assert(count.stale_times);
}
END_TEST

/*
 * By hand: shift 10, mult 512 is half a nanosecond per cycle. 1,000,001 cycles are 976 * 1024 + 577:
 * 976 * 512 + (577 * 512 >> 10) = 499,712 + 288 = 500,000; with time_offset -400,000 that is 100,000 ns since the rewrite.
 */
START_TEST(times_grow_by_the_clock)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.caps.bit.user_time = 1;
    page.time_shift = 10;
    page.time_mult = 512;
    page.time_offset = (uint64_t)INT64_C(-400000);
    page.time_enabled = 7000;
    page.time_running = 3000;
    tick_gives = 1000001;
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert_uint_eq(count.enabled, 107000);
    ck_assert_uint_eq(count.running, 103000);
    ck_assert(!count.stale_times);
}
END_TEST

/* A 2.5 GHz TSC as Linux converts it: shift 31, mult 0.4 * 2^31 = 858,993,459; 25 * 10^9 cycles are 10^10 ns less 2. */
START_TEST(times_grow_by_a_fast_clock_without_overflow)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.caps.bit.user_time = 1;
    page.time_shift = 31;
    page.time_mult = 858993459;
    page.time_enabled = page.time_running = 0;
    tick_gives = UINT64_C(25000000000);
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert_uint_eq(count.enabled, UINT64_C(9999999997));
}
END_TEST

/* A 16-bit clock that wrapped: the page saw 0xfff0, now it shows 0x0010, 32 cycles later; 1 ns per cycle. */
START_TEST(short_clock_may_wrap)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.caps.bit.user_time = 1;
    page.caps.bit.user_time_short = 1;
    page.time_mult = 1;
    page.time_cycles = 0xabfff0;
    page.time_mask = 0xffff;
    page.time_offset = -(uint64_t)0xabfff0;
    tick_gives = 0x0010;
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert_uint_eq(count.enabled, 532);
    ck_assert_uint_eq(count.running, 532);
}
END_TEST

START_TEST(clock_behind_the_page_adds_nothing)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.caps.bit.user_time = 1;
    page.time_mult = 1;
    page.time_offset = (uint64_t)INT64_C(-1005);
    tick_gives = 1000;
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert_uint_eq(count.enabled, 500);
    ck_assert_uint_eq(count.running, 500);
}
END_TEST

START_TEST(shift_that_cannot_be_is_no_clock)
{
    struct kernel_page page = granted();
    struct kernel_page_count count;
    page.caps.bit.user_time = 1;
    page.time_shift = 200;
    ck_assert_int_eq(page_read(&page, &count), 0);
    ck_assert(count.stale_times);
}
END_TEST

START_TEST(sequence_word_is_the_lock)
{
    struct kernel_page page = granted();
    ck_assert_uint_eq(*kernel_page_sequence(&page), 8);
    ck_assert_ptr_eq((const void *)kernel_page_sequence(&page), (const void *)&page.lock);
}
END_TEST

/* A thread that rewrites the page as fast as it can, each state being k, 10 k, 10 k and 7 k. */
struct tearing {
    struct kernel_page page;
    uint32_t stop;
};

#define PUT(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)

static void *tear(void *arg)
{
    struct tearing *t = arg;
    for (uint64_t k = 1; !__atomic_load_n(&t->stop, __ATOMIC_RELAXED); k++) {
        __atomic_add_fetch(&t->page.lock, 1, __ATOMIC_ACQ_REL);
        PUT(t->page.offset, (int64_t)k);
        PUT(t->page.time_enabled, 10 * k);
        PUT(t->page.time_running, 10 * k);
        PUT(t->page.time_offset, 7 * k);
        __atomic_add_fetch(&t->page.lock, 1, __ATOMIC_ACQ_REL);
        /* Leave readers time: a read of a page that always changes is rightly given up. */
        for (volatile int pause = 0; pause < 200; pause++)
            ;
    }
    return NULL;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Counts what it sees and asserts once at the end: Check writes a file at each assertion, millions of them here. */
START_TEST(torn_page_is_never_believed)
{
    enum { WANTED = 200000, CHANGES = 100, LONGEST = 120 };
    struct tearing t = {.page = granted()};
    pthread_t thread;
    long good = 0, distinct = 0, torn = 0, refused_otherwise = 0;
    uint64_t before = 0;
    t.page.caps.bit.user_time = 1;
    t.page.offset = 0;
    t.page.time_enabled = t.page.time_running = 0;
    counter_gives = 0;
    tick_gives = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, tear, &t), 0);
    /* On a busy machine the two threads may alternate: continue until the writer was seen at work. */
    double end = seconds() + (double)LONGEST;
    while ((good < WANTED || distinct <= CHANGES) && seconds() < end) {
        struct kernel_page_count count;
        int rc = page_read(&t.page, &count);
        if (rc != 0) {
            refused_otherwise += rc != -EAGAIN;
            continue;
        }
        torn += count.enabled != 17 * count.value || count.running != 17 * count.value;
        distinct += count.value != before;
        before = count.value;
        if (++good % 1024 == 0)
            sched_yield(); /* on one processor the writer's turn may be long in coming */
    }
    PUT(t.stop, 1);
    pthread_join(thread, NULL);
    ck_assert_int_eq(torn, 0);
    ck_assert_int_eq(refused_otherwise, 0);
    ck_assert_int_ge(good, WANTED);
    ck_assert_int_gt(distinct, CHANGES); /* the writer really wrote in between */
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("page");
    tcase_set_timeout(cases, 150);
    tcase_add_test(cases, value_is_offset_plus_counter);
    tcase_add_loop_test(cases, counter_is_sign_extended_from_its_width, 0, (int)(sizeof widths / sizeof *widths));
    tcase_add_test(cases, width_that_cannot_be_is_not_read);
    tcase_add_test(cases, event_on_no_counter_is_not_read);
    tcase_add_test(cases, counter_is_not_touched_without_the_grant);
    tcase_add_test(cases, isa_without_counter_read_uses_read);
    tcase_add_test(cases, page_under_rewrite_is_given_up);
    tcase_add_test(cases, page_rewritten_in_each_try_is_given_up);
    tcase_add_test(cases, switch_between_fields_and_counter_is_read_again);
    tcase_add_test(cases, times_without_clock_are_marked_stale_while_equal);
    tcase_add_test(cases, times_without_clock_are_refused_once_they_differ);
    tcase_add_test(cases, clock_of_an_isa_without_one_is_not_asked);
    tcase_add_test(cases, times_grow_by_the_clock);
    tcase_add_test(cases, times_grow_by_a_fast_clock_without_overflow);
    tcase_add_test(cases, short_clock_may_wrap);
    tcase_add_test(cases, clock_behind_the_page_adds_nothing);
    tcase_add_test(cases, shift_that_cannot_be_is_no_clock);
    tcase_add_test(cases, sequence_word_is_the_lock);
    tcase_add_test(cases, torn_page_is_never_believed);
    return run_suite("kernel page", cases);
}

/* SPDX-License-Identifier: MIT */
/* The recorder's clock against the kernel's: rate, order, simultaneous readings, and the fallback. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/tick.h"
#include "unit/suite.h"

static uint64_t raw_now(void)
{
    return tick_portable();
}

/* Ticks per second over `ns` by our own two readings of each clock. */
static double pace(uint64_t ns)
{
    struct clock_triple a, b;
    clock_sample(&a);
    do
        clock_sample(&b);
    while (b.raw_ns - a.raw_ns < ns);
    return (double)(b.tick - a.tick) * 1e9 / (double)(b.raw_ns - a.raw_ns);
}

START_TEST(frequency_fits_the_kernels_raw_clock_within_100_ppm)
{
    clock_start();
    double fitted = clock_hz(100000000);
    double measured = pace(100000000);
    ck_assert_msg(fabs(fitted - measured) < 1e-4 * measured, "clock_hz() returns %.0f, 100 ms measure %.0f", fitted,
                  measured);
}
END_TEST

START_TEST(waiting_for_the_fit_is_no_longer_than_asked)
{
    clock_start();
    uint64_t start = clock_origin()->raw_ns;
    (void)clock_hz(20000000);
    if (strcmp(clock_source(), "CLOCK_MONOTONIC_RAW") != 0) /* nanoseconds need no fit */
        ck_assert_uint_ge(raw_now() - start, 20000000);
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 20; i++) { /* a busy machine may take the CPU away, but not every time */
        uint64_t before = raw_now();
        (void)clock_hz(20000000); /* they have passed already */
        uint64_t took = raw_now() - before;
        shortest = took < shortest ? took : shortest;
    }
    ck_assert_uint_lt(shortest, 10000000);
}
END_TEST

START_TEST(an_earlier_time_of_these_clocks_spares_the_wait)
{
    enum { SECONDS = 50 };
    const uint64_t ns = SECONDS * UINT64_C(1000000000);
    clock_start();
    double hz = clock_hz(50000000);
    struct clock_triple earlier = *clock_origin();
    earlier.tick -= (uint64_t)(hz * SECONDS);
    earlier.raw_ns -= ns;
    struct clock_triple other = earlier; /* of a time namespace that began later: no time to fit from */
    earlier.realtime_ns -= ns;
    clock_fit_from(&other);
    ck_assert_double_eq_tol(clock_hz(50000000), hz, hz * 1e-4);
    clock_fit_from(&earlier);
    uint64_t before = raw_now();
    ck_assert_double_eq_tol(clock_hz(ns), hz, hz * 1e-4);
    ck_assert_uint_lt(raw_now() - before, ns);
}
END_TEST

START_TEST(a_sample_is_one_moment_on_all_clocks)
{
    clock_start();
    double hz = clock_hz(50000000);
    struct clock_triple a, b;
    clock_sample(&a);
    clock_sample(&b);
    ck_assert_uint_ge(b.tick, a.tick);
    ck_assert_uint_ge(b.raw_ns, a.raw_ns);
    ck_assert_uint_ge(b.monotonic_ns, a.monotonic_ns);
    double by_tick = (double)(b.tick - a.tick) * 1e9 / hz;
    double uncertain = (double)(a.width + b.width) * 1e9 / hz;
    ck_assert_double_lt(fabs(by_tick - (double)(b.raw_ns - a.raw_ns)), uncertain + 1000);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    ck_assert_uint_lt((uint64_t)now.tv_sec - b.realtime_ns / 1000000000, 60);
}
END_TEST

START_TEST(sampling_keeps_errno)
{
    struct clock_triple t;
    clock_start();
    errno = ENOTTY;
    clock_sample(&t);
    ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

static void *ticks_ascend(void *arg)
{
    (void)arg;
    uint64_t last = tick_now();
    for (int i = 0; i < 2000000; i++) {
        uint64_t now = tick_now();
        if (now < last)
            return (void *)1;
        last = now;
    }
    return NULL;
}

START_TEST(ticks_never_go_back_in_any_thread)
{
    pthread_t threads[4];
    clock_start();
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ticks_ascend, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *backwards;
        pthread_join(threads[i], &backwards);
        ck_assert_ptr_null(backwards);
    }
}
END_TEST

START_TEST(source_and_reason_agree)
{
    if (strcmp(clock_source(), "CLOCK_MONOTONIC_RAW") == 0)
        ck_assert_str_ne(clock_source_reason(), "");
    else
        ck_assert_str_eq(clock_source_reason(), "");
}
END_TEST

START_TEST(another_time_namespace_is_known_by_the_rate)
{
    const uint64_t hour = UINT64_C(3600000000000), offset = 300 * hour;
    clock_start();
    struct clock_triple now;
    clock_sample(&now);
    if (strcmp(clock_source(), "CLOCK_MONOTONIC_RAW") == 0)
        return; /* its ticks are that clock */
    struct clock_triple earlier = now;
    uint64_t span = now.raw_ns < hour ? now.raw_ns / 2 : hour;
    earlier.raw_ns -= span;
    earlier.realtime_ns -= span;
    earlier.tick -= (uint64_t)((double)span * clock_hz(100000000) / 1e9);
    ck_assert(clock_is_same_since(&earlier, &now));
    earlier.realtime_ns -= hour; /* the time of day was set */
    ck_assert(clock_is_same_since(&earlier, &now));
    earlier.realtime_ns += hour;
    now.raw_ns += offset;
    ck_assert(!clock_is_same_since(&earlier, &now));
}
END_TEST

START_TEST(without_a_constant_counter_ticks_are_nanoseconds_of_the_raw_clock)
{
    clock_start();
#ifdef TICK_ISA_NAME
    tick_use_isa = 0;
#endif
    ck_assert_str_eq(clock_source(), "CLOCK_MONOTONIC_RAW");
    ck_assert_double_eq(clock_hz(0), 1e9);
    uint64_t before = raw_now(), tick = tick_now(), after = raw_now();
    ck_assert_uint_le(before, tick);
    ck_assert_uint_le(tick, after);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("clock");
    tcase_add_test(cases, frequency_fits_the_kernels_raw_clock_within_100_ppm);
    tcase_add_test(cases, waiting_for_the_fit_is_no_longer_than_asked);
    tcase_add_test(cases, an_earlier_time_of_these_clocks_spares_the_wait);
    tcase_add_test(cases, a_sample_is_one_moment_on_all_clocks);
    tcase_add_test(cases, sampling_keeps_errno);
    tcase_add_test(cases, ticks_never_go_back_in_any_thread);
    tcase_add_test(cases, source_and_reason_agree);
    tcase_add_test(cases, another_time_namespace_is_known_by_the_rate);
    tcase_add_test(cases, without_a_constant_counter_ticks_are_nanoseconds_of_the_raw_clock);
    tcase_set_timeout(cases, 60);
    return run_suite("clock", cases);
}

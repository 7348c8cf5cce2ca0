/* SPDX-License-Identifier: MIT */
/* Ticks to the time of day, and the moment that all processes of a recording share. */
#include "base/clock.h"
#include "suite.h"
#include "trace/format/clockmap.h"
#include "trace/write/origin.h"

static const struct clock_triple origin = {
    .tick = 7335783981525u, .raw_ns = 2825332832228u, .realtime_ns = 1795234321602783172u};

START_TEST(the_line_goes_through_its_origin)
{
    static const uint64_t rates[] = {1000000000, 2596120161u, 24000000, 100000000, 5000000000u, 999999937};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct clock_map map;
        clock_map_set(&map, &origin, rates[i]);
        ck_assert_uint_lt(map.offset, rates[i]);
        uint64_t ns = clock_map_ns(&map, origin.tick), slack = 2 + 2000000000 / rates[i];
        ck_assert_uint_le(ns, origin.realtime_ns + slack);
        ck_assert_uint_ge(ns + slack, origin.realtime_ns);
    }
}
END_TEST

START_TEST(a_second_of_ticks_is_a_second)
{
    struct clock_map map;
    clock_map_set(&map, &origin, 2596120161u);
    for (uint64_t s = 1; s < 1000000; s *= 10)
        ck_assert_uint_eq(clock_map_ns(&map, origin.tick + s * map.hz) - clock_map_ns(&map, origin.tick),
                          s * 1000000000);
}
END_TEST

START_TEST(later_ticks_are_never_earlier_times)
{
    struct clock_map map;
    clock_map_set(&map, &origin, 2596120161u);
    uint64_t last = 0;
    for (uint64_t tick = origin.tick; tick < origin.tick + 100000; tick++) {
        uint64_t ns = clock_map_ns(&map, tick);
        ck_assert_uint_ge(ns, last);
        last = ns;
    }
}
END_TEST

START_TEST(no_tick_and_no_clock_overflows)
{
    struct clock_map fast = {.hz = 1, .offset_s = INT64_MAX, .offset = UINT64_MAX};
    struct clock_map past = {.hz = UINT64_MAX, .offset_s = INT64_MIN, .offset = 0};
    ck_assert_uint_eq(clock_map_ns(&fast, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(clock_map_ns(&past, 0), 0);
}
END_TEST

START_TEST(the_frequency_is_that_between_two_moments)
{
    struct clock_triple later = origin;
    ck_assert_uint_eq(clock_map_hz(&origin, &later), 0);
    later.tick += 2500000000u;
    ck_assert_uint_eq(clock_map_hz(&origin, &later), 0);
    later.raw_ns += 1000000000;
    ck_assert_uint_eq(clock_map_hz(&origin, &later), 2500000000u);
}
END_TEST

/* A host whose ticks are 40 ppm slower than their name, and which is 1.2 s ahead. */
START_TEST(two_points_make_the_clock_of_another_host)
{
    static const uint64_t rates[] = {1000000000, 2596120161u, 24000000};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        uint64_t hz = rates[i], seconds = 1000, ticks = seconds * hz / 1000000 * 999960;
        struct clock_reference r = {.points = 2, .error_ns = 1000};
        struct clock_map map;
        r.at[0].tick = origin.tick;
        r.at[0].ns = origin.realtime_ns - 1200000000;
        r.at[1].tick = r.at[0].tick + ticks;
        r.at[1].ns = r.at[0].ns + seconds * 1000000000;
        ck_assert_uint_eq(clock_reference_ns(&r, hz, r.at[0].tick), r.at[0].ns);
        ck_assert_uint_eq(clock_reference_ns(&r, hz, r.at[1].tick), r.at[1].ns);
        ck_assert_uint_eq(clock_reference_ns(&r, hz, r.at[0].tick + ticks / 2), r.at[0].ns + seconds * 500000000);
        ck_assert_uint_eq(clock_reference_ns(&r, hz, r.at[0].tick - ticks / 2), r.at[0].ns - seconds * 500000000);
        clock_map_refer(&map, &r, hz);
        /* The slope is of whole ticks per second. */
        uint64_t slack = 2 + 1000000000 / hz + seconds * 1000000000 / 4 / hz;
        for (uint64_t k = 0; k <= 10; k++) {
            uint64_t tick = r.at[0].tick + ticks / 10 * k, ns = clock_map_ns(&map, tick);
            uint64_t want = r.at[0].ns + seconds * 100000000 * k;
            ck_assert_uint_le(ns > want ? ns - want : want - ns, slack);
        }
    }
}
END_TEST

START_TEST(one_point_keeps_the_slope)
{
    struct clock_reference r = {.points = 1, .error_ns = 1000};
    struct clock_map map;
    r.at[0].tick = origin.tick;
    r.at[0].ns = origin.realtime_ns - 1200000000;
    clock_map_refer(&map, &r, 2596120161u);
    ck_assert_uint_eq(map.hz, 2596120161u);
    ck_assert_uint_eq(clock_map_ns(&map, origin.tick + map.hz) - clock_map_ns(&map, origin.tick), 1000000000);
    uint64_t ns = clock_map_ns(&map, origin.tick);
    ck_assert_uint_le(ns > r.at[0].ns ? ns - r.at[0].ns : r.at[0].ns - ns, 2);
    r.points = 2; /* a second point that is not later, or the same, is none */
    r.at[1] = r.at[0];
    clock_map_refer(&map, &r, 2596120161u);
    ck_assert_uint_eq(map.hz, 2596120161u);
}
END_TEST

START_TEST(the_first_process_of_a_recording_gives_the_moment)
{
    struct clock_triple first, second, seen;
    clock_start();
    clock_sample(&first);
    origin_share(recording, "boot", &first, &seen);
    ck_assert_uint_eq(seen.tick, first.tick);
    ck_assert_uint_eq(count_files(recording, ".clock-"), 1);
    clock_sample(&second);
    origin_share(recording, "boot", &second, &seen);
    ck_assert_uint_eq(seen.tick, first.tick);
    ck_assert_uint_eq(seen.realtime_ns, first.realtime_ns);
    ck_assert_uint_eq(seen.width, first.width);
    origin_share(recording, "another boot", &second, &seen);
    ck_assert_uint_eq(seen.tick, second.tick);
}
END_TEST

START_TEST(a_moment_that_cannot_be_trusted_is_not_taken)
{
    char path[PATH_MAX];
    struct clock_triple own, later, seen;
    clock_start();
    clock_sample(&own);
    path_in(path, recording, ".clock-boot");
    write_whole(path, "rubbish", 7);
    origin_share(recording, "boot", &own, &seen);
    ck_assert_uint_eq(seen.tick, own.tick);
    /* One from the future: another machine's. */
    ck_assert_int_eq(unlink(path), 0);
    clock_sample(&later);
    origin_share(recording, "boot", &later, &seen);
    origin_share(recording, "boot", &own, &seen);
    ck_assert_uint_eq(seen.tick, own.tick);
    /* A link is not followed. */
    ck_assert_int_eq(rename(path, path_in((char[PATH_MAX]){0}, recording, "elsewhere")), 0);
    ck_assert_int_eq(symlink("elsewhere", path), 0);
    clock_sample(&own);
    origin_share(recording, "boot", &own, &seen);
    ck_assert_uint_eq(seen.tick, own.tick);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("clock");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, recording_set_up, recording_tear_down);
    tcase_add_test(cases, the_line_goes_through_its_origin);
    tcase_add_test(cases, a_second_of_ticks_is_a_second);
    tcase_add_test(cases, later_ticks_are_never_earlier_times);
    tcase_add_test(cases, no_tick_and_no_clock_overflows);
    tcase_add_test(cases, the_frequency_is_that_between_two_moments);
    tcase_add_test(cases, two_points_make_the_clock_of_another_host);
    tcase_add_test(cases, one_point_keeps_the_slope);
    tcase_add_test(cases, the_first_process_of_a_recording_gives_the_moment);
    tcase_add_test(cases, a_moment_that_cannot_be_trusted_is_not_taken);
    return run_suite("trace clock", cases);
}

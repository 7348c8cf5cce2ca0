/* SPDX-License-Identifier: MIT */
/* Spans for the HTML page in bounded memory: merged spans add up, distinct ones stay apart. */
#include <stdlib.h>

#include "export/html/html.h"
#include "unit/suite.h"

enum { ROWS = 4 };

/* The extra of a span has its length, so that the longest of merged ones can be shown. */
struct mark {
    uint64_t ns;
};

static struct html_table table;

static void start(void)
{
    ck_assert_int_eq(html_table_start(&table, sizeof(struct mark), 0, UINT64_MAX), 0);
}

static bool put(uint32_t row, uint64_t begin, uint64_t ns, uint32_t what, uint32_t flags)
{
    struct mark *m =
        html_add(&table, &(struct html_span){.begin_ns = begin, .ns = ns, .row_a = row, .what = what, .flags = flags});
    if (m)
        m->ns = ns;
    return m != NULL;
}

struct sums {
    uint64_t count, busy;
    size_t unsorted, overlaps, wrong_longest, wrong_ends;
};

static struct sums add_up(void)
{
    struct sums s = {0};
    for (size_t i = 0; i < table.n; i++) {
        const struct html_span *x = &table.spans[i], *before = i > 0 ? x - 1 : NULL;
        bool same = before && before->row_a == x->row_a;
        s.count += x->count;
        s.busy += x->busy_ns;
        s.unsorted += before && before->row_a > x->row_a;
        s.overlaps += same && before->begin_ns + before->ns > x->begin_ns;
        s.wrong_longest += ((const struct mark *)(const void *)table.extras)[x->extra].ns != x->longest_ns;
        s.wrong_ends += x->busy_ns > x->ns || x->longest_ns > x->ns;
    }
    return s;
}

static void is_sound(struct sums s)
{
    ck_assert_uint_eq(s.unsorted, 0);
    ck_assert_uint_eq(s.overlaps, 0);
    ck_assert_uint_eq(s.wrong_longest, 0);
    ck_assert_uint_eq(s.wrong_ends, 0);
}

START_TEST(few_stay_as_they_are)
{
    start();
    bool stored = put(1, 50, 5, 7, 0) && put(0, 20, 1, 8, 0) && put(0, 10, 9, 9, 0);
    ck_assert(stored);
    ck_assert_int_eq(html_table_finish(&table), 0);
    ck_assert_uint_eq(table.n, 3);
    ck_assert_uint_eq(table.spans[0].begin_ns, 10);
    ck_assert_uint_eq(table.spans[1].begin_ns, 20);
    ck_assert_uint_eq(table.spans[2].row_a, 1);
    is_sound(add_up());
    html_table_free(&table);
}
END_TEST

/* As many as would need four tables: short ones, and a long one now and then, which must not be swallowed. */
START_TEST(many_add_up_in_bounded_memory)
{
    const uint64_t all = (uint64_t)4 * HTML_SPANS_MAX, every = 40;
    uint64_t busy = 0, most = 0, long_ones = 0;
    bool stored = true;
    start();
    for (uint64_t i = 0; i < all; i++) {
        bool is_long = i % every == every - 1;
        uint64_t ns = is_long ? 50000000 : i % 97, begin = i / ROWS * 150 + i / ROWS / (every / ROWS) * 50000000;
        stored = put((uint32_t)(i % ROWS), begin, ns, (uint32_t)(i % 3), 0) && stored;
        busy += ns;
        long_ones += is_long;
        most = table.n > most ? table.n : most;
    }
    ck_assert(stored);
    ck_assert_int_eq(html_table_finish(&table), 0);
    struct sums s = add_up();
    is_sound(s);
    ck_assert_uint_eq(s.count, all);
    ck_assert_uint_eq(s.busy, busy);
    ck_assert_uint_le(most, HTML_SPANS_MAX + HTML_SPANS_MAX / 4);
    ck_assert_uint_gt(table.n, HTML_SPANS_MAX / 8);
    uint64_t alone = 0;
    for (size_t i = 0; i < table.n; i++)
        alone += table.spans[i].ns == 50000000 && table.spans[i].count == 1;
    ck_assert_uint_eq(alone, long_ones);
    html_table_free(&table);
}
END_TEST

/* What has not ended keeps its end, however many are around it. */
START_TEST(unfinished_ones_stay_alone)
{
    const uint64_t all = (uint64_t)2 * HTML_SPANS_MAX;
    bool stored = true;
    start();
    for (uint64_t i = 0; i < all; i++)
        stored = put(0, i * 100, 10, 1, i % 1000 == 0 ? HTML_UNFINISHED : 0) && stored;
    ck_assert(stored);
    ck_assert_int_eq(html_table_finish(&table), 0);
    uint64_t unfinished = 0;
    for (size_t i = 0; i < table.n; i++)
        unfinished += (table.spans[i].flags & HTML_UNFINISHED) && table.spans[i].count == 1 && table.spans[i].ns == 10;
    ck_assert_uint_eq(unfinished, (all + 999) / 1000);
    is_sound(add_up());
    html_table_free(&table);
}
END_TEST

START_TEST(merged_ones_of_several_names_have_none)
{
    const uint64_t all = (uint64_t)2 * HTML_SPANS_MAX;
    bool stored = true;
    start();
    for (uint64_t i = 0; i < all; i++)
        stored = put((uint32_t)(i % 2), i * 50, 10, i % 2 ? (uint32_t)(i / 2 % 2) : 5, 0) && stored;
    ck_assert(stored);
    ck_assert_int_eq(html_table_finish(&table), 0);
    size_t wrong = 0;
    for (size_t i = 0; i < table.n; i++)
        wrong += table.spans[i].count > 1 && table.spans[i].what != (table.spans[i].row_a ? MAP_NONE : 5);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_lt(table.n, all);
    html_table_free(&table);
}
END_TEST

START_TEST(spans_outside_the_window_are_not_kept)
{
    ck_assert_int_eq(html_table_start(&table, sizeof(struct mark), 100, 200), 0);
    bool stored = put(0, 50, 49, 1, 0) && put(0, 50, 51, 2, 0) && put(0, 150, 500, 3, 0) && put(0, 201, 1, 4, 0);
    ck_assert(stored);
    ck_assert_int_eq(html_table_finish(&table), 0);
    ck_assert_uint_eq(table.n, 2);
    ck_assert_uint_eq(table.spans[0].what, 2);
    ck_assert_uint_eq(table.spans[1].what, 3);
    html_table_free(&table);
}
END_TEST

/* Readings are totals: the difference of a thread's last and first is its total count. */
START_TEST(readings_thinned_out_keep_their_ends)
{
    enum { N = HTML_POINTS_MAX };
    uint64_t *rows = calloc((size_t)N * 2, sizeof *rows);
    ck_assert_ptr_nonnull(rows);
    for (size_t i = 0; i < N; i++) {
        rows[2 * i] = 1000 + i * 10;
        rows[2 * i + 1] = i;
    }
    struct html_points points = {.rows = rows, .n = N, .cap = N};
    struct html h = {.n_counters = 1, .points = &points, .n_points = N};
    html_points_thin(&h, 1);
    ck_assert_uint_le(h.n_points, HTML_POINTS_MAX / 2);
    ck_assert_uint_gt(h.n_points, HTML_POINTS_MAX / 16);
    ck_assert_uint_eq(points.n, h.n_points);
    ck_assert_uint_eq(rows[0], 1000);
    ck_assert_uint_eq(rows[2 * (points.n - 1)], 1000 + (uint64_t)(N - 1) * 10);
    ck_assert_uint_eq(rows[2 * (points.n - 1) + 1], N - 1);
    free(rows);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, few_stay_as_they_are);
    tcase_add_test(cases, many_add_up_in_bounded_memory);
    tcase_add_test(cases, unfinished_ones_stay_alone);
    tcase_add_test(cases, merged_ones_of_several_names_have_none);
    tcase_add_test(cases, spans_outside_the_window_are_not_kept);
    tcase_add_test(cases, readings_thinned_out_keep_their_ends);
    tcase_set_timeout(cases, 60);
    return run_suite("export.html_table", cases);
}

/* SPDX-License-Identifier: MIT */
/* Rows of many ranks merged along a binomial tree, compared with sums over all of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mpi/summary/rows.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

enum { RANKS = 10000, COMMON = 12, SOME = 40, EVERY = 7 };

static uint64_t value_of(int rank, int row)
{
    uint64_t x = (uint64_t)rank * 2654435761u + (uint64_t)row * 40503;
    return 1000 + (x ^ x >> 13) % 1000000;
}

/* Regions that all ranks have, and one of SOME that each seventh has. */
static void rank_rows(struct summary *s, int rank)
{
    char name[32];
    for (int i = 0; i < COMMON; i++) {
        snprintf(name, sizeof name, "common %d", i);
        summary_add(s, SUMMARY_REGION, name, "ns", value_of(rank, i), rank, UPMU_EXACT);
    }
    if (rank % EVERY == 0) {
        snprintf(name, sizeof name, "some %d", rank % SOME);
        summary_add(s, SUMMARY_REGION, name, "ns", value_of(rank, COMMON), rank,
                    rank == 9 * EVERY ? UPMU_SCALED : UPMU_EXACT);
    }
    summary_add(s, SUMMARY_RANK, "rank", "time", value_of(rank, COMMON + 1), rank, UPMU_EXACT);
    summary_sort(s);
}

/* The subtree of rank `low` among those below `high`, with `step` ranks at most: what it has once its children have sent theirs. */
static struct summary tree(int low, int step, int ranks, int *depth)
{
    struct summary s = {0};
    int deepest = 0;
    rank_rows(&s, low);
    for (int k = 1; k < step && low + k < ranks; k *= 2) {
        int below = 0;
        struct summary other = tree(low + k, k, ranks, &below);
        summary_merge(&s, other.rows, other.n, other.incomplete);
        summary_free(&other);
        deepest = below + 1 > deepest ? below + 1 : deepest;
    }
    *depth = deepest;
    return s;
}

static void check_row(const struct summary *s, const char *name, int row, int first, int step)
{
    const struct summary_row *r = summary_find(s, SUMMARY_REGION, name, "ns");
    uint64_t n = 0, sum = 0, min = UINT64_MAX, max = 0;
    int min_rank = -1, max_rank = -1;
    double squares = 0;
    ck_assert_ptr_nonnull(r);
    for (int i = first; i < RANKS; i += step) {
        uint64_t v = value_of(i, row);
        n++;
        sum += v;
        min_rank = v < min ? i : min_rank;
        min = v < min ? v : min;
        max_rank = v > max ? i : max_rank;
        max = v > max ? v : max;
    }
    double mean = (double)sum / (double)n;
    for (int i = first; i < RANKS; i += step)
        squares += ((double)value_of(i, row) - mean) * ((double)value_of(i, row) - mean);
    ck_assert_uint_eq(r->ranks, n);
    ck_assert_uint_eq(r->sum, sum);
    ck_assert_uint_eq(r->min, min);
    ck_assert_uint_eq(r->max, max);
    ck_assert_int_eq(r->min_rank, min_rank);
    ck_assert_int_eq(r->max_rank, max_rank);
    ck_assert(fabs(r->mean - mean) < 1e-9 * mean);
    ck_assert(fabs(summary_deviation(r) - sqrt(squares / (double)n)) < 1e-6 * mean);
    ck_assert(fabs(summary_imbalance(r) - ((double)max / mean - 1)) < 1e-9);
}

START_TEST(ten_thousand_ranks_are_reduced_in_fourteen_steps)
{
    char name[32];
    int depth = 0;
    struct summary s = tree(0, 1 << 14, RANKS, &depth);
    ck_assert_int_le(depth, 14);
    ck_assert_uint_eq(s.incomplete, 0);
    for (int i = 0; i < COMMON; i++) {
        snprintf(name, sizeof name, "common %d", i);
        check_row(&s, name, i, 0, 1);
    }
    for (int i = 0; i < SOME; i++) {
        snprintf(name, sizeof name, "some %d", i);
        int first = 0;
        while (first % EVERY != 0 || first % SOME != i)
            first++;
        check_row(&s, name, COMMON, first, EVERY * SOME);
    }
    ck_assert_uint_eq(s.n, COMMON + SOME + 1);
    ck_assert_int_eq(s.rows[0].kind, SUMMARY_RANK);
    snprintf(name, sizeof name, "some %d", 9 * EVERY % SOME);
    ck_assert_int_eq(summary_find(&s, SUMMARY_REGION, name, "ns")->status, UPMU_SCALED);
    ck_assert_ptr_null(summary_find(&s, SUMMARY_REGION, "none", "ns"));
    summary_free(&s);
}
END_TEST

/* Each rank has regions of its own, more in all than are kept: those that are kept have all ranks in them. */
START_TEST(what_is_kept_is_whole)
{
    enum { MANY = 16, OWN = 4000, SHARED = 2000 };
    struct summary all = {0};
    char name[32];
    for (int rank = 0; rank < MANY; rank++) {
        struct summary s = {0};
        for (int i = 0; i < OWN; i++) {
            snprintf(name, sizeof name, "own %d of %d", i, rank);
            summary_add(&s, SUMMARY_REGION, name, "ns", 1, rank, UPMU_EXACT);
        }
        for (int i = 0; i < SHARED; i++) {
            snprintf(name, sizeof name, "shared %d", i);
            summary_add(&s, SUMMARY_REGION, name, "ns", (uint64_t)rank, rank, UPMU_EXACT);
        }
        summary_add(&s, SUMMARY_FUNCTION, "MPI_Send", "calls", 1, rank, UPMU_EXACT);
        summary_sort(&s);
        summary_merge(&all, s.rows, s.n, s.incomplete);
        summary_free(&s);
    }
    uint32_t shared = 0;
    ck_assert_uint_eq(all.n, SUMMARY_ROWS_MAX);
    ck_assert_uint_eq(all.incomplete, 1);
    ck_assert_uint_eq(summary_find(&all, SUMMARY_FUNCTION, "MPI_Send", "calls")->sum, MANY);
    for (uint32_t i = 0; i < all.n; i++) {
        if (strncmp(all.rows[i].name, "shared", 6) != 0)
            continue;
        shared++;
        ck_assert_uint_eq(all.rows[i].ranks, MANY);
        ck_assert_uint_eq(all.rows[i].sum, MANY * (MANY - 1) / 2);
    }
    ck_assert_uint_gt(shared, 0);
    ck_assert_uint_lt(shared, SHARED);
    summary_free(&all);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("rows");
    tcase_add_test(cases, ten_thousand_ranks_are_reduced_in_fourteen_steps);
    tcase_add_test(cases, what_is_kept_is_whole);
    tcase_set_timeout(cases, 60);
    return run_suite("mpi summary", cases);
}

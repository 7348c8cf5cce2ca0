/* SPDX-License-Identifier: MIT */
/* Numbers of communicators, which are hashes, differ for the small numbers that they are made of. */
#include <stdlib.h>

#include "mpi/abi.h"
#include "unit/suite.h"

enum { PARENTS = 3, PLACES = 40, FIRST = 32, SIZES = 32, ALL = PARENTS * PLACES * FIRST * SIZES };

static int compare(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

START_TEST(children_of_different_place_or_members_differ)
{
    static uint64_t all[ALL];
    size_t n = 0;
    for (uint64_t parent = 1; parent <= PARENTS; parent++)
        for (uint64_t place = 1; place <= PLACES; place++)
            for (uint64_t first = 1; first <= FIRST; first++)
                for (uint64_t size = 1; size <= SIZES; size++)
                    all[n++] = mpi_mix(mpi_mix(parent, place), mpi_mix(first, size));
    ck_assert_uint_eq(n, ALL);
    qsort(all, n, sizeof *all, compare);
    for (size_t i = 1; i < n; i++)
        ck_assert_uint_ne(all[i], all[i - 1]);
    ck_assert_uint_ne(all[0], 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("numbers");
    tcase_add_test(cases, children_of_different_place_or_members_differ);
    return run_suite("mpi numbers", cases);
}

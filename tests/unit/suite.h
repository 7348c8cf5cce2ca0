/* SPDX-License-Identifier: MIT */
/** @file The runner of the one suite of a unit test program. */
#ifndef UPMU_TESTS_UNIT_SUITE_H
#define UPMU_TESTS_UNIT_SUITE_H

#include "support/quick_check.h"
#include <stdlib.h>

static inline int run_suite(const char *name, TCase *cases)
{
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif

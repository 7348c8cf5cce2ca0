/* SPDX-License-Identifier: MIT */
/* All tests that need an exact PMU with user-space reads. */
#include "suites.h"

int main(void)
{
    int failed = guest_run(counters_tests, n_counters_tests);
    failed |= guest_run(multiplex_tests, n_multiplex_tests);
    failed |= guest_run(reads_tests, n_reads_tests);
    failed |= guest_run(sampling_tests, n_sampling_tests);
    return failed;
}

/* SPDX-License-Identifier: MIT */
/* Everything that an exact PMU with user-space reads allows to test. Room: tests. Before it init.c, after it the suites. */
#include "suites.h"

int main(void)
{
    int failed = guest_run(counters_tests, n_counters_tests);
    failed |= guest_run(turns_tests, n_turns_tests);
    failed |= guest_run(reads_tests, n_reads_tests);
    failed |= guest_run(sampling_tests, n_sampling_tests);
    return failed;
}

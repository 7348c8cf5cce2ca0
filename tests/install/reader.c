/* SPDX-License-Identifier: MIT */
/*
 * A stranger's program that reads traces. Room: tests/install; it sees the installed tree alone. What is no trace must
 * be refused with a reason: that needs both libraries at work.
 */
#include <stdio.h>

#include "upmu/trace.h"

int main(void)
{
    struct upmu_trace *trace;
    int rc = upmu_trace_open(&trace, "/proc/self");
    if (rc == 0 || upmu_error()[0] == '\0') {
        fprintf(stderr, "reader: /proc/self was taken for a trace\n");
        return 1;
    }
    printf("refused: %s\n", upmu_error());
    return 0;
}

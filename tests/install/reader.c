/* SPDX-License-Identifier: MIT */
/* A program that reads traces with the installed libraries. Both libraries refuse anything else with a reason. */
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

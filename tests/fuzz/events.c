/* SPDX-License-Identifier: MIT */
/* Fuzz target: a list of event names, resolved and planned on one of several CPUs. The first byte selects the CPU. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "upmu/upmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const cpus[] = {NULL,          "zen4",   "skylake", "goldencove",
                                       "neoverse_n1", "3a6000", "sw831",   "kunpeng920"};
    struct upmu_plan *plan;

    if (size < 1)
        return -1;
    char *names = fuzz_text(data + 1, size - 1);
    const int rc = upmu_plan_open(&plan, cpus[data[0] % (sizeof cpus / sizeof cpus[0])], names);
    if (rc == 0)
        upmu_plan_close(plan);
    else if (strncmp(upmu_error(), "no CPU", strlen("no CPU")) == 0)
        abort(); /* nothing of the list was read */
    else if (!upmu_error()[0] || strlen(upmu_error()) > 4096)
        abort(); /* a refusal has a message of bounded length */
    free(names);
    return 0;
}

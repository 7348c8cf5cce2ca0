/* SPDX-License-Identifier: MIT */
/* Fuzz target: a list of event names, resolved and planned on one of several CPUs. The first byte selects the CPU. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "upmu/upmu.h"

static const char *const cpus[] = {NULL,          "zen4",   "skylake", "goldencove",
                                   "neoverse_n1", "3a6000", "sw831",   "kunpeng920"};
enum { CPUS = sizeof cpus / sizeof *cpus };

/* With an unknown CPU nothing of a list would be read. */
static void cpus_are_known(void)
{
    static bool looked_up;
    struct upmu_plan *plan;
    for (size_t i = 1; i < CPUS && !looked_up; i++) {
        if (upmu_plan_open(&plan, cpus[i], "cycles") != 0)
            abort();
        upmu_plan_close(plan);
    }
    looked_up = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct upmu_plan *plan;

    cpus_are_known();
    if (size < 1)
        return -1;
    char *names = fuzz_text(data + 1, size - 1);
    if (upmu_plan_open(&plan, cpus[data[0] % CPUS], names) == 0)
        upmu_plan_close(plan);
    else if (!upmu_error()[0] || strlen(upmu_error()) > 4096)
        abort(); /* a refusal has a message of bounded length */
    free(names);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Fuzz target: a file of metrics. */
#include <stdlib.h>

#include "fuzz.h"
#include "upmu/upmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (upmu_metric_load(fuzz_file("metrics", data, size)) < 0 && !upmu_error()[0])
        abort(); /* a refusal has a message */
    return 0;
}

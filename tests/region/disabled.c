/* SPDX-License-Identifier: MIT */
/* Compiled with UPMU_DISABLE: no call, no data of libupmu is left. Room: tests; before it disabled.sh. */
#include "upmu/region.h"

int disabled_work(int n);

int disabled_work(int n)
{
    static upmu_region_t handle = UPMU_REGION("handle");
    int sum = upmu_region_begin("work") + upmu_region_enter(&handle);
    UPMU_SCOPE("scope")
    {
        sum += n;
    }
    (void)upmu_mark("mark");
    return sum + upmu_region_leave(&handle) + upmu_region_end("work");
}

/* SPDX-License-Identifier: MIT */
/* Plugin for dlopen.c with regions in all three forms. */
#include "upmu/region.h"

__attribute__((visibility("default"))) int plugin_work(void);

int plugin_work(void)
{
    static upmu_region_t handle = UPMU_REGION("plugin handle");
    int failed = upmu_region_enter(&handle) + upmu_region_leave(&handle);
    failed += upmu_region_begin("plugin string") + upmu_region_end("plugin string");
    UPMU_SCOPE("plugin scope");
    failed += upmu_mark("from the plugin");
    return failed;
}

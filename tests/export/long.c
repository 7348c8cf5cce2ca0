/* SPDX-License-Identifier: MIT */
/* More regions and marks than a timeline holds, in one that is longer than all others. */
#include "upmu/region.h"

int main(void)
{
    upmu_region_begin("whole");
    for (int i = 0; i < 300000; i++) {
        upmu_region_begin("part");
        if (i < 270000)
            upmu_mark("mark");
        upmu_region_end("part");
    }
    upmu_region_end("whole");
    return 0;
}

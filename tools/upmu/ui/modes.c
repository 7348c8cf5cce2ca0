/* SPDX-License-Identifier: MIT */
/* Names of the modes of sync tracing. */
#include "modes.h"

#include <string.h>

#include "upmu/control.h"

static const char *const names[] = {
    [UPMU_SYNC_CONTENDED] = "contended",
    [UPMU_SYNC_HOLDERS] = "holders",
    [UPMU_SYNC_ALL] = "all",
    [UPMU_SYNC_COUNTS] = "counts",
};

int mode_number(const char *name)
{
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

const char *mode_name(int mode)
{
    if (mode == UPMU_CONTROL_STOPPED)
        return "stopped";
    if (mode == UPMU_CONTROL_NO_SYNC)
        return "no sync tracing";
    return mode >= 0 && mode < (int)(sizeof names / sizeof *names) ? names[mode] : "unknown";
}

/* SPDX-License-Identifier: MIT */
/*
 * What the x86 drivers share: arch/x86/events/core.c. Place: tests. Before it: intel.c, amd.c, zhaoxin.c; after it: nothing.
 */
#include "models/rows.h"

enum { GENERIC_IDS = 10 };

int model_x86_init(const struct model_driver *driver, const struct kernel_open *req, struct model_code *out)
{
    (void)driver, (void)out;
    return req->type == KERNEL_TYPE_HARDWARE && req->config >= GENERIC_IDS ? -EINVAL : 0;
}

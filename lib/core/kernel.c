/* SPDX-License-Identifier: MIT */
/* Which kernel core talks to: the real one, or a test's script. Room: core; after it the kernel room. */
#include "core/kernel_ops.h"

static const struct kernel_ops *kernel_in_use = &upmu_kernel_perf;

const struct kernel_ops *core_kernel(void)
{
    return kernel_in_use;
}

void core_kernel_use(const struct kernel_ops *ops)
{
    kernel_in_use = ops;
}

/* SPDX-License-Identifier: MIT */
/* Which kernel core talks to: the real one, or a test's script. Room: core; after it the kernel room. */
#include "core/kernel_ops.h"

const struct kernel_ops *upmu_kernel_in_use = &upmu_kernel_perf;

void core_kernel_use(const struct kernel_ops *ops)
{
    upmu_kernel_in_use = ops;
}

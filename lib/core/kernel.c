/* SPDX-License-Identifier: MIT */
/* The kernel interface in use: the real one, or a test's. */
#include "core/kernel_ops.h"

const struct kernel_ops *upmu_kernel_in_use = &upmu_kernel_perf;

void core_kernel_use(const struct kernel_ops *ops)
{
    upmu_kernel_in_use = ops;
}

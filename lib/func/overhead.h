/* SPDX-License-Identifier: MIT */
/** @file Own cost of the hooks, measured at the start. */
#ifndef UPMU_FUNC_OVERHEAD_H
#define UPMU_FUNC_OVERHEAD_H

/** Measure it in the calling thread, whose tree is empty again afterwards, and store it. The gate must be open. */
void func_overhead_measure(void);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Opening of the gate: from here on lock calls are recorded. */
#ifndef UPMU_SYNC_GATE_H
#define UPMU_SYNC_GATE_H

#include <stdint.h>

/** The recorder has a trace: make the wait-state file, open the gate, and record modules, costs and names.
 *  @return 0; UPMU_E_IO. */
int sync_gate_open(uint32_t mode);

#endif

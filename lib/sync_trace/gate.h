/* SPDX-License-Identifier: MIT */
/** @file Opening of the gate: from here on lock calls are recorded. */
#ifndef UPMU_SYNC_GATE_H
#define UPMU_SYNC_GATE_H

#include <stdbool.h>
#include <stdint.h>

/** The recorder has a trace: make the wait-state file, open the gate, and record modules, costs and names. `late`: it had one before,
 *  without events about locks. @return 0; UPMU_E_IO. */
int sync_gate_open(uint32_t mode, bool late);

/** Recording has ended. Releases stop to look for their lock among those held, unless some thread holds one: it sees after its
 *  acquisition that the gate is closed, or is seen to hold it. Keeps errno. */
void sync_gate_close(void);

#endif

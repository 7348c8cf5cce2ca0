/* SPDX-License-Identifier: MIT */
/** @file Gate of the hooks: mapped from the process's switch file, so that other processes can open and close it. */
#ifndef UPMU_FUNC_GATE_H
#define UPMU_FUNC_GATE_H

#include "func/state.h"

/** Memory of the switch, with no patterns and the gate closed. @return 0; UPMU_E_NOMEM. */
int func_gate_start(void);
/** Make the file of the process, or of a forked child, and map the gate from it. Nothing without a trace. @return 0; UPMU_E_IO. */
int func_gate_open(void);
/** Calls are not recorded any more: for good, and in this process only. */
void func_gate_close(void);

#endif

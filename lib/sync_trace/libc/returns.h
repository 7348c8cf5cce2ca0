/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Returns after system calls, where the kernel leaves the CPU's stack of return addresses in disorder.
 *
 * A mitigation of AMD's CPUs of the families 17h and 19h (Safe RET) makes each return in the kernel leave an entry there, so that each
 * return after a system call is mispredicted: 5 to 26 ns, the wrapper's own included. Functions compiled with
 * -mfunction-return=thunk-extern end in a jump to `__x86_return_thunk`, which is here: there, a jump to the return address, which is
 * predicted; elsewhere a return, since a jump would cause the disorder.
 */
#ifndef UPMU_SYNC_RETURNS_H
#define UPMU_SYNC_RETURNS_H

#include <stdbool.h>

/** Whether the functions jump. */
extern bool sync_returns_jump __attribute__((visibility("hidden")));

/** Decide it. */
void sync_returns_start(void);

#endif

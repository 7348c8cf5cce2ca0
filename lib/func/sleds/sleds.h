/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Calls of functions built with clang's -fxray-instrument: patched in and out while the program runs.
 *
 * Such a function has a sled at its entry and at each exit, which are jumps over nops and a return until they are patched. They are
 * listed in the section xray_instr_map; clang's own runtime is not needed.
 */
#ifndef UPMU_FUNC_SLEDS_H
#define UPMU_FUNC_SLEDS_H

#include <stdint.h>

/** Patch the sleds of all loaded modules that are not patched yet. @return their number, 0 without any; UPMU_E_UNSUPPORTED (another
 *  instruction set), UPMU_E_SYSTEM (code cannot be patched), UPMU_E_NOMEM. Not async-signal-safe. */
int func_sleds_patch(void);
/** The same for a module that was opened: what prevents it is printed. */
void func_sleds_patch_opened(void);
/** The same for modules that were loaded before without being patched, while sleds are: their earlier calls are missing, which is
 *  printed. */
void func_sleds_patch_late(void);
/** Take the patches back. @return the number of sleds, or as above. */
int func_sleds_unpatch(void);
/** Whether sleds are patched: modules that are loaded later are to be patched, too. */
int func_sleds_are_on(void);

#endif

/* SPDX-License-Identifier: MIT */
/** @file The functions that code built with -finstrument-functions calls at entry and return. */
#ifndef UPMU_FUNC_HOOKS_H
#define UPMU_FUNC_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "upmu/api.h"

UPMU_API void __cyg_profile_func_enter(void *function, void *site);
UPMU_API void __cyg_profile_func_exit(void *function, void *site);

/** The same for a function without these calls. @param cfa falls with each nested call; the same at entry and return
 *  @param site the address that the function returns to */
void func_hook_enter(uint64_t function, uint64_t cfa, uint64_t site);
void func_hook_return(uint64_t function, uint64_t cfa);
/** All functions that were entered with this `cfa` return: those but the last one ended with a tail call. */
void func_hook_returned(uint64_t cfa);
/** The same without vector registers. @return false if not all of it is done: the functions above do the rest. */
bool func_hook_enter_known(uint64_t function, uint64_t cfa, uint64_t site);
bool func_hook_return_known(uint64_t function);
bool func_hook_returned_known(uint64_t cfa);

/** Measure their own cost in the calling thread, whose tree is empty again afterwards, and store it. The gate must be open. */
void func_overhead_measure(void);

#endif

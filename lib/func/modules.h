/* SPDX-License-Identifier: MIT */
/** @file Loaded modules, noted so that addresses of functions can be resolved later. */
#ifndef UPMU_FUNC_MODULES_H
#define UPMU_FUNC_MODULES_H

#include <stdint.h>

/** Find the C library's functions. */
void func_modules_start(void);
/** Note modules that were loaded, and mark functions of unloaded ones. Takes the loader's lock: not on the traced path. */
void func_modules_scan(void);
/** The same if a function is in no known module. */
void func_modules_check(void);
/** A new function was called: note its module, if that is possible without a lock. Async-signal-safe. */
void func_modules_see(uint64_t function);

#endif

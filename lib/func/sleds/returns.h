/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Returns of functions that have a patched entry and no sled at their exits.
 *
 * The return address of such a call is replaced on the stack; what it was is kept for its place on the stack, for the whole process:
 * a coroutine may return in another thread, and a forked child in its own process. Unwind tables have its place, so that
 * exceptions, pthread_exit() and every unwinder that reads tables pass such frames as others.
 */
#ifndef UPMU_FUNC_SLED_RETURNS_H
#define UPMU_FUNC_SLED_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "func/elf_functions.h"

#if defined(__x86_64__) && defined(__LP64__)
/** Make the memory. @param replacement what all replaced addresses become @param what calls are recorded, for messages @return 0; UPMU_E_NOMEM, UPMU_E_UNSUPPORTED (the thread has a shadow stack). Not async-signal-safe. */
int func_returns_start(void (*replacement)(void), const char *what);
/** Whether exceptions pass replaced return addresses in a module. @return 0; UPMU_E_UNSUPPORTED. */
int func_returns_check(const struct elf_functions *file, const char *path, const char *what);
/** What the call whose return address is in `slot` returns to, whether it was replaced or not. Async-signal-safe. */
uint64_t func_returns_to(const uint64_t *slot);
/** What was in `slot` when it was replaced last. Async-signal-safe. */
uint64_t func_returns_original(const uint64_t *slot);
/** Replace the return address in `slot`, which is `original`. @return false: there is no memory for it. Keeps errno;
 *  async-signal-safe. */
bool func_returns_replace(uint64_t *slot, uint64_t original);
/** The same without vector registers. @return false, too, if the memory has to be made by the function above. */
bool func_returns_replace_known(uint64_t *slot, uint64_t original);
#endif

#endif

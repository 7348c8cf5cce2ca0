/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Returns of functions that have a patched entry and no sled at their exits.
 *
 * The return address of such a call is replaced, on x86-64 on the stack, elsewhere in the register that has it before the function's first
 * instruction; what it was is kept for its place on the stack, for the whole process:
 * a coroutine may return in another thread, and a forked child in its own process. Unwind tables have its place, so that
 * exceptions, pthread_exit() and every unwinder that reads tables pass such frames as others.
 */
#ifndef UPMU_FUNC_SLED_RETURNS_H
#define UPMU_FUNC_SLED_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "func/symbols/elf_functions.h"

#if defined(__x86_64__) && defined(__LP64__)
#define FUNC_HAS_RETURNS 1
#elif defined(__aarch64__) && defined(__LP64__)
#define FUNC_HAS_RETURNS 1
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_float_abi_double)
#define FUNC_HAS_RETURNS 1
#elif defined(__loongarch64) && defined(__loongarch_double_float)
#define FUNC_HAS_RETURNS 1
#elif defined(__mips64) && defined(__LP64__) && defined(__mips_hard_float) && !defined(__mips16)
#define FUNC_HAS_RETURNS 1
#else
#define FUNC_HAS_RETURNS 0
#endif

/** Where the table of originals is, and the same in bytes. With pages of 4 KiB, AArch64 and RISC-V may have addresses of 38 bits only. */
#if defined(__x86_64__)
#define FUNC_RETURNS_ROOT 0x2d0000000000
#define FUNC_RETURNS_ROOT_BYTES 0, 0, 0, 0, 0, 0x2d, 0, 0
#else
#define FUNC_RETURNS_ROOT 0x1500000000
#define FUNC_RETURNS_ROOT_BYTES 0, 0, 0, 0, 0x15, 0, 0, 0
#endif

/** DWARF numbers of the return address and the stack pointer. */
#if defined(__x86_64__)
#define FUNC_RETURNS_ADDRESS 16
#define FUNC_RETURNS_STACK 7
#elif defined(__aarch64__)
#define FUNC_RETURNS_ADDRESS 30
#define FUNC_RETURNS_STACK 31
#elif defined(__loongarch64)
#define FUNC_RETURNS_ADDRESS 1
#define FUNC_RETURNS_STACK 3
#elif defined(__mips64)
#define FUNC_RETURNS_ADDRESS 31
#define FUNC_RETURNS_STACK 29
#else
#define FUNC_RETURNS_ADDRESS 1
#define FUNC_RETURNS_STACK 2
#endif

/** A DWARF expression of 27 bytes, from the CFA to where the original is. With A = CFA - 8 and the numbers of returns.c it is at ROOT[A >> 26] + (A & 0x3ffffff). */
#define FUNC_RETURNS_EXPRESSION                                                                                      \
    0x38, 0x1c, 0x12, 0x08, 26, 0x25, 0x33, 0x24, 0x0e, FUNC_RETURNS_ROOT_BYTES, 0x22, 0x06, 0x16, 0x0c, 0xff, 0xff, \
        0xff, 0x03, 0x1a, 0x22

#if FUNC_HAS_RETURNS
/** Make the memory. @param replacement what all replaced addresses become @param what calls are recorded, for messages @return 0; UPMU_E_NOMEM, UPMU_E_UNSUPPORTED (the thread has a shadow stack). Not async-signal-safe. */
int func_returns_start(void (*replacement)(void), const char *what);
/** Whether exceptions pass replaced return addresses in a module. @return 0; UPMU_E_UNSUPPORTED. */
int func_returns_check(const struct elf_functions *file, const char *path, const char *what);
/** What the call returns to whose return address is `address`, replaced or not. `slot` is its place on the stack, on other ISAs than x86-64
 *  the word below the stack pointer at the function's entry, which is not accessed. Async-signal-safe. */
uint64_t func_returns_to(const uint64_t *slot, uint64_t address);
/** What the return address was when it was replaced last. Async-signal-safe. */
uint64_t func_returns_original(const uint64_t *slot);
/** Replace the return address in `slot`, which is `original`; on other ISAs than x86-64 the caller sets its register.
 *  @return false: there is no memory for it. Keeps errno; async-signal-safe. */
bool func_returns_replace(uint64_t *slot, uint64_t original);
/** The same without vector registers. @return false, too, if the memory has to be made by the function above. */
bool func_returns_replace_known(uint64_t *slot, uint64_t original);
#endif

#endif

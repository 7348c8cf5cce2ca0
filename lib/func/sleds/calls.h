/* SPDX-License-Identifier: MIT */
/** @file What patched sleds call. */
#ifndef UPMU_FUNC_SLED_CALLS_H
#define UPMU_FUNC_SLED_CALLS_H

#include <stdint.h>

enum { SLED_FUNCTIONS_MAX = 1 << 22, SLED_PATCH_BYTES = 5 };

/** Functions by the number in their sleds. */
extern uint64_t *sled_functions __attribute__((visibility("hidden")));

/** The stub of a function without hooks jumps here, with the address of the word that has the function's in r11, x16 or t1. */
void sled_wrapped(void) __attribute__((visibility("hidden")));
/** Replaced return addresses: a function with a patched entry, or without hooks, has returned. */
void sled_returned(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__) && defined(__LP64__)
/** Which vector registers have arguments and results: 0 xmm, 1 ymm, 2 zmm. */
extern uint32_t sled_vectors __attribute__((visibility("hidden")));
/** Set it. */
void sled_vectors_find(void) __attribute__((visibility("hidden")));
/** Called by a sled, with the number of the function four bytes before its call. */
void sled_entry(void) __attribute__((visibility("hidden")));
/** The same before a tail call. */
void sled_tail(void) __attribute__((visibility("hidden")));
/** A sled in place of a return jumps here, with the number of the function in r10d. */
void sled_exit(void) __attribute__((visibility("hidden")));
/** Called by a patched entry, SLED_PATCH_BYTES before the return address. */
void sled_patched(void) __attribute__((visibility("hidden")));
#endif

#endif

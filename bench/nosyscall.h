/* SPDX-License-Identifier: MIT */
/** @file Proof that pages alone serve a region: pairs under a filter that kills at any system call. Room: bench. */
#ifndef BENCH_NOSYSCALL_H
#define BENCH_NOSYSCALL_H

#include <stddef.h>

/** Region pairs with time and switches, in a child that may make no system call but its exit.
 *  @return 0: none was made; 1: one was tried; -1: it cannot be told here, with the reason in `why`. */
int nosyscall_pairs(char *why, size_t cap);

#endif

/* SPDX-License-Identifier: MIT */
/* Functions without unwind tables, and with a frame pointer: compiled so (CMakeLists.txt). */
#include "unit/sync_trace/own_walk_without_tables.h"

static volatile int without_tables_calls;

__attribute__((noinline)) static void without_tables_inner(void (*take)(void), void **returns)
{
    volatile char here[200];
    here[0] = 1;
    returns[0] = __builtin_return_address(0);
    take();
    without_tables_calls += here[0];
}

__attribute__((noinline)) void without_tables(void (*take)(void), void **returns)
{
    returns[1] = __builtin_return_address(0);
    without_tables_inner(take, returns);
    without_tables_calls++;
}

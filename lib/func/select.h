/* SPDX-License-Identifier: MIT */
/** @file Selection of functions by patterns of their names and modules. */
#ifndef UPMU_FUNC_SELECT_H
#define UPMU_FUNC_SELECT_H

#include <stdbool.h>
#include <stdint.h>

/** Patterns of functions that are recorded, are not, and below which functions are recorded, separated by commas; NULL: none. @return 0; UPMU_E_NOMEM, UPMU_E_INVAL. */
int func_select_start(const char *included, const char *excluded, const char *triggers);
/** Whether a call of the function is recorded; `outermost`: no recorded function called it, so the patterns of UPMU_FUNC_BELOW
 * apply. Async-signal-safe. */
bool func_is_selected(uint64_t function, bool outermost);
/** The functions of [start, end) are gone: others may come in their place. */
void func_select_forget(uint64_t start, uint64_t end);

#endif

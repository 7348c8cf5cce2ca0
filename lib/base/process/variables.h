/* SPDX-License-Identifier: MIT */
/** @file Variables of the environment. */
#ifndef UPMU_BASE_VARIABLES_H
#define UPMU_BASE_VARIABLES_H

#include <stdbool.h>

/** @return the variable's value; NULL if it is not set, empty, or ignored since the process has raised privileges. */
const char *variable_value(const char *name);

/** @return whether the variable has a value other than 0. */
bool variable_is_on(const char *name);

/** Write "libupmu: WHAT: WHY" to standard error. For what a variable requests and cannot be done: there is no caller to return an error
 *  to. No allocation. */
void variable_report(const char *what, const char *why);

#endif

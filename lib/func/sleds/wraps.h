/* SPDX-License-Identifier: MIT */
/** @file Calls of functions that were built without hooks, from other modules: recorded by stubs in place of their imports. */
#ifndef UPMU_FUNC_WRAPS_H
#define UPMU_FUNC_WRAPS_H

#include <stdbool.h>

/** Record calls of the functions that one of the patterns matches, of all loaded modules. NULL: of none. @return 0; UPMU_E_INVAL,
 *  UPMU_E_UNSUPPORTED (another instruction set, a shadow stack), UPMU_E_NOMEM, UPMU_E_SYSTEM. Not async-signal-safe. */
int func_wraps_start(const char *patterns);
/** The same for modules that were loaded since: what prevents it is printed. */
void func_wraps_add_opened(void);
/** Whether modules that are loaded later are to be searched, too. */
bool func_wraps_are_on(void);
/** Modules that are loaded from here on are not searched: the program restricts its system calls. */
void func_wraps_stop(void);
/** At the end: print patterns whose library was loaded without a call of its function from another module. */
void func_wraps_report(void);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Libraries of libupmu, beside the one that the command itself uses. */
#ifndef UPMU_TOOL_LIBRARY_H
#define UPMU_TOOL_LIBRARY_H

/** @param name a path from their folder on @return its absolute path, to be freed; NULL after a message. */
char *library_path(const char *name);

/** Open `name` below their folder, permanently, and look for `symbol`, by which users of the module begin.
 *  @return why that failed, to be freed; NULL if it did not. */
char *library_problem(const char *name, const char *symbol);
/** Why there are no functions, lines and names of variables, with the remedy: to be freed; NULL if there are. */
char *library_symbols_problem(void);
/** The same as a message on standard error. */
void library_complain_symbols(void);

#endif

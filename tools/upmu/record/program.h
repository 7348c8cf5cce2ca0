/* SPDX-License-Identifier: MIT */
/** @file Lookup of a program, and checks that a library can be preloaded into it. */
#ifndef UPMU_TOOL_PROGRAM_H
#define UPMU_TOOL_PROGRAM_H

/**
 * Find a command by the rules of execvp(3).
 * @return its path, to be freed; or NULL, with a message, with `*status` EXIT_NOT_FOUND or EXIT_NOT_EXECUTABLE.
 */
char *program_find(const char *name, int *status);

/**
 * Whether the dynamic linker will preload `library` into the program: for a script, its interpreter is what counts.
 * @return 0; or -1, with a message not.
 */
int program_preloads(const char *path, const char *library);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A program before it is run: where it is, and whether a library can be preloaded into it. Room: tools/upmu. Before it:
 * cmd_record; after it: record_run, which executes it.
 */
#ifndef UPMU_TOOL_PROGRAM_H
#define UPMU_TOOL_PROGRAM_H

/**
 * Find a command by the rules of execvp(3).
 * @return its path, to be freed; or NULL, having said why, with `*status` EXIT_NOT_FOUND or EXIT_NOT_EXECUTABLE.
 */
char *program_find(const char *name, int *status);

/**
 * Whether the dynamic linker will preload `library` into the program: for a script, its interpreter is what counts.
 * @return 0; or -1, having said why not.
 */
int program_preloads(const char *path, const char *library);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Command line parser: options from a command's table, operands, help. */
#ifndef UPMU_TOOL_OPTIONS_H
#define UPMU_TOOL_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "command.h"
#include "upmu/api.h"

enum {
    OPTION_OPERAND = 0,    /**< id under which operands are handed over */
    OPTIONS_CONTINUE = -1, /**< options_parse(): the line is fine, do the job */
};

/** Called for each option (by id) and operand in order; `value` is NULL for options without argument.
 *  @return 0, or EXIT_USAGE with a message with options_usage(). */
typedef int (*option_fn)(void *arg, int id, const char *value);

/**
 * Go through a command line. `--help` is answered here.
 * @param argv the words after the command's name
 * @param rest out, for commands with `has_program`: index of the program's first word (argc if there is none)
 * @return OPTIONS_CONTINUE, or the exit status to end with.
 */
int options_parse(const struct command *cmd, int argc, char **argv, option_fn take, void *arg, int *rest);

/** Print an error of the command line and a pointer to the help. @return EXIT_USAGE. */
int options_usage(const struct command *cmd, const char *fmt, ...) UPMU_PRINTF(2, 3);

/** Take the value of -e, a list of events. @return 0 or EXIT_USAGE, with its message, if it has none. */
int options_events(const struct command *cmd, const char *value, const char **events);

/** Take the value of --from or --to: seconds since the beginning of the recording. @return 0 or EXIT_USAGE, with its message. */
int options_time(const struct command *cmd, const char *option, const char *value, uint64_t *ns);

/** Take the value of --stacks: enum upmu_stacks. @return 0 or EXIT_USAGE, with its message. */
int options_stacks(const struct command *cmd, const char *value, int32_t *stacks);
#define OPTIONS_STACKS_HELP                                                                                         \
    "call stacks of OpenMP and Java: user (as written, default), expert (with the runtime's functions) or machine " \
    "(as executed)"

/** Write a command's help. */
void options_help(FILE *out, const struct command *cmd);

#endif

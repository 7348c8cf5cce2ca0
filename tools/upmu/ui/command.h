/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a command of `upmu` is: a row of a table. Room: tools/upmu. Before it: the user's shell; after it: the public
 * API in include/upmu, the only part of the library that this room sees.
 */
#ifndef UPMU_TOOL_COMMAND_H
#define UPMU_TOOL_COMMAND_H

#include <stdbool.h>

/** Exit statuses of every command; `upmu stat` and `upmu record` pass on that of the command they ran. */
enum exit_status {
    EXIT_OK = 0,
    EXIT_FAILED = 1,           /**< the job could not be done, or not wholly; standard error says why */
    EXIT_USAGE = 2,            /**< the command line is invalid */
    EXIT_FOUND = 3,            /**< deadlock: there is one */
    EXIT_NOT_EXECUTABLE = 126, /**< stat, record: the command was found and could not be executed */
    EXIT_NOT_FOUND = 127,      /**< stat, record: there is no such command */
    EXIT_SIGNAL_BASE = 128,    /**< stat, record: plus the number of the signal that ended the command */
};

/** One option. A list of them ends with an entry whose `name` is NULL. */
struct option_spec {
    int id;           /**< what the command's option function is told; > 0 */
    char letter;      /**< short form, or 0 */
    const char *name; /**< long form without the dashes */
    const char *arg;  /**< name of its argument, or NULL if it takes none */
    const char *help; /**< one line */
};

/** One command. */
struct command {
    const char *name;
    const char *summary;               /**< one line, for the list of commands */
    const char *usage;                 /**< what follows "upmu NAME" */
    const char *about;                 /**< a paragraph, lines ending in newlines */
    const struct option_spec *options; /**< without --help, which every command has */
    const char *exits;                 /**< exit statuses, lines ending in newlines */
    bool has_program;                  /**< the first word that is no option begins another program's command line */
    int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_list;
extern const struct command command_explain;
extern const struct command command_plan;
extern const struct command command_doctor;
extern const struct command command_gather;
extern const struct command command_stat;
extern const struct command command_record;
extern const struct command command_ctl;
extern const struct command command_top;
extern const struct command command_report;
extern const struct command command_deadlock;
extern const struct command command_export;
extern const struct command command_dump;
extern const struct command command_repair;
extern const struct command command_help;

/** All commands, in the order of the help; NULL-terminated. */
extern const struct command *const commands[];

/** The command of that name; or NULL, having said so on standard error with the nearest name. */
const struct command *command_find(const char *name);

#endif

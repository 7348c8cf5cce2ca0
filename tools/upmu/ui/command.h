/* SPDX-License-Identifier: MIT */
/** @file A command of upmu: a row of the table of commands. */
#ifndef UPMU_TOOL_COMMAND_H
#define UPMU_TOOL_COMMAND_H

#include <stdbool.h>

/** Exit statuses of every command; `upmu stat` and `upmu record` pass on that of the command they ran. */
enum exit_status {
    EXIT_OK = 0,
    EXIT_FAILED = 1,           /**< the job could not be done, or only in part; the reason is on standard error */
    EXIT_USAGE = 2,            /**< the command line is invalid */
    EXIT_FOUND = 3,            /**< deadlock: there is one */
    EXIT_STALLED = 4,          /**< deadlock: all threads of a process are asleep, for an unknown reason */
    EXIT_NOT_EXECUTABLE = 126, /**< stat, record: the command was found and could not be executed */
    EXIT_NOT_FOUND = 127,      /**< stat, record: there is no such command */
    EXIT_SIGNAL_BASE = 128,    /**< stat, record: plus the number of the signal that ended the command */
};

/** One option. A list of them ends with an entry whose `name` is NULL. */
struct option_spec {
    int id;           /**< passed to the option function; > 0 */
    char letter;      /**< short form, or 0 */
    const char *name; /**< long form without the dashes */
    const char *arg;  /**< name of its argument, "[NAME]" if it may be left out, or NULL if it takes none */
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
extern const struct command command_metrics;
extern const struct command command_serve;
extern const struct command command_report;
extern const struct command command_deadlock;
extern const struct command command_export;
extern const struct command command_dump;
extern const struct command command_repair;
extern const struct command command_help;

/** All commands, in the order of the help; NULL-terminated. */
extern const struct command *const commands[];

/** The command of that name; or NULL after a message with the nearest name. */
const struct command *command_find(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Output streams whose write errors are reported. */
#ifndef UPMU_TOOL_OUTPUT_H
#define UPMU_TOOL_OUTPUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "upmu/api.h"

/** A destination; it must stay where it is between opening and closing. */
struct output {
    FILE *file;
    int fd;
    int error;        /**< errno of the first write that failed, or 0 */
    const char *name; /**< for messages */
    bool color;       /**< a terminal with colors */
    size_t width;     /**< characters in a line of the terminal; 0: any number */
    bool binary;      /**< bytes go out as they are; text is escaped as base/text/printable.h does */
    char held[4];     /**< a sequence of UTF-8 whose rest is still to come */
    size_t n_held;
};

enum output_standard {
    OUTPUT_STDOUT = 1,
    OUTPUT_STDERR = 2,
};

/** Buffered output to a standard stream. @return 0, or -1 with a message. */
int output_standard(struct output *out, enum output_standard which);
/** Whether a file name given with -o means standard output: "-". */
bool output_is_standard(const char *path);
/** Output to a file, emptied or made, or to standard output for "-"; not inherited by programs started. @return 0, or -1 with a message. */
int output_file(struct output *out, const char *path);
/** The same behind what the file has. */
int output_file_append(struct output *out, const char *path);
/** Write out and close. @return 0, or -1 with a message; a reader that went away (EPIPE) is no reason to speak. */
int output_close(struct output *out);

/** Colors and weights, "" where the output has none. */
enum output_style {
    STYLE_PLAIN,
    STYLE_TITLE,
    STYLE_GOOD,
    STYLE_WARNING,
    STYLE_BAD,
    STYLE_DIM,
};
const char *output_style(const struct output *out, enum output_style style);
/** Back to plain after output_style(). */
const char *output_plain(const struct output *out);

/** Lines of all outputs opened from now on may have any width. */
void output_wide(void);

/** A name of unknown origin, escaped; shortened in the middle if it and `others` more characters are wider than a line. */
void output_name(const struct output *out, const char *name, size_t others);

/** Text of unknown origin on one line of a terminal, escaped as base/text/printable.h does. */
void output_clean(FILE *file, const char *text);

/** A path as one word of a shell command, to be freed: quoted where necessary, and never taken for an option. */
char *output_shell_path(const char *path);

/** A message on standard error between `head` and `tail`, escaped but for its line breaks. */
void output_message(const char *head, const char *fmt, va_list ap, const char *tail);
/** "upmu: ..." with a newline, on standard error. */
void complain(const char *fmt, ...) UPMU_PRINTF(1, 2);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Lines of a source file that debug information names. */
#ifndef UPMU_TOOL_SOURCE_TEXT_H
#define UPMU_TOOL_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/** All zero is a file without lines. */
struct source_text {
    char *bytes;
    char **lines; /**< without line ends */
    size_t n;
};

/** Read a regular file of at most 64 MiB. @return NULL, or why it cannot be read, which is to be freed. */
char *source_text_read(struct source_text *t, const char *path);
void source_text_free(struct source_text *t);
/** Line `number`, from 1 on, with tabs as blanks: to be freed. "" if there is no such line. */
char *source_text_line(const struct source_text *t, size_t number);
/** Print a message if the file was changed after `module` was built: lines are then no longer those of the debug information. */
void source_text_check(const char *path, const char *module);

#endif

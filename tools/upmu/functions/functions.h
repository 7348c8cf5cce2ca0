/* SPDX-License-Identifier: MIT */
/** @file Recorded functions opened for a report. */
#ifndef UPMU_TOOL_FUNCTIONS_H
#define UPMU_TOOL_FUNCTIONS_H

#include <stddef.h>

#include "ui/output.h"
#include "upmu/functions.h"

struct functions_longest;
struct textbuf;

struct functions_report {
    struct upmu_functions *functions;
    struct upmu_functions_totals totals;
    const char *dir;
    size_t top;                              /**< rows of each table */
    const struct functions_longest *longest; /**< NULL: events were not recorded */
};

void functions_write_text(struct output *out, const struct functions_report *r);
void functions_write_json(struct output *out, const struct functions_report *r);
/** " from 1 to 2 s", of a stretch. */
void functions_write_stretch(struct output *out, const struct functions_report *r);
/** As "from_ns" and "to_ns". */
void functions_json_stretch(struct textbuf *j, const struct functions_report *r);
/** What a function is called, with its file and line: to be freed. "(thread)" for UPMU_NO_INDEX. */
char *functions_name(const struct functions_report *r, uint32_t function);
/** From the start of the threads to the callee with the longest inclusive time, and so on. */
void functions_write_hottest(struct output *out, const struct functions_report *r);
/** The source file whose path ends with `file`, with the sums of its functions at their lines. @return the exit status. */
int functions_write_source(struct output *out, const struct functions_report *r, const char *file);

#endif

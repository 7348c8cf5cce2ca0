/* SPDX-License-Identifier: MIT */
/** @file The longest single calls of a recording with events. */
#ifndef UPMU_TOOL_FUNCTIONS_LONGEST_H
#define UPMU_TOOL_FUNCTIONS_LONGEST_H

#include "functions.h"
#include "ui/json.h"

struct functions_longest {
    struct upmu_function_event *calls; /**< their ends, the longest first */
    size_t n;
    uint64_t events, inferred;
    uint64_t first_raw_ns; /**< of the first event */
};

/** Read all events and keep the `most` longest calls. @return 0; the errors of upmu_functions_event_next(). */
int functions_longest_find(struct functions_longest *l, const struct functions_report *r, size_t most);
void functions_longest_text(struct output *out, const struct functions_report *r, const struct functions_longest *l);
void functions_longest_json(struct textbuf *j, const struct functions_longest *l);
void functions_longest_free(struct functions_longest *l);

#endif

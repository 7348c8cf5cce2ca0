/* SPDX-License-Identifier: MIT */
/** @file Comparison of the functions of two recordings. */
#ifndef UPMU_TOOL_FUNCTIONS_DIFF_H
#define UPMU_TOOL_FUNCTIONS_DIFF_H

#include <stdbool.h>

#include "functions.h"

enum { CHANGE_OLD, CHANGE_NEW, CHANGE_SIDES };

/** A function of one recording. */
struct change_side {
    bool there;
    uint64_t calls, inclusive_ns, exclusive_ns;
};

/** A function of one recording, or of both: they have the same name and source file, or the name only, which is then the only one
 *  in each. */
struct function_change {
    const char *name; /**< NULL: unknown */
    const char *file; /**< of the new recording, if it has the function; NULL: unknown */
    const char *module;
    uint64_t offset;
    uint32_t line;
    struct change_side side[CHANGE_SIDES];
};

struct functions_diff {
    struct functions_report side[CHANGE_SIDES];
    struct function_change *changes; /**< the largest change of exclusive time first */
    size_t n;
    size_t top;
};

/** Match the functions of both sides, which are open. */
void functions_diff_match(struct functions_diff *d);
void functions_diff_text(struct output *out, const struct functions_diff *d);
void functions_diff_json(struct output *out, const struct functions_diff *d);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Views of upmu report and their options. */
#ifndef UPMU_TOOL_REPORT_VIEWS_H
#define UPMU_TOOL_REPORT_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/command.h"

struct report_view;

struct report_request {
    const struct command *self;
    const struct report_view *view;
    const char *dir;
    const char *other_dir; /**< NULL: only one was given */
    bool diff;             /**< compare the two */
    bool as_json;
    long top;   /**< 0: not given */
    long group; /**< fold so many locks of one origin */
    bool group_given;
    const char *sort;     /**< NULL: not given */
    const char *html;     /**< file, NULL: not given */
    const char *source;   /**< end of a source file's path, NULL: not given */
    const char *annotate; /**< a function, NULL: not given */
    bool disassembly;
    bool stacks_given;
    int32_t stacks; /**< enum upmu_stacks */
    /* Of the timeline. */
    const char *stretch; /**< the last of --from and --to, NULL: none was given */
    const char *filter;  /**< the last option that is for it, NULL: none was given */
    const char *thread, *lock;
    uint32_t kinds, object_types;
    uint64_t from_ns, to_ns;
    long page, event; /**< 0: not given */
};

/* The views: @return the exit status. */
int report_overview(const struct report_request *q);
int report_regions(const struct report_request *q);
int report_timeline(const struct report_request *q);
int report_deadlock(const struct report_request *q);
int report_functions(const struct report_request *q);
int report_mpi(const struct report_request *q);
int report_openmp(const struct report_request *q);
int report_heap(const struct report_request *q);
int report_samples(const struct report_request *q);
/** Both directories. */
int report_diff(const struct report_request *q);
int report_functions_diff(const struct report_request *q);

struct upmu_overview;
/** The overview of the request's stretch, whose ends come in nanoseconds since 1970, 0 where none was given. @return to be closed; NULL
 *  after a message. */
struct upmu_overview *report_open_stretch(const struct report_request *q, uint64_t *from_ns, uint64_t *to_ns);

/** Words of --type. @return 0, or EXIT_USAGE with a message. */
int report_types(struct report_request *q, const char *words);

#endif

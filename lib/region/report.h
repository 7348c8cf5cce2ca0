/* SPDX-License-Identifier: MIT */
/** @file Report at exit: data and formats. */
#ifndef UPMU_CORE_REPORT_H
#define UPMU_CORE_REPORT_H

#include "base/text/textbuf.h"
#include "region/region.h"

/** One region in one thread, or in all (`tid` UPMU_ALL_THREADS and `all` set). */
struct report_row {
    const char *region;
    bool all;
    pid_t tid; /**< 0 with `all` unset: the shared row of ended threads */
    char thread[16];
    bool ended;
    bool brief; /**< on average under ten times libupmu's own cost: rates and ratios are largely those of libupmu */
    struct region_stats stats;
};

struct report {
    char program[256];
    char host[256];
    int pid;
    bool child;
    double seconds;
    size_t threads;
    size_t n_rows, cap_rows;
    struct report_row *rows; /**< by region; within one the total first, then its threads if there is more than one */
    struct upmu_region_health health;
    const char *clock;
};

/** A note on event `i` if instances have no value because its descriptor was closed or reused. @return false: there is none */
bool report_closed_note(const struct report *r, size_t i, struct textbuf *out);

struct report_format {
    void (*write)(const struct report *r, struct textbuf *out);
};

extern const struct report_format report_text, report_json, report_csv;

#endif

/* SPDX-License-Identifier: MIT */
/** @file Trials remembered between runs. Room: tools/upmu. Before it: trials; after it: the user's cache folder. */
#ifndef UPMU_TOOL_TRIAL_CACHE_H
#define UPMU_TOOL_TRIAL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One event's trial. The strings are the row's own. */
struct trial_row {
    char *event;    /**< canonical name */
    char *encoding; /**< what the name was when it was tried: another code is another event */
    int code;       /**< enum upmu_code */
    uint64_t seen;  /**< counted under the trial's load */
    char *reason;   /**< "" if code is 0 */
    bool lasting;   /**< holds until something of the cache's key changes */
};

/**
 * The trials of an earlier run in the same surroundings: boot, user and rights, perf_event_paranoid, container, backend,
 * libupmu's version. A cache that is another's, a link, damaged or of other surroundings counts as none.
 * @param rows,n out: to be freed with trial_rows_free(); NULL and 0 where nothing is remembered.
 */
void trial_cache_read(struct trial_row **rows, size_t *n);
/** Remember the lasting rows. Without a cache folder, or if it cannot be written, nothing is remembered, and nothing said:
 *  the next run is slower, that is all. */
void trial_cache_write(const struct trial_row *rows, size_t n);

void trial_rows_free(struct trial_row *rows, size_t n);

#endif

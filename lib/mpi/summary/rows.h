/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Statistics of one number over the ranks that have it, and their merge.
 *
 * Rows are sorted by kind, then by a hash of their names. Merged tables keep the rows that come first: what is among the first ones of a
 * union is among those of each part, so that rows which are kept have all ranks in them, whatever the tree.
 */
#ifndef UPMU_MPI_SUMMARY_ROWS_H
#define UPMU_MPI_SUMMARY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUMMARY_NAME_MAX = 56, SUMMARY_METRIC_MAX = 24, SUMMARY_ROWS_MAX = 32768 };

/** What a row is about. */
enum summary_kind {
    SUMMARY_RANK,     /**< "rank": time, useful time, time in MPI, begin and end */
    SUMMARY_FUNCTION, /**< an MPI function: calls, time, bytes */
    SUMMARY_REGION,   /**< a region: instances, time, counters */
    SUMMARY_KINDS
};

struct summary_row {
    uint32_t kind;
    int32_t status;                                          /**< enum upmu_status: the weakest one of the ranks */
    uint64_t hash;                                           /**< of the whole name and metric */
    char name[SUMMARY_NAME_MAX], metric[SUMMARY_METRIC_MAX]; /**< cut if longer */
    uint64_t ranks;                                          /**< that have it */
    uint64_t sum, min, max;                                  /**< the sum stays at UINT64_MAX - 1 */
    int32_t min_rank, max_rank;                              /**< the lowest such rank */
    double mean, m2;                                         /**< m2: sum of squared distances from the mean */
};

struct summary {
    struct summary_row *rows;
    uint32_t n, cap;
    uint32_t incomplete; /**< some rows were left out */
    uint32_t reserved;   /**< 0 */
};

/** Add a rank's number to a table that summary_sort() sorts later; without memory it is incomplete. */
void summary_add(struct summary *s, enum summary_kind kind, const char *name, const char *metric, uint64_t value,
                 int rank, int status);
/** Before a merge. Numbers of the same row are an error of the caller. */
void summary_sort(struct summary *s);
/** Merge sorted rows into a sorted table. */
void summary_merge(struct summary *s, const struct summary_row *rows, uint32_t n, bool incomplete);
void summary_free(struct summary *s);

const struct summary_row *summary_find(const struct summary *s, enum summary_kind kind, const char *name,
                                       const char *metric);
/** Standard deviation over the ranks that have the row. */
double summary_deviation(const struct summary_row *r);
/** Largest by mean, less 1. */
double summary_imbalance(const struct summary_row *r);

#endif

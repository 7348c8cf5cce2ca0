/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Common parts of all benchmarks: alternating measurement, medians, the table.
 *
 * Nanoseconds depend on the machine and its load. A ratio of two loops measured alternately, a fraction of a
 * millisecond apart, does not: every row is a subject beside its floor, in many short batches, and its ratio is the
 * median over the rounds.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_ROWS_MAX = 32,
    BENCH_NAME_MAX = 56,
    BENCH_WHY_MAX = 160,
    BENCH_SKIPPED = 77, /**< exit status when nothing could be measured */
};

/** What the bar of a row is about. */
enum bench_judge {
    BENCH_NOTHING, /**< a row to look at */
    BENCH_RATIO,   /**< subject over floor */
    BENCH_NS,      /**< the subject's nanoseconds */
    BENCH_ADDED,   /**< nanoseconds of the subject beyond those of the floor */
    BENCH_COUNT,   /**< a number of things that should not be */
};

/** One line of the table. */
struct bench_row {
    char name[BENCH_NAME_MAX];
    char floor[BENCH_NAME_MAX]; /**< "" if there is none */
    enum bench_judge judge;
    double bar;                   /**< most the judged number may be */
    double ns;                    /**< median of the batches, per call */
    double ns_p10;                /**< the tenth part of the batches is below it */
    double floor_ns;              /**< median */
    double ratio;                 /**< median over the rounds */
    double ratio_low, ratio_high; /**< a quarter of the rounds is below, a quarter above */
    double count;                 /**< BENCH_COUNT */
    char failed[BENCH_WHY_MAX];   /**< why the number cannot be believed, or "" */
    char skipped[BENCH_WHY_MAX];  /**< why there is none, or "" */
};

/** A run of a benchmark; in memory shared with the children that measure. */
struct bench {
    const char *title;
    size_t rounds;
    double row_ns; /**< longest that a row may take: on a busy machine it has fewer rounds */
    double slack;  /**< bars are multiplied by it; 0: bars are shown, not judged */
    bool brief;    /**< only to see that it works */
    bool json;
    bool heading;
    double ns_per_tick;
    int cpu;   /**< the CPU measured on */
    int other; /**< a second one, -1 if there is none */
    size_t n_rows;
    struct bench_row rows[BENCH_ROWS_MAX];
};

/** Something that can be measured. */
struct bench_side {
    const char *name;
    void (*loop)(void *arg, size_t n); /**< does it n times */
    void *arg;
    void (*before)(void *arg); /**< around each batch, not timed; NULL: nothing */
    void (*after)(void *arg);
};

/** A subject and the floor it is measured against. */
struct bench_pair {
    struct bench_side subject, floor;
    size_t n;     /**< times per batch */
    size_t calls; /**< calls in one time, for numbers per call; 0 means 1 */
    bool work;    /**< time is what all threads of the process have run, not what has passed */
    /** Ticks of the last batch that are no part of what is measured; NULL: none. */
    uint64_t (*aside)(const void *arg);
    enum bench_judge judge;
    double bar;
};

/** Read the options (--short, --no-bars, --json, --no-heading), stay on one CPU, start the clock. Ends the program with
 *  status 2 on unknown options, and when UPMU_ variables would change what is measured. */
struct bench *bench_start(const char *title, int argc, char **argv);
/** Print the rows. @return the exit status: 0, 1 (a bar missed or a row failed), 77 (every row skipped). */
int bench_end(struct bench *b);

/** Run a part in a child of its own, since regions can be set up only once in a process. `name` is for the row that is
 *  added if the child dies. */
void bench_part(struct bench *b, const char *name, void (*part)(struct bench *b));

/** Measure in turns and add a row. */
struct bench_row *bench_compare(struct bench *b, const struct bench_pair *pair);
/** Whether the row is within its bar; one without a bar, or whose bar is not judged, is. */
bool bench_met(const struct bench *b, const struct bench_row *row);
/** Add a row of two numbers measured otherwise: nanoseconds of the subject, and of the floor. `most`: what it may add. */
struct bench_row *bench_added(struct bench *b, const char *name, double ns, double floor_ns, double most);
/** Add a row that has a count only. */
struct bench_row *bench_count(struct bench *b, const char *name, double count, double most);
/** Add a row that could not be measured. */
void bench_skip(struct bench *b, const char *name, const char *why, ...) __attribute__((format(printf, 3, 4)));
/** The row's number cannot be believed. */
void bench_fail(struct bench_row *row, const char *why, ...) __attribute__((format(printf, 2, 3)));

/** Stay on a CPU from now on. @return false if that is not allowed. */
bool bench_pin(int cpu);

/** The value at a share (0.5: the median) of `n` numbers, which it sorts. */
double bench_share(double *numbers, size_t n, double share);

/** So that the compiler neither drops a loop nor moves something out of it. */
static inline void bench_barrier(void)
{
    __asm__ volatile("" ::: "memory");
}

#endif

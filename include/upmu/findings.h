/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Findings: what in a recording costs time that a change of the program could save, each as one sentence with its evidence.
 * Link with libupmu_analysis; `upmu report` and the HTML page begin with the same.
 *
 *     struct upmu_findings *f;
 *     struct upmu_finding found = {.size = sizeof found};
 *     if (upmu_findings_open(&f, overview, NULL, NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_findings_at(f, i, &found) == 0; i++)
 *         printf("%s\n", found.text);
 *     upmu_findings_close(f);
 *
 * Functions that fill a struct take its `size` from the caller, set it to the bytes filled, and return 0; UPMU_E_END past
 * the last entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. Further errors are at each function. Findings may
 * be used by one thread at a time; no function here is async-signal-safe.
 */
#ifndef UPMU_FINDINGS_H
#define UPMU_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/analysis.h"
#include "upmu/api.h"
#include "upmu/deadlock.h"

UPMU_BEGIN_DECLS

/** The findings of a recording, the most important first. */
struct upmu_findings;

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_findings_opts {
    size_t size;      /**< sizeof(struct upmu_findings_opts) */
    size_t max;       /**< findings to keep; 0: 5 */
    uint64_t percent; /**< keep findings that save at least this part of the run; 0: 5 */
};
#define UPMU_FINDINGS_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_findings_opts, 24)

/**
 * Find what costs time.
 * @param findings  out: to be closed with upmu_findings_close(); NULL on failure
 * @param overview  the recording; must stay open as long as `findings`
 * @param deadlocks of the same recording; NULL: no finding is a deadlock. Not used after the call
 * @param opts      may be NULL; not used after the call
 * @return 0; UPMU_E_INVAL (NULL, `opts`); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_findings_open(struct upmu_findings **findings, struct upmu_overview *overview,
                                             const struct upmu_deadlocks *deadlocks,
                                             const struct upmu_findings_opts *opts);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_findings_close(struct upmu_findings *findings);

/** Kind of a finding. */
enum upmu_finding_kind {
    UPMU_FINDING_DEADLOCK = 0,  /**< threads that no thread can unblock */
    UPMU_FINDING_SECTION = 1,   /**< others wait while a lock is held */
    UPMU_FINDING_HAND_OVER = 2, /**< passing a lock on takes longer than it is held */
    UPMU_FINDING_IMBALANCE = 3, /**< threads wait for the last of them, at a barrier or for its end */
    UPMU_FINDING_NO_CPU = 4,    /**< more threads are ready to run than get a CPU (UPMU_SCHED) */
    UPMU_FINDING_IO = 5,   /**< others wait while a lock is held, mostly in calls that read, write or wait for that */
    UPMU_FINDING_HERD = 6, /**< a condition variable wakes many threads, most of which find nothing to do */
};

/** "deadlock", "section", "hand-over", "imbalance", "no-cpu", "io", "herd"; "?" for any other number. */
UPMU_API const char *upmu_finding_kind_name(int kind);

/** A finding. */
struct upmu_finding {
    size_t size;       /**< in: sizeof(struct upmu_finding); out: bytes filled */
    int32_t kind;      /**< enum upmu_finding_kind */
    uint32_t process;  /**< index for upmu_overview_process_at() */
    uint32_t object;   /**< index for upmu_overview_object_at(); UPMU_NO_INDEX: none */
    uint32_t thread;   /**< thread that others wait for, index for upmu_overview_thread_at(); UPMU_NO_INDEX: none */
    uint32_t deadlock; /**< index for upmu_deadlocks_at(); UPMU_NO_INDEX: none */
    uint32_t stack;    /**< stack at `site`, for upmu_overview_stack_find(); 0: none */
    uint64_t site;     /**< call site to look at, for upmu_overview_symbol_at(); 0: none */
    uint64_t begin_ns; /**< an example, the longest recorded one: its start, nanoseconds since 1970; 0: none */
    uint64_t end_ns;   /**< its end */
    uint64_t run_ns;   /**< duration of the process's critical path, to compare `gain_ns` with */
    /** Estimate by which the run would be shorter: SECTION: if the lock was held half as long; HAND_OVER: if passing it on took no
     *  time; IMBALANCE: if all had equal shares of the work; IO: without these calls while it is held; HERD: if only the
     *  threads were woken that can continue. UPMU_NO_VALUE: not estimated. */
    uint64_t gain_ns;
    const char *text; /**< one sentence without a line break; valid until the findings are closed */
};
#define UPMU_FINDING_SIZE_V1 UPMU_SIZE_V1_(struct upmu_finding, 80)
/** Finding `i`: deadlocks first, then by `gain_ns`, the largest first, then those without an estimate. */
UPMU_API UPMU_CHECKED int upmu_findings_at(const struct upmu_findings *findings, size_t i, struct upmu_finding *out);
/** Number of findings; 0 if `findings` is NULL. */
UPMU_API size_t upmu_findings_count(const struct upmu_findings *findings);

UPMU_END_DECLS

#endif

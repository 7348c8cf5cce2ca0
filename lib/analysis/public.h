/* SPDX-License-Identifier: MIT */
/** @file Definition of struct upmu_overview. */
#ifndef UPMU_ANALYSIS_PUBLIC_H
#define UPMU_ANALYSIS_PUBLIC_H

#include "analysis/pass/holds.h"
#include "analysis/pass/overview.h"
#include "analysis/pass/tables.h"
#include "analysis/pass/values.h"
#include "base/error.h"
#include "openmp_stacks/contexts.h"

struct upmu_overview {
    struct upmu_trace *trace;
    struct overview pass;
    struct lookup *lookup; /**< NULL: only names that were given are known */
    char *dir;             /**< of the recording */
    char **damages;
    size_t n_damages, cap_damages;
    uint64_t lost;
    struct upmu_overview_opts opts; /* while the recording is read */
    uint64_t n_read, n_all;         /* events, for `opts.progress` */
    int32_t stacks;                 /**< enum upmu_stacks */
    struct omp_contexts omp;        /**< empty if stacks are as executed */
};

/** Record that a part of the recording could not be read. @return 0; UPMU_E_NOMEM. */
int overview_note_damage(struct upmu_overview *overview, const char *message);

/** Read the stretches in which process `process` was not recorded into `p`, in place of those there. @return 0; UPMU_E_NOMEM. */
int overview_read_pauses(const struct upmu_trace *trace, size_t process, struct ov_process *p);

/** killed_waits.c: after the last event, extend the waits that were pending when a process was killed. @return 0;
 *  UPMU_E_NOMEM. */
int killed_waits_extend(struct upmu_overview *overview);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Definition of struct upmu_overview. */
#ifndef UPMU_ANALYSIS_PUBLIC_H
#define UPMU_ANALYSIS_PUBLIC_H

#include "analysis/pass/holds.h"
#include "analysis/pass/overview.h"
#include "analysis/pass/tables.h"
#include "analysis/pass/values.h"
#include "base/error.h"
#include "symbols/jit_map.h"
#include "symbols/symbols.h"

enum { INLINED_FRAMES_MAX = 32 };

struct upmu_overview {
    struct upmu_trace *trace;
    struct overview pass;
    struct symbols *symbols;
    char *dir;           /**< of the recording */
    struct jit_map *jit; /**< per process, read at the first lookup */
    char **damages;
    size_t n_damages, cap_damages;
    uint64_t lost;
    struct upmu_overview_opts opts; /* while the recording is read */
    uint64_t n_read, n_all;         /* events, for `opts.progress` */
    /* Cache of the last address lookup: callers read its frames one by one. */
    bool has_location;
    size_t location_process;
    uint64_t location_address;
    struct symbol_frame frames[INLINED_FRAMES_MAX];
    size_t n_frames;
    struct upmu_symbol location; /**< without the frame: module, offset and problem */
};

/** Record that a part of the recording could not be read. @return 0; UPMU_E_NOMEM. */
int overview_note_damage(struct upmu_overview *overview, const char *message);

/** killed_waits.c: after the last event, extend the waits that were pending when a process was killed. @return 0;
 *  UPMU_E_NOMEM. */
int killed_waits_extend(struct upmu_overview *overview);

#endif

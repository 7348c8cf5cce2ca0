/* SPDX-License-Identifier: MIT */
/** @file What is behind struct upmu_overview. Room: analysis. Before it: the pass and the symbols; after it: tools, through
 *  include/upmu/analysis.h. */
#ifndef UPMU_ANALYSIS_PUBLIC_H
#define UPMU_ANALYSIS_PUBLIC_H

#include "symbols/jit_map.h"
#include "analysis/pass/overview.h"
#include "symbols/symbols.h"

enum { PLACE_FRAMES_MAX = 32 };

struct upmu_overview {
    struct upmu_trace *trace;
    struct overview pass;
    struct symbols *symbols;
    char *dir;           /**< of the recording */
    struct jit_map *jit; /**< per process, once one was asked for */
    char **damages;
    size_t n_damages, cap_damages;
    uint64_t lost;
    struct upmu_overview_opts opts; /* while it is read */
    uint64_t n_read, n_all;         /* events, for `opts.progress` */
    /* The address looked up last: its frames are asked for one after the other. */
    bool has_place;
    size_t place_process;
    uint64_t place_address;
    struct symbol_frame place[PLACE_FRAMES_MAX];
    size_t n_place;
    struct upmu_symbol place_module; /**< module, offset and problem */
};

/** A part of the recording could not be read, for what `message` says. @return 0; UPMU_E_NOMEM. */
int overview_note_damage(struct upmu_overview *overview, const char *message);

/** stood.c: what is known of waits that had not ended when a process was killed. The events are all in. @return 0;
 *  UPMU_E_NOMEM. */
int stood_read(struct upmu_overview *overview);

#endif

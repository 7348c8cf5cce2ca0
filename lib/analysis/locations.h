/* SPDX-License-Identifier: MIT */
/** @file Lookup of a recording's addresses, and what was looked up. */
#ifndef UPMU_ANALYSIS_LOCATIONS_H
#define UPMU_ANALYSIS_LOCATIONS_H

#include "symbols/jit_map.h"
#include "symbols/symbols.h"
#include "upmu/analysis.h"

enum { INLINED_FRAMES_MAX = 32 };

/** The functions at an address, innermost first. */
struct location {
    bool valid;
    size_t process;
    uint64_t address;
    struct symbol_frame frames[INLINED_FRAMES_MAX];
    size_t n_frames;
    struct upmu_symbol symbol; /**< without the frame: module, offset and problem */
};

/** All that is looked up; changes when an overview is only read. */
struct lookup {
    struct symbols *symbols;
    struct jit_map *jit; /**< per process, read at the first lookup */
    size_t n_jit;
    struct location last; /**< callers read the frames of an address one by one */
    struct location own;  /**< of lookups for an identity */
    struct thread_identity {
        char *text; /**< NULL: not looked up */
        uint32_t stack;
    } * threads;
    size_t n_threads, cap_threads;
};

/** Begin lookups of an overview, whose pass may need some. @param debug_dir NULL: the default. @return 0; the errors of
 *  symbols_open(). */
int lookup_open(struct upmu_overview *o, const char *debug_dir);
void lookup_close(struct lookup *lookup);

/** Find an address: a return address, of which the byte before is looked up. @return 0; UPMU_E_NOMEM. */
int location_find(const struct upmu_overview *o, size_t process, uint64_t address, struct location *out);

#endif

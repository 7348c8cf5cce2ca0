/* SPDX-License-Identifier: MIT */
/** @file Lookup of a recording's addresses, and what was looked up. */
#ifndef UPMU_ANALYSIS_LOCATIONS_H
#define UPMU_ANALYSIS_LOCATIONS_H

#include "base/map.h"
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

/** Frames of a call stack, innermost first. */
struct frame_list {
    struct upmu_symbol *all;
    size_t n, cap;
};

/** All that is looked up; changes when an overview is only read. */
struct lookup {
    struct symbols *symbols;
    struct jit_map *jit; /**< per process, read at the first lookup */
    size_t n_jit;
    struct location last; /**< callers read the frames of an address one by one */
    struct location own;  /**< of lookups for an identity */
    struct {              /**< the last stack that upmu_overview_frame_at() was asked for */
        bool valid;
        size_t process;
        uint32_t stack;
        struct frame_list list;
    } frames;
    char **constructs; /**< names of constructs of OpenMP */
    size_t n_constructs, cap_constructs;
    struct map by_construct; /**< address of the construct, and what it is */
    struct map wrappers;     /**< process and address: whether it is in wrappers only */
    struct map calls;        /**< process and stack: index of the frame that lookup_call() returns */
    /* identity.c */
    const char **commands; /**< by process; of the trace */
    size_t n_commands, cap_commands;
    struct thread_identity {
        char *text; /**< NULL: not looked up */
        uint32_t stack;
    } * threads;
    size_t n_threads, cap_threads;
    struct object_identity {
        int kind;          /**< enum upmu_identity */
        bool reusable;     /**< identity_memory_is_reusable() */
        uint32_t source;   /**< in `sources`: where it was initialized or first used; MAP_NONE */
        uint32_t number;   /**< of that source, from 1 on */
        uint32_t variable; /**< 1 + the first object of the same static variable; 0: none */
        char *text;        /**< NULL: it has none, or was not asked for */
    } * objects;
    size_t n_objects, cap_objects;
    struct object_source {
        char *text;
        uint32_t n; /**< objects of it */
    } * sources;
    size_t n_sources, cap_sources;
    struct map by_source_text, by_source_call;
    struct map by_variable; /**< the first object by process and file, offset in the file and type */
};

/** Begin lookups of an overview, whose pass may need some. @param debug_dir NULL: the default. @return 0; the errors of
 *  symbols_open(). */
int lookup_open(struct upmu_overview *o, const char *debug_dir);
void lookup_close(struct lookup *lookup);

/** Find an address: a return address, of which the byte before is looked up. @return 0; UPMU_E_NOMEM. */
int location_find(const struct upmu_overview *o, size_t process, uint64_t address, struct location *out);

/** The function at an address by depth; without a function, what else is known of it. */
struct upmu_symbol location_symbol_at(const struct upmu_overview *o, const struct location *l, size_t depth);

/** The functions at an address, innermost first: index of the first one that is no wrapper; SIZE_MAX if there is none. */
size_t location_line(const struct upmu_overview *o, const struct location *l);
/** The innermost frame of a stack that is not in wrappers only; the innermost one if there is none, `site` if the stack is
 *  not known. */
uint64_t lookup_call(const struct upmu_overview *o, uint32_t process, uint64_t site, uint32_t stack);

/** The module at an address; after a remapping the latest one. */
bool location_module(const struct upmu_overview *o, size_t process, uint64_t address, struct upmu_trace_module *out);

#endif

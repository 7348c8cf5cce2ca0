/* SPDX-License-Identifier: MIT */
/** @file What the export for the Firefox Profiler collects before it is written. */
#ifndef UPMU_EXPORT_FIREFOX_FIREFOX_H
#define UPMU_EXPORT_FIREFOX_FIREFOX_H

#include "export/export.h"

/** Categories of frames and markers, in the order of the profile's list. */
enum firefox_category { FIREFOX_OTHER, FIREFOX_WAIT, FIREFOX_REGION, FIREFOX_CODE };

struct firefox_sample {
    uint64_t time_ns, n;
    uint32_t node;
};

/** A region, wait or mark. Texts are numbers of strings, 0: none. */
struct firefox_marker {
    uint64_t begin_ns, end_ns;
    uint32_t name, at, holder, acquired_at, counters;
    uint8_t category; /**< enum firefox_category */
    bool instant, unfinished;
};

struct firefox_thread {
    pid_t pid, tid;
    uint32_t name; /**< string */
    struct firefox_sample *samples;
    size_t n_samples, cap_samples;
    struct firefox_marker *markers;
    size_t n_markers, cap_markers;
};

struct firefox {
    struct firefox_thread *threads;
    size_t n_threads, cap_threads;
    struct map by_id; /**< thread with a pid and tid */
    char **strings;   /**< number 0 is "" */
    size_t n_strings, cap_strings;
    struct map by_string;
    uint32_t *stacks;    /**< by node of the tree: number of the stack, MAP_NONE for those without frames */
    uint32_t *functions; /**< by label of the tree */
    uint32_t *names;     /**< by label of the tree: string */
    uint32_t *files;     /**< by label of the tree: number of the source + 1, 0: none */
    uint32_t *modules;   /**< by label of the tree: number of the module + 1, 0: none */
    const char **libs;   /**< modules */
    size_t n_libs, cap_libs;
    uint32_t *sources; /**< files: strings */
    size_t n_sources, cap_sources;
    struct map by_source; /**< source with a string */
    uint64_t zero_ns;     /**< the begin of the profile */
};

/* firefox_strings.c */

/** The number of a string, which is copied. MAP_NONE without memory. */
uint32_t firefox_string(struct firefox *f, const char *text);
/** The number of a thread, made with the name if it is new. MAP_NONE without memory. */
uint32_t firefox_thread(struct firefox *f, pid_t pid, pid_t tid, const char *name);
/* firefox_tables.c */

/** Write the profile. @return 0 or an error. */
int firefox_write(struct export_job *job);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recorded samples: profile by function, call tree, and each sample with its time, thread and call path.
 * Link with libupmu_analysis. Samples are recorded with upmu/sampler.h, or by `upmu record -F`.
 *
 *     struct upmu_samples *s;
 *     struct upmu_sample_function f = {.size = sizeof f};
 *     if (upmu_samples_open(&s, "DIR", NULL) < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_samples_function_at(s, i, &f) == 0; i++)
 *         printf("%s %" PRIu64 "\n", f.name ? f.name : "?", f.self_weight);
 *     upmu_samples_close(s);
 *
 * The weight of a sample is what the event counted since the sample before it: nanoseconds of CPU time, or events. Functions that
 * fill a struct take its `size` from the caller, set it to the bytes filled, and return 0; UPMU_E_END past the last entry;
 * UPMU_E_INVAL if an argument is NULL or `size` is too small. Strings are valid until upmu_samples_close(). The samples of one
 * recording may be used by one thread at a time; no function here is async-signal-safe.
 */
#ifndef UPMU_SAMPLES_H
#define UPMU_SAMPLES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** The samples of a recording. */
struct upmu_samples;

/** Options; NULL or all zero but `size`: the defaults. */
struct upmu_samples_opts {
    size_t size;           /**< sizeof(struct upmu_samples_opts) */
    const char *debug_dir; /**< directory of separate debug files; NULL: UPMU_DEBUG_DIR, else /usr/lib/debug */
    uint32_t with_code;    /**< 1: keep the address of each sample and its callers, for upmu_samples_annotate() */
    int32_t stacks;        /**< enum upmu_stacks (upmu/analysis.h); with `with_code` stacks are as executed */
    /** Only samples of this stretch, nanoseconds since the start of the recording (upmu_trace_begin_ns()), or without a trace its first sample. `to_ns`
     *  0: to the end. */
    uint64_t from_ns;
    uint64_t to_ns; /**< end of the stretch */
};
#define UPMU_SAMPLES_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_samples_opts, 16)

/**
 * Read the samples of a recording. A recording that is still being written is read as it is now.
 * @param samples out: to be closed with upmu_samples_close(); NULL on failure
 * @param dir     path of the directory
 * @param opts    may be NULL; not used after the call
 * @return 0; UPMU_E_STATE (no samples were recorded); UPMU_E_IO; UPMU_E_FORMAT, UPMU_E_VERSION (the samples file); UPMU_E_INVAL
 *         (NULL, `opts`, a stretch outside of the recording); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_samples_open(struct upmu_samples **samples, const char *dir,
                                            const struct upmu_samples_opts *opts);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_samples_close(struct upmu_samples *samples);

/** How samples were taken. */
enum upmu_samples_source {
    UPMU_SAMPLES_PERF = 1,  /**< perf_event */
    UPMU_SAMPLES_TIMER = 2, /**< timers of the threads' CPU time, in the program */
};

/** Totals of the recording. */
struct upmu_samples_totals {
    size_t size;       /**< in: sizeof(struct upmu_samples_totals); out: bytes filled */
    const char *event; /**< name of the event */
    uint64_t samples;  /**< samples read */
    uint64_t weight;   /**< of all samples together */
    uint64_t count; /**< what the event counted in all threads; 0 if recording did not end in order, and of a stretch */
    uint64_t kernel;    /**< samples in kernel mode */
    uint64_t lost;      /**< samples lost because the recorder did not keep up */
    uint64_t throttled; /**< times that the kernel stopped sampling for a while: kernel.perf_event_max_sample_rate */
    uint64_t unwritten; /**< bytes of records that could not be written */
    uint64_t damages;   /**< parts of the file that could not be read */
    uint64_t whole;     /**< samples whose call stack reaches the start of its thread */
    uint64_t cut;       /**< samples whose call stack is longer than was recorded */
    uint64_t broken; /**< samples whose call stack stopped early: code without frame pointers or unwind information */
    uint64_t frequency; /**< samples per second asked for; 0: `period` was */
    uint64_t period;    /**< events per sample asked for; 0: `frequency` was */
    uint64_t processes; /**< processes with samples */
    uint64_t threads;   /**< threads with samples */
    int32_t source;     /**< enum upmu_samples_source */
    int32_t stacks;     /**< enum upmu_sampler_stacks */
    uint32_t is_time; /**< 1: weights are nanoseconds: of CPU time, as the count is, or with `is_calls` of real time */
    uint32_t with_kernel; /**< 1: samples in kernel mode are included; 0: the kernel did not permit them */
    uint32_t ended;       /**< 1: recording ended in order */
    /** 1: each sample is a call of a function, and its weight the time until it returned, without calls of these functions within and
     *  without `call_cost_ns`; 0 of calls that did not return. */
    uint32_t is_calls;
    uint64_t returned;     /**< with `is_calls`: calls that returned */
    uint64_t not_returned; /**< calls that did not: longjmp(), exceptions, ended threads, lost records */
    uint64_t shortest_ns;  /**< time of the shortest call that returned, with calls within */
    uint64_t longest_ns;   /**< and of the longest one */
    uint64_t call_cost_ns; /**< own time of the probes in a call, which was subtracted; 0: it could not be measured */
};
#define UPMU_SAMPLES_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_samples_totals, 200)
UPMU_API UPMU_CHECKED int upmu_samples_totals_read(const struct upmu_samples *samples, struct upmu_samples_totals *out);

/** State of a sample's call stack. */
enum upmu_sample_stack {
    UPMU_SAMPLE_WHOLE = 0,  /**< it reaches the start of the thread */
    UPMU_SAMPLE_CUT = 1,    /**< it is longer than was recorded */
    UPMU_SAMPLE_BROKEN = 2, /**< it stopped early */
};

/** A sample. */
struct upmu_sample {
    size_t size;       /**< in: sizeof(struct upmu_sample); out: bytes filled */
    uint64_t raw_ns;   /**< CLOCK_MONOTONIC_RAW; 0: unknown, of timers */
    uint64_t time_ns;  /**< nanoseconds since 1970 */
    uint64_t weight;   /**< since the sample before it */
    uint32_t thread;   /**< thread */
    uint32_t cpu;      /**< CPU */
    uint32_t path;     /**< call path */
    uint32_t kernel;   /**< 1: in kernel mode, entered from the path's last function but one */
    int32_t stack;     /**< enum upmu_sample_stack */
    uint32_t reserved; /**< 0 */
};
#define UPMU_SAMPLE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sample, 56)
/** Sample `i`, in time order. */
UPMU_API UPMU_CHECKED int upmu_samples_at(const struct upmu_samples *samples, size_t i, struct upmu_sample *out);
/** Number of samples; 0 if `samples` is NULL. */
UPMU_API size_t upmu_samples_count(const struct upmu_samples *samples);

/** A thread with samples. */
struct upmu_sample_thread {
    size_t size;      /**< in: sizeof(struct upmu_sample_thread); out: bytes filled */
    const char *name; /**< its last name; "" if unknown */
    pid_t pid;        /**< process */
    pid_t tid;        /**< thread */
    uint64_t samples; /**< its samples */
    uint64_t weight;  /**< of these together */
};
#define UPMU_SAMPLE_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sample_thread, 40)
/** Thread `i`. */
UPMU_API UPMU_CHECKED int upmu_samples_thread_at(const struct upmu_samples *samples, size_t i,
                                                 struct upmu_sample_thread *out);

/** A function. Functions that were inlined count as functions of their own. */
struct upmu_sample_function {
    size_t size;         /**< in: sizeof(struct upmu_sample_function); out: bytes filled */
    const char *name;    /**< "[kernel]" for all of the kernel; NULL if unknown */
    const char *file;    /**< source file; NULL if unknown */
    const char *module;  /**< path of the program or shared object; NULL if unknown */
    const char *problem; /**< why the file of the module was not used; "" if it was */
    /** Of an unknown function: its address in the file of the module, where symbols or unwind information show its begin; address in
     *  memory without a module. */
    uint64_t offset;
    uint64_t self_samples; /**< samples in the function itself */
    uint64_t samples;      /**< samples in it or in functions called from it */
    uint64_t self_weight;  /**< weight of `self_samples` */
    uint64_t weight;       /**< weight of `samples` */
    /** Line of `file` with the most weight of the function itself, or, without such, of what it calls; 0 if unknown. */
    uint32_t line;
};
#define UPMU_SAMPLE_FUNCTION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sample_function, 80)
/** Function `i`, by falling weight of its own. */
UPMU_API UPMU_CHECKED int upmu_samples_function_at(const struct upmu_samples *samples, size_t i,
                                                   struct upmu_sample_function *out);
/** Number of functions; 0 if `samples` is NULL. */
UPMU_API size_t upmu_samples_function_count(const struct upmu_samples *samples);

/** A call path: the functions from the start of a thread to one of its functions. */
struct upmu_sample_path {
    size_t size;           /**< in: sizeof(struct upmu_sample_path); out: bytes filled */
    uint32_t function;     /**< the last function; UPMU_NO_INDEX for path 0, which is all samples */
    uint32_t parent;       /**< path without the last function; lower than this path's index */
    uint32_t child;        /**< first path that is one function longer; 0: none */
    uint32_t next;         /**< next path of the same parent; 0: none */
    uint32_t depth;        /**< functions on the path */
    uint32_t reserved;     /**< 0 */
    uint64_t self_samples; /**< samples with this path */
    uint64_t samples;      /**< samples whose path begins with it */
    uint64_t self_weight;  /**< weight of `self_samples` */
    uint64_t weight;       /**< weight of `samples` */
};
#define UPMU_SAMPLE_PATH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sample_path, 64)
/** Path `i`. */
UPMU_API UPMU_CHECKED int upmu_samples_path_at(const struct upmu_samples *samples, size_t i,
                                               struct upmu_sample_path *out);
/** Number of paths, at least 1; 0 if `samples` is NULL. */
UPMU_API size_t upmu_samples_path_count(const struct upmu_samples *samples);

/** The samples of a function by source line and by instruction. */
struct upmu_annotation;

/**
 * Sum up the samples of a function by its lines and instructions. Functions of the same name in the same module are one, so that all
 * copies are included: those that were inlined, and parts in several places. Of the samples in the kernel the instruction that
 * entered it is a caller. A processor reports an instruction that is often one after the one that took the time.
 * @param samples    opened with `with_code`; must outlive the annotation
 * @param function   index as in upmu_samples_function_at()
 * @param annotation out: to be closed with upmu_annotation_close(); NULL on failure
 * @return 0; UPMU_E_END (no such function); UPMU_E_STATE (opened without `with_code`, or the function is the kernel); UPMU_E_INVAL
 *         (NULL); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_samples_annotate(const struct upmu_samples *samples, size_t function,
                                                struct upmu_annotation **annotation);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_annotation_close(struct upmu_annotation *annotation);

/** Sums of an annotated function, all copies together. */
struct upmu_annotation_totals {
    size_t size;           /**< in: sizeof(struct upmu_annotation_totals); out: bytes filled */
    uint64_t self_samples; /**< samples in the function itself */
    uint64_t samples;      /**< samples in it, in what is inlined in it, or in what it calls */
    uint64_t self_weight;  /**< weight of `self_samples` */
    uint64_t weight;       /**< weight of `samples` */
};
#define UPMU_ANNOTATION_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_annotation_totals, 40)
UPMU_API UPMU_CHECKED int upmu_annotation_totals_read(const struct upmu_annotation *annotation,
                                                      struct upmu_annotation_totals *out);

/** A source line of an annotated function, or a function that was inlined there. */
struct upmu_annotation_line {
    size_t size;              /**< in: sizeof(struct upmu_annotation_line); out: bytes filled */
    const char *file;         /**< source file; NULL if there is no line */
    const char *inlined;      /**< NULL: the line itself; else samples in this function, inlined there */
    const char *inlined_file; /**< source file of `inlined_line`; NULL if unknown */
    uint32_t line;            /**< 0: code without a line */
    uint32_t inlined_line;    /**< line in the inlined function; 0: none */
    uint64_t self_samples;    /**< samples at instructions of the line, without those of inlined functions */
    uint64_t samples;         /**< samples at the line, or in what is inlined or called there */
    uint64_t self_weight;     /**< weight of `self_samples` */
    uint64_t weight;          /**< weight of `samples` */
};
#define UPMU_ANNOTATION_LINE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_annotation_line, 72)
/** Line `i`: all that have code, by file and number, each followed by the functions inlined there by falling weight. */
UPMU_API UPMU_CHECKED int upmu_annotation_line_at(const struct upmu_annotation *annotation, size_t i,
                                                  struct upmu_annotation_line *out);

/** Code of an annotated function: a function, a part of one, or the function that it was inlined into. */
struct upmu_annotation_range {
    size_t size;           /**< in: sizeof(struct upmu_annotation_range); out: bytes filled */
    const char *module;    /**< path of the program or shared object; NULL if unknown */
    const char *problem;   /**< why the file of the module was not used; "" if it was */
    uint64_t begin;        /**< address in the file of the module */
    uint64_t end;          /**< first address behind it */
    uint64_t self_samples; /**< samples at instructions of the range */
    uint64_t self_weight;  /**< weight of `self_samples` */
    uint32_t is_recorded;  /**< 1: the file has the build-id that was recorded; 0: none was */
    uint32_t is_bounded;   /**< 1: `begin` and `end` are of a symbol or unwind information; 0: of one sample */
};
#define UPMU_ANNOTATION_RANGE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_annotation_range, 64)
/** Range `i`, by falling weight. */
UPMU_API UPMU_CHECKED int upmu_annotation_range_at(const struct upmu_annotation *annotation, size_t i,
                                                   struct upmu_annotation_range *out);

/** An instruction with samples, in one of the ranges. */
struct upmu_annotation_instruction {
    size_t size;           /**< in: sizeof(struct upmu_annotation_instruction); out: bytes filled */
    const char *function;  /**< innermost function there; NULL if unknown */
    const char *file;      /**< source file; NULL if unknown */
    uint64_t address;      /**< in the file of the module; of a call the address of its last byte */
    uint32_t line;         /**< 0: none */
    uint32_t range;        /**< index of the range */
    uint32_t is_own;       /**< 1: in the annotated function; 0: of a function that it is inlined into */
    uint32_t own_line;     /**< line in the annotated function; 0: none */
    uint64_t self_samples; /**< samples at the instruction */
    uint64_t samples;      /**< samples at the instruction, or in what it calls */
    uint64_t self_weight;  /**< weight of `self_samples` */
    uint64_t weight;       /**< weight of `samples` */
};
#define UPMU_ANNOTATION_INSTRUCTION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_annotation_instruction, 80)
/** Instruction `i`, by range and address. */
UPMU_API UPMU_CHECKED int upmu_annotation_instruction_at(const struct upmu_annotation *annotation, size_t i,
                                                         struct upmu_annotation_instruction *out);

UPMU_END_DECLS

#endif

/* SPDX-License-Identifier: MIT */
/** @file What upmu/samples.h keeps of a recording. */
#ifndef UPMU_SAMPLES_SAMPLES_H
#define UPMU_SAMPLES_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "samples/spaces.h"
#include "sampling/layout.h"
#include "symbols/symbols.h"
#include "upmu/samples.h"

enum { SAMPLES_FRAMES_MAX = 512, SAMPLES_INLINED_MAX = 32 };

/** A function, or an address without a known one. */
struct samples_function {
    const char *name, *file; /**< of the symbols; NULL */
    uint32_t module_file;    /**< in `spaces.files`; MAP_NONE */
    uint64_t offset;
    uint64_t self_samples, samples, self_weight, weight;
    uint32_t line; /**< with the most weight of its own, or else of its calls; 0: none */
    bool is_stub;  /**< of the linker: its own time is that of its callers */
};

/** A function at an address. */
struct samples_inlined {
    uint32_t function;
    uint32_t line; /**< in the function's file: of the address, or of the call that was inlined; 0: none */
};

/** What a frame is in a program of Java. */
enum samples_java {
    JAVA_NONE = 0,
    JAVA_MACHINE = 1, /**< of the virtual machine's own library */
    JAVA_STUB = 2,    /**< code that it has generated for itself; also that of any other program */
    JAVA_INTERPRETER = 3,
    JAVA_METHOD = 4,
};

/** The functions at an address, innermost first, as indices in `inlined`. */
struct samples_location {
    uint32_t first, n;
    uint32_t file; /**< in `spaces.files`; MAP_NONE */
    bool is_root;  /**< code without a caller: the start of a thread */
    enum samples_java java;
    int32_t return_at;            /**< as in struct symbol_code */
    uint64_t address;             /**< in the file */
    uint64_t self_weight, weight; /**< of samples at it, and of those with it in their stack */
};

/** A call path of addresses. */
struct samples_code {
    uint32_t location; /**< MAP_NONE: the kernel; of path 0, all */
    uint32_t parent;
    uint64_t self_samples, samples, self_weight, weight;
};

struct samples_path {
    uint32_t function, parent, child, next, depth;
    uint64_t self_samples, samples, self_weight, weight;
};

struct samples_thread {
    uint32_t pid, tid;
    char name[16];
    uint64_t samples, weight;
    uint64_t first_ns, last_ns; /**< CPU time at the first and last event, of timers */
    bool begun;                 /**< `first_ns` is set */
};

struct samples_row {
    uint64_t raw_ns; /**< of timers the time since 1970 */
    uint64_t weight;
    uint32_t thread, cpu, path;
    uint32_t code; /**< in `codes`; 0 without these */
    uint8_t kernel, stack;
};

struct samples_openmp;
struct samples_jit;

struct upmu_samples {
    struct sampling_header header; /**< of the file that is read */
    struct symbols *symbols;
    struct spaces spaces;
    struct samples_function *functions;
    size_t n_functions, cap_functions;
    struct map by_function; /**< hash of a function's texts */
    struct samples_inlined *inlined;
    size_t n_inlined, cap_inlined;
    struct samples_location *locations;
    size_t n_locations, cap_locations;
    struct map by_address; /**< location of a file and address */
    struct samples_path *paths;
    size_t n_paths, cap_paths;
    struct map by_child;                 /**< path of a parent and function */
    uint64_t asked_from_ns, asked_to_ns; /**< stretch as in the options */
    uint64_t from_ns, to_ns;             /**< only rows between these times, nanoseconds since 1970 */
    bool is_written;                     /**< stacks are those of the program as it was written */
    bool with_code;                      /**< keep the next three */
    struct samples_code *codes;
    size_t n_codes, cap_codes;
    struct map by_code; /**< code path of a parent and location */
    struct samples_thread *threads;
    size_t n_threads, cap_threads;
    struct map by_thread;
    struct samples_row *rows;
    size_t n_rows, cap_rows;
    uint32_t *order, *place; /**< functions by importance, and the reverse */
    size_t n_used;           /**< functions with samples, which come first */
    struct upmu_samples_totals totals;
    struct samples_openmp *openmp; /**< of openmp.c; NULL: stacks are as executed */
    struct samples_jit *jit;       /**< of jit.c */
};

/** A stack of addresses, innermost first. */
struct samples_stack {
    uint64_t address[SAMPLES_FRAMES_MAX];
    size_t n;
    bool kernel;   /**< the sample was taken in the kernel */
    bool cut;      /**< there were more frames than were recorded */
    bool is_whole; /**< the unwinder found the outermost frame */
};

/** Set the message that memory is missing. @return UPMU_E_NOMEM. */
static inline int samples_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading samples");
}

/* jit.c */

/** For samples_jit_find(); `dir` is the recording, and must last as long. @return 0; UPMU_E_NOMEM. */
int samples_jit_open(struct upmu_samples *s, const char *dir);
/** Close and free; NULL does nothing. */
void samples_jit_close(struct samples_jit *j);
/** Name of generated code of a process; `*name` NULL: none is known. The maps are read at the first call. @return false without
 *  memory. */
bool samples_jit_find(struct upmu_samples *s, uint32_t pid, uint64_t address, const char **name);

/* read.c */

/** Read the samples file at `path`. @return 0 or a negative code; UPMU_E_STATE: there is none. */
int samples_read(struct upmu_samples *s, const char *path);

/* trace.c */

/** Read the samples in the trace `dir`. @return 0 or a negative code; UPMU_E_STATE: there are none. */
/** Set the stretch by the times of the trace, if there is one. @return 0; UPMU_E_INVAL: it is outside; errors of the reader. */
int samples_find_stretch(struct upmu_samples *s, const char *dir);
int samples_read_trace(struct upmu_samples *s, const char *dir);

/* profile.c */

/** Set `path`, `code`, `kernel` and `stack` of a row by its stack; paths are created if needed. @return false without memory. */
bool samples_path(struct upmu_samples *s, const struct space *space, const struct samples_stack *in,
                  struct samples_row *row);
/** The thread with these ids, created if needed. MAP_NONE without memory. */
uint32_t samples_thread(struct upmu_samples *s, uint32_t pid, uint32_t tid);
/** Add a sample. @return false without memory. */
bool samples_add(struct upmu_samples *s, const struct samples_row *row);
/** Time of a row, nanoseconds since 1970. */
static inline uint64_t samples_time(const struct upmu_samples *s, uint64_t raw_ns)
{
    return s->header.realtime_ns + (raw_ns - s->header.raw_ns);
}
/** Set the stretch that is read, of a recording that lasts from `begin_ns` to `end_ns`. @return 0; UPMU_E_INVAL: it is outside. */
int samples_set_stretch(struct upmu_samples *s, uint64_t begin_ns, uint64_t end_ns);
/** Whether it is in the stretch that is read. */
static inline bool samples_in_stretch(const struct upmu_samples *s, uint64_t raw_ns)
{
    uint64_t ns = samples_time(s, raw_ns);
    return ns >= s->from_ns && ns <= s->to_ns;
}
/** Sum up paths and functions, and sort these. @return 0; UPMU_E_NOMEM. */
int samples_sum(struct upmu_samples *s);

/* locate.c */

/** The functions at an address of a process, inlined ones included; of a return address, that of the call. NULL without memory. */
const struct samples_location *samples_locate(struct upmu_samples *s, const struct space *space, uint64_t address,
                                              bool is_return);
/** The function of these texts, created if needed. MAP_NONE without memory. */
uint32_t samples_function(struct upmu_samples *s, const struct samples_function *f);

/* java.c */

/** What code is that the JIT symbol map has by this name. */
enum samples_java samples_java_generated(const char *name);
/** What the code of a file is. */
enum samples_java samples_java_of_file(const char *path);
/** A stack, from its outermost frame on. */
struct samples_java_stack {
    bool in_code;             /**< there was a frame of a method */
    bool is_hidden;           /**< the last frame is not shown */
    enum samples_java before; /**< the last frame that is not hidden */
};
enum { JAVA_SHOWN = 1, JAVA_RUNTIME_BEFORE = 2 };
/** The next frame. @return whether it is shown, and has a frame for the virtual machine before it. */
unsigned samples_java_frame(struct samples_java_stack *j, enum samples_java java);

/* unwind.c */

/** A copied stack. */
struct samples_copy {
    const uint64_t *regs; /**< as in the record, by ascending number */
    const char *data;
    size_t bytes;
};

/** Unwind a copied stack into `out`. @return false without memory. */
bool samples_unwind(struct upmu_samples *s, struct space *space, const struct samples_copy *copy,
                    struct samples_stack *out);
void samples_unwind_free(struct space *space);

#endif

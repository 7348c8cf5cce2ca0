/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Layout of a samples file: a header, then records as the kernel's perf_event interface defines them.
 *
 * The records of several rings follow each other in pieces: they are in time order within a ring only. A file is valid after
 * each write. Numbers have the byte order of the machine.
 */
#ifndef UPMU_SAMPLING_LAYOUT_H
#define UPMU_SAMPLING_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/** Name of the file in the directory of a recording, and in that of a process that sampled itself. */
#define SAMPLING_FILE "samples"
/** Beside it: the code that the kernel maps into each process. */
#define SAMPLING_VDSO_FILE ".vdso"
#define SAMPLING_MAGIC "UPMUSMPL"

enum { SAMPLING_VERSION = 1 };

enum sampling_source {
    SAMPLING_PERF = 1,  /**< perf_event */
    SAMPLING_TIMER = 2, /**< timers of the threads' CPU time */
};

enum sampling_flag {
    SAMPLING_KERNEL = 1,   /**< samples in kernel mode are included */
    SAMPLING_ENDED = 2,    /**< recording ended in order */
    SAMPLING_NS = 4,       /**< the event counts nanoseconds of CPU time */
    SAMPLING_ATTACHED = 8, /**< of processes that ran already */
    SAMPLING_CALLS = 16,   /**< calls with their ends: see below */
};

struct sampling_header {
    char magic[8];         /**< SAMPLING_MAGIC, without NUL */
    uint32_t version;      /**< SAMPLING_VERSION */
    uint32_t header_bytes; /**< offset of the first record */
    uint32_t source;       /**< enum sampling_source */
    uint32_t flags;        /**< enum sampling_flag */
    uint32_t stacks;       /**< enum upmu_sampler_stacks */
    uint32_t stack_bytes;  /**< of each copied stack */
    uint64_t sample_type;  /**< perf_event_attr.sample_type */
    uint64_t regs;         /**< perf_event_attr.sample_regs_user */
    uint64_t frequency;    /**< samples per second asked for; 0: `period` was */
    uint64_t period;       /**< events per sample asked for; 0: `frequency` was */
    uint64_t raw_ns;       /**< CLOCK_MONOTONIC_RAW of the host at the start */
    uint64_t realtime_ns;  /**< CLOCK_REALTIME at that moment */
    uint64_t end_raw_ns;   /**< CLOCK_MONOTONIC_RAW of the host at the last write */
    uint64_t count;        /**< the event's count, 0 before the end */
    uint64_t unwritten;    /**< bytes of records that could not be written */
    char event[64];        /**< its name */
    char machine[32];      /**< uname()'s machine */
    /* of version 1 if header_bytes includes them */
    uint64_t call_inner_ns; /**< own time of the probes of a call, between its records */
    uint64_t call_outer_ns; /**< and outside of them */
};
#define SAMPLING_HEADER_BYTES_V1 offsetof(struct sampling_header, call_inner_ns)

/**
 * Raw data of the samples of SAMPLING_CALLS, by the kernel's layout of probes: entries and exits differ in size. `stack` is the
 * stack pointer, at each exit the same as at the entry; on x86-64 the return address is there. `what` is `stack` of an instruction that
 * returns, and its own address of one that jumps, and may lead on within the function.
 */
struct sampling_entry {
    uint64_t common, address, stack;
};
struct sampling_exit {
    struct sampling_entry entry;
    uint64_t what;
};
enum { SAMPLING_RAW_PADDING = 4 }; /**< bytes that the kernel adds */

#endif

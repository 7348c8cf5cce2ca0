/* SPDX-License-Identifier: MIT */
/** @file What a sampler consists of. */
#ifndef UPMU_SAMPLING_SAMPLING_H
#define UPMU_SAMPLING_SAMPLING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/map.h"
#include "sampling/layout.h"
#include "upmu/sampler.h"

struct targets;

/** The ring of one CPU; the events of all threads on that CPU write to it. */
struct sampling_ring {
    struct perf_event_mmap_page *page; /**< NULL: the CPU is offline */
    size_t page_bytes, data_bytes;
    uint64_t tail; /**< as of the last drain */
    int fd;        /**< of its first event */
};

struct upmu_sampler {
    int fd;                                 /**< of the file */
    struct perf_event_attr attr, exit_attr; /**< the second one is of ends of calls that are timed */
    bool modes_named; /* by the event's name: the kernel's addresses may not be left out for want of permission */
    uint32_t precise; /* as in struct upmu_event_info */
    char uprobe[32];  /**< what its definitions are called; "": the event is none */
    bool timed;       /**< each event is followed by that of the ends of calls */
    bool stepped;     /**< the kernel emulates the first instruction of no function */
    struct sampling_header header;
    size_t ring_bytes; /**< wanted, and after the first ring what the limits allow */
    struct sampling_ring *rings;
    size_t n_rings; /**< CPUs of the machine */
    int *events;    /**< descriptors, with those of the rings */
    size_t n_events, cap_events;
    struct map forked; /**< threads whose creation the kernel reported: they are sampled */
    struct map pins;   /**< by thread: descriptor + 1 of pins.c, or 0 */
    size_t n_pins;
    uint64_t samples, lost;
    uint64_t offset; /**< end of the file */
    size_t fullest;  /**< bytes in the fullest ring at the last drain */
    int interval_ms; /**< until the next drain */
    bool write_failed;
};

/* event.c */

/** Fill `s->attr` and the header's description of the event. @return 0 or a negative code. */
int sampling_event(struct upmu_sampler *s, const struct upmu_sampler_opts *opts);
/** Set the message for an errno of perf_event_open() or of mapping a ring. @return the code. */
int sampling_refused(const struct upmu_sampler *s, int err);

/* uprobe.c */

bool sampling_is_uprobe(const char *event);
/** Fill `s->attr` for "uprobe:FILE:FUNCTION", and `s->exit_attr` for "uprobe-time:". @return 0; UPMU_E_NAME, UPMU_E_UNSUPPORTED,
 *  UPMU_E_PERM, UPMU_E_SYSTEM. */
int sampling_uprobe(struct upmu_sampler *s, const char *event);
/** Define the probes of functions of the file `path`. @return as above. */
int sampling_uprobe_define(struct upmu_sampler *s, const char *event, const char *path, const struct targets *t);
/** Remove its definitions, after its events were closed. */
void sampling_uprobe_end(struct upmu_sampler *s);

/* rings.c */

/** Map the ring of an event of `cpu`, which becomes the first one. @return 0 or -errno. */
int sampling_ring_map(struct upmu_sampler *s, size_t cpu, int fd);
/** Write the records of all rings to the file. */
void sampling_rings_drain(struct upmu_sampler *s);
void sampling_rings_unmap(struct upmu_sampler *s);
/** Write at the end of the file; failures are counted. */
void sampling_write(struct upmu_sampler *s, const void *data, size_t bytes);
/** Write the header. */
void sampling_write_header(struct upmu_sampler *s);
/** CLOCK_MONOTONIC_RAW. */
uint64_t sampling_raw_now(void);

/* calibrate.c */

/** Measure what the probes of a timed call cost, into the header; it remains 0 if that is not possible. */
void sampling_calibrate(struct upmu_sampler *s);

/* attach.c */

/** Open the event of thread `tid` on every CPU. @return 0 or -errno. */
int sampling_attach_thread(struct upmu_sampler *s, pid_t tid, bool at_exec);
/** Attach all threads of a running process that are not sampled yet. @return 0 or -errno. */
int sampling_attach_running(struct upmu_sampler *s, pid_t pid);

/* pins.c */

/** Keep the period of a thread that has created another one. */
void sampling_pin(struct upmu_sampler *s, pid_t tid);
/** The thread has ended. */
void sampling_unpin(struct upmu_sampler *s, pid_t tid);
void sampling_unpin_all(struct upmu_sampler *s);

/* vdso.c */

/** Copy the code that the kernel maps into this process into a recording; without that its functions have no names. */
void sampling_save_vdso(const char *dir);

/* running.c */

/** Write records of the modules and thread names of a running process. @return 0 or -errno. */
int sampling_describe(struct upmu_sampler *s, pid_t pid);

#endif

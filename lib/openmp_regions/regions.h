/* SPDX-License-Identifier: MIT */
/** @file What upmu/openmp.h keeps of a recording. */
#ifndef UPMU_OPENMP_REGIONS_REGIONS_H
#define UPMU_OPENMP_REGIONS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "upmu/openmp.h"
#include "upmu/trace.h"

/** Constructs that are reasons of waits have smaller numbers. */
enum { REASONS = UPMU_OMP_JOIN + 1, FRAMES_MAX = 64, HELD_MAX = 32, NONE = UINT32_MAX };

/** Where time went. */
struct omp_times {
    uint64_t work, nested;
    uint64_t wait[REASONS];
};

/** A thread of a region of the program. */
struct omp_member {
    uint32_t thread, number;
    uint64_t count, tasks;
    struct omp_times times;
};

/** A region of the program. */
struct omp_region {
    uint32_t process, parent;
    uint64_t site, count, unfinished, threads, elapsed_ns, gain_ns;
    struct omp_member *members;
    size_t n_members, cap_members;
    uint32_t place; /**< index in the order of the report */
};

/** A region that runs. */
struct omp_running {
    uint64_t id; /**< number in the process; 0: not used */
    uint32_t process, region, master;
    bool is_outer; /**< not nested */
    bool counts;   /**< has a part in the stretch */
    uint64_t begin;
    uint64_t began_ns; /**< `begin` by the event, if it is before the stretch or after it */
    struct omp_share {
        uint32_t thread, member;
        uint64_t work;
    } * shares; /**< of the threads that have come */
    size_t n_shares, cap_shares;
};

/** What a thread does, innermost last. */
struct omp_frame {
    enum omp_frame_kind { FRAME_WORK, FRAME_WAIT, FRAME_TASK } kind;
    bool is_member;     /**< the outermost frame of the thread in `running` */
    uint32_t construct; /**< FRAME_WAIT */
    uint32_t row;       /**< index into `constructs`; NONE */
    uint32_t running;   /**< index into `running`; NONE: outside of regions */
    uint32_t share;     /**< index into its `shares`; NONE until the thread has come */
    uint64_t ns;        /**< spent so far, without the frames above it */
};

struct omp_thread {
    uint32_t process;
    pid_t tid;
    bool begins, has_ended;
    uint64_t begin, end, last;
    uint64_t
        first_ns; /**< of the first event, which may be before the stretch or after it; 0: of the process's first thread */
    uint64_t outside_ns;
    struct omp_times times;
    struct omp_frame frames[FRAMES_MAX];
    uint32_t n_frames, too_deep; /**< frames that did not fit */
    struct omp_held {
        uint32_t row, construct;
        uint64_t object, since;
        bool works; /**< a work-sharing construct */
    } held[HELD_MAX];
    uint32_t n_held;
    uint64_t barrier_ns; /**< of the implicit barrier that was the thread's last event; 0: it was another */
};

struct omp_construct {
    uint32_t process, region, construct;
    uint64_t site, count, ns, max_ns, held_ns, max_held_ns;
};

struct omp_process {
    uint32_t process; /**< of the trace */
    pid_t pid;
    uint32_t method;
    char *runtime;
    uint64_t begin, last, parallel_ns, regions, unfinished, threads, strays;
    uint32_t outer;       /**< regions that run and are not nested */
    uint64_t outer_begin; /**< since when there is one */
};

struct upmu_openmp {
    struct omp_process *processes;
    size_t n_processes, cap_processes;
    struct omp_thread *threads;
    size_t n_threads, cap_threads;
    struct omp_region *regions;
    size_t n_regions, cap_regions;
    struct omp_running *running;
    size_t n_running, cap_running;
    struct omp_construct *constructs;
    size_t n_constructs, cap_constructs;
    uint32_t *order; /**< regions in the order of the report */
    size_t n_order;
    /** The stretch. Times before it become its begin and times after it its end, so that every duration is cut; numbers of executions
     *  grow only within. 0 and UINT64_MAX: all. */
    uint64_t from_ns, to_ns;
    bool begun, counts; /**< the stretch has begun; and has not ended */
    uint64_t event_ns;  /**< of the event, as recorded */
    struct map by_process, by_thread, by_site, by_construct[REASONS];
};

/** Space for one more in an array, zero. @return the new element; NULL without memory, with the message. */
void *omp_grow(void *array, size_t *n, size_t *cap, size_t bytes);

/* account.c: the state of threads, and where their time goes. All of them return 0 or UPMU_E_NOMEM. */

/** The stretch begins: count what is open. */
void omp_stretch_begin(struct upmu_openmp *o);
/** The thread is in no region until `now`. */
void omp_pass_outside(struct omp_thread *t, uint64_t now);
/** Index of the region with this number that runs; NONE. */
uint32_t omp_running_find(const struct upmu_openmp *o, uint32_t process, uint64_t id);
int omp_region_begin(struct upmu_openmp *o, uint32_t thread, uint64_t id, uint64_t site, uint64_t now);
void omp_region_end(struct upmu_openmp *o, uint32_t running, uint64_t now);
int omp_member_begin(struct upmu_openmp *o, uint32_t thread, uint64_t id, uint32_t number, uint64_t now);
void omp_member_end(struct upmu_openmp *o, uint32_t thread, uint64_t now);
/** Before the end of a region: the part of the thread that began it ends, if that was not recorded. */
void omp_master_end(struct upmu_openmp *o, uint32_t running, uint64_t now);
int omp_wait_begin(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t site, uint64_t now);
void omp_wait_end(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t object, uint64_t now);
/** The recording ends: so do waits of a thread that is in no region. */
void omp_waits_end(struct upmu_openmp *o, uint32_t thread, uint64_t now);
void omp_lock_release(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t object, uint64_t now);
int omp_task_begin(struct upmu_openmp *o, uint32_t thread, uint64_t site, uint64_t now);
void omp_task_end(struct upmu_openmp *o, uint32_t thread, uint64_t now);
int omp_task_create(struct upmu_openmp *o, uint32_t thread, uint64_t site, uint64_t now);
int omp_work_begin(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t site, uint64_t now);
void omp_work_end(struct upmu_openmp *o, uint32_t thread, uint32_t construct, uint64_t now);

/** Read the events. @return 0; an error. */
int omp_read(struct upmu_openmp *o, const char *dir);

#endif

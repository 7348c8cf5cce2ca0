/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A recording watched while it is written: who waits for what now, and which locks were waited for since the last look.
 * It reads the trace as it grows; the recorded processes are not touched. Link with libupmu_analysis; `upmu top` is this
 * on the terminal.
 *
 *     struct upmu_monitor *monitor;
 *     struct upmu_monitor_lock lock = {.size = sizeof lock};
 *     if (upmu_monitor_open(&monitor, "DIR") < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     while (upmu_monitor_update(monitor) == 0 && sleep(1) == 0)
 *         for (size_t i = 0; upmu_monitor_lock_at(monitor, i, &lock) == 0; i++)
 *             printf("%s: %" PRIu64 " ns of waits\n", lock.name, lock.waited_ns);
 *     upmu_monitor_close(monitor);
 *
 * Functions that fill a struct take its `size` from the caller and return 0, UPMU_E_NAME past the last entry,
 * UPMU_E_INVAL for a size that is too small or an argument that is NULL. Strings live until the next look.
 */
#ifndef UPMU_MONITOR_H
#define UPMU_MONITOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/analysis.h"
#include "upmu/api.h"

UPMU_BEGIN_DECLS

/** A recording that is watched. One thread at a time. */
struct upmu_monitor;

/** Open a recording, or the directory of one process in it. @return 0; the codes of upmu_trace_open(). */
UPMU_API UPMU_CHECKED int upmu_monitor_open(struct upmu_monitor **monitor, const char *dir);

/** Read what has been recorded since the last look; the first one reads all that there is, and its interval is the whole
 *  time. A damaged stream is left out from the damage on. @return 0; UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_NOMEM. */
UPMU_API UPMU_CHECKED int upmu_monitor_update(struct upmu_monitor *monitor);

/** The last look as a whole. */
struct upmu_monitor_totals {
    size_t size;          /**< in: sizeof(struct upmu_monitor_totals) */
    uint64_t now_ns;      /**< of the look, nanoseconds since 1970 on the recording's clock */
    uint64_t interval_ns; /**< since the look before */
    uint64_t events;      /**< read since the look before */
    uint64_t all_events;  /**< read since the beginning */
    size_t n_processes, n_threads, n_locks;
    size_t n_damages; /**< streams of which a part could not be read */
    uint64_t missed;  /**< packets of rings that were overwritten between looks: their waits are not in the sums */
};
#define UPMU_MONITOR_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_monitor_totals, 80)
UPMU_API UPMU_CHECKED int upmu_monitor_totals_read(const struct upmu_monitor *monitor, struct upmu_monitor_totals *out);

/** A thread, as far as it has recorded anything. */
struct upmu_monitor_thread {
    size_t size; /**< in: sizeof(struct upmu_monitor_thread) */
    pid_t pid, tid;
    const char *name;  /**< "" if not known */
    uint32_t ended;    /**< 1: its end was recorded */
    int32_t wait_kind; /**< enum upmu_wait_kind of what it waits for now; -1: it does not wait, as far as is recorded */
    int32_t object_type;     /**< enum upmu_object_type of that */
    uint64_t object;         /**< its address */
    const char *object_name; /**< "" if it has none */
    pid_t holder;            /**< thread that had it when the wait began, or is joined; 0: not known, or nobody */
    const char *holder_name;
    uint64_t since_ns;  /**< when the wait began */
    uint64_t site;      /**< where, for upmu_monitor_symbol_at(); 0: not known */
    uint64_t waits;     /**< ended since the last look */
    uint64_t waited_ns; /**< since the last look, with the part of a wait that goes on; each moment once */
    uint32_t process;   /**< index for upmu_monitor_symbol_at() */
};
#define UPMU_MONITOR_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_monitor_thread, 112)
/** Thread `i`, in the order of first being seen. */
UPMU_API UPMU_CHECKED int upmu_monitor_thread_at(const struct upmu_monitor *monitor, size_t i,
                                                 struct upmu_monitor_thread *out);
/** Number of threads. */
UPMU_API size_t upmu_monitor_thread_count(const struct upmu_monitor *monitor);

/** A lock, or something else that is waited for. */
struct upmu_monitor_lock {
    size_t size; /**< in: sizeof(struct upmu_monitor_lock) */
    pid_t pid;
    int32_t type; /**< enum upmu_object_type */
    uint64_t address;
    uint32_t generation; /**< how many objects were at this address before it */
    const char *name;    /**< "" if it was given none */
    uint32_t waiters;    /**< threads that wait for it now */
    pid_t holder;        /**< who had it when the oldest of these waits began; 0: not known, or nobody waits */
    uint64_t waits;      /**< ended since the last look */
    uint64_t waited_ns;  /**< since the last look, of all threads together, with waits that go on */
    uint64_t total_ns;   /**< since the recording began */
};
#define UPMU_MONITOR_LOCK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_monitor_lock, 72)
/** Lock `i`: those waited for longest since the last look first, then by the total. */
UPMU_API UPMU_CHECKED int upmu_monitor_lock_at(const struct upmu_monitor *monitor, size_t i,
                                               struct upmu_monitor_lock *out);
/** Number of locks. */
UPMU_API size_t upmu_monitor_lock_count(const struct upmu_monitor *monitor);

/** As upmu_overview_symbol_at(). */
UPMU_API UPMU_CHECKED int upmu_monitor_symbol_at(struct upmu_monitor *monitor, size_t process, uint64_t address,
                                                 size_t depth, struct upmu_symbol *out);

/** Close; NULL is fine. */
UPMU_API void upmu_monitor_close(struct upmu_monitor *monitor);

UPMU_END_DECLS

#endif

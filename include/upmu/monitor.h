/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Monitor of a recording while it is written: current waits of threads, and waits for locks since the last update.
 * It reads the growing trace without any cost for the recorded processes. Link with libupmu_analysis; `upmu top` has the
 * same on the terminal.
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
 * Functions that fill a struct take its `size` from the caller, set it to the bytes filled, and return 0; UPMU_E_END past
 * the last entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. Further errors are at each function. Strings
 * are valid until the next update. A monitor may be used by one thread at a time; no function here is async-signal-safe.
 */
#ifndef UPMU_MONITOR_H
#define UPMU_MONITOR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/analysis.h"
#include "upmu/api.h"

UPMU_BEGIN_DECLS

/** A monitored recording. */
struct upmu_monitor;

/**
 * Open a recording, or the directory of one process in it.
 * @param monitor out: to be closed with upmu_monitor_close(); NULL on failure
 * @param dir     path of the directory
 * @return 0; the errors of upmu_trace_open().
 */
UPMU_API UPMU_CHECKED int upmu_monitor_open(struct upmu_monitor **monitor, const char *dir);

/** Read the events recorded since the last update; the first update reads all events. The rest of a damaged stream is skipped.
 *  @return 0; UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_NOMEM; UPMU_E_INVAL (NULL). */
UPMU_API UPMU_CHECKED int upmu_monitor_update(struct upmu_monitor *monitor);

/** Totals of the last update. */
struct upmu_monitor_totals {
    size_t size;          /**< in: sizeof(struct upmu_monitor_totals); out: bytes filled */
    uint64_t now_ns;      /**< begin of the update, nanoseconds since 1970 on the clock of the recording */
    uint64_t interval_ns; /**< time since the update before; of the first one, since the start of the recording */
    uint64_t events;      /**< events read by the update */
    uint64_t all_events;  /**< events read by all updates */
    size_t n_processes;   /**< number of processes */
    size_t n_threads;     /**< number of threads */
    size_t n_locks;       /**< number of locks */
    size_t n_damages;     /**< streams that were not read completely */
    uint64_t missed;      /**< packets of rings overwritten between updates; their waits are not in the sums */
    size_t n_stopped;     /**< processes whose recording is stopped (upmu_control_stop(), upmu_sync_end()) */
};
#define UPMU_MONITOR_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_monitor_totals, 80)
/** Read the totals. @return 0; UPMU_E_INVAL. */
UPMU_API UPMU_CHECKED int upmu_monitor_totals_read(const struct upmu_monitor *monitor, struct upmu_monitor_totals *out);

/** A thread that has recorded an event. */
struct upmu_monitor_thread {
    size_t size;             /**< in: sizeof(struct upmu_monitor_thread); out: bytes filled */
    pid_t pid;               /**< process id */
    pid_t tid;               /**< kernel thread id */
    const char *name;        /**< its name, "" if unknown */
    uint32_t ended;          /**< 1: its end was recorded */
    int32_t wait_kind;       /**< enum upmu_wait_kind of the current wait; -1: no recorded wait */
    int32_t object_type;     /**< enum upmu_object_type of the awaited object */
    uint64_t object;         /**< its address */
    const char *object_name; /**< its name, "" if it has none; of a thread that is joined, the thread's */
    pid_t holder;            /**< thread that held it at the start of the wait, or joined thread; 0: unknown or none */
    const char *holder_name; /**< name of that thread */
    uint64_t since_ns;       /**< start of the wait, nanoseconds since 1970, at most `now_ns` */
    uint64_t site;           /**< call site of the wait, for upmu_monitor_symbol_at(); 0: unknown */
    uint64_t waits;          /**< waits that ended since the last update */
    uint64_t
        waited_ns;    /**< time within waits since the last update, the current one included; nested waits count once */
    uint32_t process; /**< index for upmu_monitor_symbol_at() */
    /** Time since the last update in which recording of its process was stopped. It is in no sum of waits. */
    uint64_t stopped_ns;
};
#define UPMU_MONITOR_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_monitor_thread, 112)
/** Thread `i`, in the order of first events. */
UPMU_API UPMU_CHECKED int upmu_monitor_thread_at(const struct upmu_monitor *monitor, size_t i,
                                                 struct upmu_monitor_thread *out);
/** Number of threads; 0 if `monitor` is NULL. */
UPMU_API size_t upmu_monitor_thread_count(const struct upmu_monitor *monitor);

/** A lock, or another object with waits. */
struct upmu_monitor_lock {
    size_t size;         /**< in: sizeof(struct upmu_monitor_lock); out: bytes filled */
    pid_t pid;           /**< process id */
    int32_t type;        /**< enum upmu_object_type */
    uint64_t address;    /**< its address */
    uint32_t generation; /**< number of earlier objects at this address */
    const char *name;    /**< its name, "" if it has none; of a thread that is joined, the thread's */
    uint32_t waiters;    /**< threads that wait for it */
    pid_t holder;        /**< holder at the start of the oldest of them, or joined thread; 0: unknown or no waiters */
    uint64_t waits;      /**< waits that ended since the last update */
    uint64_t waited_ns;  /**< time that threads waited since the last update, current waits included */
    uint64_t total_ns;   /**< the same since the start of the recording */
    /** What locks that were created, or first used, at one call site have in common, as upmu_overview_object.group; "": it is
     *  named otherwise. */
    const char *group;
};
#define UPMU_MONITOR_LOCK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_monitor_lock, 72)
/** Lock `i`, longest waits since the last update first, then by the total. */
UPMU_API UPMU_CHECKED int upmu_monitor_lock_at(const struct upmu_monitor *monitor, size_t i,
                                               struct upmu_monitor_lock *out);
/** Number of locks; 0 if `monitor` is NULL. */
UPMU_API size_t upmu_monitor_lock_count(const struct upmu_monitor *monitor);

/** Symbol of the relevant call of a stack, as upmu_overview_line_at(). */
UPMU_API UPMU_CHECKED int upmu_monitor_line_at(struct upmu_monitor *monitor, size_t process, uint64_t address,
                                               uint32_t stack, struct upmu_symbol *out);

/** Symbol of an address, as upmu_overview_symbol_at(). */
UPMU_API UPMU_CHECKED int upmu_monitor_symbol_at(struct upmu_monitor *monitor, size_t process, uint64_t address,
                                                 size_t depth, struct upmu_symbol *out);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_monitor_close(struct upmu_monitor *monitor);

UPMU_END_DECLS

#endif

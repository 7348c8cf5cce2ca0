/* SPDX-License-Identifier: MIT */
/**
 * @file
 * LIKWID's marker macros over libupmu, for programs that include this header in place of <likwid-marker.h>.
 *
 * As with LIKWID, the macros are empty unless LIKWID_PERFMON is defined. Regions are switched on by the environment:
 * `UPMU_EVENTS=ipc ./program` in place of `likwid-perfctr -m`. What has no counterpart is a compile error that names ours.
 */
#ifndef UPMU_COMPAT_LIKWID_MARKER_H
#define UPMU_COMPAT_LIKWID_MARKER_H

#include "upmu/region.h"

#ifdef LIKWID_PERFMON

#define LIKWID_MARKER_INIT ((void)0)       /* regions need no initialization */
#define LIKWID_MARKER_THREADINIT ((void)0) /* nor do threads */
#define LIKWID_MARKER_CLOSE ((void)0)      /* the report is written at exit */
#define LIKWID_MARKER_WRITE_FILE(path) ((void)(path))
#define LIKWID_MARKER_REGISTER(tag) ((void)(tag))
#define LIKWID_MARKER_START(tag) ((void)upmu_region_begin(tag))
#define LIKWID_MARKER_STOP(tag) ((void)upmu_region_end(tag))
#define LIKWID_MARKER_GET(tag, nevents, events, time, count) \
    upmu_compat_marker_get_((tag), (nevents), (events), (time), (count))
#define LIKWID_MARKER_SWITCH \
    __extension__({ UPMU_COMPAT_REFUSE_("LIKWID_MARKER_SWITCH: libupmu has one list of events per run, UPMU_EVENTS"); })
#define LIKWID_MARKER_RESET(tag) \
    __extension__(               \
        { UPMU_COMPAT_REFUSE_("LIKWID_MARKER_RESET: subtract what upmu_region_stats_read() returned before"); })
#ifdef __cplusplus
#define UPMU_COMPAT_REFUSE_(text) static_assert(false, text)
#else
#define UPMU_COMPAT_REFUSE_(text) _Static_assert(0, text)
#endif

/** Results of a region in the calling thread's process: `*nevents` is the length of `events`, and then their number. A count that
 *  has no number is negative. Without a result, `*count` is 0. */
static inline void upmu_compat_marker_get_(const char *tag, int *nevents, double *events, double *time, int *count)
{
    struct upmu_region_stats stats = UPMU_INIT(struct upmu_region_stats);
    int max = nevents ? *nevents : 0, n = 0;
    int rc = upmu_region_stats_read(tag, UPMU_ALL_THREADS, &stats);
    for (; rc == 0 && events && n < max && n < (int)stats.n_events; n++) {
        struct upmu_region_event_stats event = UPMU_INIT(struct upmu_region_event_stats);
        int found = upmu_region_event_stats_at(tag, UPMU_ALL_THREADS, (size_t)n, &event);
        events[n] = found == 0 && event.without_value == 0 ? (double)event.stat.sum : -1;
    }
    if (nevents)
        *nevents = n;
    if (time)
        *time = rc == 0 ? (double)stats.wall.sum * 1e-9 : 0;
    if (count)
        *count = rc == 0 ? (int)stats.count : 0;
}

#else

#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_REGISTER(tag)
#define LIKWID_MARKER_START(tag)
#define LIKWID_MARKER_STOP(tag)
#define LIKWID_MARKER_CLOSE
#define LIKWID_MARKER_WRITE_FILE(path)
#define LIKWID_MARKER_GET(tag, nevents, events, time, count)
#define LIKWID_MARKER_RESET(tag)

#endif

#endif

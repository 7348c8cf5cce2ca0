/* SPDX-License-Identifier: MIT */
/** @file Writing of events, with the counters and context switches that belong to them. */
#ifndef UPMU_SYNC_EVENT_H
#define UPMU_SYNC_EVENT_H

#include "sync_trace/stack/unwind.h"
#include "sync_trace/state/thread.h"
#include "trace/write/writer.h"

/** Write the thread's counters for the event of `tick` about `object` that follows; 0: read the tick after the counters.
 *  @return the event's tick. */
uint64_t sync_counters_write(struct sync_thread *t, uint64_t tick, uintptr_t object);

/** The same before the release of a held lock that is recorded with this tick: before the call, so that the next holder's
 *  work is not counted. */
static inline void sync_counters_write_release(struct sync_thread *t, const struct sync_held *h, uint64_t tick,
                                               uintptr_t object)
{
    if (UNLIKELY(h->since & HELD_COUNTED))
        (void)sync_counters_write(t, tick, object);
}

/** Whether every event with a caller gets a stack. */
static inline bool sync_stacks_always(void)
{
    return UNLIKELY(sync_option(all_stacks)) && sync_mode() == MODE_ALL;
}

/** Write an event; before it the counters if it begins or ends a wait, and the context switches so far. */
void sync_write(struct sync_thread *t, uint64_t tick, const struct trace_sync *e);

/** Compare waits with the thresholds in the control file, if there are any. */
struct control_header;
void sync_limits_start(struct control_header *control);

/** Write an event with tick and stack of now. Keeps errno. */
void sync_event_flags(struct sync_thread *t, int32_t kind, int32_t type, const void *object, uintptr_t site,
                      int32_t result, uint32_t flags);

static inline void sync_event(struct sync_thread *t, int32_t kind, int32_t type, const void *object, uintptr_t site,
                              int32_t result)
{
    sync_event_flags(t, kind, type, object, site, result, 0);
}

/** Write the request of a lock. @return its stack, for the events that follow. Keeps errno. */
uint32_t sync_request_write(struct sync_thread *t, uint32_t type, uintptr_t key, uintptr_t site);

/** The same if this mode records requests. @return 0: it does not. */
static inline uint32_t sync_request(struct sync_thread *t, uint32_t mode, uint32_t type, uintptr_t key, uintptr_t site)
{
    return UNLIKELY(mode == MODE_ALL && sync_option(requests)) ? sync_request_write(t, type, key, site) : 0;
}

#endif

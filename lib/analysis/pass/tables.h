/* SPDX-License-Identifier: MIT */
/** @file Lookup and creation of threads, objects, per-thread statistics and call sites. */
#ifndef UPMU_ANALYSIS_TABLES_H
#define UPMU_ANALYSIS_TABLES_H

#include "analysis/pass/state.h"

/* Functions that create return MAP_NONE without memory. */

/** Replace the string `*slot` by a copy of `text`. @return 0; UPMU_E_NOMEM. */
int overview_rename(char **slot, const char *text);

uint32_t thread_of(struct overview *o, uint32_t process, pid_t pid, pid_t tid, uint64_t time_ns);
/** The thread that holds the lock of a `lock_block`: of a process-shared lock it may be one of another recorded process, which may have
 *  the ids of this one. @param holder out, its index; MAP_NONE: several may be the one. @return false without memory. */
bool thread_of_holder(struct overview *o, const struct upmu_trace_event *e, uint32_t *holder);
/** A new thread: its tid was never used, or was the tid of a thread that ended. */
uint32_t thread_new(struct overview *o, uint32_t process, pid_t pid, pid_t tid, uint64_t time_ns);
/** The latest thread with that pthread_t, ended or not; MAP_NONE if that is not known, or it has not started yet. */
uint32_t thread_of_handle(const struct overview *o, uint32_t process, uint64_t handle);
/** An event shows the pthread_t of a thread whose start was not recorded. @return 0; UPMU_E_NOMEM. */
int thread_note_handle(struct overview *o, uint32_t thread, uint64_t handle);

/** Which object at an address an event means. */
enum object_lookup {
    LOOKUP_LIVE,   /**< the live one: a new one if the latest was destroyed or has another type */
    LOOKUP_NEW,    /**< a new one, which this event creates */
    LOOKUP_LATEST, /**< the latest one, destroyed or not */
};
uint32_t object_of(struct overview *o, const struct upmu_trace_event *e, enum object_lookup lookup);
/** The live mutex at `address`, or MAP_NONE. */
uint32_t object_known(const struct overview *o, uint32_t process, uint64_t address);
/** Make an object that was added without an event the latest one at its address. @return false: out of memory. */
bool object_remember(struct overview *o, uint32_t object);
/** The latest object at `address`, or MAP_NONE. */
uint32_t object_last(const struct overview *o, uint32_t process, int32_t type, uint64_t address);

uint32_t stats_of(struct overview *o, uint32_t thread, uint32_t object);
uint32_t call_site_of(struct overview *o, uint32_t object, uint64_t address);

/** A stack that begins with the call at `bare` leads to `call`, which is outside of wrappers. @return 0; UPMU_E_NOMEM. */
int call_site_note(struct overview *o, uint32_t object, uint64_t bare, uint64_t call);
/** The call outside of wrappers that the call at `bare` is made for; `bare` if there are several, or none is known. */
uint64_t call_site_outside(const struct overview *o, uint32_t object, uint64_t bare);
/** Sum up the sites of wrappers with those that they are called from. Once, after the last event. */
void call_sites_merge(struct overview *o);

/** The call site, outside of wrappers, at which the holder of a wait (LOCK_BLOCK) has acquired the lock; 0 if not known. */
static inline uint64_t call_site_of_holder(const struct overview *o, const struct upmu_trace_event *e)
{
    const struct upmu_trace_lock_block *b = &e->lock_block;
    return b->holder_stack && o->call_site ? o->call_site(o->call_site_arg, e->process, b->holder_site, b->holder_stack)
                                           : b->holder_site;
}

/** The call site of an event, outside of wrappers; 0 if not known. A stack that is not readable yet may be later. */
static inline uint64_t call_site_address(const struct overview *o, const struct upmu_trace_event *e)
{
    return e->stack && o->call_site ? o->call_site(o->call_site_arg, e->process, e->site, e->stack) : e->site;
}

#endif

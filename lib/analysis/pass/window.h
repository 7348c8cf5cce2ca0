/* SPDX-License-Identifier: MIT */
/** @file What belongs to the window of a pass; without one, everything does. */
#ifndef UPMU_ANALYSIS_PASS_WINDOW_H
#define UPMU_ANALYSIS_PASS_WINDOW_H

#include "analysis/pass/state.h"

/** A time, moved into the window. */
static inline uint64_t window_time(const struct ov_window *w, uint64_t ns)
{
    return ns < w->from_ns ? w->from_ns : ns > w->to_ns ? w->to_ns : ns;
}

/** Whether the thread's pending waits, holds and regions end after the window. */
static inline bool window_is_outlasted(const struct overview *o, uint32_t thread)
{
    const struct overview *all = o->window.whole;
    return all && thread < all->n_threads && all->threads[thread].acted_ns > o->window.to_ns;
}

/** Whether a thread, object or region has a part in the window. */
static inline bool window_has_thread(const struct overview *o, uint32_t thread)
{
    const struct ov_window *w = &o->window;
    const struct ov_thread *all = w->whole ? &w->whole->threads[thread] : NULL;
    return !all || (all->end_ns >= w->from_ns && all->begin_ns <= w->to_ns);
}

static inline bool window_has_object(const struct overview *o, uint32_t object)
{
    const struct ov_object *x = &o->objects[object];
    return !o->window.whole || x->in_window ||
           x->failed + x->signals + x->broadcasts + x->misuses + x->tries_failed > 0;
}

static inline bool window_has_region(const struct overview *o, uint32_t region)
{
    return !o->window.whole || o->regions[region].count + o->regions[region].unfinished > 0;
}

#endif

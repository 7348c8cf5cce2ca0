/* SPDX-License-Identifier: MIT */
/** @file Filter of events by kind, time, process and thread. */
#ifndef UPMU_TRACE_FILTER_H
#define UPMU_TRACE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "upmu/trace.h"

enum { FILTER_KINDS = 1024 };

/** All zero: every event. */
struct filter {
    bool set, by_kind;
    uint64_t kinds[FILTER_KINDS / 64];
    uint64_t from_ns, to_ns;
    pid_t pid, tid;
};

static inline bool filter_matches(const struct filter *f, const struct upmu_trace_event *e)
{
    unsigned kind = (unsigned)e->kind;
    if (f->by_kind && (kind >= FILTER_KINDS || !(f->kinds[kind / 64] >> kind % 64 & 1)))
        return false;
    return e->time_ns >= f->from_ns && e->time_ns <= f->to_ns && (f->pid == 0 || e->pid == f->pid) &&
           (f->tid == 0 || e->tid == f->tid);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Counts of a thread's calls.
 *
 * Without UPMU_FUNC_COUNTERS=slow no system call is made at a call or return: an event whose page the kernel does not let the
 * thread read is refused, and a call during which a page could not be read has no count of it, which its sums record.
 */
#include "func/counts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/own_memory.h"
#include "base/process/variables.h"
#include "func/files.h"

/* An event in a call that has not returned. */
struct open_count {
    struct recorder_count start;
    struct func_sum children; /* of calls that returned, with the hooks' counts around them */
    uint64_t lost;            /* 1: a called function has no count */
};

enum { TOUCHED_FRAMES = 64, TOUCH_BYTES = 1024 };

static struct {
    uint32_t n;
    bool slow;
    struct func_counter counter[FUNC_COUNTERS_MAX];
    int64_t inner[FUNC_COUNTERS_MAX], outer[FUNC_COUNTERS_MAX]; /* subtracted, of each call */
    int64_t least_inner[FUNC_COUNTERS_MAX], least_all[FUNC_COUNTERS_MAX];
} counts;

static_assert((int)FUNC_COUNTERS_MAX == (int)RECORDER_EVENTS_MAX, "the events of regions");

/* ------------------------------------------------------------------------------------------------------- set-up */

enum { COUNTS_USER, COUNTS_SLOW, COUNTS_NONE };

static int counts_mode(void)
{
    static const char *const names[] = {[COUNTS_USER] = "user", [COUNTS_SLOW] = "slow", [COUNTS_NONE] = "none"};
    const char *mode = variable_value("UPMU_FUNC_COUNTERS");
    for (int i = COUNTS_USER; mode && i <= COUNTS_NONE; i++)
        if (strcmp(mode, names[i]) == 0)
            return i;
    return mode ? upmu_fail(UPMU_E_INVAL, "UPMU_FUNC_COUNTERS=%s is not known. Use user, slow or none", mode)
                : COUNTS_USER;
}

static void counts_refuse(struct func_counter *c, int cause, const char *reason)
{
    snprintf(c->reason, sizeof c->reason, "%s", reason ? reason : "");
    c->cause = cause;
}

int func_counts_start(void)
{
    const char *name, *reason;
    struct func_reading r;
    uint32_t readable = 0;
    int mode = counts_mode(), cause;
    if (mode < 0 || mode == COUNTS_NONE)
        return mode < 0 ? mode : 0;
    counts.slow = mode == COUNTS_SLOW;
    for (uint32_t i = 0; i < FUNC_COUNTERS_MAX && (name = upmu_recorder_event_(i, &cause, &reason)) != NULL; i++) {
        struct func_counter *c = &counts.counter[counts.n++];
        snprintf(c->name, sizeof c->name, "%s", name);
        counts_refuse(c, cause, reason);
    }
    if (counts.n == 0)
        return 0;
    func_counts_read(&r);
    for (uint32_t i = 0; i < counts.n; i++) {
        struct func_counter *c = &counts.counter[i];
        bool known = i < r.n && r.now[i].known;
        readable += known;
        if (!known && c->cause == 0)
            counts_refuse(c, counts.slow ? UPMU_E_IO : UPMU_E_STATE,
                          counts.slow ? "it could not be read"
                                      : "reading it needs a system call at each call and return; "
                                        "UPMU_FUNC_COUNTERS=slow permits that");
    }
    func_process.counters = readable > 0 ? counts.n : 0;
    if (readable == 0 && !upmu_recorder_events_asked_())
        counts.n = 0; /* that the default events are not counted in calls is no news */
    return 0;
}

const struct func_counter *func_counts_counter(uint32_t i)
{
    return &counts.counter[i];
}

void func_counts_describe(struct func_process_header *h)
{
    struct func_counter *to = (struct func_counter *)(void *)((char *)h + FUNC_COUNTERS_AT);
    memcpy(to, counts.counter, sizeof counts.counter);
    h->counted = func_process.counters > 0;
    h->counters = counts.n;
}

/* ------------------------------------------------------------------------------------------------------- memory */

static void counts_name(const struct func_tree *t, char name[32])
{
    snprintf(name, 32, FUNC_COUNTS_FILE, t->number);
}

/* Write to each page without changing it, so that its fault is not counted later. */
static void counts_touch(void *from, size_t bytes)
{
    volatile char *p = from;
    for (size_t i = 0; i < bytes; i += TOUCH_BYTES)
        p[i] = p[i];
}

bool func_counts_new(struct func_tree *t)
{
    char name[32];
    uint32_t n = func_process.counters;
    if (n == 0)
        return true;
    counts_name(t, name);
    size_t each = n * sizeof(struct func_count);
    size_t open_bytes = (size_t)t->frames_max * n * sizeof(struct open_count);
    void *open = own_memory_map_wiped(open_bytes);
    void *sums = open ? func_file_map(name, t->nodes_max * each, t->nodes_ready * each) : NULL;
    if (!sums) {
        if (open)
            own_memory_unmap(open, open_bytes);
        return false;
    }
    counts_touch(open, (size_t)TOUCHED_FRAMES * n * sizeof(struct open_count));
    counts_touch(sums, t->nodes_ready * each);
    counts_touch((char *)t + t->frames_at, TOUCHED_FRAMES * sizeof(struct func_frame));
    counts_touch((char *)t + t->nodes_at, t->nodes_ready * sizeof(struct func_node));
    t->counts_open = (uintptr_t)open;
    t->counts = (uintptr_t)sums;
    return true;
}

bool func_counts_reserve(struct func_tree *t, uint32_t nodes)
{
    char name[32];
    size_t each = func_process.counters * sizeof(struct func_count);
    if (!t->counts)
        return true;
    counts_name(t, name);
    return func_file_reserve(name, t->nodes_ready * each, nodes * each);
}

static struct func_count *counts_of(const struct func_tree *t, uint32_t node)
{
    return (struct func_count *)(uintptr_t)t->counts + (size_t)node * func_process.counters;
}

static struct open_count *counts_open(const struct func_tree *t, const struct func_frame *f)
{
    size_t i = ((uintptr_t)f - t->self - t->frames_at) / sizeof *f;
    return (struct open_count *)(uintptr_t)t->counts_open + i * func_process.counters;
}

void func_counts_clear_node(struct func_tree *t, uint32_t node)
{
    if (t->counts)
        memset(counts_of(t, node), 0, func_process.counters * sizeof(struct func_count));
}

/* ------------------------------------------------------------------------------------------------ calls, returns */

void func_counts_read(struct func_reading *r)
{
    r->n = upmu_recorder_read_(r->now, counts.slow);
}

void func_counts_begin(struct func_tree *t, struct func_frame *f)
{
    struct func_reading r;
    f->inside = 0;
    if (!t->counts)
        return;
    struct open_count *c = counts_open(t, f);
    func_counts_read(&r);
    for (uint32_t i = 0; i < func_process.counters; i++)
        c[i] = (struct open_count){.start = i < r.n ? r.now[i] : (struct recorder_count){0}};
}

/* A counter that went backwards was reset or replaced; with old times at the begin, one that did not always run has counted during an
 * unknown part; and 2^47 in a nanosecond is a fault of a virtual PMU. @return whether there is a count. */
static bool counts_between(const struct recorder_count *a, const struct recorder_count *b, struct func_sum *d)
{
    if (!a->known || !b->known || b->count < a->count || b->enabled < a->enabled || b->running < a->running)
        return false;
    if (a->stale && b->running != b->enabled)
        return false;
    *d = (struct func_sum){(int64_t)(b->count - a->count), (int64_t)(b->enabled - a->enabled),
                           (int64_t)(b->running - a->running)};
    if (d->enabled == 0 && b->running != b->enabled)
        return false; /* shorter than a step of the clock, of a counter that is multiplexed */
    return d->count >> 40 == 0 || d->count / 10000 <= d->running;
}

static void sum_add(struct func_sum *to, const struct func_sum *d, int64_t count)
{
    to->count += d->count + count;
    to->enabled += d->enabled;
    to->running += d->running;
}

/* Add the counts `d` of a call to its function. `cost`: the part of `d` that the hooks caused. Exclusive counts are
 * without those of callees. */
static void counts_add(struct func_count *c, const struct open_count *own, const struct func_sum *d, int64_t cost,
                       bool outermost)
{
    const struct func_sum own_part = {-own->children.count, -own->children.enabled, -own->children.running};
    if (outermost)
        sum_add(&c->inclusive, d, -cost);
    sum_add(&c->exclusive, d, 0);
    sum_add(&c->exclusive, &own_part, 0);
    c->exclusive_lost += own->lost != 0;
}

void func_counts_end(struct func_tree *t, struct func_frame *f, bool outermost, const struct func_reading *r)
{
    struct func_frame *caller = f - 1;
    const uint64_t inside = f->inside;
    caller->inside += inside + 1;
    if (!t->counts)
        return;
    uint32_t node = (uint32_t)((f->node - t->nodes_start) / sizeof(struct func_node));
    struct func_count *c = counts_of(t, node);
    struct open_count *own = counts_open(t, f), *to = counts_open(t, caller);
    for (uint32_t i = 0; i < func_process.counters; i++) {
        struct func_sum d;
        if (!r || i >= r->n || !counts_between(&own[i].start, &r->now[i], &d)) {
            c[i].inclusive_lost += outermost;
            c[i].exclusive_lost++;
            to[i].lost = 1;
            continue;
        }
        int64_t call = counts.inner[i] + counts.outer[i];
        counts_add(&c[i], &own[i], &d, counts.inner[i] + call * (int64_t)inside, outermost);
        sum_add(&to[i].children, &d, counts.outer[i]);
    }
}

/* ----------------------------------------------------------------------------------------------------- overhead */

void func_counts_measure_begin(struct func_reading *r)
{
    r->n = 0;
    if (func_process.counters > 0)
        func_counts_read(r);
}

/* The counts of all measured calls so far are those of the node. */
void func_counts_measure_end(const struct func_tree *t, uint32_t node, const struct func_reading *before,
                             uint32_t calls)
{
    static int64_t seen[FUNC_COUNTERS_MAX];
    struct func_reading after;
    if (!t->counts || before->n == 0)
        return;
    func_counts_read(&after);
    for (uint32_t i = 0; i < func_process.counters && i < after.n; i++) {
        int64_t inclusive = counts_of(t, node)[i].inclusive.count;
        int64_t inner = (inclusive - seen[i]) / calls;
        int64_t all = (int64_t)(after.now[i].count - before->now[i].count) / calls;
        bool first = seen[i] == 0 && counts.least_all[i] == 0;
        counts.least_inner[i] = first || inner < counts.least_inner[i] ? inner : counts.least_inner[i];
        counts.least_all[i] = first || all < counts.least_all[i] ? all : counts.least_all[i];
        seen[i] = inclusive;
    }
}

void func_counts_measured(struct func_process_header *h)
{
    struct func_counter *shown = (struct func_counter *)(void *)((char *)h + FUNC_COUNTERS_AT);
    for (uint32_t i = 0; i < func_process.counters; i++) {
        int64_t rest = counts.least_all[i] - counts.least_inner[i];
        counts.counter[i].inner = shown[i].inner = counts.inner[i] = counts.least_inner[i];
        counts.counter[i].outer = shown[i].outer = counts.outer[i] = rest > 0 ? rest : 0;
    }
}

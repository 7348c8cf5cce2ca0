/* SPDX-License-Identifier: MIT */
/*
 * Thresholds of triggers (UPMU_SNAPSHOT_ON): a region or wait that takes longer requests a snapshot.
 *
 * Regions are compared here, at their ends, by a table with a threshold for each region id; waits by libupmu_sync, with the
 * thresholds in the control file. Deadlocks are found by the recorder.
 */
#include <string.h>

#include "base/clock.h"
#include "region/region.h"
#include "trace/format/trigger.h"

static struct {
    struct trigger triggers[TRIGGERS_MAX];
    uint32_t n;                            /**< 0 while there is no trace */
    uint64_t ticks[REGION_NAMES_MAX + 1];  /**< by region id; 0: no threshold */
    uint8_t trigger[REGION_NAMES_MAX + 1]; /**< whose threshold it is */
} limits;

static uint64_t limit_ticks(const struct trigger *t)
{
    double ticks = (double)t->ns * clock_hz(0) / 1e9;
    return ticks < 1 ? 1 : (uint64_t)ticks;
}

/* Of several triggers of one region, the shortest holds. */
static void limit_set_region(uint32_t id, uint8_t index, const struct trigger *t)
{
    uint64_t ticks = limit_ticks(t);
    if (limits.ticks[id] != 0 && limits.ticks[id] <= ticks)
        return;
    limits.trigger[id] = index;
    __atomic_store_n(&limits.ticks[id], ticks, __ATOMIC_RELEASE);
}

static void limit_set_waits(struct control_header *h, const struct trigger *t)
{
    uint64_t ticks = limit_ticks(t);
    for (size_t i = 0; i < CONTROL_WAITS; i++)
        if (t->waits & 1u << i && (h->wait_ticks[i] == 0 || ticks < h->wait_ticks[i]))
            h->wait_ticks[i] = ticks;
}

void region_limits_name(uint32_t id, const char *name, size_t length)
{
    for (uint32_t i = 0; i < limits.n; i++) {
        const struct trigger *t = &limits.triggers[i];
        if (t->kind == TRIGGER_REGION && t->name_len == length && memcmp(t->text + t->name_at, name, length) == 0)
            limit_set_region(id, (uint8_t)i, t);
    }
}

int region_limits_parse(const char *text)
{
    int n = trigger_parse_list(text, limits.triggers);
    limits.n = n > 0 ? (uint32_t)n : 0;
    return n < 0 ? n : 0;
}

void region_limits_start(struct region_process *p)
{
    if (limits.n == 0)
        return;
    struct control_header *h = trace_writer_control(p->trace);
    for (uint32_t i = 0; i < limits.n; i++) {
        limit_set_waits(h, &limits.triggers[i]);
        h->triggers += limits.triggers[i].kind != TRIGGER_DEADLOCK;
        h->on_deadlock |= limits.triggers[i].kind == TRIGGER_DEADLOCK;
    }
    __atomic_store_n(&h->snapshot_ready, 1, __ATOMIC_RELEASE);
    p->limits = true;
}

void region_limit_wait(enum control_wait wait, pid_t tid, uint64_t tick, uint64_t ticks)
{
    const struct trigger *found = NULL;
    for (uint32_t i = 0; i < limits.n; i++) {
        const struct trigger *t = &limits.triggers[i];
        if (t->waits & 1u << wait && (!found || t->ns < found->ns))
            found = t;
    }
    if (found)
        trigger_request(trace_writer_control(upmu_regions.trace), found->text, tid, tick, ticks);
}

void region_limit_check(const struct region_thread *t, uint32_t id, uint64_t tick, uint64_t ticks)
{
    uint64_t limit = __atomic_load_n(&limits.ticks[id], __ATOMIC_ACQUIRE);
    if (__builtin_expect(limit != 0 && ticks > limit, 0))
        trigger_request(trace_writer_control(upmu_regions.trace), limits.triggers[limits.trigger[id]].text, t->tid,
                        tick, ticks);
}

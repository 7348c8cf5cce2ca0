/* SPDX-License-Identifier: MIT */
/* Groups that really fit. Room: core; before it resolved events, after it sets and regions. */
#include "core/plan.h"

#include <stdbool.h>
#include <string.h>

enum { COUNTERS_MAX = 32 };

/* Counters an event may use, as a mask of the family's. Unknown numbers of counters are the kernel's to check. */
static uint32_t allowed_mask(const struct event *e, const struct arch_counters *c)
{
    uint32_t general = c->general >= ARCH_FIXED ? (1u << ARCH_FIXED) - 1 : (1u << c->general) - 1;
    if (e->counters == ARCH_ANY)
        return general;
    uint32_t fixed = ((1u << c->fixed) - 1) << ARCH_FIXED;
    return e->counters & (general | fixed);
}

/* One augmenting path of Kuhn's matching: seat event i, moving others along if need be. */
static bool seat(size_t i, const uint32_t *masks, int *on_counter, uint32_t *tried)
{
    for (unsigned c = 0; c < COUNTERS_MAX; c++) {
        if (!(masks[i] >> c & 1) || *tried >> c & 1)
            continue;
        *tried |= 1u << c;
        if (on_counter[c] < 0 || seat((size_t)on_counter[c], masks, on_counter, tried)) {
            on_counter[c] = (int)i;
            return true;
        }
    }
    return false;
}

int plan_fits(const struct event *const *events, size_t n, const struct arch_counters *counters)
{
    uint32_t masks[PLAN_EVENTS_MAX];
    int on_counter[COUNTERS_MAX];
    if (counters->general == 0)
        return 1;
    if (n > PLAN_EVENTS_MAX)
        return 0;
    memset(on_counter, -1, sizeof on_counter);
    for (size_t i = 0; i < n; i++) {
        uint32_t tried = 0;
        masks[i] = allowed_mask(events[i], counters);
        if (!seat(i, masks, on_counter, &tried))
            return 0;
    }
    return 1;
}

/* Whether event i still fits into group g beside those put there before it. */
static bool joins(const struct event *events, const struct plan *p, size_t i, size_t g,
                  const struct arch_counters *counters)
{
    const struct event *members[PLAN_EVENTS_MAX];
    size_t n = 0;
    for (size_t k = 0; k < i; k++) {
        if (p->group[k] != g)
            continue;
        if (events[k].class != events[i].class || events[k].type != events[i].type) {
            /* Generic and raw ids of the core PMU are of different types, yet share its counters. */
            if (events[k].class != EVENT_CORE || events[i].class != EVENT_CORE)
                return false;
        }
        members[n++] = &events[k];
    }
    if (events[i].class == EVENT_SOFTWARE)
        return true;
    if (events[i].class == EVENT_OTHER)
        return false;
    members[n++] = &events[i];
    return plan_fits(members, n, counters);
}

void plan_groups(const struct event *events, const uint8_t *absent, size_t n, const struct arch_counters *counters,
                 struct plan *out)
{
    memset(out, 0, sizeof *out);
    out->n_events = n;
    for (size_t i = 0; i < n; i++) {
        out->group[i] = PLAN_NONE;
        if (absent[i])
            continue;
        size_t g = 0;
        while (g < out->n_groups && !joins(events, out, i, g, counters))
            g++;
        if (g == out->n_groups)
            out->n_groups++;
        out->group[i] = (uint8_t)g;
    }
}

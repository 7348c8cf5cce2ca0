/* SPDX-License-Identifier: MIT */
/*
 * Ways in which drivers assign counters.
 *
 * A counter is assigned to the first event that may use it: no driver modeled here moves an event for another.
 */
#include <string.h>

#include "models/model.h"

enum { COUNTERS = 64, FIXED_FROM = 32 };

static bool take(unsigned counter, const struct model_code *event, uint64_t *taken, struct model_seat *seat)
{
    uint64_t needs = (UINT64_C(1) << counter) | (event->pair ? UINT64_C(2) << counter : 0);
    if (!(event->counters >> counter & 1) || (*taken & needs) != 0)
        return false;
    *taken |= needs;
    *seat = (struct model_seat){.counter = counter};
    return true;
}

bool model_seat_low(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                    struct model_seat *seats)
{
    uint64_t taken = ~driver->counters;
    for (size_t i = 0; i < n; i++) {
        unsigned c = 0;
        while (c < COUNTERS && !take(c, events[i], &taken, &seats[i]))
            c++;
        if (c == COUNTERS)
            return false;
    }
    return true;
}

bool model_seat_high(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                     struct model_seat *seats)
{
    uint64_t taken = ~driver->counters;
    for (size_t i = 0; i < n; i++) {
        unsigned c = COUNTERS;
        while (c > 0 && !take(c - 1, events[i], &taken, &seats[i]))
            c--;
        if (c == 0)
            return false;
    }
    return true;
}

static unsigned choices(const struct model_code *event)
{
    return (unsigned)__builtin_popcountll(event->counters);
}

/* Fixed counters before general ones, low before high. */
static bool take_fixed_first(const struct model_code *event, uint64_t *taken, struct model_seat *seat)
{
    for (unsigned c = FIXED_FROM; c < COUNTERS; c++)
        if (take(c, event, taken, seat))
            return true;
    for (unsigned c = 0; c < FIXED_FROM; c++)
        if (take(c, event, taken, seat))
            return true;
    return false;
}

bool model_seat_scarce_first(const struct model_driver *driver, const struct model_code *const *events, size_t n,
                             struct model_seat *seats)
{
    uint64_t taken = ~driver->counters;
    for (unsigned weight = 0; weight <= COUNTERS; weight++)
        for (size_t i = 0; i < n; i++)
            if (choices(events[i]) == weight && !take_fixed_first(events[i], &taken, &seats[i]))
                return false;
    return true;
}

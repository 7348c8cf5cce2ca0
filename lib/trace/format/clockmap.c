/* SPDX-License-Identifier: MIT */
/* Clock of a trace: conversion of ticks to nanoseconds. */
#include "trace/format/clockmap.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/text/textbuf.h"

enum { NS_PER_S = 1000000000 };

uint64_t clock_map_hz(const struct clock_triple *a, const struct clock_triple *b)
{
    if (b->tick <= a->tick || b->raw_ns <= a->raw_ns)
        return 0;
    return mul_div_u64(b->tick - a->tick, NS_PER_S, b->raw_ns - a->raw_ns);
}

void clock_map_set(struct clock_map *map, const struct clock_triple *origin, uint64_t hz)
{
    uint64_t into_second = mul_div_u64(origin->realtime_ns % NS_PER_S, hz, NS_PER_S);
    uint64_t tick_rest = origin->tick % hz;
    map->hz = hz;
    map->offset_s = (int64_t)(origin->realtime_ns / NS_PER_S) - (int64_t)(origin->tick / hz);
    if (into_second < tick_rest) {
        into_second += hz;
        map->offset_s--;
    }
    map->offset = into_second - tick_rest;
    if (map->offset >= hz) { /* the rounding above went up to a whole second */
        map->offset -= hz;
        map->offset_s++;
    }
}

uint64_t clock_reference_ns(const struct clock_reference *r, uint64_t hz, uint64_t tick)
{
    __extension__ typedef __int128 i128;
    i128 per = (i128)hz, ns = NS_PER_S;
    if (r->points == 2 && r->at[1].tick > r->at[0].tick && r->at[1].ns > r->at[0].ns) {
        per = (i128)(r->at[1].tick - r->at[0].tick);
        ns = (i128)(r->at[1].ns - r->at[0].ns);
    }
    i128 since = (i128)tick - (i128)r->at[0].tick;
    ns = (i128)r->at[0].ns + since * ns / (per ? per : 1);
    return ns < 0 ? 0 : ns > (i128)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

void clock_map_refer(struct clock_map *map, const struct clock_reference *r, uint64_t hz)
{
    struct clock_triple middle = {.tick = r->at[0].tick};
    if (r->points == 2 && r->at[1].tick > r->at[0].tick && r->at[1].ns > r->at[0].ns) {
        uint64_t ticks = r->at[1].tick - r->at[0].tick;
        uint64_t fitted = mul_div_u64(ticks, NS_PER_S, r->at[1].ns - r->at[0].ns);
        hz = fitted ? fitted : hz;
        middle.tick += ticks / 2;
    }
    middle.realtime_ns = clock_reference_ns(r, hz, middle.tick);
    clock_map_set(map, &middle, hz);
}

/* Rounds down in two steps, as CTF readers do, so that results agree. */
uint64_t clock_map_ns(const struct clock_map *map, uint64_t tick)
{
    __extension__ typedef __int128 i128;
    i128 ns = (i128)map->offset_s * NS_PER_S + (i128)map->offset * NS_PER_S / map->hz + (i128)tick * NS_PER_S / map->hz;
    if (ns < 0)
        return 0;
    return ns > (i128)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Make `tick` the start of the fast path, unless the numbers exceed 64 bits. */
static uint64_t steps_begin(struct clock_steps *st, const struct clock_map *map, uint64_t tick)
{
    __extension__ typedef __int128 i128;
    i128 offset = (i128)map->offset_s * NS_PER_S + (i128)map->offset * NS_PER_S / map->hz;
    i128 scaled = (i128)tick * NS_PER_S, ns = scaled / map->hz;
    uint64_t result = clock_map_ns(map, tick);
    *st = (struct clock_steps){.tick = tick};
    if (ns > INT64_MAX / 2 || offset > INT64_MAX / 2 || offset < INT64_MIN / 2 || ns + offset < 0 ||
        map->hz > UINT64_MAX / 4)
        return result;
    st->ns = (uint64_t)ns;
    st->rest = (uint64_t)(scaled % map->hz);
    st->offset_ns = (int64_t)offset;
    st->reach = (UINT64_MAX - map->hz) / NS_PER_S;
    return result;
}

uint64_t clock_steps_ns(struct clock_steps *st, const struct clock_map *map, uint64_t tick)
{
    uint64_t forward = tick - st->tick; /* wraps to a large number for an earlier tick */
    if (forward >= st->reach)
        return steps_begin(st, map, tick);
    uint64_t scaled = st->rest + forward * NS_PER_S; /* rest < hz: no overflow within the reach */
    uint64_t ns = st->ns + scaled / map->hz;
    if (ns > INT64_MAX / 2)
        return steps_begin(st, map, tick);
    st->ns = ns;
    st->rest = scaled % map->hz;
    st->tick = tick;
    return (uint64_t)((int64_t)ns + st->offset_ns);
}

void clock_map_text(struct textbuf *out, const struct clock_map *map, const char *uuid, uint32_t width)
{
    textbuf_printf(out,
                   "clock {\n"
                   "    name = monotonic;\n"
                   "    uuid = \"%s\";\n"
                   "    description = \"time of day when recording began, then CLOCK_MONOTONIC_RAW\";\n"
                   "    freq = %" PRIu64 ";\n"
                   "    precision = %" PRIu32 ";\n"
                   "    offset_s = %" PRId64 ";\n"
                   "    offset = %" PRIu64 ";\n"
                   "    absolute = true;\n"
                   "};\n",
                   uuid, map->hz, width, map->offset_s, map->offset);
}

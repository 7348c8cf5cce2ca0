/* SPDX-License-Identifier: MIT */
/* Clocks of a job's hosts, measured against that of rank 0. */
#include "mpi/clocks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/tick.h"
#include "mpi/abi.h"
#include "mpi/exchange.h"
#include "mpi/state.h"
#include "region/recorder.h"
#include "trace/format/clockmap.h"
#include "trace/write/writer.h"

/* Round trips until there are ROUNDS and one was as short as between ranks that run, or at most ROUNDS_NS: those of ranks that share CPUs
 * may take milliseconds. */
enum { ROUNDS = 200, ROUNDS_MIN = 10, ROUNDS_NS = 300000000, SHORT_NS = 10000, NS_PER_S = 1000000000 };

/* Between two ranks. */
struct clock_ping {
    uint32_t last; /* round */
    uint32_t reserved;
};
struct clock_pong {
    uint64_t tick;
};
/* Which times two ticks of the other rank have. */
struct clock_ask {
    uint64_t tick[2];
};
struct clock_answer {
    uint64_t ns[2];
    uint64_t error_ns;
    char host[64];
};

static struct {
    bool several;       /* hosts */
    bool leads;         /* this rank measures the clock of its host */
    bool of_first;      /* its host is that of rank 0 */
    int index, n;       /* among the ranks that measure */
    int first_of_host;  /* its lowest rank */
    long leaders, host; /* communicators while clocks are measured; `host` is that of all ranks if there is one host */
    uint64_t asked[2];  /* ticks of the other rank, at the ticks of `line` */
    uint64_t hz;
    struct clock_reference line;
    struct clock_map map;
    struct trace_clock first; /* when recording of MPI began */
} clocks;

/* ------------------------------------------------------------------------------------------------------ measurement */

static void measure_against(int parent, uint32_t point)
{
    uint64_t best = UINT64_MAX, begin = tick_clock_ns(CLOCK_MONOTONIC);
    struct clock_ping ping = {0};
    for (int i = 0; !ping.last; i++) {
        struct clock_pong pong;
        bool late = tick_clock_ns(CLOCK_MONOTONIC) - begin > ROUNDS_NS,
             is_short = best < clocks.hz / (NS_PER_S / SHORT_NS);
        ping.last = (i + 1 >= ROUNDS && is_short) || (late && i + 1 >= ROUNDS_MIN);
        uint64_t before = tick_now();
        mpi_exchange_send(clocks.leaders, parent, &ping, sizeof ping);
        mpi_exchange_receive(clocks.leaders, parent, &pong, sizeof pong);
        uint64_t trip = tick_now() - before;
        if (trip >= best)
            continue;
        best = trip;
        clocks.line.at[point].tick = before + trip / 2;
        clocks.asked[point] = pong.tick;
    }
    clocks.line.at[point].round_ns = (uint64_t)((double)best * NS_PER_S / (double)clocks.hz) + 1;
}

/* The reference's times of the other rank's ticks. */
static void measure_ask(int parent, uint32_t points)
{
    struct clock_reference *r = &clocks.line;
    struct clock_ask ask = {{clocks.asked[0], clocks.asked[points - 1]}};
    struct clock_answer answer;
    mpi_exchange_send(clocks.leaders, parent, &ask, sizeof ask);
    mpi_exchange_receive(clocks.leaders, parent, &answer, sizeof answer);
    uint64_t round = 0;
    for (uint32_t i = 0; i < points; i++) {
        r->at[i].ns = answer.ns[i];
        round = r->at[i].round_ns > round ? r->at[i].round_ns : round;
    }
    r->points = points;
    r->error_ns = answer.error_ns + (round + 1) / 2;
    snprintf(r->host, sizeof r->host, "%s", answer.host);
}

static void measure_serve(int child)
{
    struct clock_ping ping;
    struct clock_ask ask;
    struct clock_answer answer = {.error_ns = clocks.line.error_ns};
    mpi_exchange_await(clocks.leaders, child, &ping, sizeof ping);
    for (;;) {
        const struct clock_pong pong = {tick_now()};
        mpi_exchange_send(clocks.leaders, child, &pong, sizeof pong);
        if (ping.last)
            break;
        mpi_exchange_receive(clocks.leaders, child, &ping, sizeof ping);
    }
    mpi_exchange_receive(clocks.leaders, child, &ask, sizeof ask);
    for (int i = 0; i < 2; i++)
        answer.ns[i] = clock_reference_ns(&clocks.line, clocks.hz, ask.tick[i]);
    snprintf(answer.host, sizeof answer.host, "%s", clocks.line.host);
    mpi_exchange_send(clocks.leaders, child, &answer, sizeof answer);
}

/* In round k, ranks k to 2k - 1 are measured against those that are so many below. */
static void measure_tree(uint32_t points)
{
    for (int k = 1; k < clocks.n; k *= 2) {
        if (clocks.index >= k && clocks.index < 2 * k) {
            measure_against(clocks.index - k, points - 1);
            measure_ask(clocks.index - k, points);
        } else if (clocks.index < k && clocks.index + k < clocks.n) {
            measure_serve(clocks.index + k);
        }
    }
}

/* Half a tick per second, which the metadata's slope may be off by, at the ends of the line. */
static void line_add_rounding(struct clock_reference *r, uint64_t hz)
{
    uint64_t half = (r->at[1].ns - r->at[0].ns) / 2;
    if (r->error_ns && r->points == 2 && hz)
        r->error_ns += (uint64_t)((double)half / 2 / (double)hz) + 2;
}

/* The host of rank 0 is the reference: its own line. */
static void line_of_first(const struct trace_clock *c, uint32_t points)
{
    struct clock_reference *r = &clocks.line;
    *r = (struct clock_reference){.points = points, .raw_ns = c->origin.raw_ns};
    r->at[0].tick = c->origin.tick;
    r->at[0].ns = c->origin.realtime_ns;
    r->at[1].tick = c->now.tick;
    r->at[1].ns = c->origin.realtime_ns + (c->now.raw_ns - c->origin.raw_ns);
    (void)gethostname(r->host, sizeof r->host - 1); /* else it is empty */
}

/* CLOCK_MONOTONIC_RAW at the first point, by which a killed process's slope is found. */
static uint64_t raw_at(const struct trace_clock *c, uint64_t tick)
{
    const struct clock_reference raw = {.points = 1, .at[0] = {.tick = c->now.tick, .ns = c->now.raw_ns}};
    return clock_reference_ns(&raw, c->hz, tick);
}

/* ------------------------------------------------------------------------------------------------------------ hosts */

/* Of the boot and the tick source; an unknown boot is one of its own. */
static uint64_t clock_key(const struct trace_clock *c)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *p = c->uuid; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    for (const char *p = c->source; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return h;
}

static void clocks_group(uint64_t key)
{
    uint64_t *keys = mpi_exchange.words;
    int n = mpi_exchange.size, first = 0;
    mpi_exchange_collect(key);
    while (first < n - 1 && keys[first] != key)
        first++;
    for (int i = 1; i < n; i++)
        clocks.several |= keys[i] != keys[0];
    clocks.first_of_host = first;
    clocks.leads = first == mpi_exchange.rank;
    clocks.of_first = first == 0;
}

static void clocks_join(void)
{
    clocks.host = mpi_exchange.comm;
    if (!clocks.several)
        return;
    clocks.host = mpi_exchange_split(clocks.first_of_host);
    clocks.leaders = mpi_exchange_split(clocks.leads);
    if (clocks.leads)
        (void)mpi_comm_place(clocks.leaders, &clocks.index, &clocks.n);
}

static void clocks_leave(void)
{
    if (!clocks.several)
        return;
    mpi_exchange_leave(clocks.host);
    mpi_exchange_leave(clocks.leaders);
}

/* A recording that has ended has no clock anymore. */
static void clocks_read(struct trace_clock *c)
{
    if (!upmu_recorder_trace_clock_(c)) {
        uint64_t tick = tick_now();
        *c = clocks.first;
        c->now.raw_ns += (uint64_t)((double)(tick - c->now.tick) * NS_PER_S / (double)c->hz);
        c->now.tick = tick;
    }
    clocks.hz = c->hz;
}

static void clocks_measure(const struct trace_clock *c, uint32_t points)
{
    struct clock_reference *r = &clocks.line;
    if (mpi_exchange.rank == 0)
        line_of_first(c, points);
    if (clocks.leads && clocks.several)
        measure_tree(points);
    if (points == 1 && !clocks.of_first)
        r->raw_ns = raw_at(c, r->at[0].tick);
    line_add_rounding(r, clocks.hz);
}

void mpi_clocks_start(void)
{
    struct trace_clock c;
    if (!mpi_exchange.on)
        return;
    clocks.first = mpi_exchange.clock;
    clocks_read(&c);
    clocks.first = c;
    clocks_group(clock_key(&clocks.first));
    if (!clocks.several)
        return;
    clocks_join();
    clocks_measure(&clocks.first, 1);
    if (!clocks.of_first) {
        mpi_exchange_spread(clocks.host, &clocks.line, sizeof clocks.line);
        upmu_recorder_refer_(&clocks.line);
    }
    clocks_leave();
}

void mpi_clocks_end(void)
{
    struct trace_clock c;
    clocks_read(&c);
    clocks_join();
    clocks_measure(&c, 2);
    mpi_exchange_spread(clocks.host, &clocks.line, sizeof clocks.line);
    upmu_recorder_refer_(&clocks.line);
    clock_map_refer(&clocks.map, &clocks.line, clocks.hz);
    clocks_leave();
}

uint64_t mpi_clocks_ns(uint64_t tick)
{
    return clocks.map.hz ? clock_map_ns(&clocks.map, tick) : 0;
}

uint64_t mpi_clocks_ticks_ns(uint64_t ticks)
{
    return clocks.map.hz ? mul_div_u64(ticks, NS_PER_S, clocks.map.hz) : 0;
}

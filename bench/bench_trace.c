/* SPDX-License-Identifier: MIT */
/*
 * Cost of an event of the trace.
 *
 * The floor reads the tick and stores as many bytes into the same kind of mapping: a shared file whose space is
 * allocated, populated and grown by packets. Few events per batch, in a packet of full length, show the event alone; many include new
 * packets on both sides.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tick.h"
#include "bench.h"
#include "files.h"
#include "trace/format/ctf.h"
#include "trace/write/writer.h"

enum {
    COUNTERS = 4,
    PIECE_BYTES = 256 * 1024,
    FEW_BYTES = 12 * 1024,
    GROWTH_BYTES = 256 * 1024, /* of the short packets that a stream begins with */
    MANY_BYTES = 1024 * 1024,
};

static const char name[] = "inner loop";
static const struct trace_counter counters[COUNTERS] = {
    {"task-clock", "ns", ""}, {"page-faults", "", ""}, {"context-switches", "", ""}, {"cpu-migrations", "", ""}};

/** Both sides of a row. */
struct event_cost {
    char dir[PATH_MAX];
    struct trace_writer *writer;
    struct trace_stream *stream;
    struct upmu_value values[COUNTERS];
    bool grown; /* the packets have their full length */
    uint64_t lost;
    /* the floor */
    struct bench_file file;
    size_t bytes; /* of an event */
    uint8_t sample[256];
};

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------ ours */

static void ours_before(void *arg)
{
    struct event_cost *c = arg;
    struct trace_config config = {.dir = c->dir, .counters = counters, .n_counters = COUNTERS};
    if (trace_writer_open(&c->writer, &config) != 0 || trace_stream_acquire(c->writer, 1, "bench", &c->stream) != 0)
        give_up(upmu_error());
    for (size_t i = 0; c->grown && i < GROWTH_BYTES / sizeof name; i++)
        if (!trace_mark(c->stream, tick_now(), name, sizeof name - 1))
            give_up("trace_mark");
}

static void ours_after(void *arg)
{
    struct event_cost *c = arg;
    c->lost += trace_writer_lost(c->writer);
    trace_stream_release(c->stream);
    trace_writer_close(c->writer);
    bench_folder_remove(trace_writer_dir(c->writer));
    trace_writer_forget(c->writer); /* its descriptor; the rest is a page per batch */
}

static void region_loop(void *arg, size_t n)
{
    struct event_cost *c = arg;
    for (size_t i = 0; i < n; i++) {
        c->values[0].value = c->values[0].raw = i;
        if (!trace_region(c->stream, i & 1, tick_now(), name, sizeof name - 1, c->values))
            return;
    }
}

static void mark_loop(void *arg, size_t n)
{
    struct event_cost *c = arg;
    for (size_t i = 0; i < n; i++)
        if (!trace_mark(c->stream, tick_now(), name, sizeof name - 1))
            return;
}

/* ----------------------------------------------------------------------------------------------------- floor */

static void floor_before(void *arg)
{
    struct event_cost *c = arg;
    bench_file_open(&c->file, c->dir, PIECE_BYTES);
}

static void floor_after(void *arg)
{
    struct event_cost *c = arg;
    bench_file_close(&c->file);
}

static void floor_loop(void *arg, size_t n)
{
    struct event_cost *c = arg;
    size_t bytes = c->bytes;
    for (size_t i = 0; i < n; i++) {
        uint64_t tick = tick_now();
        memcpy(c->sample, &tick, sizeof tick);
        bench_file_store(&c->file, c->sample, bytes);
        bench_barrier();
    }
}

/* ------------------------------------------------------------------------------------------------------- rows */

static void row(struct bench *b, struct event_cost *c, const char *title, void (*loop)(void *, size_t), size_t bytes,
                size_t in_all)
{
    struct bench_pair pair = {
        .subject = {title, loop, c, ours_before, ours_after},
        .floor = {"tick and as many bytes", floor_loop, c, floor_before, floor_after},
        .n = in_all / bytes,
        .judge = BENCH_NOTHING,
    };
    c->bytes = bytes;
    c->grown = in_all == FEW_BYTES;
    c->lost = 0;
    struct bench_row *r = bench_compare(b, &pair);
    if (c->lost)
        bench_fail(r, "%llu events were lost", (unsigned long long)c->lost);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("trace", argc, argv);
    struct event_cost c = {0};
    bench_folder_make(c.dir);
    for (size_t i = 0; i < COUNTERS; i++)
        c.values[i] = (struct upmu_value){7, 7, 1000, 1000, UPMU_EXACT, 0};
    const size_t mark_bytes = CTF_SHORT_HEAD_BYTES + sizeof name;
    const size_t region_bytes = mark_bytes + COUNTERS * (8 + 1 + 1) + 8;
    row(b, &c, "region event, 4 counters", region_loop, region_bytes, FEW_BYTES);
    row(b, &c, "region event, 4 counters, with new packets", region_loop, region_bytes, MANY_BYTES);
    c.values[1].enabled = c.values[1].running = 1001;
    row(b, &c, "region event, a time for each counter", region_loop, region_bytes + (COUNTERS - 1) * 8, FEW_BYTES);
    c.values[1].status = UPMU_SCALED;
    row(b, &c, "region event, full values", region_loop, mark_bytes + COUNTERS * (4 * 8 + 2 * 4), FEW_BYTES);
    row(b, &c, "mark", mark_loop, mark_bytes, FEW_BYTES);
    row(b, &c, "mark, with new packets", mark_loop, mark_bytes, MANY_BYTES);
    bench_folder_remove(c.dir);
    return bench_end(b);
}

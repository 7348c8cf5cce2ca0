/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of streams that are written meanwhile.
 *
 * The writer gives events their ticks, which lets a test write events of the future: those after the moment of the snapshot are
 * not in it, in any stream. A ring that is overwritten while it is copied gives events without a gap but at the beginning.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/tick.h"
#include "trace/write/writer.h"
#include "upmu/snapshot.h"
#include "upmu/trace.h"

enum { PAST = 3000, FUTURE = 3000, STREAMS = 3, SNAPSHOTS = 40, RING_BYTES = 64 * 1024 };

static char dir[] = "/tmp/upmu-snapshot-XXXXXX";

#define CHECK(x)                                                                     \
    do {                                                                             \
        if (!(x)) {                                                                  \
            fprintf(stderr, "snapshot.c:%d: %s (%s)\n", __LINE__, #x, upmu_error()); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

static void path_of(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", dir, name);
}

static struct trace_writer *writer_open(const char *name, uint64_t ring_bytes)
{
    char path[256];
    struct trace_writer *w;
    path_of(path, sizeof path, name);
    const struct trace_config config = {.dir = path, .ring_bytes = ring_bytes};
    CHECK(trace_writer_open(&w, &config) == 0);
    return w;
}

static void write_number(struct trace_stream *s, uint64_t tick, uint64_t n)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, n);
    CHECK(trace_mark(s, tick, text, (size_t)len));
}

/* ---- the moment of the snapshot */

/* Each stream has as many events of the past as of the future; the last one has no past. */
static void test_cut(const char *name, uint64_t ring_bytes)
{
    char from[256], to[300];
    struct trace_stream *s[STREAMS + 1];
    struct trace_writer *w = writer_open(name, ring_bytes);
    uint64_t now = tick_now(), later = now + (uint64_t)(clock_hz(0) * 1000), counted[STREAMS + 1] = {0};
    for (int i = 0; i <= STREAMS; i++) {
        CHECK(trace_stream_acquire(w, 100 + i, "writer", &s[i]) == 0);
        for (uint64_t n = 0; n < PAST && i < STREAMS; n++)
            write_number(s[i], now, n);
        for (uint64_t n = 0; n < (uint64_t)FUTURE / (ring_bytes ? 4 : 1); n++)
            write_number(s[i], later + n, PAST + n);
    }
    path_of(from, sizeof from, name);
    snprintf(to, sizeof to, "%s-copy", from);
    struct upmu_snapshot done = {.size = sizeof done};
    CHECK(upmu_snapshot_take(from, to, "a test", &done) == 0);
    CHECK(done.processes == 1 && strcmp(done.reason, "a test") == 0 && done.bytes > 0);
    struct upmu_trace *t;
    struct upmu_trace_process p = {.size = sizeof p};
    const struct upmu_trace_event *e;
    CHECK(upmu_trace_open(&t, to) == 0 && upmu_trace_process_at(t, 0, &p) == 0);
    CHECK(strcmp(p.snapshot, "a test") == 0 && !p.complete);
    int rc;
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        uint64_t n = strtoull(e->name, NULL, 10);
        CHECK(n < PAST && e->tid < 100 + STREAMS);
        CHECK(ring_bytes || n == counted[e->tid - 100]);
        counted[e->tid - 100]++;
    }
    CHECK(rc == 0);
    for (int i = 0; i < STREAMS; i++)
        CHECK(ring_bytes ? counted[i] > 0 : counted[i] == PAST);
    upmu_trace_close(t);
    for (int i = 0; i <= STREAMS; i++)
        trace_stream_release(s[i]);
    trace_writer_close(w);
}

/* ---- while the ring is overwritten */

static atomic_int over;

static void *write_always(void *writer)
{
    struct trace_stream *s;
    CHECK(trace_stream_acquire(writer, 100, "writer", &s) == 0);
    for (uint64_t n = 0; !atomic_load(&over); n++)
        write_number(s, tick_now(), n);
    trace_stream_release(s);
    return NULL;
}

static uint64_t read_numbers(const char *path)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    uint64_t last = 0, count = 0;
    int rc;
    CHECK(upmu_trace_open(&t, path) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        uint64_t n = strtoull(e->name, NULL, 10);
        CHECK(count == 0 || n > last);
        last = n;
        count++;
    }
    CHECK(rc == 0);
    upmu_trace_close(t);
    return count;
}

static void test_overwritten(void)
{
    char from[256], to[300];
    pthread_t thread;
    struct trace_writer *w = writer_open("busy", RING_BYTES);
    struct upmu_snapshot done = {.size = sizeof done};
    path_of(from, sizeof from, "busy");
    CHECK(pthread_create(&thread, NULL, write_always, w) == 0);
    uint64_t events = 0, missed = 0;
    for (int i = 0; i < SNAPSHOTS; i++) {
        snprintf(to, sizeof to, "%s-%d", from, i);
        CHECK(upmu_snapshot_take(from, to, NULL, &done) == 0);
        events += read_numbers(to);
        missed += done.missed;
    }
    atomic_store(&over, 1);
    CHECK(pthread_join(thread, NULL) == 0);
    trace_writer_close(w);
    CHECK(events > 0);
    printf("%" PRIu64 " events in %d snapshots, %" PRIu64 " packets overwritten meanwhile\n", events, SNAPSHOTS,
           missed);
}

/* ---- arguments */

static void test_refusals(void)
{
    char path[256];
    struct upmu_snapshot done = {.size = sizeof done};
    char reason[300];
    memset(reason, 'x', sizeof reason);
    reason[sizeof reason - 1] = '\0';
    path_of(path, sizeof path, "none");
    CHECK(upmu_snapshot_take(NULL, path, NULL, &done) == UPMU_E_INVAL);
    CHECK(upmu_snapshot_take(dir, NULL, NULL, &done) == UPMU_E_INVAL);
    CHECK(upmu_snapshot_take(dir, path, NULL, NULL) == UPMU_E_INVAL);
    CHECK(upmu_snapshot_take(dir, path, reason, &done) == UPMU_E_INVAL);
    CHECK(upmu_snapshot_take("/nonexistent", path, NULL, &done) == UPMU_E_IO);
    path_of(path, sizeof path, "past");
    CHECK(upmu_snapshot_take(path, path, NULL, &done) == UPMU_E_IO && strstr(upmu_error(), "new or empty"));
    CHECK(upmu_snapshot_take(path, "/nonexistent/there", NULL, &done) == UPMU_E_IO);
    CHECK(upmu_trigger_check("region a b > 1.5 ms") == UPMU_TRIGGER_REGION);
    CHECK(upmu_trigger_check(" wait  cond>2s ") == UPMU_TRIGGER_WAIT);
    CHECK(upmu_trigger_check("deadlock") == UPMU_TRIGGER_DEADLOCK);
    CHECK(upmu_trigger_check("region a > b > 10 us") == UPMU_TRIGGER_REGION);
    CHECK(upmu_trigger_check(NULL) == UPMU_E_INVAL && upmu_trigger_check("") == UPMU_E_INVAL);
    CHECK(upmu_trigger_check("wait > 99999999999999999999 s") == UPMU_E_INVAL);
    struct upmu_snapshot_watch *watch;
    struct upmu_snapshot_totals totals = {.size = sizeof totals};
    CHECK(upmu_snapshot_watch_open(&watch, path, NULL, NULL) == UPMU_E_INVAL);
    /* A recording that does not exist yet is watched; nothing is taken without triggers. */
    path_of(path, sizeof path, "none");
    CHECK(upmu_snapshot_watch_open(&watch, path, path, NULL) == 0);
    CHECK(upmu_snapshot_watch_poll(watch, &done) == 0 && upmu_snapshot_watch_totals_read(watch, &totals) == 0);
    CHECK(totals.taken == 0 && totals.programs == 0);
    upmu_snapshot_watch_close(watch);
}

int main(void)
{
    char command[64];
    clock_start();
    CHECK(mkdtemp(dir));
    test_cut("past", 0);
    test_cut("ring", 1 << 20);
    test_overwritten();
    test_refusals();
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 ? 0 : 1; /* NOLINT(cert-env33-c): a directory of our own */
}

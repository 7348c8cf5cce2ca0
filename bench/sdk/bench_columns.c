/* SPDX-License-Identifier: MIT */
/*
 * Arrow columns produced from the events of a recording, by CPU time.
 *
 * The recording has the lock events of one thread in mode all. The floor is upmu_trace_next() on the same recording. Each row is the
 * best of five readings, since other load can only add.
 */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "files.h"
#include "upmu/arrow.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

enum { PAIRS = 1000000, PAIRS_BRIEF = 100000, READINGS = 5, NS_PER_S = 1000000000 };
static const double columns_ns = 50; /* 20 million rows a second */

static void give_up(const char *what)
{
    (void)fprintf(stderr, "bench_columns: %s\n", what);
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * NS_PER_S + (double)t.tv_nsec;
}

static void record(const char *folder, size_t pairs)
{
    const struct upmu_sync_opts opts = {
        .size = sizeof opts, .mode = UPMU_SYNC_ALL, .stack_depth = UPMU_SYNC_NO_STACKS, .trace = folder};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (upmu_sync_begin(&opts) < 0)
        give_up(upmu_error());
    for (size_t i = 0; i < pairs; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    if (upmu_sync_end() < 0)
        give_up(upmu_error());
}

static struct upmu_trace *open_trace(const char *folder)
{
    struct upmu_trace *trace;
    if (upmu_trace_open(&trace, folder) < 0)
        give_up(upmu_error());
    return trace;
}

static size_t read_events(const char *folder)
{
    struct upmu_trace *trace = open_trace(folder);
    const struct upmu_trace_event *e;
    size_t n = 0;
    int rc;
    while ((rc = upmu_trace_next(trace, &e)) > 0)
        n++;
    if (rc < 0)
        give_up(upmu_error());
    upmu_trace_close(trace);
    return n;
}

static size_t read_columns(const char *folder)
{
    struct ArrowArrayStream stream;
    struct ArrowArray rows;
    size_t n = 0;
    if (upmu_trace_arrow(open_trace(folder), NULL, &stream) < 0)
        give_up(upmu_error());
    for (;;) {
        if (stream.get_next(&stream, &rows) != 0)
            give_up(stream.get_last_error(&stream));
        if (!rows.release)
            break;
        n += (size_t)rows.length;
        rows.release(&rows);
    }
    stream.release(&stream);
    return n;
}

/* @return nanoseconds for each event, of the best reading. */
static double best(size_t (*work)(const char *), const char *folder, size_t *n)
{
    double least = INFINITY;
    for (int i = 0; i < READINGS; i++) {
        double begin = cpu_ns();
        *n = work(folder);
        least = fmin(least, (cpu_ns() - begin) / (double)*n);
    }
    return least;
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("columns", argc, argv);
    char folder[PATH_MAX];
    size_t pairs = b->brief ? PAIRS_BRIEF : PAIRS, events, rows;
    bench_folder_make(folder);
    record(folder, pairs);
    double floor_ns = best(read_events, folder, &events), ns = best(read_columns, folder, &rows);
    struct bench_row *row = bench_added(b, "Arrow columns, a row", ns, floor_ns, columns_ns);
    row->judge = BENCH_NS;
    snprintf(row->floor, sizeof row->floor, "upmu_trace_next()");
    if (rows != events || rows < 2 * pairs)
        bench_fail(row, "%zu rows of %zu events, %zu were recorded at least", rows, events, 2 * pairs);
    bench_folder_remove(folder);
    return bench_end(b);
}

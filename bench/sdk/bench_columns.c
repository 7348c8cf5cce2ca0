/* SPDX-License-Identifier: MIT */
/*
 * Arrow columns produced from the events of a recording, by CPU time.
 *
 * One recording has the lock events of a thread in mode all, the others have regions, the most frequent events of variable length,
 * without counters and with two, which are four columns more. The floor is upmu_trace_next() on the same recording. Each row is the best of five
 * readings, since other load can only add.
 */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "files.h"
#include "upmu/arrow.h"
#include "upmu/region.h"
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

static void record_locks(const char *folder, size_t pairs)
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

static void record_regions_with(const char *events, const char *folder, size_t pairs)
{
    static const char *const names[] = {"parse", "evaluate the expression", "write the answer"};
    const struct upmu_region_opts opts = {.size = sizeof opts, .events = events, .trace = folder};
    if (upmu_region_setup(&opts) < 0)
        give_up(upmu_error());
    for (size_t i = 0; i < pairs; i++) {
        upmu_region_begin(names[i % 3]);
        upmu_region_end(names[i % 3]);
    }
}

static void record_regions(const char *folder, size_t pairs)
{
    record_regions_with("none", folder, pairs);
}

static void record_counters(const char *folder, size_t pairs)
{
    record_regions_with("task-clock,page-faults", folder, pairs);
}

/* In a process of its own: a process has one recording, which is complete when it has ended. */
static void record(void (*work)(const char *, size_t), const char *folder, size_t pairs)
{
    int status;
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        work(folder, pairs);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        give_up("cannot record");
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

static void measure(struct bench *b, const char *name, double bar_ns, void (*work)(const char *, size_t), size_t pairs)
{
    char folder[PATH_MAX];
    size_t events, rows;
    bench_folder_make(folder);
    record(work, folder, pairs);
    double floor_ns = best(read_events, folder, &events), ns = best(read_columns, folder, &rows);
    struct bench_row *row = bench_added(b, name, ns, floor_ns, bar_ns);
    row->judge = BENCH_NS;
    snprintf(row->floor, sizeof row->floor, "upmu_trace_next()");
    if (rows != events || rows < 2 * pairs)
        bench_fail(row, "%zu rows of %zu events, %zu were recorded at least", rows, events, 2 * pairs);
    bench_folder_remove(folder);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("columns", argc, argv);
    size_t pairs = b->brief ? PAIRS_BRIEF : PAIRS;
    measure(b, "Arrow columns, a lock event", columns_ns, record_locks, pairs);
    measure(b, "Arrow columns, a region event", columns_ns, record_regions, pairs);
    measure(b, "Arrow columns, a region event, 2 counters", columns_ns, record_counters, pairs);
    return bench_end(b);
}

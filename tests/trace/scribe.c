/* SPDX-License-Identifier: MIT */
/*
 * Writes traces for the scripts, through the writer's own functions:
 *     scribe mixed DIR             two processes of four threads each, all kinds of events and values
 *     scribe fill DIR N            N marks of one thread; prints "<written> <lost>"
 *     scribe recover DIR BALLAST   marks until the disk is full, removes the file BALLAST, marks until recording resumes
 *     scribe torn DIR              a process that ends in the middle of setting up a packet
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/tick.h"
#include "trace/write/writer.h"

static const struct trace_counter counters[] = {
    {"page-faults", "", "each first touch of a page"},
    {"task-clock", "ns", ""},
    {"cycles:u", "", "multiplexed"},
    {"msr/tsc/", "", "a name that is no identifier"},
};
enum { COUNTERS = sizeof counters / sizeof *counters };

static void die(const char *what)
{
    fprintf(stderr, "scribe: %s: %s\n", what, upmu_error());
    exit(1);
}

static struct trace_writer *open_writer(const char *dir, size_t n_counters, size_t packet_bytes)
{
    struct trace_writer *w;
    struct trace_config config = {
        .dir = dir, .counters = counters, .n_counters = n_counters, .packet_bytes = packet_bytes};
    if (trace_writer_open(&w, &config) != 0)
        die("open");
    return w;
}

static struct trace_stream *open_stream(struct trace_writer *w, const char *name)
{
    struct trace_stream *s;
    if (trace_stream_acquire(w, gettid(), name, &s) != 0)
        die("acquire");
    return s;
}

/* ----------------------------------------------------------------------------------------------------- mixed */

/* Values that take each of the three forms in turn. */
static void values_of(uint64_t i, struct upmu_value *v)
{
    uint64_t time = 1000000 + 10 * i;
    for (uint64_t k = 0; k < COUNTERS; k++)
        v[k] = (struct upmu_value){i * (k + 1), i * (k + 1), time, time, UPMU_EXACT, 0};
    v[3] = (struct upmu_value){UPMU_NO_VALUE, 0, 0, 0, UPMU_REFUSED, UPMU_E_PERM};
    if (i % 3 == 1)
        v[1].enabled = v[1].running = time + 3;
    if (i % 3 == 2)
        v[2] = (struct upmu_value){3 * i, i, time, time / 3, UPMU_SCALED, 0};
    if (i % 7 == 2)
        v[2] = (struct upmu_value){UPMU_NO_VALUE, 0, time, 0, UPMU_NOT_COUNTED, 0};
}

static void *mixed_thread(void *arg)
{
    static const char *const names[] = {"parse", "a \"quoted\" \\ name\n\twith controls", "\xe4\xb8\xad\xe6\x96\x87",
                                        "name with, field = 1 }"};
    enum { EVENTS = 1500, NAMES = sizeof names / sizeof *names };
    struct upmu_value values[COUNTERS];
    struct trace_stream *s = open_stream(arg, "mixed worker");
    for (uint64_t i = 0; i < EVENTS; i++) {
        const char *name = names[i % NAMES];
        values_of(i, values);
        if (i % 11 == 10) {
            if (!trace_mark(s, tick_now(), name, strlen(name)))
                die("mark");
        } else if (!trace_region(s, i % 2, tick_now(), name, strlen(name), values)) {
            die("region");
        }
        if (i % 500 == 499) /* longer than the short stamp holds */
            nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL);
    }
    trace_stream_release(s);
    return NULL;
}

static int mixed(const char *dir)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    pid_t child = fork();
    struct trace_writer *w = open_writer(dir, COUNTERS, 8192);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, mixed_thread, w) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    trace_writer_close(w);
    if (trace_writer_lost(w) != 0)
        return 1;
    int status = 0;
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
        return 1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ full */

static const char text[] =
    "a mark that is long enough to fill a small disk before the test becomes boring to wait for: "
    "two hundred bytes and a few more, most of which repeat what is already there";

static int fill(const char *dir, long n)
{
    uint64_t written = 0, lost = 0;
    struct trace_writer *w = open_writer(dir, COUNTERS, 0);
    struct trace_stream *s = open_stream(w, "fill");
    for (long i = 0; i < n; i++)
        trace_mark(s, tick_now(), text, sizeof text - 1) ? written++ : lost++;
    trace_stream_release(s);
    trace_writer_close(w);
    printf("%" PRIu64 " %" PRIu64 "\n", written, lost);
    return trace_writer_lost(w) == lost ? 0 : 1;
}

static int recover(const char *dir, const char *ballast)
{
    enum { ENOUGH = 1000, TOO_MUCH = 50000000 };
    uint64_t written = 0, lost = 0, after = 0;
    struct trace_writer *w = open_writer(dir, COUNTERS, 0);
    struct trace_stream *s = open_stream(w, "recover");
    while (lost < ENOUGH && written < TOO_MUCH)
        trace_mark(s, tick_now(), text, sizeof text - 1) ? written++ : lost++;
    if (unlink(ballast) != 0)
        return 1;
    while (after < ENOUGH && lost < TOO_MUCH)
        trace_mark(s, tick_now(), text, sizeof text - 1) ? after++ : lost++;
    trace_stream_release(s);
    trace_writer_close(w);
    printf("%" PRIu64 " %" PRIu64 "\n", written + after, lost);
    return after == ENOUGH && trace_writer_lost(w) == lost ? 0 : 1;
}

/* ------------------------------------------------------------------------------------------------------ torn */

static int torn(const char *dir)
{
    char path[4096];
    struct stat st;
    struct trace_writer *w = open_writer(dir, COUNTERS, 0);
    struct trace_stream *s = open_stream(w, "torn");
    for (int i = 0; i < 100; i++)
        if (!trace_mark(s, tick_now(), text, sizeof text - 1))
            die("mark");
    snprintf(path, sizeof path, "%s/stream_0000", trace_writer_dir(w));
    if (stat(path, &st) != 0 || truncate(path, st.st_size + 16384) != 0)
        return 1;
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 2 ? argv[1] : "";
    if (argc == 3 && strcmp(verb, "mixed") == 0)
        return mixed(argv[2]);
    if (argc == 4 && strcmp(verb, "fill") == 0)
        return fill(argv[2], strtol(argv[3], NULL, 10));
    if (argc == 4 && strcmp(verb, "recover") == 0)
        return recover(argv[2], argv[3]);
    if (argc == 3 && strcmp(verb, "torn") == 0)
        return torn(argv[2]);
    fprintf(stderr, "usage: scribe mixed|torn DIR, fill DIR N, recover DIR BALLAST\n");
    return 2;
}

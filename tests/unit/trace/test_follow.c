/* SPDX-License-Identifier: MIT */
/* Reading a recording while it is written. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/tick.h"
#include "suite.h"
#include "trace/write/stream.h"

static struct trace_writer *writer;

static void mark(struct trace_stream *s, const char *text)
{
    ck_assert(trace_mark(s, tick_now(), text, strlen(text)));
}

static void more(struct upmu_trace *t)
{
    ck_assert_msg(upmu_trace_update(t) == 0, "%s", upmu_error());
}

static void must_be(struct upmu_trace *t, pid_t tid, const char *text)
{
    const struct upmu_trace_event *e = must_read(t);
    ck_assert_int_eq(e->tid, tid);
    ck_assert_str_eq(e->name, text);
}

START_TEST(what_is_written_later_comes_later)
{
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *one = stream_of(writer, 1);
    mark(one, "a");
    struct upmu_trace *t = trace_of(recording);
    ck_assert_int_eq(upmu_trace_update(t), UPMU_E_STATE); /* not all has been read */
    must_be(t, 1, "a");
    must_end(t);
    more(t);
    must_end(t);
    mark(one, "b");
    struct trace_stream *two = stream_of(writer, 2);
    mark(two, "c");
    mark(one, "d");
    more(t);
    must_be(t, 1, "b");
    must_be(t, 2, "c");
    must_be(t, 1, "d");
    must_end(t);
    trace_stream_release(one);
    trace_stream_release(two);
    trace_writer_close(writer);
    more(t);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

/* Threads that end give their files to those that come, also when they have recorded nothing. */
START_TEST(threads_that_take_over_a_file_are_read)
{
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(writer, 1);
    mark(s, "a");
    struct upmu_trace *t = trace_of(recording);
    must_be(t, 1, "a");
    must_end(t);
    trace_stream_release(s);
    s = stream_of(writer, 2);
    more(t);
    must_end(t);
    trace_stream_release(s);
    more(t);
    must_end(t);
    s = stream_of(writer, 3);
    more(t);
    must_end(t);
    mark(s, "b");
    more(t);
    must_be(t, 3, "b");
    must_end(t);
    trace_stream_release(s);
    s = stream_of(writer, 4);
    mark(s, "c");
    trace_stream_release(s);
    more(t);
    must_be(t, 4, "c");
    must_end(t);
    trace_writer_close(writer);
    upmu_trace_close(t);
}
END_TEST

/* What one has left of its last packet is the first packet of the next. */
START_TEST(threads_of_any_length_in_one_file_are_read)
{
    enum { THREADS = 300, MOST = 257 };
    int all = 0;
    writer = writer_with(NULL, 0, 0);
    mark(stream_of(writer, 1), "a"); /* its thread does not end */
    struct upmu_trace *t = trace_of(recording);
    must_be(t, 1, "a");
    must_end(t);
    for (pid_t tid = 2; tid < THREADS; tid++) {
        struct trace_stream *s = stream_of(writer, tid);
        int n = tid % 3 == 0 ? tid * tid % MOST : 1;
        for (int i = 0; i < n; i++)
            mark(s, "b");
        trace_stream_release(s);
        more(t);
        for (int i = 0; i < n; i++)
            must_be(t, tid, "b");
        must_end(t);
        all += n;
    }
    upmu_trace_close(t);
    struct upmu_trace *killed = trace_of(recording);
    for (int i = 0; i <= all; i++)
        (void)must_read(killed);
    must_end(killed);
    upmu_trace_close(killed);
    trace_writer_close(writer);
    t = trace_of(recording);
    for (int i = 0; i <= all; i++)
        (void)must_read(t);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

enum { NUMBERS = 20000 };

static atomic_int numbers_done;

static void *write_numbers(void *arg)
{
    struct trace_stream *s = arg;
    for (int i = 0; i < NUMBERS; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        mark(s, text);
    }
    trace_stream_release(s);
    atomic_store(&numbers_done, 1);
    return NULL;
}

/* @return how many there were. */
static int read_numbers(struct upmu_trace *t, int next)
{
    const struct upmu_trace_event *e;
    int rc, n = 0;
    while ((rc = upmu_trace_next(t, &e)) > 0)
        if (atoi(e->name) != next + n++)
            return -1;
    return rc == 0 ? n : -1;
}

START_TEST(a_writer_that_does_not_wait_loses_nothing_to_its_reader)
{
    pthread_t thread;
    int next = 0, n = 0, done;
    atomic_store(&numbers_done, 0);
    writer = writer_with(NULL, 0, 4096);
    struct upmu_trace *t = trace_of(recording);
    ck_assert_int_eq(pthread_create(&thread, NULL, write_numbers, stream_of(writer, 1)), 0);
    do {
        done = atomic_load(&numbers_done);
        n = read_numbers(t, next);
        next += n;
    } while (n >= 0 && upmu_trace_update(t) == 0 && !done);
    ck_assert_int_ge(n, 0);
    n = read_numbers(t, next);
    ck_assert_int_ge(n, 0);
    ck_assert_int_eq(next + n, NUMBERS);
    ck_assert_uint_eq(upmu_trace_missed_packets(t), 0);
    pthread_join(thread, NULL);
    trace_writer_close(writer);
    upmu_trace_close(t);
}
END_TEST

/* Each event that is read is followed by another one: the reader does not follow them without end, and misses none. */
static void read_beside_a_busy_writer(uint64_t ring_bytes)
{
    enum { LAST = 1000 };
    const struct trace_config config = {.dir = recording, .ring_bytes = ring_bytes};
    ck_assert_int_eq(trace_writer_open(&writer, &config), 0);
    struct trace_stream *s = stream_of(writer, 1);
    const struct upmu_trace_event *e;
    char text[24] = "0";
    int n = 0, rc;
    mark(s, text);
    struct upmu_trace *t = trace_of(recording);
    for (int ends = 0; ends < 3; ends++) {
        while ((rc = upmu_trace_next(t, &e)) > 0 && n < LAST) {
            ck_assert_int_eq(atoi(e->name), n++);
            snprintf(text, sizeof text, "%d", n);
            mark(s, text);
        }
        ck_assert_int_eq(rc, 0);
        more(t);
    }
    must_be(t, 1, text);
    must_end(t);
    upmu_trace_close(t);
    trace_stream_release(s);
    trace_writer_close(writer);
    recording_tear_down();
    recording_set_up();
}

START_TEST(the_reader_of_a_busy_writer_comes_to_an_end)
{
    read_beside_a_busy_writer(0);
    read_beside_a_busy_writer(TRACE_RING_MIN);
}
END_TEST

/* Calls of read() of this process before this one; 0 if the kernel does not count them. */
static uint64_t reads_so_far(void)
{
    char line[80];
    uint64_t n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "syscr: ", 7) == 0)
            n = strtoull(line + 7, NULL, 10);
    if (f)
        fclose(f);
    return n;
}

enum { PACKET_BYTES = 256 << 10 }; /* of a ring that is long enough */

/* Reads that one more event takes at the end of a ring of `slots` packets in which all are used. */
static uint64_t reads_of_one_more(uint64_t slots)
{
    const struct trace_config config = {.dir = recording, .ring_bytes = slots * PACKET_BYTES};
    ck_assert_int_eq(trace_writer_open(&writer, &config), 0);
    struct trace_stream *s = stream_of(writer, 1);
    char text[1000];
    memset(text, 'a', sizeof text);
    for (uint64_t i = 0; i <= slots * PACKET_BYTES / sizeof text; i++)
        ck_assert(trace_mark(s, tick_now(), text, sizeof text));
    struct upmu_trace *t = trace_of(recording);
    const struct upmu_trace_event *e;
    while (upmu_trace_next(t, &e) > 0)
        ;
    more(t);
    mark(s, "b");
    uint64_t before = reads_so_far();
    must_be(t, 1, "b");
    must_end(t);
    uint64_t reads = reads_so_far() - before;
    upmu_trace_close(t);
    trace_stream_release(s);
    trace_writer_close(writer);
    recording_tear_down();
    recording_set_up();
    return reads;
}

START_TEST(one_more_event_in_a_ring_is_read_without_all_its_packets)
{
    enum { FEW = 8, MANY = 32 };
    (void)reads_so_far(); /* which is one */
    if (reads_so_far() > 0)
        ck_assert_uint_lt(reads_of_one_more(MANY), reads_of_one_more(FEW) + MANY - FEW);
}
END_TEST

START_TEST(this_moment_is_between_events)
{
    uint64_t before = 0, after = 0;
    writer = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(writer, 1);
    struct upmu_trace *t = trace_of(recording);
    const struct timespec moment = {.tv_nsec = 2000000};
    must_end(t);
    ck_assert_int_eq(upmu_trace_now(t, 0, &before), 0);
    nanosleep(&moment, NULL);
    mark(s, "a");
    nanosleep(&moment, NULL);
    ck_assert_int_eq(upmu_trace_now(t, 0, &after), 0);
    more(t);
    uint64_t at = must_read(t)->time_ns;
    ck_assert_uint_lt(before, at);
    ck_assert_uint_lt(at, after);
    ck_assert_int_eq(upmu_trace_now(t, 1, &after), UPMU_E_END);
    ck_assert_int_eq(upmu_trace_update(NULL), UPMU_E_INVAL);
    must_end(t);
    trace_stream_release(s);
    trace_writer_close(writer);
    upmu_trace_close(t);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("follow");
    tcase_set_timeout(cases, 100);
    tcase_add_checked_fixture(cases, recording_set_up, recording_tear_down);
    tcase_add_test(cases, what_is_written_later_comes_later);
    tcase_add_test(cases, threads_that_take_over_a_file_are_read);
    tcase_add_test(cases, threads_of_any_length_in_one_file_are_read);
    tcase_add_test(cases, a_writer_that_does_not_wait_loses_nothing_to_its_reader);
    tcase_add_test(cases, the_reader_of_a_busy_writer_comes_to_an_end);
    tcase_add_test(cases, one_more_event_in_a_ring_is_read_without_all_its_packets);
    tcase_add_test(cases, this_moment_is_between_events);
    return run_suite("trace follow", cases);
}

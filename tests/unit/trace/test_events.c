/* SPDX-License-Identifier: MIT */
/* What was given to the writer comes back from the reader: every value, name and tick, in every form. */
#include <sys/resource.h>

#include "base/tick.h"
#include "suite.h"
#include "trace/format/control.h"
#include "trace/format/ctf.h"
#include "trace/write/stream_fast.h"

enum { TID = 4242 };

static const struct trace_counter four[] = {
    {"page-faults", "", ""}, {"task-clock", "ns", ""}, {"cycles", "", "no PMU"}, {"page_faults", "", ""}};

static void begin(struct trace_stream *s, uint64_t tick, const char *name, const struct upmu_value *values)
{
    ck_assert(trace_region(s, false, tick, name, strlen(name), values));
}

static void expect_values(const struct upmu_trace_event *e, const struct upmu_value *values, size_t n)
{
    ck_assert_uint_eq(e->n_values, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(memcmp(&e->values[i], &values[i], sizeof values[i]) == 0,
                      "counter %zu: value %llu raw %llu enabled %llu running %llu status %d cause %d", i,
                      (unsigned long long)e->values[i].value, (unsigned long long)e->values[i].raw,
                      (unsigned long long)e->values[i].enabled, (unsigned long long)e->values[i].running,
                      e->values[i].status, e->values[i].cause);
}

static struct upmu_trace *closed_trace(struct trace_writer *w, struct trace_stream *s)
{
    trace_stream_release(s);
    ck_assert_uint_eq(trace_writer_lost(w), 0);
    trace_writer_close(w);
    return trace_of(recording);
}

/* Values of one event; together they take every branch of the choice between the three forms. */
static const struct upmu_value rows[][4] = {
    /* all exact with one time */
    {{1, 1, 900, 900, UPMU_EXACT, 0},
     {2, 2, 900, 900, UPMU_EXACT, 0},
     {3, 3, 900, 900, UPMU_EXACT, 0},
     {UINT64_MAX, UINT64_MAX, 900, 900, UPMU_EXACT, 0}},
    /* exact beside what can never be counted */
    {{0, 0, 901, 901, UPMU_EXACT, 0},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_UNSUPPORTED, UPMU_E_NO_PMU},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_REFUSED, UPMU_E_PERM},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_NOT_COUNTED, 0}},
    /* nothing but that */
    {{UPMU_NO_VALUE, 0, 0, 0, UPMU_NOT_COUNTED, 0},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_UNSUPPORTED, UPMU_E_UNSUPPORTED},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_REFUSED, UPMU_E_SYSTEM},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_NOT_COUNTED, 0}},
    /* each with its own time */
    {{5, 5, 1000, 1000, UPMU_EXACT, 0},
     {6, 6, 1001, 1001, UPMU_EXACT, 0},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_REFUSED, UPMU_E_BUSY},
     {7, 7, 0, 0, UPMU_EXACT, 0}},
    /* multiplexed */
    {{30, 10, 900, 300, UPMU_SCALED, 0},
     {2, 2, 900, 900, UPMU_EXACT, 0},
     {3, 3, 900, 900, UPMU_EXACT, 0},
     {4, 4, 900, 900, UPMU_EXACT, 0}},
    /* enabled, and never on a counter */
    {{1, 1, 900, 900, UPMU_EXACT, 0},
     {UPMU_NO_VALUE, 0, 900, 0, UPMU_NOT_COUNTED, 0},
     {3, 3, 900, 900, UPMU_EXACT, 0},
     {4, 4, 900, 900, UPMU_EXACT, 0}},
    /* contradictions and numbers beyond the short forms are returned unchanged */
    {{1, 2, 3, 4, UPMU_EXACT, -7},
     {5, 0, 0, 0, UPMU_REFUSED, 0},
     {UPMU_NO_VALUE, 0, 0, 0, 300, 0},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_REFUSED, -1000}},
    {{UPMU_NO_VALUE, 0, 0, 0, UPMU_EXACT, 0},
     {UPMU_NO_VALUE, 0, 0, 0, -1, 0},
     {UPMU_NO_VALUE, 0, 0, 0, UPMU_REFUSED, INT32_MIN},
     {0, 0, 0, 0, UPMU_SCALED, 0}},
};
enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(every_value_comes_back_as_it_was)
{
    struct trace_writer *w = writer_with(four, 4, 0);
    struct trace_stream *s = stream_of(w, TID);
    uint64_t tick = tick_now();
    for (size_t i = 0; i < 2 * ROWS; i++)
        ck_assert(trace_region(s, i % 2, tick + i, "region", 6, rows[i / 2]));
    struct upmu_trace *t = closed_trace(w, s);
    for (size_t i = 0; i < 2 * ROWS; i++) {
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_int_eq(e->kind, i % 2 ? UPMU_TRACE_REGION_END : UPMU_TRACE_REGION_BEGIN);
        ck_assert_uint_eq(e->tick, tick + i);
        ck_assert_str_eq(e->name, "region");
        ck_assert_int_eq(e->tid, TID);
        ck_assert_int_eq(e->pid, getpid());
        expect_values(e, rows[i / 2], 4);
    }
    must_end(t);
    ck_assert_uint_eq(process_of(t, 0).events, 2 * ROWS);
    upmu_trace_close(t);
}
END_TEST

START_TEST(counters_of_an_event_come_back_before_it_with_its_object)
{
    struct trace_writer *w = writer_with(four, 4, 0);
    struct trace_stream *s = stream_of(w, TID);
    uint64_t tick = tick_now();
    for (size_t i = 0; i < ROWS; i++) {
        struct trace_sync block = {.kind = UPMU_TRACE_LOCK_BLOCK, .object = UINT64_MAX - i};
        ck_assert(trace_counters(s, tick + i, block.object, rows[i]));
        ck_assert(upmu_trace_sync_(s, tick + i, &block));
    }
    struct upmu_trace *t = closed_trace(w, s);
    for (size_t i = 0; i < 2 * ROWS; i++) {
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_int_eq(e->kind, i % 2 ? UPMU_TRACE_LOCK_BLOCK : UPMU_TRACE_COUNTERS);
        ck_assert_uint_eq(e->tick, tick + i / 2);
        ck_assert_uint_eq(e->object, UINT64_MAX - i / 2);
        ck_assert_str_eq(e->name, "");
        expect_values(e, rows[i / 2], i % 2 ? 0 : 4);
    }
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(counters_of_a_trace_without_any_are_their_object)
{
    struct trace_writer *w = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(w, TID);
    ck_assert(trace_counters(s, tick_now(), 7, NULL));
    struct upmu_trace *t = closed_trace(w, s);
    ck_assert_uint_eq(must_read(t)->object, 7);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(plain_values_take_the_short_form)
{
    struct trace_writer *w = writer_with(four, 4, 0);
    struct trace_stream *s = stream_of(w, TID);
    char path[PATH_MAX];
    uint64_t tick = tick_now();
    begin(s, tick, "x", rows[1]);
    struct ctf_packet head;
    size_t len;
    char *bytes = read_whole(path_in(path, trace_writer_dir(w), "stream_0000"), &len);
    memcpy(&head, bytes, sizeof head);
    /* head, name, and for each counter value, status and cause; one time */
    ck_assert_uint_eq(head.content_size / 8 - sizeof head, 4 + 2 + 4 * (8 + 1 + 1) + 8);
    free(bytes);
    upmu_trace_close(closed_trace(w, s));
}
END_TEST

START_TEST(a_trace_without_counters_has_names_only)
{
    struct trace_writer *w = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(w, TID);
    begin(s, tick_now(), "alone", NULL);
    struct upmu_trace *t = closed_trace(w, s);
    const struct upmu_trace_event *e = must_read(t);
    ck_assert_str_eq(e->name, "alone");
    ck_assert_uint_eq(e->n_values, 0);
    ck_assert_ptr_null(e->values);
    must_end(t);
    ck_assert_ptr_null(upmu_trace_counter_name(t, 0, 0));
    upmu_trace_close(t);
}
END_TEST

START_TEST(the_process_and_its_counters_are_described)
{
    struct trace_writer *w = writer_with(four, 4, 0);
    struct trace_stream *s = stream_of(w, TID);
    ck_assert(trace_mark(s, tick_now(), "m", 1));
    struct upmu_trace *t = closed_trace(w, s);
    struct upmu_trace_process p = process_of(t, 0);
    char host[65];
    ck_assert_int_eq(gethostname(host, sizeof host), 0);
    ck_assert_uint_eq(upmu_trace_process_count(t), 1);
    ck_assert_str_eq(p.host, host);
    ck_assert_ptr_nonnull(strstr(p.command, "unit_trace_events"));
    ck_assert_ptr_nonnull(strstr(p.kernel, "Linux"));
    ck_assert_uint_eq(p.complete, 1);
    ck_assert_uint_eq(p.n_counters, 4);
    ck_assert_uint_gt(p.clock_hz, 1000000);
    ck_assert_str_eq(upmu_trace_counter_name(t, 0, 2), "cycles");
    ck_assert_str_eq(upmu_trace_counter_name(t, 0, 3), "page_faults");
    ck_assert_ptr_null(upmu_trace_counter_name(t, 0, 4));
    ck_assert_ptr_null(upmu_trace_counter_name(t, 1, 0));
    upmu_trace_close(t);
}
END_TEST

START_TEST(names_are_kept_whatever_they_hold)
{
    char longest[UPMU_REGION_NAME_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    struct trace_writer *w = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(w, TID);
    uint64_t tick = tick_now();
    ck_assert(trace_mark(s, tick, "", 0));
    ck_assert(trace_mark(s, tick, "\xe4\xb8\xad\xe6\x96\x87 \"\\\n\xff", 11));
    ck_assert(trace_mark(s, tick, "cut\0off", 7)); /* a NUL ends a string, for every reader */
    ck_assert(trace_mark(s, tick, longest, sizeof longest - 1));
    ck_assert(trace_mark(s, tick, "not all of it", 3));
    struct upmu_trace *t = closed_trace(w, s);
    ck_assert_str_eq(must_read(t)->name, "");
    ck_assert_str_eq(must_read(t)->name, "\xe4\xb8\xad\xe6\x96\x87 \"\\\n\xff");
    ck_assert_str_eq(must_read(t)->name, "cut");
    ck_assert_uint_eq(strlen(must_read(t)->name), UPMU_REGION_NAME_MAX);
    ck_assert_str_eq(must_read(t)->name, "not");
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(pauses_longer_than_the_short_stamp_are_kept)
{
    static const uint64_t pauses[] = {0,
                                      1,
                                      CTF_TICK_MASK - 1,
                                      CTF_TICK_MASK,
                                      CTF_TICK_MASK + 1,
                                      CTF_TICK_MASK + 2,
                                      3,
                                      UINT64_C(1) << 40,
                                      5,
                                      CTF_TICK_MASK};
    enum { N = sizeof pauses / sizeof *pauses };
    struct trace_writer *w = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(w, TID);
    uint64_t first = tick_now() & ~CTF_TICK_MASK, tick = first;
    for (size_t i = 0; i < N; i++)
        ck_assert(trace_mark(s, tick += pauses[i], "m", 1));
    struct upmu_trace *t = closed_trace(w, s);
    tick = first;
    for (size_t i = 0; i < N; i++)
        ck_assert_uint_eq(must_read(t)->tick, tick += pauses[i]);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(a_tick_before_the_last_is_raised_and_counted)
{
    struct trace_writer *w = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(w, TID);
    uint64_t tick = tick_now();
    ck_assert(trace_mark(s, tick, "a", 1));
    ck_assert(trace_mark(s, tick - 5000, "b", 1));
    ck_assert(trace_mark(s, tick + 1, "c", 1));
    char path[PATH_MAX];
    size_t len;
    struct upmu_trace *t = closed_trace(w, s);
    ck_assert_uint_eq(must_read(t)->tick, tick);
    ck_assert_uint_eq(must_read(t)->tick, tick);
    ck_assert_uint_eq(must_read(t)->tick, tick + 1);
    upmu_trace_close(t);
    char *bytes = read_whole(path_in(path, trace_writer_dir(w), ".control"), &len);
    uint64_t clamped;
    memcpy(&clamped, bytes + offsetof(struct control_header, clamped), sizeof clamped);
    ck_assert_uint_eq(clamped, 1);
    free(bytes);
}
END_TEST

START_TEST(events_go_on_over_many_packets)
{
    enum { EVENTS = 20000 };
    struct trace_writer *w = writer_with(four, 4, 8192);
    struct trace_stream *s = stream_of(w, TID);
    struct upmu_value values[4];
    uint64_t tick = tick_now();
    for (uint64_t i = 0; i < EVENTS; i++) {
        memcpy(values, rows[i % ROWS], sizeof values);
        values[0].value = i;
        begin(s, tick + 7 * i, "many packets", values);
    }
    struct upmu_trace *t = closed_trace(w, s);
    ck_assert_uint_eq(process_of(t, 0).events, EVENTS);
    for (uint64_t i = 0; i < EVENTS; i++) {
        const struct upmu_trace_event *e = must_read(t);
        memcpy(values, rows[i % ROWS], sizeof values);
        values[0].value = i;
        ck_assert_uint_eq(e->tick, tick + 7 * i);
        expect_values(e, values, 4);
    }
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(the_largest_event_fits_the_smallest_packet)
{
    char name[UPMU_REGION_NAME_MAX];
    memset(name, 'n', sizeof name);
    struct trace_counter sixteen[UPMU_REGION_EVENTS_MAX];
    struct upmu_value values[UPMU_REGION_EVENTS_MAX];
    for (size_t i = 0; i < UPMU_REGION_EVENTS_MAX; i++) {
        sixteen[i] = (struct trace_counter){"same name", NULL, NULL};
        values[i] = (struct upmu_value){i, i + 1, i + 2, i + 3, UPMU_SCALED, 0};
    }
    struct trace_writer *w = writer_with(sixteen, UPMU_REGION_EVENTS_MAX, 1);
    struct trace_stream *s = stream_of(w, TID);
    uint64_t tick = tick_now();
    for (int i = 0; i < 100; i++)
        ck_assert(trace_region(s, false, tick, name, sizeof name, values));
    struct upmu_trace *t = closed_trace(w, s);
    for (int i = 0; i < 100; i++)
        expect_values(must_read(t), values, UPMU_REGION_EVENTS_MAX);
    must_end(t);
    upmu_trace_close(t);
}
END_TEST

START_TEST(times_are_the_time_of_day)
{
    struct timespec before, after;
    struct trace_writer *w = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(w, TID);
    clock_gettime(CLOCK_REALTIME, &before);
    ck_assert(trace_mark(s, tick_now(), "now", 3));
    clock_gettime(CLOCK_REALTIME, &after);
    struct upmu_trace *t = closed_trace(w, s);
    uint64_t ns = must_read(t)->time_ns;
    enum { SLACK_NS = 1000000 }; /* slewing since the recording began, and the width of its moment */
    ck_assert_uint_ge(ns + SLACK_NS, (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
    ck_assert_uint_le(ns, (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec + SLACK_NS);
    ck_assert_uint_le(process_of(t, 0).start_ns, ns);
    upmu_trace_close(t);
}
END_TEST

START_TEST(wrong_configurations_are_refused)
{
    struct trace_writer *w;
    struct trace_config config = {.dir = NULL};
    ck_assert_int_eq(trace_writer_open(&w, &config), UPMU_E_INVAL);
    config.dir = recording;
    config.n_counters = UPMU_REGION_EVENTS_MAX + 1;
    ck_assert_int_eq(trace_writer_open(&w, &config), UPMU_E_INVAL);
    config.n_counters = 0;
    config.dir = "/proc/no/such/place";
    ck_assert_int_eq(trace_writer_open(&w, &config), UPMU_E_IO);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "/proc/no/such/place"));
    ck_assert_ptr_null(w);
}
END_TEST

START_TEST(a_size_limit_below_any_trace_is_an_error_and_no_signal)
{
    struct trace_writer *w;
    struct trace_config config = {.dir = recording};
    struct rlimit limit, none;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    /* Not one assertion meanwhile: the test library notes them in a file. */
    int set = setrlimit(RLIMIT_FSIZE, &none);
    int rc = trace_writer_open(&w, &config);
    int restored = setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert(set == 0 && restored == 0);
    ck_assert_int_eq(rc, UPMU_E_IO);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "RLIMIT_FSIZE"));
    ck_assert_uint_eq(count_files(recording, ""), 2); /* itself and its parent: nothing was made */
}
END_TEST

static void expect_mpi(const struct upmu_trace_event *e, int kind, uint64_t tick, uint32_t call, int32_t peer,
                       uint64_t bytes, uint64_t request)
{
    ck_assert_int_eq(e->kind, kind);
    ck_assert_uint_eq(e->tick, tick);
    ck_assert_int_eq(e->tid, TID);
    ck_assert_uint_eq(e->mpi.call, call);
    ck_assert_int_eq(e->mpi.peer, peer);
    ck_assert_uint_eq(e->mpi.bytes, bytes);
    ck_assert_uint_eq(e->mpi.request, request);
}

START_TEST(a_record_of_an_mpi_call_is_its_events)
{
    enum { SEND = 15, WAIT = 31, RECEIVE = 19, EXCHANGE = 11, COMM = 1, TAG = 5, STACK = 9, SITE = 0x77 };
    const uint64_t sent[] = {SEND, COMM, 3, TAG, 21, 0, STACK, SITE, 4096, 0};
    const uint64_t exchanged[] = {EXCHANGE, COMM, 1, TAG, 100, 2, TAG + 1, 200};
    struct trace_writer *w = writer_with(NULL, 0, 0);
    struct trace_stream *s = stream_of(w, TID);
    uint64_t tick = tick_now();
    ck_assert(trace_mark(s, tick, "before", 6));
    uint64_t numbers[10];
    memcpy(numbers, sent, sizeof numbers);
    numbers[9] = tick + 10;
    ck_assert(upmu_trace_numbers_(s, tick + 30, SCHEMA_ID_MPI_CALL, numbers, NULL));
    numbers[9] = tick; /* before the event before */
    ck_assert(upmu_trace_numbers_(s, tick + 40, SCHEMA_ID_MPI_CALL, numbers, NULL));
    enum { WORDS = 2 * SCHEMA_DONE_WORDS, BYTES = 2 + 2 + 4 + 8 + 4 + 4 + 8 + 8 + 2 + WORDS * 8 };
    const uint64_t others[WORDS] = {(uint64_t)7 << 32 | SEND,
                                    COMM,
                                    (uint64_t)TAG << 32 | 4,
                                    300,
                                    23,
                                    RECEIVE,
                                    COMM,
                                    (uint64_t)0xffffffff << 32 | 0xffffffff,
                                    400,
                                    24};
    uint8_t *p = stream_fast_long(s, tick + 50, SCHEMA_ID_MPI_DONE, BYTES);
    ck_assert_ptr_nonnull(p);
    p = stream_put_u32(stream_put_u16(stream_put_u16(p, WAIT), RECEIVE), 0);
    p = stream_put_u32(stream_put_u32(stream_put_u64(p, COMM), 6), TAG);
    p = stream_put_u16(stream_put_u64(stream_put_u64(p, 500), 22), WORDS);
    memcpy(p, others, sizeof others);
    stream_fast_end(s, tick + 50, p + sizeof others, BYTES);
    ck_assert(upmu_trace_numbers_(s, tick + 60, SCHEMA_ID_MPI_EXCHANGE, exchanged, NULL));
    struct upmu_trace *t = closed_trace(w, s);
    ck_assert_int_eq(must_read(t)->kind, UPMU_TRACE_MARK);
    const struct upmu_trace_event *e = must_read(t);
    expect_mpi(e, UPMU_TRACE_MPI_ENTER, tick + 10, SEND, 3, 0, 21);
    ck_assert(e->stack == STACK && e->site == SITE && e->mpi.comm == COMM && e->mpi.tag == TAG);
    uint64_t begin_ns = e->time_ns;
    e = must_read(t);
    expect_mpi(e, UPMU_TRACE_MPI_LEAVE, tick + 30, SEND, 3, 4096, 21);
    ck_assert(e->stack == 0 && e->site == 0 && e->result == 0 && e->time_ns > begin_ns);
    expect_mpi(must_read(t), UPMU_TRACE_MPI_ENTER, tick + 30, SEND, 3, 0, 21);
    expect_mpi(must_read(t), UPMU_TRACE_MPI_LEAVE, tick + 40, SEND, 3, 4096, 21);
    expect_mpi(must_read(t), UPMU_TRACE_MPI_REQUEST, tick + 50, RECEIVE, 6, 500, 22);
    e = must_read(t);
    expect_mpi(e, UPMU_TRACE_MPI_REQUEST, tick + 50, SEND, 4, 300, 23);
    ck_assert(e->result == 7 && e->mpi.tag == TAG);
    e = must_read(t);
    expect_mpi(e, UPMU_TRACE_MPI_REQUEST, tick + 50, RECEIVE, UPMU_MPI_ANY, 400, 24);
    ck_assert(e->result == 0 && e->mpi.tag == UPMU_MPI_ANY);
    expect_mpi(must_read(t), UPMU_TRACE_MPI_LEAVE, tick + 50, WAIT, UPMU_MPI_NONE, UPMU_NO_VALUE, 0);
    e = must_read(t);
    expect_mpi(e, UPMU_TRACE_MPI_REQUEST, tick + 60, EXCHANGE, 2, 200, 0);
    ck_assert_int_eq(e->mpi.tag, TAG + 1);
    e = must_read(t);
    expect_mpi(e, UPMU_TRACE_MPI_LEAVE, tick + 60, EXCHANGE, 1, 100, 0);
    ck_assert_int_eq(e->mpi.tag, TAG);
    must_end(t);
    ck_assert_uint_eq(process_of(t, 0).events, 5);
    upmu_trace_close(t);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("events");
    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, recording_set_up, recording_tear_down);
    tcase_add_test(cases, every_value_comes_back_as_it_was);
    tcase_add_test(cases, counters_of_an_event_come_back_before_it_with_its_object);
    tcase_add_test(cases, counters_of_a_trace_without_any_are_their_object);
    tcase_add_test(cases, plain_values_take_the_short_form);
    tcase_add_test(cases, a_trace_without_counters_has_names_only);
    tcase_add_test(cases, the_process_and_its_counters_are_described);
    tcase_add_test(cases, names_are_kept_whatever_they_hold);
    tcase_add_test(cases, pauses_longer_than_the_short_stamp_are_kept);
    tcase_add_test(cases, a_tick_before_the_last_is_raised_and_counted);
    tcase_add_test(cases, events_go_on_over_many_packets);
    tcase_add_test(cases, the_largest_event_fits_the_smallest_packet);
    tcase_add_test(cases, times_are_the_time_of_day);
    tcase_add_test(cases, a_record_of_an_mpi_call_is_its_events);
    tcase_add_test(cases, wrong_configurations_are_refused);
    tcase_add_test(cases, a_size_limit_below_any_trace_is_an_error_and_no_signal);
    return run_suite("trace events", cases);
}

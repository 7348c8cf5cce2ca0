/* SPDX-License-Identifier: MIT */
/* upmu_trace_read(): events in batches. */
#include "base/tick.h"
#include "suite.h"

enum { EVENTS = 10000, COUNTERS = 3 };

static const struct trace_counter counters[COUNTERS] = {{"one", "", ""}, {"two", "", ""}, {"three", "", ""}};
static char damaged_stream[PATH_MAX];

/* Two streams of marks and regions with counters; texts of many lengths. */
static void record(int n)
{
    struct trace_writer *w = writer_with(counters, COUNTERS, 4096);
    struct trace_stream *streams[] = {stream_of(w, 1), stream_of(w, 2)};
    uint64_t tick = tick_now();
    char text[300];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < n; i++) {
        size_t len = (size_t)(i % 200);
        struct upmu_value values[COUNTERS];
        for (size_t k = 0; k < COUNTERS; k++)
            values[k] = (struct upmu_value){.value = (uint64_t)i * 10 + k, .status = UPMU_EXACT};
        text[len] = '\0';
        if (i % 3)
            ck_assert(trace_mark(streams[i % 2], tick + (uint64_t)i, text, len));
        else
            ck_assert(trace_region(streams[i % 2], true, tick + (uint64_t)i, text, len, values));
        text[len] = 'x';
    }
    trace_stream_release(streams[0]);
    trace_stream_release(streams[1]);
    path_in(damaged_stream, trace_writer_dir(w), "stream_0001");
    trace_writer_close(w);
}

static void same_event(const struct upmu_trace_event *a, const struct upmu_trace_event *b)
{
    ck_assert_uint_eq(a->size, sizeof *a);
    ck_assert_uint_eq(a->tick, b->tick);
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_int_eq(a->tid, b->tid);
    ck_assert_str_eq(a->name, b->name);
    ck_assert_uint_eq(a->n_values, b->n_values);
    for (size_t i = 0; i < a->n_values; i++)
        ck_assert_uint_eq(a->values[i].value, b->values[i].value);
}

START_TEST(batches_of_any_size_have_the_events_of_next)
{
    static const size_t sizes[] = {1, 2, 7, 1000, 4096, SIZE_MAX};
    static const struct upmu_trace_event *events[EVENTS];
    record(EVENTS);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct upmu_trace *one = trace_of(recording), *many = trace_of(recording);
        int n, all = 0;
        while ((n = upmu_trace_read(many, events, sizes[s])) > 0) {
            ck_assert_uint_le((size_t)n, sizes[s]);
            for (int i = 0; i < n; i++) /* the whole batch is there, not just its last event */
                same_event(events[i], must_read(one));
            all += n;
        }
        ck_assert_int_eq(n, 0);
        ck_assert_int_eq(all, EVENTS);
        ck_assert_int_eq(upmu_trace_read(many, events, 1), 0);
        must_end(one);
        upmu_trace_close(one);
        upmu_trace_close(many);
    }
}
END_TEST

START_TEST(single_reads_and_batches_mix)
{
    const struct upmu_trace_event *events[5];
    record(1000);
    struct upmu_trace *one = trace_of(recording), *mixed = trace_of(recording);
    for (int left = 1000; left > 0;) {
        same_event(must_read(mixed), must_read(one));
        int n = upmu_trace_read(mixed, events, 5);
        ck_assert_int_ge(n, 0);
        for (int i = 0; i < n; i++)
            same_event(events[i], must_read(one));
        left -= n + 1;
    }
    must_end(mixed);
    must_end(one);
    upmu_trace_close(one);
    upmu_trace_close(mixed);
}
END_TEST

START_TEST(an_error_follows_the_events_before_it)
{
    static const struct upmu_trace_event *events[EVENTS];
    record(3000);
    FILE *f = fopen(damaged_stream, "r+b");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, 4096 * 3, SEEK_SET), 0); /* the head of a packet */
    ck_assert_int_eq(fputc(0, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    struct upmu_trace *one = trace_of(recording), *many = trace_of(recording);
    const struct upmu_trace_event *e;
    int rc, n, errors = 0, batch_errors = 0, all = 0, batch_all = 0;
    char message[1024] = "";
    while ((rc = upmu_trace_next(one, &e)) != 0) {
        all += rc > 0;
        errors += rc < 0;
        if (rc < 0)
            snprintf(message, sizeof message, "%s", upmu_error());
    }
    while ((n = upmu_trace_read(many, events, 4096)) != 0) {
        batch_all += n > 0 ? n : 0;
        batch_errors += n < 0;
        if (n < 0)
            ck_assert_str_eq(upmu_error(), message);
        ck_assert_int_eq(upmu_trace_process_at(many, 0, NULL), UPMU_E_INVAL); /* another message in between */
    }
    ck_assert_int_eq(errors, 1);
    ck_assert_int_eq(batch_errors, errors);
    ck_assert_int_eq(batch_all, all);
    upmu_trace_close(one);
    upmu_trace_close(many);
}
END_TEST

START_TEST(wrong_arguments_are_named)
{
    const struct upmu_trace_event *event;
    record(10);
    struct upmu_trace *t = trace_of(recording);
    ck_assert_int_eq(upmu_trace_read(NULL, &event, 1), UPMU_E_INVAL);
    ck_assert_str_eq(upmu_error(), "upmu_trace_read: `trace` is NULL");
    ck_assert_int_eq(upmu_trace_read(t, NULL, 1), UPMU_E_INVAL);
    ck_assert_str_eq(upmu_error(), "upmu_trace_read: `events` is NULL");
    ck_assert_int_eq(upmu_trace_read(t, &event, 0), UPMU_E_INVAL);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "`n` is 0"));
    upmu_trace_close(t);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("batch");
    tcase_set_timeout(cases, 100);
    tcase_add_checked_fixture(cases, recording_set_up, recording_tear_down);
    tcase_add_test(cases, batches_of_any_size_have_the_events_of_next);
    tcase_add_test(cases, single_reads_and_batches_mix);
    tcase_add_test(cases, an_error_follows_the_events_before_it);
    tcase_add_test(cases, wrong_arguments_are_named);
    return run_suite("trace batch", cases);
}

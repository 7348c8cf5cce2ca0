/* SPDX-License-Identifier: MIT */
/* upmu_trace_filter(), and upmu_trace_arrow() over filtered events. */
#include "base/tick.h"
#include "suite.h"
#include "upmu/arrow.h"

enum { EVENTS = 900 };

static const struct trace_counter counters[1] = {{"one", "", ""}};

/* Two streams; every third event is the begin of a region with a counter, the others are marks. */
static void record(void)
{
    struct trace_writer *w = writer_with(counters, 1, 4096);
    struct trace_stream *streams[] = {stream_of(w, 1), stream_of(w, 2)};
    uint64_t tick = tick_now();
    for (int i = 0; i < EVENTS; i++) {
        struct upmu_value value = {.value = (uint64_t)i, .status = i % 2 ? UPMU_EXACT : UPMU_REFUSED};
        uint64_t at = tick + (uint64_t)i * 100000;
        if (i % 3)
            ck_assert(trace_mark(streams[i % 2], at, i % 6 == 1 ? "a \xff name" : "mark", i % 6 == 1 ? 8 : 4));
        else
            ck_assert(trace_region(streams[i % 2], true, at, "region", 6, &value));
    }
    trace_stream_release(streams[0]);
    trace_stream_release(streams[1]);
    trace_writer_close(w);
}

static size_t count(struct upmu_trace *t, const struct upmu_trace_filter_opts *opts, int kind, pid_t tid)
{
    const struct upmu_trace_event *events[7];
    size_t all = 0;
    int n;
    ck_assert_int_eq(upmu_trace_filter(t, opts), 0);
    while ((n = upmu_trace_read(t, events, 7)) > 0)
        for (int i = 0; i < n; i++, all++)
            ck_assert((!kind || events[i]->kind == kind) && (!tid || events[i]->tid == tid));
    ck_assert_int_eq(n, 0);
    upmu_trace_close(t);
    return all;
}

START_TEST(events_are_filtered_by_every_field)
{
    const int kinds[] = {UPMU_TRACE_MARK, 1000}, none[] = {0};
    record();
    struct upmu_trace *t = trace_of(recording);
    uint64_t middle = 0;
    for (int i = 0; i < EVENTS / 2; i++)
        middle = must_read(t)->time_ns;
    ck_assert_uint_eq(count(t, NULL, 0, 0), EVENTS / 2); /* from here on */
    struct upmu_trace_filter_opts marks = UPMU_INIT(struct upmu_trace_filter_opts, .kinds = kinds, .n_kinds = 2);
    ck_assert_uint_eq(count(trace_of(recording), &marks, UPMU_TRACE_MARK, 0), EVENTS / 3 * 2);
    marks.tid = 2;
    ck_assert_uint_eq(count(trace_of(recording), &marks, UPMU_TRACE_MARK, 2), EVENTS / 3);
    struct upmu_trace_filter_opts times = UPMU_INIT(struct upmu_trace_filter_opts, .from_ns = middle);
    ck_assert_uint_eq(count(trace_of(recording), &times, 0, 0), EVENTS / 2 + 1);
    times.to_ns = middle;
    ck_assert_uint_eq(count(trace_of(recording), &times, 0, 0), 1);
    struct upmu_trace_filter_opts nothing = UPMU_INIT(struct upmu_trace_filter_opts, .kinds = none);
    ck_assert_uint_eq(count(trace_of(recording), &nothing, 0, 0), 0);
    struct upmu_trace_filter_opts other = UPMU_INIT(struct upmu_trace_filter_opts, .pid = 1);
    ck_assert_uint_eq(count(trace_of(recording), &other, 0, 0), 0);
}
END_TEST

START_TEST(wrong_filters_are_refused)
{
    const int kinds[] = {1, 1024};
    struct upmu_trace_filter_opts opts = UPMU_INIT(struct upmu_trace_filter_opts, .kinds = kinds, .n_kinds = 2);
    record();
    struct upmu_trace *t = trace_of(recording);
    ck_assert_int_eq(upmu_trace_filter(NULL, &opts), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_trace_filter(t, &opts), UPMU_E_INVAL);
    ck_assert_str_eq(upmu_error(), "upmu_trace_filter: opts->kinds[1] is 1024, not within 0 and 1023");
    opts.size = 8;
    ck_assert_int_eq(upmu_trace_filter(t, &opts), UPMU_E_INVAL);
    ck_assert_uint_eq(count(t, NULL, 0, 0), EVENTS);
}
END_TEST

/* Column `name` of an array; its type in `*format`. */
static struct ArrowArray *column(const struct ArrowSchema *schema, const struct ArrowArray *array, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (strcmp(schema->children[i]->name, name) == 0)
            return array->children[i];
    ck_abort_msg("no column %s", name);
}

static bool present(const struct ArrowArray *a, size_t i)
{
    const uint8_t *bits = a->buffers[0];
    return !bits || bits[i / 8] >> i % 8 & 1;
}

static const char *word(const struct ArrowArray *a, size_t i, char *text)
{
    const int32_t *offsets = a->dictionary->buffers[1];
    const char *bytes = a->dictionary->buffers[2];
    int64_t index = a->dictionary->length > 0 && a->buffers[1] ? ((const int32_t *)a->buffers[1])[i] : 0;
    ck_assert_int_lt(index, a->dictionary->length);
    memcpy(text, bytes + offsets[index], (size_t)(offsets[index + 1] - offsets[index]));
    text[offsets[index + 1] - offsets[index]] = '\0';
    return text;
}

START_TEST(arrays_have_the_events)
{
    char text[300];
    record();
    for (size_t rows = 1; rows <= 1024; rows *= 32) {
        struct upmu_trace *one = trace_of(recording);
        struct ArrowArrayStream stream;
        struct ArrowSchema schema;
        struct ArrowArray array;
        const struct upmu_arrow_opts opts = UPMU_INIT(struct upmu_arrow_opts, .rows = rows);
        int64_t all = 0;
        ck_assert_int_eq(upmu_trace_arrow(trace_of(recording), &opts, &stream), 0);
        ck_assert_int_eq(stream.get_schema(&stream, &schema), 0);
        ck_assert_str_eq(schema.format, "+s");
        while (stream.get_next(&stream, &array) == 0 && array.release) {
            const struct ArrowArray *time = column(&schema, &array, "time_ns"), *name = column(&schema, &array, "name"),
                                    *value = column(&schema, &array, "one"), *stack = column(&schema, &array, "stack");
            ck_assert_int_le(array.length, (int64_t)rows);
            ck_assert_int_eq(stack->null_count, array.length);
            for (size_t i = 0; i < (size_t)array.length; i++) {
                const struct upmu_trace_event *e = must_read(one);
                bool exact = e->n_values > 0 && e->values[0].status == UPMU_EXACT;
                ck_assert_int_eq(((const int64_t *)time->buffers[1])[i], (int64_t)e->time_ns);
                ck_assert_str_eq(word(name, i, text), e->name[0] == 'a' ? "a \xef\xbf\xbd name" : e->name);
                ck_assert_int_eq(present(value, i), exact);
                if (exact)
                    ck_assert_uint_eq(((const uint64_t *)value->buffers[1])[i], e->values[0].value);
            }
            all += array.length;
            array.release(&array);
        }
        ck_assert_int_eq(all, EVENTS);
        must_end(one);
        upmu_trace_close(one);
        schema.release(&schema);
        stream.release(&stream);
        ck_assert(!stream.release && !schema.release);
    }
}
END_TEST

/* Opens the recording as one array of all its events. */
static void read_array(struct ArrowSchema *schema, struct ArrowArray *array)
{
    struct ArrowArrayStream stream;
    ck_assert_int_eq(upmu_trace_arrow(trace_of(recording), NULL, &stream), 0);
    ck_assert_int_eq(stream.get_schema(&stream, schema), 0);
    ck_assert_int_eq(stream.get_next(&stream, array), 0);
    ck_assert_ptr_nonnull(array->release);
    stream.release(&stream);
}

/* Names of up to 40 bytes, each of them with another byte changed: all in one dictionary. */
START_TEST(names_differ_at_every_byte)
{
    enum { LENGTHS = 40 };
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct trace_writer *w = writer_with(counters, 1, 4096);
    struct trace_stream *s = stream_of(w, 1);
    char text[300];
    for (size_t times = 2, len; times > 0; times--)
        for (len = 1; len <= LENGTHS; len++)
            for (size_t other = 0; other <= len; other++) {
                memset(text, 'x', sizeof text);
                text[other] = 'y'; /* at `other` = `len` it is not part of the name */
                ck_assert(trace_mark(s, tick_now(), text, len));
            }
    trace_stream_release(s);
    trace_writer_close(w);

    struct upmu_trace *one = trace_of(recording);
    read_array(&schema, &array);
    const struct ArrowArray *name = column(&schema, &array, "name");
    ck_assert_int_eq(name->dictionary->length, LENGTHS * (LENGTHS + 1) / 2 + LENGTHS);
    ck_assert_int_eq(array.length, 2 * name->dictionary->length);
    for (size_t i = 0; i < (size_t)array.length; i++)
        ck_assert_str_eq(word(name, i, text), must_read(one)->name);
    upmu_trace_close(one);
    array.release(&array);
    schema.release(&schema);
}
END_TEST

/* Rows with and without a lock and a call site, in numbers that are no multiple of 64. */
START_TEST(zeros_are_missing)
{
    enum { ROWS = 203 };
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct trace_writer *w = writer_with(counters, 1, 4096);
    struct trace_stream *s = stream_of(w, 1);
    for (uint32_t i = 0; i < ROWS; i++) {
        const struct trace_sync e = {.kind = UPMU_TRACE_LOCK_BLOCK,
                                     .object_type = UPMU_OBJECT_MUTEX,
                                     .object = i % 7 ? i : 0,
                                     .site = i % 3 ? i : 0};
        ck_assert(upmu_trace_sync_(s, tick_now(), &e));
    }
    trace_stream_release(s);
    trace_writer_close(w);

    read_array(&schema, &array);
    const struct ArrowArray *object = column(&schema, &array, "object"), *site = column(&schema, &array, "site");
    ck_assert_int_eq(array.length, ROWS);
    ck_assert_int_eq(object->null_count, (ROWS + 6) / 7);
    ck_assert_int_eq(site->null_count, (ROWS + 2) / 3);
    for (size_t i = 0; i < ROWS; i++) {
        ck_assert_int_eq(present(object, i), i % 7 != 0);
        ck_assert_int_eq(present(site, i), i % 3 != 0);
        ck_assert_uint_eq(((const uint64_t *)object->buffers[1])[i], i % 7 ? i : 0);
    }
    array.release(&array);
    schema.release(&schema);
}
END_TEST

START_TEST(wrong_streams_are_refused)
{
    struct ArrowArrayStream stream;
    struct upmu_arrow_opts opts = UPMU_INIT(struct upmu_arrow_opts, .rows = (1u << 24) + 1);
    record();
    struct upmu_trace *t = trace_of(recording);
    ck_assert_int_eq(upmu_trace_arrow(NULL, NULL, &stream), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_trace_arrow(t, NULL, NULL), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_trace_arrow(t, &opts, &stream), UPMU_E_INVAL);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "at most 16777216"));
    ck_assert_uint_eq(count(t, NULL, 0, 0), EVENTS); /* unchanged, and still the caller's */
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("filter");
    tcase_add_checked_fixture(cases, recording_set_up, recording_tear_down);
    tcase_add_test(cases, events_are_filtered_by_every_field);
    tcase_add_test(cases, wrong_filters_are_refused);
    tcase_add_test(cases, arrays_have_the_events);
    tcase_add_test(cases, names_differ_at_every_byte);
    tcase_add_test(cases, zeros_are_missing);
    tcase_add_test(cases, wrong_streams_are_refused);
    return run_suite("trace filter and columns", cases);
}

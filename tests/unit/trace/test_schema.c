/* SPDX-License-Identifier: MIT */
/* The table of events, its TSDL text, and what a reader makes of that text. */
#include "base/text/textbuf.h"
#include "suite.h"
#include "trace/format/ctf.h"
#include "trace/read/meta.h"
#include "trace/write/metadata.h"
#include "trace/format/schema.h"

static const char *const two[] = {"page_faults", "cycles_u"};

static void expect_text(struct textbuf *b, const char *wanted)
{
    ck_assert_msg(strstr(b->data, wanted) != NULL, "'%s' is not in:\n%s", wanted, b->data);
}

START_TEST(classes_become_tsdl_with_a_field_per_counter)
{
    struct textbuf b = {0};
    schema_classes_text(&b, two, 2);
    expect_text(&b, "    name = \"region_begin\";\n    id = 0;\n    stream_id = 0;\n"
                    "    fields := struct { string name; u64 _page_faults; u64 _cycles_u; status8 status[2];"
                    " i8 cause[2]; u64 time; };\n");
    expect_text(&b, "name = \"region_end_full\";\n    id = 84;\n    stream_id = 0;\n"
                    "    fields := struct { string name; u64 _page_faults; u64 _cycles_u; i32 status[2];"
                    " i32 cause[2]; u64 raw[2]; u64 enabled[2]; u64 running[2]; };\n");
    expect_text(&b, "name = \"mark\";\n    id = 6;\n    stream_id = 0;\n    fields := struct { string text; };\n");
    textbuf_free(&b);
}
END_TEST

START_TEST(without_counters_there_are_no_empty_arrays)
{
    struct textbuf b = {0};
    schema_classes_text(&b, NULL, 0);
    ck_assert_ptr_null(strstr(b.data, "[0]"));
    ck_assert_ptr_null(strstr(b.data, "status"));
    expect_text(&b, "fields := struct { string name; };");
    textbuf_free(&b);
}
END_TEST

START_TEST(packet_context_has_the_size_of_its_struct)
{
    size_t bytes = offsetof(struct ctf_packet, timestamp_begin);
    for (size_t i = 0; i < schema_packet_context_fields; i++) {
        const struct schema_field *f = &schema_packet_context[i];
        bytes += schema_type_bytes(f->type) * (f->length ? f->length : 1);
    }
    ck_assert_uint_eq(bytes, sizeof(struct ctf_packet));
}
END_TEST

START_TEST(every_type_is_found_by_its_name)
{
    for (int t = 0; t < SCHEMA_TYPES; t++) {
        const char *name = schema_type_name((enum schema_type)t);
        ck_assert_int_eq((int)schema_type_named(name, strlen(name)), t);
        ck_assert_int_eq(schema_type_bytes((enum schema_type)t) == 0, t == SCHEMA_STRING);
    }
    ck_assert_int_eq((int)schema_type_named("u", 1), SCHEMA_TYPES);
    ck_assert_int_eq((int)schema_type_named("u640", 4), SCHEMA_TYPES);
}
END_TEST

START_TEST(counter_names_become_distinct_fields)
{
    static const struct {
        const char *counter, *field;
    } rows[] = {
        {"page-faults", "page_faults"},
        {"page_faults", "page_faults_1_0"},
        {"cycles:u", "cycles_u"},
        {"msr/tsc/", "msr_tsc_"},
        {"time", "time_4_0"},
        {"status", "status_5_0"},
        {"", "counter"},
        {"\xc3\xa9", "__"},
        {"text", "text_8_0"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    char fields[ROWS][SCHEMA_FIELD_NAME_MAX];
    const char *taken[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        schema_counter_field(fields[i], rows[i].counter, i, taken, i);
        ck_assert_str_eq(fields[i], rows[i].field);
        taken[i] = fields[i];
    }
}
END_TEST

START_TEST(long_counter_names_stay_distinct)
{
    char counter[400], fields[2][SCHEMA_FIELD_NAME_MAX];
    const char *taken[1] = {fields[0]};
    memset(counter, 'x', sizeof counter - 1);
    counter[sizeof counter - 1] = '\0';
    schema_counter_field(fields[0], counter, 0, taken, 0);
    schema_counter_field(fields[1], counter, 1, taken, 1);
    ck_assert_uint_lt(strlen(fields[0]), SCHEMA_FIELD_NAME_MAX);
    ck_assert_str_ne(fields[0], fields[1]);
}
END_TEST

/* ------------------------------------------------------------------------------------------------- read back */

static struct trace_counter counters[] = {{"page-faults", "", ""}, {"task-clock", "ns", "in \"about\""}};
static char fields[2][SCHEMA_FIELD_NAME_MAX] = {"page_faults", "task_clock"};

static struct metadata example(void)
{
    struct metadata m = {
        .uuid = {1, 2, 3, 0xff},
        .clock_uuid = "00112233-4455-6677-8899-aabbccddeeff",
        .pid = 4711,
        .host = "ho\"st\\",
        .kernel = "Linux 6.1",
        .command = "prog\targ \xe4\xb8\xad \x01 end",
        .clock_source = "TSC",
        .start_ns = 1700000000123456789u,
        .origin = {.tick = 1000, .raw_ns = 2000, .monotonic_ns = 3000, .realtime_ns = 1700000000000000000u, .width = 7},
        .clock = {.hz = 2500000001u, .offset_s = -5, .offset = 17},
        .n_counters = 2,
        .counters = counters,
        .fields = fields,
    };
    return m;
}

static int parse(const struct textbuf *b, struct meta *m)
{
    return meta_parse(m, b->data, b->len, "metadata");
}

START_TEST(what_is_written_is_read)
{
    struct textbuf b = {0};
    struct meta m;
    struct metadata from = example();
    metadata_text(&b, &from);
    ck_assert_msg(parse(&b, &m) == 0, "%s", upmu_error());
    ck_assert_mem_eq(m.uuid, from.uuid, sizeof m.uuid);
    ck_assert_str_eq(m.clock_uuid, from.clock_uuid);
    ck_assert_int_eq(m.pid, from.pid);
    ck_assert_str_eq(m.host, from.host);
    ck_assert_str_eq(m.kernel, from.kernel);
    ck_assert_str_eq(m.command, from.command);
    ck_assert_uint_eq(m.start_ns, from.start_ns);
    ck_assert(!m.complete && !m.portable_clock);
    ck_assert_mem_eq(&m.origin, &from.origin, sizeof m.origin);
    ck_assert_mem_eq(&m.clock, &from.clock, sizeof m.clock);
    ck_assert_uint_eq(m.n_counters, 2);
    ck_assert_str_eq(m.counters[1], "task-clock");
    ck_assert_uint_eq(m.n_classes, SCHEMA_IDS);
    for (size_t id = 0; id < SCHEMA_IDS; id++) {
        ck_assert(m.classes[id].defined && m.classes[id].readable);
        ck_assert_int_eq(m.classes[id].kind, schema_classes[id].kind);
    }
    meta_free(&m);
    textbuf_free(&b);
}
END_TEST

/* The example's text with the first `from` replaced by `to`. */
static struct textbuf altered(const char *from, const char *to)
{
    struct textbuf whole = {0}, b = {0};
    struct metadata m = example();
    metadata_text(&whole, &m);
    const char *at = strstr(whole.data, from);
    ck_assert_msg(at != NULL, "'%s' is not in the metadata", from);
    textbuf_add(&b, whole.data, (size_t)(at - whole.data));
    textbuf_printf(&b, "%s%s", to, at + strlen(from));
    textbuf_free(&whole);
    return b;
}

static void expect_refusal(const char *from, const char *to, int code, const char *message)
{
    struct meta m;
    struct textbuf b = altered(from, to);
    ck_assert_int_eq(parse(&b, &m), code);
    ck_assert_msg(strstr(upmu_error(), message) != NULL, "'%s' is not in '%s'", message, upmu_error());
    textbuf_free(&b);
}

START_TEST(what_cannot_be_read_is_refused_with_its_reason)
{
    expect_refusal("schema_major = 2", "schema_major = 3", UPMU_E_VERSION, "newer");
    expect_refusal("schema_major = 2", "schema_major = 1", UPMU_E_VERSION, "older");
    expect_refusal("schema_major = 2", "schema_major = -1", UPMU_E_FORMAT, "version");
    expect_refusal("\"upmu\"", "\"lttng-ust\"", UPMU_E_FORMAT, "not the metadata of a libupmu trace");
    expect_refusal("freq = 2500000001", "freq = 0", UPMU_E_FORMAT, "clock");
    expect_refusal("counter_count = 2", "counter_count = 99999999999999999999", UPMU_E_FORMAT, "counters");
    expect_refusal("counter_count = 2", "counter_count = 3", UPMU_E_FORMAT, "a counter has no field");
    expect_refusal("status8 status[2]", "status8 status[3]", UPMU_E_FORMAT, "type or length");
    expect_refusal("u64 _page_faults", "string _page_faults", UPMU_E_FORMAT, "type or length");
    expect_refusal("hex64 frames[frames_length]", "u32 frames[frames_length]", UPMU_E_FORMAT, "type or length");
    expect_refusal("hex64 frames[frames_length]", "hex64 frames[3]", UPMU_E_FORMAT, "type or length");
    expect_refusal("u32 stack; hex64 object", "u32 stack; string object", UPMU_E_FORMAT, "type or length");
    expect_refusal("u32 stack; hex64 object", "u32 stack; hex64 object[2]", UPMU_E_FORMAT, "type or length");
    expect_refusal("u64 _task_clock", "u64 _task_clock[2]", UPMU_E_FORMAT, "type or length");
    expect_refusal("uuid = \"010203ff", "uuid = \"01020", UPMU_E_FORMAT, "uuid");
    const char *other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "byte_order = be" : "byte_order = le";
    const char *ours = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "byte_order = le" : "byte_order = be";
    expect_refusal(ours, other, UPMU_E_VERSION, "byte order");
}
END_TEST

START_TEST(a_newer_minor_version_is_read)
{
    struct meta m;
    struct textbuf b = altered("schema_minor = 0", "schema_minor = 7");
    textbuf_printf(&b,
                   "callsite { x = 1; };\n"
                   "event { name = \"lock_wait\"; id = %d; stream_id = 0;\n"
                   "  fields := struct { hex64 lock; string site; u32 frames[3]; u8 n; i32 codes[n]; }; };\n"
                   "event { name = \"odd\"; id = %d; fields := struct { variant <x> { u8 a; } v; }; };\n"
                   "event { name = \"far\"; id = %d; fields := struct { u8 n; u8 other; i32 codes[n]; }; };\n"
                   "event { name = \"wide\"; id = %d; fields := struct { u64 n; i32 codes[n]; }; };\n"
                   "event { name = \"words\"; id = %d; fields := struct { u8 n; string words[n]; }; };\n",
                   SCHEMA_IDS, SCHEMA_IDS + 1, SCHEMA_IDS + 2, SCHEMA_IDS + 3, SCHEMA_IDS + 4);
    ck_assert_msg(parse(&b, &m) == 0, "%s", upmu_error());
    ck_assert_uint_eq(m.n_classes, SCHEMA_IDS + 5);
    const struct meta_class *added = &m.classes[SCHEMA_IDS];
    const struct meta_op *ops = &m.ops[added->first_op];
    ck_assert(added->readable && added->kind == 0);
    ck_assert_uint_eq(added->n_ops, 5);
    ck_assert_uint_eq(ops[2].count, 3);
    ck_assert(!ops[3].sequence && ops[4].sequence);
    for (int i = 1; i < 5; i++) /* sequences whose length is not right before them, or of no use, and the variant */
        ck_assert(!added[i].readable);
    meta_free(&m);
    textbuf_free(&b);
}
END_TEST

START_TEST(any_beginning_of_a_metadata_text_is_survived)
{
    struct meta m;
    struct textbuf b = {0};
    struct metadata from = example();
    metadata_text(&b, &from);
    for (size_t len = 0; len < b.len; len += len < 4096 ? 1 : 7) { /* all constructs are in the first part */
        char *copy = malloc(len + 1);                              /* exactly as long, for the sanitizer */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, b.data, len);
        if (meta_parse(&m, copy, len, "beginning") == 0)
            meta_free(&m);
        free(copy);
    }
    textbuf_free(&b);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("schema");
    tcase_set_timeout(cases, 60); /* sanitizers are slow where every beginning of a text is tried */
    tcase_add_test(cases, classes_become_tsdl_with_a_field_per_counter);
    tcase_add_test(cases, without_counters_there_are_no_empty_arrays);
    tcase_add_test(cases, packet_context_has_the_size_of_its_struct);
    tcase_add_test(cases, every_type_is_found_by_its_name);
    tcase_add_test(cases, counter_names_become_distinct_fields);
    tcase_add_test(cases, long_counter_names_stay_distinct);
    tcase_add_test(cases, what_is_written_is_read);
    tcase_add_test(cases, what_cannot_be_read_is_refused_with_its_reason);
    tcase_add_test(cases, a_newer_minor_version_is_read);
    tcase_add_test(cases, any_beginning_of_a_metadata_text_is_survived);
    return run_suite("trace schema", cases);
}

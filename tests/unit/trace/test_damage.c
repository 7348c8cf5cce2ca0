/* SPDX-License-Identifier: MIT */
/* Truncated, half-written, damaged, foreign and growing traces: committed events are read, damage is reported. */
#include <errno.h>
#include <sys/wait.h>

#include "base/sanitizer.h"
#include "base/tick.h"
#include "suite.h"
#include "trace/format/control.h"
#include "trace/format/ctf.h"

static size_t page; /* and packet */
static int events;  /* enough for several packets */

static char process[PATH_MAX], stream[PATH_MAX], metadata[PATH_MAX];

/* A complete trace of one stream with several packets; its writer is another process, long gone. */
static void trace_set_up(void)
{
    recording_set_up();
    page = (size_t)sysconf(_SC_PAGESIZE);
    events = (int)(page / 14);
    events -= events % 3;
    static const struct trace_counter two[] = {{"page-faults", "", ""}, {"cycles", "", ""}};
    struct trace_writer *w = writer_with(two, 2, page);
    struct trace_stream *s = stream_of(w, 7);
    const struct upmu_value short_form[2] = {{1, 1, 5, 5, UPMU_EXACT, 0}, {UPMU_NO_VALUE, 0, 0, 0, UPMU_REFUSED, -6}};
    const struct upmu_value full_form[2] = {{1, 1, 5, 5, UPMU_EXACT, 0}, {9, 3, 30, 10, UPMU_SCALED, 0}};
    for (int i = 0; i < events; i++) {
        if (i % 3 == 2)
            ck_assert(trace_mark(s, tick_now(), "a mark", 6));
        else
            ck_assert(trace_region(s, i % 2, tick_now(), "region", 6, i % 3 ? short_form : full_form));
    }
    trace_stream_release(s);
    trace_writer_close(w);
    snprintf(process, sizeof process, "%s", trace_writer_dir(w));
    path_in(stream, process, "stream_0000");
    path_in(metadata, process, "metadata");
    trace_writer_forget_parent(trace_writer_forget(w),
                               TRACE_CHILD_RECORDED); /* releases the lock that marks it "alive" */
    /* The process id in the control file is this one's; without it the trace is that of a process that is gone. */
    char control[PATH_MAX];
    ck_assert_int_eq(unlink(path_in(control, process, ".control")), 0);
}

/* A trace of the same form with synchronization events, stacks and modules instead. */
static void sync_trace_set_up(void)
{
    static const uint64_t frames[] = {1, 2, 3, 4, 5};
    recording_set_up();
    struct trace_writer *w = writer_with(NULL, 0, page);
    struct trace_stream *s = stream_of(w, 7);
    for (uint32_t i = 0; i < page / 10; i++) {
        struct trace_sync e = {
            .kind = UPMU_TRACE_LOCK_BLOCK + (int32_t)i % 10, .object = i, .stack = i / 7, .name = "n"};
        e.object_type = i % 2 ? UPMU_OBJECT_MUTEX : UPMU_OBJECT_SEM;
        if (i % 7 == 0)
            ck_assert(upmu_trace_stack_(s, tick_now(), i / 7, 1, false, frames, i % 6));
        if (i % 50 == 0)
            ck_assert(upmu_trace_module_(s, tick_now(), i, i, i, "0123456789abcdef", "/lib/a.so"));
        ck_assert(upmu_trace_sync_(s, tick_now(), &e));
    }
    trace_stream_release(s);
    trace_writer_close(w);
    snprintf(process, sizeof process, "%s", trace_writer_dir(w));
    path_in(stream, process, "stream_0000");
    path_in(metadata, process, "metadata");
    trace_writer_forget_parent(trace_writer_forget(w), TRACE_CHILD_RECORDED);
    char control[PATH_MAX];
    ck_assert_int_eq(unlink(path_in(control, process, ".control")), 0);
}

/* Everything an event refers to lies in memory that may be read. */
static uint64_t touch_stack(const struct upmu_trace *t, const struct upmu_trace_event *e)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    uint64_t sum = 0;
    if (e->stack == 0 || upmu_trace_stack_find(t, e->process, e->stack, &stack) != 0)
        return 0;
    for (uint32_t i = 0; i < stack.n_frames; i++)
        sum += stack.frames[i];
    return sum;
}

static size_t touch_modules(const struct upmu_trace *t)
{
    size_t sum = 0;
    struct upmu_trace_module m = {.size = sizeof m};
    for (size_t i = 0; upmu_trace_module_at(t, 0, i, &m) == 0; i++)
        sum += strlen(m.path) + strlen(m.build_id);
    return sum;
}

static bool touching;             /* lookups that fail have a message of their own */
static volatile uint64_t touched; /* so that the above is really done */

/* Read to the end. @return events; `*errors` counts the codes below 0 on the way. */
static int read_all(const char *dir, int *errors)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int n = 0;
    *errors = 0;
    int rc = upmu_trace_open(&t, dir);
    if (rc != 0) {
        ck_assert_ptr_null(t);
        *errors = 1;
        return 0;
    }
    uint64_t last = 0;
    while ((rc = upmu_trace_next(t, &e)) != 0) {
        if (rc < 0) {
            ck_assert_ptr_null(e);
            ck_assert_int_lt(++*errors, 10);
            continue;
        }
        ck_assert_uint_ge(e->time_ns, last);
        ck_assert_uint_lt(strlen(e->name), 1 << 20);
        last = e->time_ns;
        if (touching)
            touched += touch_stack(t, e);
        n++;
    }
    if (touching)
        touched += touch_modules(t);
    upmu_trace_close(t);
    return n;
}

static struct upmu_trace_repair_result repaired(int code)
{
    struct upmu_trace_repair_result r = {.size = sizeof r};
    int rc = upmu_trace_repair(recording, &r);
    ck_assert_msg(rc == code, "%d: %s", rc, upmu_error());
    return r;
}

static void append(const char *path, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
    close(fd);
}

static struct ctf_packet head_at(size_t offset)
{
    struct ctf_packet head;
    size_t len;
    char *bytes = read_whole(stream, &len);
    ck_assert_uint_le(offset + sizeof head, len);
    memcpy(&head, bytes + offset, sizeof head);
    free(bytes);
    return head;
}

static void put_head(size_t offset, const struct ctf_packet *head)
{
    int fd = open(stream, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, head, sizeof *head, (off_t)offset), (ssize_t)sizeof *head);
    close(fd);
}

START_TEST(a_tail_that_was_never_committed_is_passed_over_and_cut)
{
    int errors;
    char zeros[8192] = {0};
    size_t len = file_size(stream);
    struct ctf_packet half = head_at(0);
    half.magic = 0;
    memcpy(zeros, &half, sizeof half); /* a packet whose head was being written */
    static const size_t lengths[] = {1, 100, sizeof(struct ctf_packet), 4096, 8192};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        append(stream, i < 2 ? zeros + 4096 : zeros, lengths[i]);
        ck_assert_int_eq(read_all(recording, &errors), events);
        ck_assert_int_eq(errors, 0);
        struct upmu_trace_repair_result r = repaired(0);
        ck_assert_uint_eq(r.processes, 1);
        ck_assert_uint_eq(r.running, 0);
        ck_assert_uint_eq(r.trimmed, 1);
        ck_assert_uint_eq(r.bytes, lengths[i]);
        ck_assert_uint_eq(file_size(stream), len);
        ck_assert_uint_eq(repaired(0).trimmed, 0);
        ck_assert_int_eq(read_all(recording, &errors), events);
        ck_assert_int_eq(errors, 0);
    }
}
END_TEST

START_TEST(a_file_cut_at_any_byte_gives_what_is_left_and_an_error)
{
    int errors, last = 0;
    size_t len = file_size(stream);
    size_t content_end = 0;
    for (size_t offset = 0; offset < len; offset += head_at(offset).packet_size / 8)
        content_end = offset + head_at(offset).content_size / 8;
    char *whole = read_whole(stream, &len);
    /* Each byte of the first packet's head and events of each form, and of the second one's; then every 61st. */
    for (size_t cut = 0; cut < len; cut += cut < 1500 || (cut + 200 > page && cut < page + 500) ? 1 : 61) {
        write_whole(stream, whole, cut);
        int n = read_all(recording, &errors);
        ck_assert_int_ge(n, last);
        ck_assert_int_le(n, events);
        last = n;
        ck_assert_msg(errors == 1, "cut at %zu: %d events, %d errors, %s", cut, n, errors, upmu_error());
        if (cut >= content_end)
            ck_assert_int_eq(n, events);
    }
    free(whole);
}
END_TEST

START_TEST(a_missing_file_is_reported)
{
    int errors;
    ck_assert_int_eq(unlink(stream), 0);
    ck_assert_int_eq(read_all(recording, &errors), 0);
    ck_assert_int_eq(errors, 1);
    ck_assert_msg(strstr(upmu_error(), "are missing") != NULL, "%s", upmu_error());
}
END_TEST

START_TEST(a_last_packet_cut_behind_its_events_is_repaired)
{
    int errors;
    size_t len = file_size(stream);
    ck_assert_int_eq(truncate(stream, (off_t)len - 1), 0);
    ck_assert_int_eq(read_all(recording, &errors), events);
    ck_assert_int_eq(errors, 1);
    ck_assert_uint_eq(repaired(0).trimmed, 1);
    ck_assert_int_eq(read_all(recording, &errors), events);
    ck_assert_int_eq(errors, 0);
}
END_TEST

START_TEST(missing_events_are_not_repaired)
{
    ck_assert_int_eq(truncate(stream, (off_t)page + 2000), 0);
    struct upmu_trace_repair_result r = repaired(UPMU_E_FORMAT);
    ck_assert_uint_eq(r.trimmed, 0);
    ck_assert_uint_eq(file_size(stream), page + 2000);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "stream_0000"));
}
END_TEST

START_TEST(damage_ends_a_stream_and_not_the_others)
{
    int errors;
    char other[PATH_MAX];
    size_t len;
    char *bytes = read_whole(stream, &len);
    write_whole(path_in(other, process, "stream_0001"), bytes, len);
    free(bytes);
    struct ctf_packet head = head_at(page);
    head.uuid[3] ^= 1;
    put_head(page, &head);
    int n = read_all(recording, &errors);
    ck_assert_int_eq(errors, 1);
    ck_assert_int_gt(n, events);
    ck_assert_int_lt(n, 2 * events);
    ck_assert_msg(strstr(upmu_error(), "stream_0000\", byte ") != NULL, "%s", upmu_error());
    ck_assert_uint_eq(repaired(UPMU_E_FORMAT).trimmed, 0);
}
END_TEST

/* Invalid heads of the second packet. */
static void lie_magic(struct ctf_packet *h)
{
    h->magic ^= 0x100;
}
static void lie_no_magic(struct ctf_packet *h)
{
    h->magic = 0; /* with events behind it, this is no packet being set up */
}
static void lie_stream(struct ctf_packet *h)
{
    h->stream_id = 1;
}
static void lie_content_short(struct ctf_packet *h)
{
    h->content_size = (sizeof *h - 1) * 8;
}
static void lie_content_long(struct ctf_packet *h)
{
    h->content_size = h->packet_size + 8;
}
static void lie_content_bits(struct ctf_packet *h)
{
    h->content_size += 1;
}
static void lie_content_huge(struct ctf_packet *h)
{
    h->content_size = UINT64_MAX & ~UINT64_C(7);
    h->packet_size = h->content_size;
}
static void lie_size_huge(struct ctf_packet *h)
{
    h->packet_size = UINT64_C(1) << 63;
}
static void lie_back_in_time(struct ctf_packet *h)
{
    h->timestamp_begin = 1;
}
static void lie_end(struct ctf_packet *h)
{
    h->timestamp_end = h->timestamp_begin - 1;
}
static void lie_early_end(struct ctf_packet *h)
{
    h->timestamp_end = h->timestamp_begin; /* of the first event */
}
static void lie_count(struct ctf_packet *h)
{
    h->event_count += 1;
}
static void lie_less_content(struct ctf_packet *h)
{
    h->content_size -= 8;
}

static void (*const lies[])(struct ctf_packet *) = {
    lie_magic,        lie_no_magic,     lie_stream,      lie_content_short, lie_content_long,
    lie_content_bits, lie_content_huge, lie_size_huge,   lie_back_in_time,  lie_end,
    lie_early_end,    lie_count,        lie_less_content};
enum { LIES = sizeof lies / sizeof *lies };

START_TEST(a_wrong_packet_head_is_detected)
{
    int errors;
    struct ctf_packet head = head_at(page);
    lies[_i](&head);
    put_head(page, &head);
    int n = read_all(recording, &errors);
    ck_assert_int_eq(errors, 1);
    ck_assert_int_lt(n, events);
    ck_assert_msg(strstr(upmu_error(), "stream_0000") != NULL, "%s", upmu_error());
}
END_TEST

START_TEST(an_unknown_class_is_reported)
{
    int errors;
    int fd = open(stream, O_WRONLY | O_CLOEXEC);
    uint8_t head[CTF_LONG_HEAD_BYTES] = {ctf_long_mark()};
    uint32_t id = 1000;
    memset(head + 1, 0xff, sizeof head - 1);
    memcpy(head + 1, &id, sizeof id);
    ck_assert_int_eq(pwrite(fd, head, sizeof head, sizeof(struct ctf_packet)), (ssize_t)sizeof head);
    close(fd);
    ck_assert_int_eq(read_all(recording, &errors), 0);
    ck_assert_int_eq(errors, 1);
    ck_assert_ptr_nonnull(strstr(upmu_error(), "class"));
}
END_TEST

/* Replace text in the metadata. */
static void alter_metadata(const char *from, const char *to)
{
    size_t len;
    char *text = read_whole(metadata, &len), *altered = NULL;
    char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    *at = '\0';
    int n = asprintf(&altered, "%s%s%s", text, to, at + strlen(from));
    write_whole(metadata, altered, (size_t)n);
    free(altered);
    free(text);
}

static void expect_open(const char *dir, int code, const char *message)
{
    struct upmu_trace *t;
    ck_assert_int_eq(upmu_trace_open(&t, dir), code);
    ck_assert_ptr_null(t);
    ck_assert_msg(strstr(upmu_error(), message) != NULL, "%s", upmu_error());
}

START_TEST(what_is_no_trace_of_ours_is_refused)
{
    char path[PATH_MAX];
    expect_open("/nowhere/at/all", UPMU_E_IO, "/nowhere/at/all");
    expect_open(stream, UPMU_E_IO, "stream_0000");
    alter_metadata("schema_major = 2", "schema_major = 3");
    expect_open(recording, UPMU_E_VERSION, "newer");
    struct upmu_trace_repair_result r = {.size = sizeof r};
    ck_assert_int_eq(upmu_trace_repair(recording, &r), UPMU_E_VERSION);
    alter_metadata("tracer_name = \"upmu\"", "tracer_name = \"other\"");
    expect_open(recording, UPMU_E_FORMAT, "not the metadata of a libupmu trace");
    write_whole(metadata, "\xc1\x1f\xfc\x57 packets of metadata", 20);
    expect_open(process, UPMU_E_FORMAT, "metadata");
    write_whole(metadata, "", 0);
    expect_open(recording, UPMU_E_FORMAT, "metadata");
    ck_assert_int_eq(unlink(metadata), 0);
    expect_open(recording, UPMU_E_FORMAT, "no metadata");
    ck_assert_int_eq(mkfifo(metadata, 0600), 0);
    expect_open(recording, UPMU_E_FORMAT, "no metadata");
    ck_assert_int_eq(mkfifo(path_in(path, process, "stream_0001"), 0600), 0);
}
END_TEST

START_TEST(a_newer_minor_version_is_passed_over_event_by_event)
{
    int errors;
    /* The same events under another name: known in length, not in meaning. */
    alter_metadata("name = \"mark\"", "name = \"remark\"");
    ck_assert_int_eq(read_all(recording, &errors), events - events / 3);
    ck_assert_int_eq(errors, 0);
}
END_TEST

START_TEST(structs_of_another_size_are_handled)
{
    struct {
        struct upmu_trace_repair_result known;
        uint64_t unknown;
    } larger = {.known.size = sizeof larger, .unknown = 0};
    ck_assert_int_eq(upmu_trace_repair(recording, &larger.known), 0);
    ck_assert_uint_eq(larger.known.processes, 1);
    ck_assert_uint_eq(larger.known.size, sizeof larger.known);
    larger.known.size = sizeof larger.known - 1;
    ck_assert_int_eq(upmu_trace_repair(recording, &larger.known), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_trace_repair(NULL, &larger.known), UPMU_E_INVAL);
    struct upmu_trace *t = trace_of(recording);
    struct upmu_trace_process p = {.size = 8};
    ck_assert_int_eq(upmu_trace_process_at(t, 0, &p), UPMU_E_INVAL);
    ck_assert_int_eq(upmu_trace_process_at(t, 1, &p), UPMU_E_END);
    upmu_trace_close(t);
    upmu_trace_close(NULL);
}
END_TEST

/* ------------------------------------------------------------------------------------------------- mutations */

static uint64_t random_state;

/* xorshift: the same mutations in every run, and `_i` names the batch that failed. */
static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* Most bytes of a packet are events, but heads and lengths are where damage hurts: they get half of it. */
static size_t random_place(size_t len)
{
    size_t packet = random_below(len / page + 1) * page;
    size_t place = random_below(2) ? packet + random_below(sizeof(struct ctf_packet) + 40) : random_below(len);
    return place < len ? place : len - 1;
}

static size_t mutate(char *bytes, size_t len)
{
    static const uint64_t telling[] = {0, 1, 0x7f, 0x80, 0xff, 0xffff, UINT32_MAX, INT64_MAX, UINT64_MAX, 1u << 15};
    for (uint64_t n = 1 + random_below(4); n > 0 && len > 0; n--) {
        size_t at = random_place(len);
        size_t most = len - at < 8 ? len - at : 8;
        switch (random_below(5)) {
        case 0:
            bytes[at] = (char)(bytes[at] ^ 1 << random_below(8));
            break;
        case 1:
            bytes[at] = (char)random_below(256);
            break;
        case 2:
            memcpy(bytes + at, &telling[random_below(sizeof telling / sizeof *telling)], most);
            break;
        case 3:
            memset(bytes + at, 0, random_below(len - at + 1));
            break;
        default:
            len = random_below(20) ? len : at;
        }
    }
    return len;
}

enum { BATCHES = 8, PER_BATCH = UNDER_ASAN ? 100 : 250 };

START_TEST(no_mutation_does_more_than_an_error)
{
    int errors;
    size_t stream_len, metadata_len;
    touching = true;
    if (_i % 2) {
        recording_tear_down();
        sync_trace_set_up();
        ck_assert_int_gt(read_all(recording, &errors), 100);
        ck_assert_int_eq(errors, 0);
        ck_assert_uint_gt(touched, 0);
    }
    char *good_stream = read_whole(stream, &stream_len), *good_metadata = read_whole(metadata, &metadata_len);
    char *bad_stream = malloc(stream_len), *bad_metadata = malloc(metadata_len);
    ck_assert(bad_stream && bad_metadata);
    random_state = 0x9e3779b97f4a7c15u + (uint64_t)_i;
    for (int i = 0; i < PER_BATCH; i++) {
        size_t len = stream_len;
        memcpy(bad_stream, good_stream, stream_len);
        if (random_below(4))
            len = mutate(bad_stream, stream_len);
        write_whole(stream, bad_stream, len);
        memcpy(bad_metadata, good_metadata, metadata_len);
        len = metadata_len;
        if (random_below(4) == 0)
            len = mutate(bad_metadata, metadata_len);
        write_whole(metadata, bad_metadata, len);
        struct upmu_trace_repair_result r = {.size = sizeof r};
        (void)read_all(recording, &errors);
        int rc = upmu_trace_repair(recording, &r);
        ck_assert(rc == 0 || rc == UPMU_E_FORMAT || rc == UPMU_E_VERSION);
        (void)read_all(recording, &errors);
    }
    free(bad_metadata);
    free(bad_stream);
    free(good_metadata);
    free(good_stream);
}
END_TEST

/* ------------------------------------------------------------------------------------------------- live, dead */

START_TEST(a_live_trace_is_read_and_not_repaired)
{
    struct trace_writer *w = writer_with(NULL, 0, 4096);
    struct trace_stream *s = stream_of(w, 9);
    ck_assert(trace_mark(s, tick_now(), "first", 5));
    struct upmu_trace *t = trace_of(trace_writer_dir(w));
    ck_assert_str_eq(must_read(t)->name, "first");
    /* What is written while a packet is being read is not passed over, over packets and the end of the thread. */
    for (int i = 0; i < 500; i++) {
        char text[40];
        snprintf(text, sizeof text, "%d", i);
        ck_assert(trace_mark(s, tick_now(), text, strlen(text)));
        if (i == 400)
            trace_stream_release(s);
        if (i == 400)
            s = stream_of(w, 10);
    }
    for (int i = 0; i < 500; i++) {
        const struct upmu_trace_event *e = must_read(t);
        ck_assert_int_eq(atoi(e->name), i);
        ck_assert_int_eq(e->tid, i <= 400 ? 9 : 10);
    }
    must_end(t);
    ck_assert_uint_eq(process_of(t, 0).complete, 0);
    upmu_trace_close(t);
    struct upmu_trace_repair_result r = repaired(0);
    ck_assert_uint_eq(r.processes, 2);
    ck_assert_uint_eq(r.running, 1);
    ck_assert_uint_eq(r.trimmed, 0);
    trace_writer_close(w);
}
END_TEST

START_TEST(a_process_is_running_while_it_holds_the_lock_or_its_id)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct trace_writer *w = writer_with(NULL, 0, 4096);
        ck_assert(trace_mark(stream_of(w, 9), tick_now(), "x", 1));
        ck_assert_int_eq(write(ready[1], "r", 1), 1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_uint_eq(repaired(0).running, 1);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    struct upmu_trace_repair_result r = repaired(0);
    ck_assert_uint_eq(r.processes, 2);
    ck_assert_uint_eq(r.running, 0);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

START_TEST(a_pipe_in_place_of_the_control_file_is_not_waited_for)
{
    char path[PATH_MAX];
    struct upmu_trace_repair_result r = {.size = sizeof r};
    ck_assert_int_eq(mkfifo(path_in(path, process, ".control"), 0600), 0);
    int dirfd = open(process, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(dirfd, 0);
    ck_assert_int_eq(control_is_running(dirfd), -EINVAL);
    ck_assert_int_eq(close(dirfd), 0);
    ck_assert_int_eq(upmu_trace_repair(recording, &r), UPMU_E_IO);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(a_child_that_let_go_does_not_keep_its_dead_parents_trace_alive)
{
    int ready[2];
    pid_t grandchild;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct trace_writer *w = writer_with(NULL, 0, 4096);
        pid_t own = fork();
        if (own == 0) {
            trace_writer_forget_parent(trace_writer_forget(w), TRACE_CHILD_RECORDED);
            own = getpid();
            ck_assert_int_eq(write(ready[1], &own, sizeof own), (ssize_t)sizeof own);
        }
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], &grandchild, sizeof grandchild), (ssize_t)sizeof grandchild);
    ck_assert_uint_eq(repaired(0).running, 1);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_uint_eq(repaired(0).running, 0);
    ck_assert_int_eq(kill(grandchild, SIGKILL), 0);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

/* Path of the metadata of the recording's one process. */
static void only_metadata(char *path)
{
    DIR *d = opendir(recording);
    ck_assert_ptr_nonnull(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.')
            ck_assert_int_lt(snprintf(path, PATH_MAX, "%s/%s/metadata", recording, e->d_name), PATH_MAX);
    closedir(d);
}

START_TEST(repair_gives_a_killed_process_the_clock_our_reader_uses)
{
    pid_t child = fork();
    if (child == 0) {
        struct trace_writer *w = writer_with(NULL, 0, 4096);
        struct trace_stream *s = stream_of(w, 9);
        for (uint64_t first = tick_now(); tick_now() - first < 100000000;)
            ck_assert(trace_mark(s, tick_now(), "x", 1));
        _exit(0); /* without closing: as good as killed */
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    char text_path[PATH_MAX], wanted[40];
    size_t len;
    ck_assert_int_eq(nftw(process, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
    struct upmu_trace *t = trace_of(recording);
    uint64_t hz = process_of(t, 0).clock_hz, ns = must_read(t)->time_ns;
    upmu_trace_close(t);
    only_metadata(text_path);
    snprintf(wanted, sizeof wanted, "freq = %llu;", (unsigned long long)hz);
    char *text = read_whole(text_path, &len);
    /* The first frequency, of a short measurement, may be the same by chance: make it another one, by less than the part of it by which
     * such a measurement can be wrong. */
    char *digit = strstr(text, wanted);
    if (digit && hz != 1000000000) { /* else ticks are the kernel's nanoseconds: there is nothing to measure */
        digit += strlen("freq = 1234");
        *digit = *digit == '9' ? '8' : (char)(*digit + 1);
        write_whole(text_path, text, len);
    }
    free(text);
    (void)repaired(0);
    t = trace_of(recording);
    ck_assert_uint_eq(process_of(t, 0).clock_hz, hz);
    ck_assert_uint_eq(process_of(t, 0).complete, 0);
    ck_assert_uint_eq(must_read(t)->time_ns, ns);
    upmu_trace_close(t);
    /* And it is the one written in the metadata, for every other reader. */
    text = read_whole(text_path, &len);
    ck_assert_ptr_nonnull(strstr(text, wanted));
    free(text);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("damage");
    tcase_set_timeout(cases, 100);
    tcase_add_checked_fixture(cases, trace_set_up, recording_tear_down);
    tcase_add_test(cases, a_tail_that_was_never_committed_is_passed_over_and_cut);
    tcase_add_test(cases, a_file_cut_at_any_byte_gives_what_is_left_and_an_error);
    tcase_add_test(cases, a_missing_file_is_reported);
    tcase_add_test(cases, a_last_packet_cut_behind_its_events_is_repaired);
    tcase_add_test(cases, missing_events_are_not_repaired);
    tcase_add_test(cases, damage_ends_a_stream_and_not_the_others);
    tcase_add_loop_test(cases, a_wrong_packet_head_is_detected, 0, LIES);
    tcase_add_test(cases, an_unknown_class_is_reported);
    tcase_add_test(cases, what_is_no_trace_of_ours_is_refused);
    tcase_add_test(cases, a_newer_minor_version_is_passed_over_event_by_event);
    tcase_add_test(cases, structs_of_another_size_are_handled);
    tcase_add_loop_test(cases, no_mutation_does_more_than_an_error, 0, BATCHES);
    tcase_add_test(cases, a_live_trace_is_read_and_not_repaired);
    tcase_add_test(cases, a_process_is_running_while_it_holds_the_lock_or_its_id);
    tcase_add_test(cases, a_pipe_in_place_of_the_control_file_is_not_waited_for);
    tcase_add_test(cases, a_child_that_let_go_does_not_keep_its_dead_parents_trace_alive);
    tcase_add_test(cases, repair_gives_a_killed_process_the_clock_our_reader_uses);
    return run_suite("trace damage", cases);
}

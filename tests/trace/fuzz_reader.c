/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target of the trace reader: open, read to the end, repair, read again.
 *
 * The first byte of the input selects the type of the rest:
 *     'S'  a stream file, beside sound metadata
 *     'M'  metadata, beside a sound stream file
 * Built with clang this is a libFuzzer target (fuzz_reader_live); always it is a program:
 *     fuzz_reader FILE...         give these inputs to the reader
 *     fuzz_reader --seeds DIR     write the inputs to begin with, as they are in tests/trace/seeds
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/textbuf.h"
#include "trace/format/ctf.h"
#include "trace/write/metadata.h"
#include "trace/format/schema.h"
#include "upmu/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[PATH_MAX - 64];

static void die(const char *what)
{
    perror(what);
    abort();
}

/* ---------------------------------------------------------------------------------------------- sound halves */

static void sound_metadata(struct textbuf *out)
{
    static struct trace_counter counters[] = {{"page-faults", "", ""}, {"cycles", "", ""}};
    static char fields[2][SCHEMA_FIELD_NAME_MAX] = {"page_faults", "cycles"};
    const struct metadata m = {
        .clock_uuid = "00000000-0000-0000-0000-000000000000",
        .pid = 1,
        .host = "host",
        .kernel = "Linux",
        .command = "command",
        .clock_source = "TSC",
        .origin = {.tick = 1, .raw_ns = 1, .realtime_ns = 1},
        .clock = {.hz = 1000000000},
        .n_counters = 2,
        .counters = counters,
        .fields = fields,
    };
    metadata_text(out, &m);
}

static void put(struct textbuf *out, uint64_t value, size_t bytes)
{
    char raw[8];
    memcpy(raw, &value, sizeof raw); /* the low bytes come first: seeds are for little-endian machines */
    textbuf_add(out, raw, bytes);
}

static void put_head(struct textbuf *out, uint32_t id, uint64_t tick)
{
    put(out, ctf_short_head(id, tick), 4);
}

static void put_long_head(struct textbuf *out, uint32_t id, uint64_t tick)
{
    put(out, CTF_ID_LONG, 1);
    put(out, id, 4);
    put(out, tick, 8);
}

/* Lock events with all their fields: one with numbers only, one with fields after a string. */
static void put_lock_events(struct textbuf *events, uint64_t tick)
{
    put_head(events, SCHEMA_ID_READ_ACQUIRE, tick);
    put(events, 1, 4);
    put(events, 0x602000, 8);
    put_head(events, SCHEMA_ID_FUTEX_WOKEN, tick);
    put(events, 0x603000, 8);
    put(events, 110, 4);
    put(events, 1, 4);
    put(events, 0x401000, 8);
    put(events, UPMU_TRACE_FLAG_TIMED, 2);
    put_long_head(events, SCHEMA_ID_LOCK_INIT, tick);
    put(events, 0x602000, 8);
    put(events, UPMU_OBJECT_RWLOCK, 1);
    put(events, 1, 4);
    put(events, 0x401000, 8);
    textbuf_add(events, "name", 5);
    put(events, UPMU_TRACE_FLAG_PSHARED, 2);
}

/* A packet with one event of each kind of field. */
static void sound_stream(struct textbuf *out)
{
    struct textbuf events = {0};
    put_head(&events, SCHEMA_ID_MARK, 10);
    textbuf_add(&events, "mark", 5);
    put_head(&events, SCHEMA_ID_REGION_BEGIN, 20);
    textbuf_add(&events, "r", 2);
    for (uint64_t i = 0; i < 2; i++)
        put(&events, i, 8);
    put(&events, UPMU_EXACT | UPMU_REFUSED << 8, 2);
    put(&events, 0xfa00, 2);
    put(&events, 99, 8);
    put_long_head(&events, SCHEMA_ID_REGION_END_FULL, UINT64_C(1) << 40);
    textbuf_add(&events, "r", 2);
    for (uint64_t i = 0; i < 2 + 1 + 1 + 6; i++)
        put(&events, i, 8);
    put_long_head(&events, SCHEMA_ID_STACK, UINT64_C(1) << 40);
    put(&events, 1, 4);      /* id */
    put(&events, 0x0101, 2); /* method, truncated */
    put(&events, 2, 2);      /* frames */
    put(&events, 0x401000, 8);
    put(&events, 0x402000, 8);
    put_head(&events, SCHEMA_ID_LOCK_RELEASE, UINT64_C(1) << 40);
    put(&events, 1, 4);
    put(&events, 0x601000, 8);
    put_lock_events(&events, UINT64_C(1) << 40);
    put_long_head(&events, SCHEMA_ID_MODULE, UINT64_C(1) << 40);
    for (uint64_t i = 0; i < 3; i++)
        put(&events, i, 8);
    textbuf_add(&events, "00ff", 5);
    textbuf_add(&events, "/lib/a.so", 10);
    struct ctf_packet head = {
        .magic = CTF_MAGIC,
        .timestamp_begin = 5,
        .timestamp_end = UINT64_C(1) << 40,
        .content_size = (sizeof head + events.len) * 8,
        .packet_size = (sizeof head + events.len + 16) * 8,
        .tid = 7,
        .clock_tick = 1000000000,
        .clock_raw = 1000000000,
    };
    textbuf_add(out, (const char *)&head, sizeof head);
    textbuf_add(out, events.data, events.len);
    put(out, 0, 8);
    put(out, 0, 8);
    textbuf_free(&events);
}

/* --------------------------------------------------------------------------------------------------- reading */

static void write_file(const char *name, const void *bytes, size_t len)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) != 0)
        die(path);
}

static void remove_dir(void)
{
    static const char *const names[] = {"metadata", "stream_0000", ".metadata.new"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static void make_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/upmu-fuzz-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        die(dir);
    atexit(remove_dir);
}

/* What must hold whatever the bytes are. */
/* What an event refers to lies in memory that may be read. */
static void resolve(const struct upmu_trace *t, const struct upmu_trace_event *e)
{
    static volatile uint64_t sum;
    struct upmu_trace_stack stack = {.size = sizeof stack};
    struct upmu_trace_module m = {.size = sizeof m};
    if (upmu_trace_stack_find(t, e->process, e->stack, &stack) == 0)
        for (uint32_t i = 0; i < stack.n_frames; i++)
            sum += stack.frames[i];
    for (size_t i = 0; i < 3 && upmu_trace_module_at(t, e->process, i, &m) == 0; i++)
        sum += strlen(m.path) + strlen(m.build_id);
    (void)sum;
}

static void read_all(void)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    uint64_t last = 0;
    int rc;
    if (upmu_trace_open(&t, dir) != 0) {
        if (t || !upmu_error()[0])
            abort();
        return;
    }
    for (int errors = 0; (rc = upmu_trace_next(t, &e)) != 0;) {
        if (rc < 0 && (e || ++errors > 1)) /* one stream can fail once */
            abort();
        if (rc > 0 && (e->time_ns < last || strlen(e->name) > (1 << 26)))
            abort();
        last = rc > 0 ? e->time_ns : last;
        if (rc > 0)
            resolve(t, e);
    }
    upmu_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct textbuf sound = {0};
    struct upmu_trace_repair_result r = {.size = sizeof r};
    if (!dir[0])
        make_dir();
    if (size == 0)
        return 0;
    if (data[0] == 'M')
        sound_stream(&sound);
    else
        sound_metadata(&sound);
    write_file(data[0] == 'M' ? "stream_0000" : "metadata", sound.data, sound.len);
    write_file(data[0] == 'M' ? "metadata" : "stream_0000", data + 1, size - 1);
    textbuf_free(&sound);
    read_all();
    if (upmu_trace_repair(dir, &r) != 0 && !upmu_error()[0])
        abort();
    read_all();
    return 0;
}

/* --------------------------------------------------------------------------------------------------- program */

#ifndef FUZZ_LIVE

static void write_seed(const char *to, const char *name, char kind, void (*half)(struct textbuf *out))
{
    struct textbuf b = {0};
    textbuf_add(&b, &kind, 1);
    half(&b);
    snprintf(dir, sizeof dir, "%s", to);
    write_file(name, b.data, b.len);
    textbuf_free(&b);
}

static void give_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        die(path);
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    if (!bytes || read(fd, bytes, (size_t)st.st_size) != st.st_size)
        die(path);
    close(fd);
    LLVMFuzzerTestOneInput(bytes, (size_t)st.st_size);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
        write_seed(argv[2], "stream", 'S', sound_stream);
        write_seed(argv[2], "metadata", 'M', sound_metadata);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        give_file(argv[i]);
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 2;
}

#endif

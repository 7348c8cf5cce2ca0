/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target of the trace reader: open, read to the end, repair, read again.
 *
 * The first byte of the input selects the type of the rest:
 *     'S'  a stream file, beside sound metadata
 *     'M'  metadata, beside a sound stream file
 *     'R'  a recording: a byte (enum way), then files: a byte that selects the name, the length in 4 bytes, the contents
 * Built with clang this is a libFuzzer target (fuzz_reader_live); always it is a program:
 *     fuzz_reader FILE...                 give these inputs to the reader
 *     fuzz_reader --seeds DIR             write the inputs to begin with, as they are in tests/trace/seeds
 *     fuzz_reader --pack WAY DIR FILE     write a recording, of at most 2 processes with 2 streams each, as an input
 */
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/textbuf.h"
#include "trace/format/control.h"
#include "trace/format/ctf.h"
#include "trace/write/metadata.h"
#include "trace/format/schema.h"
#include "upmu/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How a recording is read. */
enum way {
    WAY_FILTERED = 1, /* only some events, then all */
    WAY_IN_BATCHES = 2,
    WAY_RING = 4,
    WAY_REFERENCE = 8, /* the clock follows that of another host */
    WAY_LATE_SHIFT =
        4, /* bits 4 to 7: so many files, and the second half of the one before, appear after the rest was read */
};

/* Files of a recording: those of its one process, or of two below. Metadata without contents are sound ones. */
#define OF_PROCESS(dir)                                                                                     \
    dir "metadata", dir "stream_0000", dir "stream_0001", dir "stream_0000_aside", dir "stream_0001_aside", \
        dir CONTROL_FILE
static const char *const names[] = {OF_PROCESS(""), OF_PROCESS("1/"), OF_PROCESS("2/")};
enum { RING_BYTES = 16384, NAMES = sizeof names / sizeof *names, NAMES_OF_PROCESS = NAMES / 3 };

static char dir[PATH_MAX - 64];

static void die(const char *what)
{
    perror(what);
    abort();
}

/* ---------------------------------------------------------------------------------------------- sound halves */

/* @param uuid of the streams */
static void put_metadata(struct textbuf *out, const uint8_t uuid[CTF_UUID_BYTES], unsigned way)
{
    static struct trace_counter counters[] = {{"page-faults", "", ""}, {"cycles", "", ""}};
    static char fields[2][SCHEMA_FIELD_NAME_MAX] = {"page_faults", "cycles"};
    struct metadata m = {
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
        .ring_bytes = way & WAY_RING ? RING_BYTES : 0,
    };
    if (way & WAY_REFERENCE)
        m.reference = (struct clock_reference){
            .points = 2, .raw_ns = 1, .error_ns = 1, .host = "other", .at = {{1, 1, 1}, {1000, 2000, 1}}};
    memcpy(m.uuid, uuid, sizeof m.uuid);
    metadata_text(out, &m);
}

static void sound_metadata(struct textbuf *out)
{
    put_metadata(out, (const uint8_t[CTF_UUID_BYTES]){0}, 0);
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

static void put_packet(struct textbuf *out, const struct textbuf *events)
{
    struct ctf_packet head = {
        .magic = CTF_MAGIC,
        .timestamp_begin = 5,
        .timestamp_end = UINT64_C(1) << 40,
        .content_size = (sizeof head + events->len) * 8,
        .packet_size = (sizeof head + events->len + 16) * 8,
        .tid = 7,
        .clock_tick = 1000000000,
        .clock_raw = 1000000000,
    };
    textbuf_add(out, (const char *)&head, sizeof head);
    textbuf_add(out, events->data, events->len);
    put(out, 0, 8);
    put(out, 0, 8);
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
    put_packet(out, &events);
    textbuf_free(&events);
}

/* A field with the value 1; text, arrays and sequences have one byte or item, or as many as there are counters. */
static void put_field(struct textbuf *events, const struct schema_field *f)
{
    unsigned times = f->shape == SCHEMA_FLAT_COUNTERS || f->shape == SCHEMA_COUNTER_ARRAY ? 2 : 1;
    if (f->shape == SCHEMA_SEQUENCE)
        put(events, 1, 2);
    for (unsigned i = 0; i < times; i++)
        if (f->type == SCHEMA_STRING)
            textbuf_add(events, "x", 2);
        else
            put(events, 1, schema_type_bytes(f->type));
}

/* A packet with an event of every class. */
static void every_event(struct textbuf *out)
{
    struct textbuf events = {0};
    for (uint32_t id = 0; id < SCHEMA_IDS; id++) {
        put_long_head(&events, id, 20 + id);
        for (size_t i = 0; i < schema_classes[id].n_fields; i++)
            put_field(&events, &schema_classes[id].fields[i]);
    }
    put_packet(out, &events);
    textbuf_free(&events);
}

/* --------------------------------------------------------------------------------------------------- reading */

static void append_file(const char *name, const void *bytes, size_t len)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) != 0)
        die(path);
}

static void write_file(const char *name, const void *bytes, size_t len)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    unlink(path);
    append_file(name, bytes, len);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    return at->level > 0 ? remove(path) : 0;
}

static void empty_dir(void)
{
    nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_dir(void)
{
    empty_dir();
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
    sum += strlen(upmu_trace_kind_name(e->kind)) + strlen(upmu_object_type_name(e->object_type)) +
           strlen(upmu_trace_mpi_call_name(e->mpi.call)) + strlen(upmu_trace_omp_event_name(e->omp.event)) +
           strlen(upmu_trace_omp_construct_name(e->omp.construct));
    if (upmu_trace_stack_find(t, e->process, e->stack, &stack) == 0)
        for (uint32_t i = 0; i < stack.n_frames; i++)
            sum += stack.frames[i];
    for (size_t i = 0; i < 3 && upmu_trace_module_at(t, e->process, i, &m) == 0; i++)
        sum += strlen(m.path) + strlen(m.build_id);
    (void)sum;
}

static void read_one(const struct upmu_trace *t, const struct upmu_trace_event *e, uint64_t *last)
{
    if (e->time_ns < *last || strlen(e->name) > (1 << 26))
        abort();
    *last = e->time_ns;
    resolve(t, e);
}

/* Reads to the end, from where the events are in the order of time. */
static void read_on(struct upmu_trace *t, bool in_batches)
{
    enum { BATCH = 7, STREAMS_MAX = 16 };
    const struct upmu_trace_event *e[BATCH];
    uint64_t last = 0;
    int rc;
    for (int errors = 0; (rc = in_batches ? upmu_trace_read(t, e, BATCH) : upmu_trace_next(t, e)) != 0;) {
        if (rc < 0 && (!upmu_error()[0] || ++errors > STREAMS_MAX)) /* each stream can fail once */
            abort();
        for (int i = 0; i < rc; i++)
            read_one(t, e[i], &last);
    }
}

static void read_filtered(struct upmu_trace *t)
{
    const int kinds[] = {UPMU_TRACE_LOCK_BLOCK, UPMU_TRACE_LOCK_RELEASE, UPMU_TRACE_MARK};
    const struct upmu_trace_event *e;
    const struct upmu_trace_filter_opts opts = {
        .size = sizeof opts, .kinds = kinds, .n_kinds = sizeof kinds / sizeof *kinds, .from_ns = 1};
    if (upmu_trace_filter(t, &opts) != 0)
        abort();
    for (int i = 0; i < 3; i++)
        if (upmu_trace_next(t, &e) == 1 && e->kind != kinds[0] && e->kind != kinds[1] && e->kind != kinds[2])
            abort();
    if (upmu_trace_filter(t, NULL) != 0)
        abort();
}

static void describe_processes(const struct upmu_trace *t)
{
    static volatile size_t sum;
    struct upmu_trace_process p = {.size = sizeof p};
    uint64_t now;
    for (size_t i = 0; i < upmu_trace_process_count(t); i++) {
        if (upmu_trace_process_at(t, i, &p) != 0 || upmu_trace_now(t, i, &now) != 0)
            abort();
        for (size_t k = 0; k < upmu_trace_counter_count(t, i); k++)
            sum += strlen(upmu_trace_counter_name(t, i, k));
        sum += upmu_trace_module_count(t, i) + strlen(p.command);
    }
    sum += upmu_trace_missed_packets(t);
    (void)sum;
}

/* @return the trace, read to its end; NULL if it cannot be opened */
static struct upmu_trace *read_all(unsigned way)
{
    struct upmu_trace *t;
    if (upmu_trace_open(&t, dir) != 0) {
        if (t || !upmu_error()[0])
            abort();
        return NULL;
    }
    if (way & WAY_FILTERED)
        read_filtered(t);
    read_on(t, (way & WAY_IN_BATCHES) != 0);
    describe_processes(t);
    return t;
}

static void read_and_repair(unsigned way)
{
    struct upmu_trace_repair_result r = {.size = sizeof r};
    upmu_trace_close(read_all(way));
    if (upmu_trace_repair(dir, &r) != 0 && !upmu_error()[0])
        abort();
    upmu_trace_close(read_all(way));
}

static void read_half(const uint8_t *data, size_t size)
{
    struct textbuf sound = {0};
    if (data[0] == 'M')
        sound_stream(&sound);
    else
        sound_metadata(&sound);
    write_file(data[0] == 'M' ? "stream_0000" : "metadata", sound.data, sound.len);
    write_file(data[0] == 'M' ? "metadata" : "stream_0000", data + 1, size - 1);
    textbuf_free(&sound);
    read_and_repair(0);
}

struct part {
    const char *name;
    const uint8_t *bytes;
    size_t len;
};

/* The files of an input. @return their number */
static size_t split(const uint8_t *data, size_t size, struct part parts[NAMES])
{
    size_t n = 0;
    for (; n < NAMES && size >= 5; n++) {
        uint32_t len;
        memcpy(&len, data + 1, sizeof len);
        parts[n] = (struct part){names[data[0] % NAMES], data + 5, len < size - 5 ? len : size - 5};
        data += 5 + parts[n].len;
        size -= 5 + parts[n].len;
    }
    return n;
}

/* The identity in the first stream of the process that `name` belongs to. */
static const uint8_t *uuid_beside(const char *name, const struct part *parts, size_t n)
{
    static const uint8_t none[CTF_UUID_BYTES];
    size_t folder = strcspn(name, "/") == 1 ? 2 : 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(parts[i].name, name, folder) == 0 && strncmp(parts[i].name + folder, "stream", 6) == 0 &&
            parts[i].len >= sizeof(struct ctf_packet))
            return parts[i].bytes + offsetof(struct ctf_packet, uuid);
    return none;
}

static void write_part(const struct part *p, size_t from, size_t to)
{
    append_file(p->name, p->bytes + from, to - from);
}

/* Files that appear, the first of them in two parts, after the others were read. */
static void follow(const struct part *late, size_t n, unsigned way)
{
    size_t half = late[0].len / 2;
    write_part(&late[0], 0, half);
    struct upmu_trace *t = read_all(way);
    write_part(&late[0], half, late[0].len);
    for (size_t i = 1; i < n; i++)
        write_part(&late[i], 0, late[i].len);
    if (t && upmu_trace_update(t) == 0)
        read_on(t, (way & WAY_IN_BATCHES) != 0);
    upmu_trace_close(t);
}

static void make_processes(void)
{
    char path[PATH_MAX];
    empty_dir();
    for (int i = 1; i <= 2; i++) {
        snprintf(path, sizeof path, "%s/%d", dir, i);
        if (mkdir(path, 0700) != 0)
            die(path);
    }
}

static void read_recording(const uint8_t *data, size_t size)
{
    struct part parts[NAMES];
    struct textbuf sound[3] = {0};
    unsigned way = data[0];
    size_t n = split(data + 1, size - 1, parts), late = way >> WAY_LATE_SHIFT, made = 0;
    for (size_t i = 0; i < n && made < 3; i++) {
        if (parts[i].len > 0 || !strstr(parts[i].name, "metadata"))
            continue;
        put_metadata(&sound[made], uuid_beside(parts[i].name, parts, n), way);
        parts[i].bytes = (const uint8_t *)sound[made].data;
        parts[i].len = sound[made++].len;
    }
    late = late < n ? late : 0;
    make_processes();
    for (size_t i = 0; i + late < n; i++)
        write_part(&parts[i], 0, parts[i].len);
    if (late)
        follow(&parts[n - late], late, way);
    read_and_repair(way);
    empty_dir();
    for (size_t i = 0; i < made; i++)
        textbuf_free(&sound[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!dir[0])
        make_dir();
    if (size < 2)
        return -1;
    if (data[0] == 'R')
        read_recording(data + 1, size - 1);
    else
        read_half(data, size);
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

/* Adds a file of the recording, if it is there, under the name that has index `i`. */
static void pack_file(struct textbuf *out, const char *file, uint8_t i)
{
    enum { PAGE = 4096 };
    static char bytes[1 << 16];
    memset(bytes, 0, sizeof bytes);
    FILE *f = fopen(file, "re");
    if (!f)
        return;
    size_t len = i % NAMES_OF_PROCESS == 0 ? 0 : fread(bytes, 1, sizeof bytes, f);
    (void)fclose(f);
    while (len > PAGE && !bytes[len - 1]) /* what a killed process had reserved */
        len--;
    len = (len + PAGE - 1) / PAGE * PAGE;
    put(out, i, 1);
    put(out, len, 4);
    textbuf_add(out, bytes, len);
}

static void pack_process(struct textbuf *out, const char *process, uint8_t first)
{
    char file[PATH_MAX];
    for (int i = 0; i < NAMES_OF_PROCESS; i++) {
        snprintf(file, sizeof file, "%s/%s", process, names[i]);
        pack_file(out, file, (uint8_t)(first + i));
    }
}

static void pack(unsigned way, const char *recording, const char *to)
{
    struct textbuf out = {0};
    glob_t processes;
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/*/metadata", recording);
    put(&out, 'R', 1);
    put(&out, way, 1);
    if (glob(pattern, 0, NULL, &processes) != 0)
        pack_process(&out, recording, 0);
    else
        for (size_t i = 0; i < processes.gl_pathc && i < 2; i++) {
            *strrchr(processes.gl_pathv[i], '/') = '\0';
            pack_process(&out, processes.gl_pathv[i], (uint8_t)(NAMES_OF_PROCESS * (i + 1)));
        }
    snprintf(dir, sizeof dir, "%s", to[0] == '/' ? "" : ".");
    write_file(to, out.data, out.len);
    textbuf_free(&out);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--pack") == 0) {
        pack((unsigned)atoi(argv[2]), argv[3], argv[4]);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
        write_seed(argv[2], "stream", 'S', sound_stream);
        write_seed(argv[2], "every_event", 'S', every_event);
        write_seed(argv[2], "metadata", 'M', sound_metadata);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        give_file(argv[i]);
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 2;
}

#endif

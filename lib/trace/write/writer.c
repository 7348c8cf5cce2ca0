/* SPDX-License-Identifier: MIT */
/*
 * A trace being written: directory, processes, streams.
 *
 * Nothing that a thread may have seen is ever freed: the writer and its streams are permanent mappings.
 */
#include "trace/write/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/own_memory.h"
#include "base/private_table.h"
#include "base/spare.h"
#include "base/text/textbuf.h"
#include "base/tick.h"
#include "trace/format/control.h"
#include "trace/write/guard.h"
#include "trace/write/metadata.h"
#include "trace/write/origin.h"
#include "trace/write/stream.h"

#define METADATA_TEMPORARY ".metadata.new"

enum {
    PACKET_BYTES_DEFAULT = 256 * 1024,
    METADATA_GROWTH_BYTES = 2048, /* of the final metadata beyond the first: numbers and notes */
};

struct trace_writer {
    struct stream_home home;
    int control_fd; /* holds the lock that marks the process as running */
    dev_t control_dev;
    ino_t control_ino;
    struct control_header forgotten; /* replaces the control file in a forked child */
    uint8_t boot_id[16];             /* 0: unknown */
    struct metadata meta;
    size_t meta_bytes; /* of the last metadata written */
    struct trace_counter counters[UPMU_REGION_EVENTS_MAX];
    char fields[UPMU_REGION_EVENTS_MAX][SCHEMA_FIELD_NAME_MAX];
    char dir[PATH_MAX];
    size_t recording; /* length of the recording's path, with which dir begins */
    uint64_t start_tick;
    size_t struct_bytes;
    char *strings_end; /* the counters' texts follow the struct */
    char strings[];
};

const char *trace_writer_dir(const struct trace_writer *w)
{
    return w->dir;
}

size_t trace_writer_recording(const struct trace_writer *w)
{
    return w->recording;
}

void trace_writer_sched_note(struct trace_writer *w, const char *note)
{
    snprintf(w->meta.sched_note, sizeof w->meta.sched_note, "%s", note);
}

void trace_writer_futex_note(struct trace_writer *w, const char *note)
{
    snprintf(w->meta.futex_note, sizeof w->meta.futex_note, "%s", note);
}

struct control_header *trace_writer_control(struct trace_writer *w)
{
    return w->home.control;
}

/* -------------------------------------------------------------------------------------------- making a writer */

static size_t writer_text_bytes(const char *s)
{
    return s ? strlen(s) + 1 : 1;
}

static const char *writer_keep_text(struct trace_writer *w, const char *s)
{
    char *kept = w->strings_end;
    size_t bytes = writer_text_bytes(s);
    memcpy(kept, s ? s : "", bytes);
    w->strings_end += bytes;
    return kept;
}

static void writer_keep_counters(struct trace_writer *w, const struct trace_config *config)
{
    const char *taken[UPMU_REGION_EVENTS_MAX];
    w->strings_end = w->strings;
    for (size_t i = 0; i < config->n_counters; i++) {
        w->counters[i].name = writer_keep_text(w, config->counters[i].name);
        w->counters[i].unit = writer_keep_text(w, config->counters[i].unit);
        w->counters[i].note = writer_keep_text(w, config->counters[i].note);
        schema_counter_field(w->fields[i], w->counters[i].name, i, taken, i);
        taken[i] = w->fields[i];
    }
    w->meta.counters = w->counters;
    w->meta.fields = w->fields;
    w->meta.n_counters = config->n_counters;
    w->home.n_counters = config->n_counters;
}

static size_t writer_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Eight packets, so that seven eighths are always the latest events. The number changes if packets would be longer than those
 * of other streams, or shorter than the longest event. */
static void writer_plan_ring(struct stream_home *home, uint64_t bytes)
{
    enum { RING_SLOTS = 8, RING_SLOTS_MIN = 4 };
    if (bytes == 0)
        return;
    size_t least = writer_round_up(STREAM_RING_PACKET_MIN, home->page_bytes);
    size_t packet = (size_t)(bytes / RING_SLOTS) / home->page_bytes * home->page_bytes;
    packet = packet > PACKET_BYTES_DEFAULT ? PACKET_BYTES_DEFAULT : packet;
    home->ring_bytes = packet < least ? least : packet;
    home->ring_slots = (uint32_t)(bytes / home->ring_bytes);
    if (home->ring_slots < RING_SLOTS_MIN)
        home->ring_slots = RING_SLOTS_MIN;
}

static struct trace_writer *writer_new(const struct trace_config *config)
{
    size_t bytes = sizeof(struct trace_writer);
    for (size_t i = 0; i < config->n_counters; i++)
        bytes += writer_text_bytes(config->counters[i].name) + writer_text_bytes(config->counters[i].unit) +
                 writer_text_bytes(config->counters[i].note);
    struct trace_writer *w = own_memory_map(bytes, MAP_POPULATE);
    if (!w)
        return NULL;
    w->struct_bytes = bytes;
    w->control_fd = -1;
    w->home.dir = w->dir;
    w->home.control = &w->forgotten;
    w->home.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t page = w->home.page_bytes;
    size_t packet = config->packet_bytes ? config->packet_bytes : PACKET_BYTES_DEFAULT;
    w->home.packet_bytes = writer_round_up(packet, page);
    writer_plan_ring(&w->home, config->ring_bytes);
    w->home.packet_full = config->packet_full;
    w->home.limit_bytes = config->ring_bytes ? 0 : config->limit_bytes;
    w->home.stop_at_limit = config->stop_at_limit;
    trace_writer_sched_note(w, config->sched_note ? config->sched_note : "");
    trace_writer_futex_note(w, config->futex_note ? config->futex_note : "");
    w->meta.ring_bytes = w->home.ring_bytes;
    writer_keep_counters(w, config);
    return w;
}

static int writer_check_config(const struct trace_config *config)
{
    if (!config->dir || !config->dir[0])
        return upmu_fail(UPMU_E_INVAL, "the name of the recording directory is empty");
    if (config->n_counters > UPMU_REGION_EVENTS_MAX)
        return upmu_fail(UPMU_E_INVAL, "a trace holds at most %d counters, not %zu", UPMU_REGION_EVENTS_MAX,
                         config->n_counters);
    if (config->packet_bytes > CTF_PACKET_BYTES_MAX)
        return upmu_fail(UPMU_E_INVAL, "a packet has at most %d bytes, not %zu", CTF_PACKET_BYTES_MAX,
                         config->packet_bytes);
    for (size_t i = 0; i < config->n_counters; i++)
        if (!config->counters[i].name)
            return upmu_fail(UPMU_E_INVAL, "counter %zu of the trace has no name", i);
    return 0;
}

/* Identity and clock. */
static int writer_describe(struct trace_writer *w, struct clock_triple *now)
{
    enum { BOOT_ID_LAST_PART = 24 }; /* of the text */
    struct metadata *m = &w->meta;
    clock_start();
    clock_sample(now);
    metadata_describe_process(m);
    m->pid = getpid();
    m->clock_source = clock_source();
    if (getrandom(w->home.uuid, sizeof w->home.uuid, 0) != (ssize_t)sizeof w->home.uuid)
        return upmu_fail(UPMU_E_IO, "cannot create a UUID for the trace: getrandom() failed (%s)",
                         upmu_errno_name(errno));
    memcpy(m->uuid, w->home.uuid, sizeof m->uuid);
    if (control_boot_id(w->boot_id, m->clock_uuid) != 0) {
        memset(w->boot_id, 0, sizeof w->boot_id);
        /* Without /proc the machine cannot be identified: use a clock uuid of our own. */
        const uint8_t *u = m->uuid;
        snprintf(m->clock_uuid, sizeof m->clock_uuid,
                 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4],
                 u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    }
    if (clock_test_host())
        snprintf(m->clock_uuid + BOOT_ID_LAST_PART, sizeof m->clock_uuid - BOOT_ID_LAST_PART, "%012" PRIx64,
                 clock_test_host() & ((UINT64_C(1) << 48) - 1));
    return 0;
}

/* Frequency over the longest baseline; the portable clock ticks in nanoseconds by definition. */
static void writer_fit_clock(struct trace_writer *w, uint64_t hz_at_start)
{
    struct clock_triple now;
    clock_sample(&now);
    const struct clock_triple *origin = &w->meta.origin;
    uint64_t hz = hz_at_start;
    if (strcmp(w->meta.clock_source, CLOCK_MAP_PORTABLE) != 0 && now.raw_ns - origin->raw_ns >= CLOCK_MAP_BASELINE_NS) {
        uint64_t fitted = clock_map_hz(origin, &now);
        if (fitted)
            hz = fitted;
    }
    clock_map_set(&w->meta.clock, origin, hz);
    if (w->meta.reference.points)
        clock_map_refer(&w->meta.clock, &w->meta.reference, hz);
}

/* --------------------------------------------------------------------------------------- directory and files */

static void writer_host_for_path(char *out, size_t size, const char *host)
{
    size_t n = 0;
    for (; host[n] && n < size - 1; n++) {
        char c = host[n];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                    (c == '.' && n > 0);
        out[n] = fine ? c : '_';
    }
    out[n] = '\0';
}

/* Whether another user has put a link in the place of the recording directory: it may lead to where only this one can write. */
static bool writer_is_foreign_link(const char *dir)
{
    struct stat st;
    return lstat(dir, &st) == 0 && S_ISLNK(st.st_mode) && st.st_uid != 0 && st.st_uid != geteuid();
}

/* Create the recording directory if it is missing, and resolve links in its path. */
static int writer_make_recording_dir(const char *dir, char *resolved)
{
    if (!stream_size_allowed(CONTROL_BYTES))
        return upmu_fail(UPMU_E_IO, "RLIMIT_FSIZE is too small for the files of a trace. Raise it (ulimit -f).");
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return upmu_fail(UPMU_E_IO, "cannot create the recording directory \"%s\": %s", dir, upmu_errno_name(errno));
    if (writer_is_foreign_link(dir))
        return upmu_fail(UPMU_E_PERM, "the recording directory \"%s\" is a link of another user. Give another one.",
                         dir);
    if (!realpath(dir, resolved))
        return upmu_fail(UPMU_E_IO, "cannot resolve the path of the recording directory \"%s\": %s", dir,
                         upmu_errno_name(errno));
    return 0;
}

/* DIR/<host>-<pid>-<start> or DIR/<host>/<host>-<pid>-<start>, always new: the start distinguishes a program from the one it
 * replaced by exec. */
static int writer_make_process_dir(struct trace_writer *w, const char *recording, bool by_host)
{
    char host[65];
    writer_host_for_path(host, sizeof host, w->meta.host[0] ? w->meta.host : "localhost");
    uint64_t start = w->meta.start_ns;
    w->recording = strlen(recording);
    for (int attempt = 0; attempt < 100; attempt++, start++) {
        int n = snprintf(w->dir, sizeof w->dir, "%s%s%s/%s-%d-%" PRIu64 ".%09" PRIu64, recording, by_host ? "/" : "",
                         by_host ? host : "", host, (int)w->meta.pid, start / 1000000000, start % 1000000000);
        if (n < 0 || n >= (int)(sizeof w->dir - sizeof "/stream_4294967295" CTF_ASIDE_SUFFIX))
            return upmu_fail(UPMU_E_IO, "the path of the recording directory \"%s\" is too long", recording);
        char *name = strrchr(w->dir, '/');
        *name = '\0';
        if (by_host)
            (void)mkdir(w->dir, 0700); /* another process may have made it */
        *name = '/';
        if (mkdir(w->dir, 0700) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    int err = errno;
    int rc = upmu_fail(UPMU_E_IO, "cannot create the trace directory \"%s\": %s", w->dir, upmu_errno_name(err));
    w->dir[0] = '\0';
    return rc;
}

static int writer_file_path(const struct trace_writer *w, const char *name, char *path, size_t size)
{
    int n = snprintf(path, size, "%s/%s", w->dir, name);
    return n < 0 || n >= (int)size ? upmu_fail(UPMU_E_IO, "the path of \"%s\" is too long", w->dir) : 0;
}

/* Move a descriptor that stays open to the middle of the range. @return the new descriptor, or -errno with `fd` closed. */
static int descriptor_park(int fd)
{
    struct rlimit limit = {0};
    int middle = spare_descriptors_from(getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0);
    int first = STDERR_FILENO + 1;
    int parked = fcntl(fd, F_DUPFD_CLOEXEC, middle > first ? middle : first);
    if (parked < 0 && fd >= first)
        return fd;
    if (parked < 0)
        parked = fcntl(fd, F_DUPFD_CLOEXEC, first);
    int err = errno;
    close(fd);
    return parked < 0 ? -err : parked;
}

static int control_fill(struct trace_writer *w, int fd)
{
    struct stat st;
    struct flock alive = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (posix_fallocate(fd, 0, CONTROL_BYTES) != 0 || fstat(fd, &st) != 0)
        return -ENOSPC;
    void *p = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return -errno;
    trace_guard_add(p, CONTROL_BYTES);
    struct control_header *h = p;
    h->version = CONTROL_VERSION;
    h->bytes = sizeof *h;
    h->pid = (uint32_t)w->meta.pid;
    h->start_ticks = control_start_ticks(0);
    memcpy(h->boot_id, w->boot_id, sizeof h->boot_id);
    h->mode = CONTROL_OFF; /* sync tracing has not begun */
    memcpy(h->magic, CONTROL_MAGIC, sizeof h->magic);
    w->home.control = h;
    w->control_fd = fd;
    w->control_dev = st.st_dev;
    w->control_ino = st.st_ino;
    /* On a file system without locks, readers use the process id and its start time. */
    if (fcntl(fd, F_OFD_SETLK, &alive) != 0)
        errno = 0;
    if (!spare_descriptors_left()) { /* then they identify the process here, too */
        close(fd);
        w->control_fd = -1;
    }
    return 0;
}

static int control_make(struct trace_writer *w)
{
    char path[PATH_MAX];
    int rc = writer_file_path(w, CONTROL_FILE, path, sizeof path);
    if (rc != 0)
        return rc;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    fd = fd < 0 ? -errno : descriptor_park(fd);
    rc = fd < 0 ? fd : control_fill(w, fd);
    if (rc == 0)
        return 0;
    if (fd >= 0)
        close(fd);
    return upmu_fail(UPMU_E_IO, "cannot create the control file \"%s\": %s", path, upmu_errno_name(-rc));
}

static int metadata_failed(const char *path, int rc)
{
    return upmu_fail(rc == -ENOMEM ? UPMU_E_NOMEM : UPMU_E_IO, "cannot write the metadata file \"%s\": %s%s", path,
                     upmu_errno_name(-rc), rc == -EFBIG ? " (RLIMIT_FSIZE, see ulimit -f)" : "");
}

/* Write the temporary file in place: its reserved space must not be released. What is left of it afterwards is a block, whose release
 * would cost as much as the writing. */
static int metadata_write_temporary(const char *path, const struct textbuf *text)
{
    struct stat st;
    if (!stream_size_allowed((off_t)text->len))
        return -EFBIG;
    int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int rc = textbuf_write(text, fd);
    if (rc == 0 && (fstat(fd, &st) != 0 || st.st_size > (off_t)text->len) && ftruncate(fd, (off_t)text->len) != 0)
        rc = -errno;
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    return rc;
}

struct metadata_writing {
    const char *path;
    const struct textbuf *text;
};

/* For private_table_run(): with a private table of file descriptors. */
static int metadata_write_private(void *writing)
{
    const struct metadata_writing *m = writing;
    return metadata_write_temporary(m->path, m->text);
}

/* Written to a temporary file and renamed: a complete one exists at any moment. The temporary one stays where that fails: at the end
 * of a recording a filter may forbid to remove it. */
static int metadata_write(struct trace_writer *w)
{
    char path[PATH_MAX], temp[PATH_MAX];
    struct textbuf text = {.mapped = true}; /* malloc() may merge all that the program has freed */
    int rc = writer_file_path(w, "metadata", path, sizeof path);
    if (rc == 0)
        rc = writer_file_path(w, METADATA_TEMPORARY, temp, sizeof temp);
    if (rc != 0)
        return rc;
    metadata_text(&text, &w->meta);
    w->meta_bytes = text.len;
    struct metadata_writing writing = {temp, &text};
    rc = text.failed ? -ENOMEM : private_table_run(metadata_write_private, &writing);
    textbuf_free(&text);
    if (rc == 0 && rename(temp, path) != 0)
        rc = -errno;
    return rc == 0 ? 0 : metadata_failed(path, rc);
}

/* Reserve space for the final metadata, so that a disk full of events cannot prevent it. */
static void metadata_reserve(const struct trace_writer *w)
{
    char temp[PATH_MAX];
    size_t bytes = writer_round_up(w->meta_bytes + METADATA_GROWTH_BYTES, w->home.page_bytes);
    if (!stream_size_allowed((off_t)bytes) || writer_file_path(w, METADATA_TEMPORARY, temp, sizeof temp) != 0)
        return;
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    /* No space or no such call: tried at the end. */
    (void)fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    close(fd);
}

void trace_writer_clock(const struct trace_writer *w, struct trace_clock *out)
{
    *out = (struct trace_clock){.origin = w->meta.origin, .source = w->meta.clock_source, .uuid = w->meta.clock_uuid};
    clock_sample(&out->now);
    out->hz = w->meta.clock.hz;
    if (out->now.raw_ns - out->origin.raw_ns >= CLOCK_MAP_BASELINE_NS && clock_map_hz(&out->origin, &out->now))
        out->hz = clock_map_hz(&out->origin, &out->now);
}

void trace_writer_refer(struct trace_writer *w, const struct clock_reference *r)
{
    if (__atomic_load_n(&w->home.closed, __ATOMIC_RELAXED))
        return;
    w->meta.reference = *r;
    writer_fit_clock(w, w->meta.clock.hz);
    if (r->error_ns == 0)
        return; /* this host's time is that of the reference, but for its final slope */
    w->meta.start_ns = clock_map_ns(&w->meta.clock, w->start_tick);
    if (metadata_write(w) == 0)
        metadata_reserve(w);
}

/* Undo trace_writer_open(). */
static void writer_undo(struct trace_writer *w)
{
    static const char *const made[] = {CONTROL_FILE, METADATA_TEMPORARY};
    char path[PATH_MAX];
    trace_guard_stop();
    if (w->home.control != &w->forgotten)
        munmap(w->home.control, CONTROL_BYTES);
    if (w->control_fd >= 0)
        close(w->control_fd);
    for (size_t i = 0; w->dir[0] && i < sizeof made / sizeof *made; i++)
        if (writer_file_path(w, made[i], path, sizeof path) == 0)
            unlink(path);
    if (w->dir[0])
        rmdir(w->dir);
    own_memory_unmap(w, w->struct_bytes);
}

int trace_writer_open(struct trace_writer **out, const struct trace_config *config)
{
    enum { FIRST_FIT_NS = 200000, RETRIES_PER_SECOND = 100 };
    char recording[PATH_MAX];
    struct clock_triple now;
    *out = NULL;
    int rc = writer_check_config(config);
    if (rc != 0)
        return rc;
    rc = writer_make_recording_dir(config->dir, recording);
    if (rc != 0)
        return rc;
    struct trace_writer *w = writer_new(config);
    if (!w)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    rc = writer_describe(w, &now);
    if (rc == 0) {
        origin_share(recording, w->meta.clock_uuid, &now, &w->meta.origin);
        w->start_tick = now.tick;
        w->meta.start_ns = w->meta.origin.realtime_ns + (now.raw_ns - w->meta.origin.raw_ns);
        rc = writer_make_process_dir(w, recording, config->by_host);
    }
    if (rc == 0) {
        trace_guard_start(&w->home);
        rc = control_make(w);
    }
    if (rc == 0) {
        /* Rough in the first process: over CLOCK_MAP_BASELINE_NS or more since the common origin it is fitted again, now or at the
         * end. */
        clock_fit_from(&w->meta.origin);
        uint64_t hz = (uint64_t)(clock_hz(FIRST_FIT_NS) + 0.5);
        writer_fit_clock(w, hz);
        w->home.retry_ticks = hz / RETRIES_PER_SECOND;
        rc = metadata_write(w);
    }
    if (rc != 0) {
        writer_undo(w);
        return rc;
    }
    metadata_reserve(w);
    *out = w;
    return 0;
}

/* ------------------------------------------------------------------------------------------------- streams */

int trace_stream_acquire_from(struct trace_writer *w, pid_t tid, const char *thread_name, uint64_t from,
                              struct trace_stream **out)
{
    *out = NULL;
    if (__atomic_load_n(&w->home.closed, __ATOMIC_RELAXED))
        return upmu_fail(UPMU_E_IO, "the trace \"%s\" is closed", w->dir);
    struct trace_stream *s = stream_from_pool(&w->home, from);
    if (!s) {
        s = stream_add(&w->home, false);
        if (!s)
            return upmu_fail(errno == ENOMEM ? UPMU_E_NOMEM : UPMU_E_IO,
                             "cannot create a stream file in \"%s\" for thread %d: %s", w->dir, (int)tid,
                             upmu_errno_name(errno));
    }
    uint64_t tick = tick_now();
    if (stream_start(s, tid, thread_name ? thread_name : "", tick) != 0)
        stream_start_without_space(s, tick);
    *out = s;
    return 0;
}

int trace_stream_acquire(struct trace_writer *w, pid_t tid, const char *thread_name, struct trace_stream **out)
{
    return trace_stream_acquire_from(w, tid, thread_name, UINT64_MAX, out);
}

void trace_lost(struct trace_writer *w, enum control_loss cause, uint64_t n)
{
    if (__atomic_load_n(&w->home.closed, __ATOMIC_RELAXED))
        return; /* events after the end of the recording are not lost */
    control_lose(w->home.control, cause, n);
}

uint64_t trace_writer_lost(const struct trace_writer *w)
{
    return __atomic_load_n(&w->home.control->lost, __ATOMIC_RELAXED);
}

/* ----------------------------------------------------------------------------------------------- end of the trace */

/* Call `act` for the calling thread's streams: exit() runs in a thread that has not ended. */
static void writer_for_own_streams(struct trace_writer *w, void (*act)(struct trace_stream *s))
{
    pid_t self = gettid();
    for (struct trace_stream *s = __atomic_load_n(&w->home.streams, __ATOMIC_ACQUIRE); s; s = s->next)
        if (__atomic_load_n(&s->used, __ATOMIC_ACQUIRE) && __atomic_load_n(&s->tid, __ATOMIC_RELAXED) == self)
            act(s);
}

/* Record a mark that is still in the mailbox. */
static void writer_take_last_mail(struct trace_stream *s)
{
    if (stream_has_mail(s))
        stream_take_mail(s, tick_now());
}

/* A lower bound: running threads may finish more. */
static uint64_t writer_packets_kept(const struct trace_writer *w)
{
    uint64_t kept = 0;
    for (const struct trace_stream *s = __atomic_load_n(&w->home.streams, __ATOMIC_ACQUIRE); s; s = s->next)
        kept += __atomic_load_n(&s->kept, __ATOMIC_RELAXED);
    return kept;
}

/* Of running threads, which end no packet any more. */
static void writer_lose_torn(struct trace_writer *w)
{
    for (struct trace_stream *s = __atomic_load_n(&w->home.streams, __ATOMIC_ACQUIRE); s; s = s->next)
        if (__atomic_load_n(&s->torn, __ATOMIC_RELAXED) && s->packet)
            stream_lose_events(s, LOSS_TRUNCATED, stream_packet_events(s) + s->in_ring);
}

/* A thread that is making a packet now ends its system calls before they are restricted for it, too; see sync_trace/process.c. */
void trace_writer_wait_for_others(struct trace_writer *w)
{
    enum { TRIES = 200, PAUSE_US = 500 };
    pid_t self = gettid();
    for (struct trace_stream *s = __atomic_load_n(&w->home.streams, __ATOMIC_ACQUIRE); s; s = s->next)
        for (int i = 0;
             i < TRIES && __atomic_load_n(&s->used, __ATOMIC_ACQUIRE) &&
             __atomic_load_n(&s->tid, __ATOMIC_RELAXED) != self && __atomic_load_n(&s->busy, __ATOMIC_ACQUIRE);
             i++)
            usleep(PAUSE_US);
}

void trace_writer_restrict(struct trace_writer *w)
{
    __atomic_store_n(&w->home.control->stopped, CONTROL_STOPPED_RESTRICTED, __ATOMIC_RELAXED);
    __atomic_store_n(&w->home.control->chosen, 0, __ATOMIC_RELAXED);
}

void trace_writer_close(struct trace_writer *w)
{
    writer_for_own_streams(w, writer_take_last_mail);
    if (__atomic_exchange_n(&w->home.closed, STREAMS_CLOSED, __ATOMIC_RELAXED) == STREAMS_CLOSED)
        return;
    writer_for_own_streams(w, stream_stop);
    streams_cut_ended(&w->home);
    writer_lose_torn(w);
    writer_fit_clock(w, w->meta.clock.hz);
    w->meta.complete = 1;
    w->meta.stopped = __atomic_load_n(&w->home.control->stopped, __ATOMIC_RELAXED);
    w->meta.packets = writer_packets_kept(w);
    struct control_header *h = w->home.control;
    __atomic_store_n(&h->mode, CONTROL_OFF, __ATOMIC_RELAXED);
    control_add_memory(h, own_memory_count());
    /* If this fails, the first metadata stays, which marks the trace as incomplete. */
    if (metadata_write(w) == 0)
        __atomic_store_n(&h->complete, 1, __ATOMIC_RELEASE);
}

struct control_header *trace_writer_forget(struct trace_writer *w)
{
    int saved = errno;
    struct stat st;
    struct control_header *parent = w->home.control == &w->forgotten ? NULL : w->home.control;
    trace_guard_stop();
    __atomic_store_n(&w->home.closed, STREAMS_CLOSED, __ATOMIC_RELAXED);
    for (struct trace_stream *s = w->home.streams; s; s = s->next) {
        if (s->ring)
            munmap(s->ring, s->slots * w->home.ring_bytes);
        else if (s->packet || s->ended)
            packet_forget(s);
        s->ring = NULL;
        s->packet = s->ended = NULL;
        s->pos = s->limit = NULL;
    }
    w->home.control = &w->forgotten;
    /* Parent and child share the lock until the child closes it; the number may be another file by now. */
    if (w->control_fd >= 0 && fstat(w->control_fd, &st) == 0 && st.st_dev == w->control_dev &&
        st.st_ino == w->control_ino)
        close(w->control_fd);
    w->control_fd = -1;
    errno = saved;
    return parent;
}

void trace_writer_forget_parent(struct control_header *parent, enum trace_child child)
{
    int saved = errno;
    if (parent && child != TRACE_CHILD_RECORDED) {
        trace_guard_add(parent, CONTROL_BYTES); /* nothing else is mapped */
        __atomic_fetch_add(child == TRACE_CHILD_FILTERED ? &parent->children_filtered : &parent->children_failed, 1,
                           __ATOMIC_RELAXED);
        trace_guard_stop();
    }
    if (parent)
        munmap(parent, CONTROL_BYTES);
    errno = saved;
}

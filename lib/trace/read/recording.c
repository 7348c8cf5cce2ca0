/* SPDX-License-Identifier: MIT */
/* Processes of a trace directory. */
#include "trace/read/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/read/packets.h"
#include "trace/read/source.h"

/* ------------------------------------------------------------------------------------------------ directories */

void path_list_free(struct path_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct path_list){0};
}

/* Add dir/name, or dir where `name` is NULL. */
static int path_list_add(struct path_list *list, const char *dir, const char *name)
{
    char *path = NULL;
    int len = name ? asprintf(&path, "%s/%s", dir, name) : asprintf(&path, "%s", dir);
    char **grown = len < 0 ? NULL : reallocarray(list->paths, list->n + 1, sizeof *grown);
    if (!grown) {
        if (len >= 0)
            free(path);
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the list of files in \"%s\"", dir);
    }
    list->paths = grown;
    list->paths[list->n++] = path;
    return 0;
}

static int path_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool recording_has_metadata(const char *dir, const char *name)
{
    struct stat st;
    char *path = NULL;
    if (asprintf(&path, "%s%s%s/metadata", dir, name ? "/" : "", name ? name : "") < 0)
        return false;
    bool there = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    free(path);
    return there;
}

static bool recording_is_stream(const char *dir, const char *name)
{
    (void)dir;
    return strncmp(name, "stream_", strlen("stream_")) == 0;
}

typedef bool recording_wanted_fn(const char *dir, const char *name);

static int recording_add_dir(const char *dir, recording_wanted_fn *wanted, int depth, struct path_list *out);

/* The directory of a host: it has directories of processes, and is none. */
static int recording_add_host(const char *dir, const char *name, recording_wanted_fn *wanted, struct path_list *out)
{
    struct stat st;
    char *path = NULL, *control = NULL;
    int rc = 0;
    if (asprintf(&path, "%s/%s", dir, name) < 0 || asprintf(&control, "%s/" CONTROL_FILE, path) < 0)
        rc = upmu_fail(UPMU_E_NOMEM, "out of memory for the list of files in \"%s\"", dir);
    else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && access(control, F_OK) != 0)
        rc = recording_add_dir(path, wanted, 0, out);
    free(control);
    free(path);
    return rc;
}

/* All entries that `wanted` accepts, without hidden ones, also those in directories of hosts if `depth` is 1. */
static int recording_add_dir(const char *dir, recording_wanted_fn *wanted, int depth, struct path_list *out)
{
    DIR *d = opendir(dir);
    if (!d)
        return packets_io_failed(dir, errno);
    int rc = 0;
    const struct dirent *e;
    for (errno = 0; rc == 0 && (e = readdir(d)) != NULL; errno = 0) {
        if (e->d_name[0] == '.')
            continue;
        if (wanted(dir, e->d_name))
            rc = path_list_add(out, dir, e->d_name);
        else if (depth > 0)
            rc = recording_add_host(dir, e->d_name, wanted, out);
    }
    if (rc == 0 && errno != 0)
        rc = packets_io_failed(dir, errno);
    closedir(d);
    return rc;
}

static int recording_list_dir(const char *dir, recording_wanted_fn *wanted, int depth, struct path_list *out)
{
    int rc = recording_add_dir(dir, wanted, depth, out);
    if (rc != 0)
        path_list_free(out);
    else if (out->n)
        qsort(out->paths, out->n, sizeof *out->paths, path_by_name);
    return rc;
}

/* Whether a file is older than the time between making a control file and locking it. */
static bool recording_is_settled(const char *path)
{
    enum { SECONDS = 2 };
    struct stat st;
    return stat(path, &st) == 0 && time(NULL) - st.st_mtime > SECONDS;
}

/* A process makes its control file, then its metadata. A running process is about to do so, and one that has just ended may
 * have done so meanwhile. */
static bool recording_is_interrupted(const char *dir, const char *name)
{
    char *path = NULL, *control = NULL;
    bool interrupted = false;
    if (!recording_has_metadata(dir, name) && asprintf(&path, "%s%s%s", dir, name ? "/" : "", name ? name : "") >= 0 &&
        asprintf(&control, "%s/" CONTROL_FILE, path) >= 0 && recording_is_settled(control)) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        interrupted = fd >= 0 && control_is_running(fd) == 0 && !recording_has_metadata(dir, name);
        if (fd >= 0)
            close(fd);
    }
    free(control);
    free(path);
    return interrupted;
}

int recording_interrupted(const char *dir, struct path_list *out)
{
    *out = (struct path_list){0};
    return recording_has_metadata(dir, NULL) ? 0 : recording_list_dir(dir, recording_is_interrupted, 1, out);
}

int recording_processes(const char *dir, struct path_list *out)
{
    struct path_list begun;
    *out = (struct path_list){0};
    if (recording_has_metadata(dir, NULL))
        return path_list_add(out, dir, NULL);
    int rc = recording_list_dir(dir, recording_has_metadata, 1, out);
    if (rc != 0 || out->n > 0)
        return rc;
    rc = recording_interrupted(dir, &begun);
    bool interrupted = rc == 0 && (begun.n > 0 || recording_is_interrupted(dir, NULL));
    path_list_free(&begun);
    if (rc != 0)
        return rc;
    if (interrupted)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\": " RECORDING_INTERRUPTED, dir);
    return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a libupmu trace: no metadata in it or in a directory below", dir);
}

int recording_streams(const char *process, struct path_list *out)
{
    *out = (struct path_list){0};
    return recording_list_dir(process, recording_is_stream, 0, out);
}

/* --------------------------------------------------------------------------------------------------- metadata */

static int read_text(const char *path, char **text, size_t *len)
{
    struct stat st;
    int fd = packets_open(path);
    if (fd < 0)
        return packets_io_failed(path, -fd);
    int rc = 0;
    if (fstat(fd, &st) != 0)
        rc = packets_io_failed(path, errno);
    else if (st.st_size > META_BYTES_MAX)
        rc = upmu_fail(UPMU_E_FORMAT, "\"%s\" is too long to be metadata", path);
    *len = rc == 0 ? (size_t)st.st_size : 0;
    *text = malloc(*len + 1);
    if (rc == 0 && !*text)
        rc = packets_io_failed(path, ENOMEM);
    int err = rc == 0 ? packets_read(fd, *text, *len, 0) : 0;
    if (err != 0)
        rc = packets_io_failed(path, -err);
    close(fd);
    if (rc != 0)
        free(*text);
    return rc;
}

int recording_metadata(const char *process, struct meta *m, char **text, size_t *len)
{
    char *path = NULL, *content = NULL;
    size_t bytes = 0;
    if (asprintf(&path, "%s/metadata", process) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", process);
    int rc = read_text(path, &content, &bytes);
    if (rc == 0) {
        rc = meta_parse(m, content, bytes, path);
        if (rc == 0 && text) {
            *text = content;
            *len = bytes;
            content = NULL;
        }
        free(content);
    }
    free(path);
    return rc;
}

/* ----------------------------------------------------------------------------------------------------- totals */

static void totals_add_triple(struct recording_totals *t, const struct ctf_packet *h)
{
    if (h->clock_raw <= t->last.raw_ns)
        return;
    t->last = (struct clock_triple){
        .tick = h->clock_tick,
        .raw_ns = h->clock_raw,
        .monotonic_ns = h->clock_monotonic,
        .realtime_ns = h->clock_realtime,
        .width = h->clock_width,
    };
}

static int totals_add_packet(int fd, const struct packet *p, const struct meta *m, struct recording_totals *t)
{
    uint64_t events = p->head.event_count;
    int rc = events == 0 ? source_count(fd, p, m, &events) : 0;
    t->events += events;
    totals_add_triple(t, &p->head);
    return rc;
}

static int ring_totals(int fd, uint64_t file_size, uint64_t bytes, const struct meta *m, struct recording_totals *t)
{
    struct packet p, last = {.size = 0};
    int rc = 0;
    for (uint64_t offset = 0; rc == 0 && offset < file_size; offset = packets_next_slot(fd, offset, file_size, bytes)) {
        int state = packet_in_slot(fd, file_size, offset, bytes, m->uuid, &p);
        if (state != PACKET_GOOD) {
            rc = state < 0 ? state : 0;
            continue;
        }
        rc = totals_add_packet(fd, &p, m, t);
        if (last.size == 0 || p.head.packet_seq_num > last.head.packet_seq_num)
            last = p;
    }
    t->lost += last.head.events_discarded;
    return rc;
}

static int stream_totals(const char *path, const struct meta *m, struct recording_totals *t)
{
    struct stat st;
    struct packet p;
    uint64_t discarded = 0;
    int fd = packets_open(path);
    if (fd < 0)
        return packets_io_failed(path, -fd);
    int rc = fstat(fd, &st) == 0 ? 0 : -errno;
    uint64_t ring = packets_ring(path, m);
    if (rc == 0 && ring)
        rc = ring_totals(fd, (uint64_t)st.st_size, ring, m, t);
    for (uint64_t offset = 0; rc == 0 && !ring; offset += p.size) {
        int state = packet_at(fd, (uint64_t)st.st_size, offset, m->uuid, &p);
        if (state != PACKET_GOOD) {
            rc = state < 0 ? state : 0;
            break;
        }
        rc = totals_add_packet(fd, &p, m, t);
        t->packets += p.content > sizeof p.head;
        discarded = p.head.events_discarded;
    }
    close(fd);
    t->lost += discarded;
    return rc == 0 || rc == -ENODATA ? 0 : packets_io_failed(path, -rc);
}

/* Why no packet could be written. ENOBUFS is the size limit of the recording itself. */
static const char *refusal_text(uint32_t errnum)
{
    switch (errnum) {
    case 0:
        return "an event was longer than a packet";
    case ENOBUFS:
        return "the size limit of the recording is reached (UPMU_TRACE_LIMIT, upmu record --limit)";
    case ENOSPC:
        return "the disk is full (ENOSPC)";
    case EDQUOT:
        return "the disk quota is exceeded (EDQUOT)";
    case EFBIG:
        return "the file size limit is reached (EFBIG; ulimit -f)";
    case EMFILE:
        return "the process had no free descriptor (EMFILE; ulimit -n)";
    case ENOMEM:
        return "there was no memory or address space (ENOMEM; ulimit -v)";
    case ENOENT:
    case ESTALE:
        return "the directory of the recording was moved, removed, or is outside a new root directory";
    default: {
        const char *text = strerrordesc_np((int)errnum);
        return text ? text : "of an unknown error";
    }
    }
}

/* "3 in signal handlers ..., 12 because ..." */
static void write_lost_note(const struct control_header *h, char note[RECORDING_NOTE_MAX])
{
    static const char *const text[LOSS_CAUSES] = {
        [LOSS_PACKET] = "because no packet could be written: ",
        [LOSS_HANDLER] = "in signal handlers that interrupted the recorder",
        [LOSS_THREAD] = "in threads for which there was no memory or no file",
        [LOSS_LOCKS] = "of locks beyond the space for counts",
        [LOSS_STACKS] = "of call stacks, whose table was full",
        [LOSS_NAMES] = "of names of locks, given before recording began",
        [LOSS_KERNEL] = "in the kernel's buffer of scheduling records",
        [LOSS_TRUNCATED] = "in files that another program truncated while they were written",
    };
    size_t len = 0;
    for (size_t i = 0; i < LOSS_CAUSES && len < RECORDING_NOTE_MAX; i++)
        if (h->lost_by[i] > 0)
            len += (size_t)snprintf(note + len, RECORDING_NOTE_MAX - len, "%s%" PRIu64 " %s%s", len > 0 ? ", " : "",
                                    h->lost_by[i], text[i], i == LOSS_PACKET ? refusal_text(h->refusal) : "");
}

bool recording_control(const char *process, struct control_header *h)
{
    char *path = NULL;
    if (asprintf(&path, "%s/" CONTROL_FILE, process) < 0)
        return false;
    int fd = packets_open(path);
    free(path);
    if (fd < 0)
        return false;
    bool good = packets_read(fd, h, sizeof *h, 0) == 0 && memcmp(h->magic, CONTROL_MAGIC, sizeof h->magic) == 0;
    close(fd);
    return good;
}

/* The control file includes losses that reached no packet. */
static bool recording_control_counts(const char *process, uint64_t *lost, uint64_t *overwritten,
                                     struct recording_totals *t)
{
    struct control_header h;
    bool good = recording_control(process, &h);
    *lost = good ? h.lost : 0;
    *overwritten = good ? h.overwritten : 0;
    t->start_ticks = good ? h.start_ticks : 0;
    t->lost_any = UINT64_MAX;
    if (good && h.bytes >= offsetof(struct control_header, lost_by) + sizeof h.lost_by) {
        write_lost_note(&h, t->lost_note);
        t->lost_any = h.lost_by[LOSS_PACKET] + h.lost_by[LOSS_THREAD] + h.lost_by[LOSS_TRUNCATED];
    }
    bool has_stopped = good && h.bytes >= offsetof(struct control_header, stopped) + sizeof h.stopped;
    t->stopped = has_stopped && h.stopped <= CONTROL_STOPPED_RESTRICTED ? h.stopped : CONTROL_STOPPED_NOT;
    /* Each library adds its own part: the sum is known once the recording is complete. */
    if (good && h.bytes >= offsetof(struct control_header, memory_unknown) + sizeof h.memory_unknown && h.complete &&
        !h.memory_unknown) {
        t->memory = h.memory;
        t->blocks = h.blocks;
    }
    if (good && h.bytes >= offsetof(struct control_header, children_failed) + sizeof h.children_failed) {
        t->children_filtered = h.children_filtered;
        t->children_failed = h.children_failed;
    }
    if (good && h.bytes >= offsetof(struct control_header, pause) + sizeof h.pause) {
        t->pauses = h.pauses;
        t->counted = (h.modes & 1U << CONTROL_COUNTS) != 0;
        t->paused_more_ns = h.paused_more_ns;
    }
    t->has_parent = good && h.bytes >= offsetof(struct control_header, parent) + sizeof h.parent;
    if (t->has_parent) {
        t->children_forked = h.children_forked;
        t->parent = h.parent;
    }
    return good;
}

/* Whether stretch `i` was in mode counts; a recording of counts alone has no other time. */
static bool pause_is_counted(const struct control_header *h, size_t i, bool *dropped)
{
    bool known = h->bytes >= offsetof(struct control_header, counted) + sizeof h->counted;
    bool counted = known && (h->counted[i / 64] >> i % 64 & 1) != 0;
    *dropped = counted && !control_modes_have_events(h->modes);
    return counted;
}

size_t recording_pauses(const char *process, struct recording_pause pauses[CONTROL_PAUSES])
{
    struct control_header h;
    size_t n = 0;
    if (!recording_control(process, &h) || h.bytes < offsetof(struct control_header, pause) + sizeof h.pause)
        return 0;
    for (size_t i = 0; i < h.pauses && i < CONTROL_PAUSES; i++) {
        uint64_t before = n > 0 ? pauses[n - 1].end_raw_ns : 0;
        struct control_pause p = h.pause[i];
        bool dropped, counted = pause_is_counted(&h, i, &dropped);
        if (p.begin_raw_ns == 0 || dropped)
            continue;
        /* The last one may still last; that of any other was never switched to, or is damaged. */
        if (p.end_raw_ns == 0 && i + 1 == h.pauses)
            p.end_raw_ns = UINT64_MAX;
        if (p.begin_raw_ns < before)
            p.begin_raw_ns = before;
        if (p.begin_raw_ns < p.end_raw_ns)
            pauses[n++] = (struct recording_pause){p.begin_raw_ns, p.end_raw_ns, counted};
    }
    return n;
}

/* Packets count both together: discarded events that were not overwritten were lost. */
static void totals_split_lost(const char *process, const struct meta *m, struct recording_totals *t)
{
    uint64_t lost = 0, overwritten = 0, discarded = t->lost;
    if (!recording_control_counts(process, &lost, &overwritten, t) && m->ring_bytes)
        overwritten = discarded;
    t->overwritten = overwritten;
    t->lost = discarded > overwritten ? discarded - overwritten : 0;
    if (lost > t->lost)
        t->lost = lost;
    if (t->lost_any > t->lost)
        t->lost_any = t->lost;
}

int recording_totals(const char *process, const struct path_list *streams, const struct meta *m,
                     struct recording_totals *out)
{
    *out = (struct recording_totals){0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < streams->n; i++)
        rc = stream_totals(streams->paths[i], m, out);
    totals_split_lost(process, m, out);
    return rc;
}

/* How far the clock computed from ticks is from CLOCK_MONOTONIC_RAW since the origin, and the uncertainty of reading both. */
static uint64_t packet_clock_error(const struct meta *m, const struct ctf_packet *h)
{
    double hz = (double)m->clock.hz;
    double line = ((double)h->clock_tick - (double)m->origin.tick) * 1e9 / hz;
    double raw = (double)h->clock_raw - (double)m->origin.raw_ns;
    double unsure = ((double)h->clock_width + (double)m->origin.width) / 2 * 1e9 / hz;
    double off = (line > raw ? line - raw : raw - line) + unsure;
    return off < 1e18 ? (uint64_t)(off + 0.5) : (uint64_t)1e18;
}

static int stream_clock_error(const char *path, const struct meta *m, uint64_t *error_ns)
{
    struct stat st;
    struct packet p = {.size = 0};
    int fd = packets_open(path);
    if (fd < 0)
        return packets_io_failed(path, -fd);
    int rc = fstat(fd, &st) == 0 ? 0 : -errno;
    uint64_t ring = packets_ring(path, m), size = rc == 0 ? (uint64_t)st.st_size : 0;
    for (uint64_t offset = 0; rc == 0 && offset < size;
         offset = ring ? packets_next_slot(fd, offset, size, ring) : offset + p.size) {
        int state =
            ring ? packet_in_slot(fd, size, offset, ring, m->uuid, &p) : packet_at(fd, size, offset, m->uuid, &p);
        if (state != PACKET_GOOD && !ring)
            break;
        uint64_t error = state == PACKET_GOOD && p.head.clock_raw ? packet_clock_error(m, &p.head) : 0;
        if (error != 0 && (*error_ns == UINT64_MAX || error > *error_ns))
            *error_ns = error;
    }
    close(fd);
    return rc == 0 ? 0 : packets_io_failed(path, -rc);
}

int recording_clock_error(const struct path_list *streams, const struct meta *m, uint64_t *error_ns)
{
    int rc = 0;
    *error_ns = UINT64_MAX;
    if (m->reference.points == 2 && m->reference.error_ns) {
        *error_ns = m->reference.error_ns;
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < streams->n; i++)
        rc = stream_clock_error(streams->paths[i], m, error_ns);
    return rc;
}

int recording_refit(struct meta *m, const struct recording_totals *totals)
{
    const struct clock_triple *last = &totals->last;
    if (m->complete || m->portable_clock || m->reference.points == 2 || m->origin.raw_ns == 0 ||
        last->raw_ns < m->origin.raw_ns + CLOCK_MAP_BASELINE_NS)
        return 0;
    uint64_t hz = clock_map_hz(&m->origin, last), first = m->clock.hz;
    /* The first measurement was short but not wrong: a result far from it comes from damaged bytes. */
    if (hz == first || hz < first - first / 1000 || hz > first + first / 1000)
        return 0;
    clock_map_set(&m->clock, &m->origin, hz);
    return 1;
}

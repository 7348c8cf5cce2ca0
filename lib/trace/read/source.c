/* SPDX-License-Identifier: MIT */
/* Streams of a process, as sources of events. */
#include "trace/read/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/read/remapped.h"

int source_init(struct source *s, const struct meta *meta, struct context *context, const char *path, uint32_t process,
                uint32_t order)
{
    *s = (struct source){.meta = meta, .context = context, .path = path, .process = process, .order = order};
    s->ring_bytes = packets_ring(path, meta);
    s->now.event.size = sizeof s->now.event;
    s->now.event.process = process;
    s->now.event.pid = meta->pid;
    s->values = calloc(meta->n_counters + 1, sizeof *s->values);
    return s->values ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", path);
}

void source_free(struct source *s)
{
    free(s->values);
    free(s->data);
    s->values = NULL;
    s->data = NULL;
}

static int source_damaged(const struct source *s, uint64_t offset, const char *what)
{
    return upmu_fail(UPMU_E_FORMAT, "\"%s\", byte %" PRIu64 ": %s", s->path, offset, what);
}

/* Read the content of `p`, of which `done` bytes are read and decoded already. @return 0, -errno. */
static int source_load(struct source *s, int fd, const struct packet *p, size_t done)
{
    size_t len = (size_t)p->present;
    if (len > s->capacity) {
        uint8_t *grown = realloc(s->data, len);
        if (!grown)
            return -ENOMEM;
        s->data = grown;
        s->capacity = len;
    }
    int rc = packets_read(fd, s->data + done, len - done, p->offset + done);
    if (rc != 0)
        return rc;
    s->packet = *p;
    s->has_packet = true;
    s->cursor.pos = s->data + done;
    s->cursor.end = s->data + len;
    return 0;
}

/* Read a packet from its beginning. @return 1 or an error code. */
static int source_begin_packet(struct source *s, int fd, const struct packet *p)
{
    if (p->head.timestamp_begin < s->floor)
        return source_damaged(s, p->offset, "the packet overlaps the one before it");
    int rc = source_load(s, fd, p, 0);
    if (rc != 0)
        return packets_io_failed(s->path, -rc);
    s->cursor.pos += sizeof p->head;
    s->cursor.tick = p->head.timestamp_begin;
    s->decoded = 0;
    s->has_grown = false;
    return 1;
}

/* Read a packet again that has grown. @return 1 or an error code. */
static int source_reread_content(struct source *s, int fd, const struct packet *p)
{
    int rc = source_load(s, fd, p, (size_t)(s->cursor.pos - s->data));
    s->has_grown = rc == 0;
    return rc == 0 ? 1 : packets_io_failed(s->path, -rc);
}

/* Whether to report the end although more may have been written. A packet that grew while it was read is read again only once in each
 * call of the reader: a writer that is faster could keep it here indefinitely. The next call continues. */
static bool source_ends_for_now(struct source *s, int next)
{
    bool ends = s->has_grown && (next == PACKET_NONE || next == PACKET_UNFINISHED);
    s->has_grown = s->has_grown && !ends;
    return ends;
}

static bool packet_is_empty(const struct packet *p)
{
    return p->content == sizeof p->head;
}

/*
 * An unfinished packet may have grown since it was read. It is read again after its successor was found: if the writer has
 * moved on by then, the packet is final, and no event between the two reads is missed.
 * @return 1: more events in this packet; 0: it is complete; or an error code.
 */
static int source_reread_packet(struct source *s, int fd, uint64_t file_size)
{
    struct packet again;
    int state = packet_at(fd, file_size, s->packet.offset, s->meta->uuid, &again);
    if (state < 0)
        return packets_io_failed(s->path, -state);
    if (state != PACKET_GOOD || again.present < s->packet.present) {
        if (packet_is_empty(&s->packet)) { /* a thread ended without an event, and its packet was removed */
            s->packet.size = 0;
            return 0;
        }
        return source_damaged(s, s->packet.offset, "the packet changed while it was read");
    }
    if (again.content == s->packet.content && again.size == s->packet.size)
        return 0;
    /* the first event sets the begin of a packet */
    return s->decoded == 0 ? source_begin_packet(s, fd, &again) : source_reread_content(s, fd, &again);
}

/* Of a ring: whether the bytes of `p` that were read are of one packet, and not overwritten meanwhile. Overwritten events are
 * counted by later packets. @return 1; 0: skipped; -errno as an error code. */
static int source_keep_if_same(struct source *s, int fd, uint64_t file_size, const struct packet *p)
{
    struct packet now;
    int state = packet_in_slot(fd, file_size, p->offset, s->ring_bytes, s->meta->uuid, &now);
    if (state < 0)
        return packets_io_failed(s->path, -state);
    if (state == PACKET_GOOD && now.head.packet_seq_num == p->head.packet_seq_num && now.head.tid == p->head.tid)
        return 1;
    s->cursor.pos = s->cursor.end;
    s->packet.head.event_count = 0;
    return 0;
}

/* source_reread_packet() in a ring, where the packet may have been overwritten: then `*gone` is set. */
static int source_reread_ring_packet(struct source *s, int fd, uint64_t file_size, bool *gone)
{
    struct packet again;
    int state = packet_in_slot(fd, file_size, s->packet.offset, s->ring_bytes, s->meta->uuid, &again);
    if (state < 0)
        return packets_io_failed(s->path, -state);
    *gone = state != PACKET_GOOD || again.head.packet_seq_num != s->packet.head.packet_seq_num;
    if (*gone || again.content <= s->packet.content)
        return 0;
    int rc = s->decoded == 0 ? source_begin_packet(s, fd, &again) : source_reread_content(s, fd, &again);
    if (rc < 0)
        return rc;
    rc = source_keep_if_same(s, fd, file_size, &again);
    *gone = rc == 0;
    return rc;
}

/* Check the end of a packet against its content size and number of events. */
static int source_check_packet(const struct source *s)
{
    const struct packet *p = &s->packet;
    if (p->present < p->content)
        return source_damaged(s, p->offset + p->present, "the file is truncated, and complete events are missing");
    if (p->head.event_count != 0 && p->head.event_count != s->decoded)
        return source_damaged(s, p->offset, "the number of events differs from the one in the packet's header");
    return 0;
}

/* source_step() in a ring. Here, too, the next packet is searched before the current one is read again; and once more if the writer
 * has overwritten it meanwhile. */
static int source_step_in_ring(struct source *s, int fd, uint64_t file_size)
{
    bool done = !s->has_packet;
    for (;;) {
        struct packet next;
        uint64_t offset = s->has_packet ? s->packet.offset : UINT64_MAX;
        int state =
            packet_in_ring(fd, file_size, s->ring_bytes, s->meta->uuid, s->packet.head.packet_seq_num, offset, &next);
        if (!done && source_ends_for_now(s, state))
            return 0;
        if (!done) {
            int rc = source_reread_ring_packet(s, fd, file_size, &done);
            if (rc == 0)
                rc = source_check_packet(s);
            if (rc != 0)
                return rc;
            if (done)
                continue;
        }
        if (state < 0)
            return packets_io_failed(s->path, -state);
        if (state == PACKET_BAD)
            return source_damaged(s, next.offset, next.wrong);
        if (state != PACKET_GOOD)
            return 0;
        uint64_t expected = s->has_packet ? s->packet.head.packet_seq_num + 1 : 0;
        bool gap = next.head.packet_seq_num > expected;
        if (s->has_packet && gap)
            s->missed += next.head.packet_seq_num - expected;
        int rc = source_begin_packet(s, fd, &next);
        if (rc > 0)
            rc = source_keep_if_same(s, fd, file_size, &next);
        s->names = rc > 0 && gap && next.head.thread_name[CTF_THREAD_NAME_BYTES - 1] == CTF_THREAD_NAME_GIVEN;
        if (rc != 0)
            return rc;
        done = true;
    }
}

/* Advance to the next packet in the open file. @return 1; 0 at the end; error code. */
static int source_step(struct source *s, int fd)
{
    struct stat st;
    struct packet next;
    if (fstat(fd, &st) != 0)
        return packets_io_failed(s->path, errno);
    uint64_t file_size = (uint64_t)st.st_size;
    if (s->ring_bytes)
        return source_step_in_ring(s, fd, file_size);
    uint64_t offset = s->has_packet ? s->packet.offset + s->packet.size : 0;
    int state = packet_at(fd, file_size, offset, s->meta->uuid, &next);
    if (source_ends_for_now(s, state))
        return 0;
    if (s->has_packet && (s->packet.head.event_count == 0 || !s->meta->complete)) {
        int rc = source_reread_packet(s, fd, file_size);
        if (rc != 0)
            return rc;
        if (s->packet.size == 0) /* another thread's may replace it */
            return 0;
    }
    int rc = s->has_packet ? source_check_packet(s) : 0;
    if (rc != 0)
        return rc;
    if (state < 0)
        return packets_io_failed(s->path, -state);
    if (state == PACKET_BAD)
        return source_damaged(s, offset, next.wrong);
    return state == PACKET_GOOD ? source_begin_packet(s, fd, &next) : 0;
}

static int source_next_packet(struct source *s)
{
    int fd = packets_open(s->path);
    if (fd < 0)
        return packets_io_failed(s->path, -fd);
    int rc = source_step(s, fd);
    close(fd);
    return rc;
}

static int source_keep_stack(struct source *s)
{
    const struct decoded *d = &s->now;
    const struct context_stack stack = {
        .tick = d->event.tick,
        .id = d->event.stack,
        .n_frames = d->n_frames,
        .method = (uint8_t)d->method,
        .truncated = d->truncated != 0,
    };
    return context_add_stack(s->context, &stack, d->frames);
}

static int source_keep_module(struct source *s)
{
    const struct decoded *d = &s->now;
    const struct context_module module = {
        .base = d->base, .start = d->start, .end = d->end, .path = d->event.name, .build_id = d->build_id};
    return remapped_loaded(s->context, &module, d->event.tick);
}

/* Keep a record that is not an event to the caller. @return 0 or UPMU_E_NOMEM. */
static int source_keep_record(struct source *s)
{
    int rc = 0;
    if (s->ahead && s->now.event.kind != SCHEMA_KIND_MODULE && s->now.event.kind != SCHEMA_KIND_MODULE_GONE)
        return 0;
    if (s->now.event.kind == SCHEMA_KIND_STACK)
        rc = source_keep_stack(s);
    else if (s->now.event.kind == SCHEMA_KIND_MODULE)
        rc = source_keep_module(s);
    else if (s->now.event.kind == SCHEMA_KIND_MODULE_GONE)
        rc = remapped_unloaded(s->context, s->now.base, s->now.start, s->now.end, s->now.event.tick);
    else if (s->now.event.kind == SCHEMA_KIND_COST)
        s->context->cost = s->now.cost;
    return rc == 0 ? 0 : packets_io_failed(s->path, -rc);
}

/* A tick becomes a time; 0 stays. */
static inline void complete_since(const struct source *s, uint64_t *since)
{
    if (*since)
        *since = clock_map_ns(&s->meta->clock, *since);
}

/* Complete the current event for the caller. */
static void source_complete_event(struct source *s)
{
    struct upmu_trace_event *e = &s->now.event;
    e->time_ns = clock_steps_ns(&s->clock, &s->meta->clock, e->tick);
    e->tid = s->packet.head.tid;
    switch (e->kind) {
    case UPMU_TRACE_LOCK_BLOCK:
        complete_since(s, &e->lock_block.holder_since);
        break;
    case UPMU_TRACE_LOCK_RELEASE:
        complete_since(s, &e->lock_release.held_since);
        break;
    case UPMU_TRACE_COND_WAIT:
        complete_since(s, &e->cond.held_since);
        break;
    case UPMU_TRACE_LOCK_COUNTS:
        if (e->lock_counts.thread == 0)
            e->lock_counts.thread = e->tid;
        break;
    case UPMU_TRACE_CALL_BLOCK:
    case UPMU_TRACE_CALL_RETURN:
        e->call.call = SCHEMA_CALL_OF(e->object);
        e->call.descriptor = (int32_t)e->object;
        e->call.descriptor_type = SCHEMA_CALL_DESCRIPTOR_TYPE(e->object);
        break;
    case UPMU_TRACE_MPI_POLL:
        e->mpi_poll.busy_ns = clock_map_ns(&s->meta->clock, e->mpi_poll.since + e->mpi_poll.busy_ns) -
                              clock_map_ns(&s->meta->clock, e->mpi_poll.since);
        complete_since(s, &e->mpi_poll.since);
        break;
    case UPMU_TRACE_FUTEX_WAIT:
        if (e->futex_wait.n_futexes == 0)
            e->futex_wait.n_futexes = 1;
        break;
    default:
        break;
    }
}

/* The current record is several events of an MPI call, the last one its return. `floor`: tick of the event before. */
static void source_divide(struct source *s, uint64_t floor)
{
    struct decoded *d = &s->now;
    struct upmu_trace_event *e = &d->event;
    int32_t record = e->kind;
    s->has_last = true;
    s->last = *e;
    s->last.kind = UPMU_TRACE_MPI_LEAVE;
    s->last.result = 0;
    e->kind = UPMU_TRACE_MPI_REQUEST;
    if (record == SCHEMA_KIND_MPI_CALL) {
        s->last.stack = 0;
        s->last.site = s->last.mpi.sequence = 0;
        e->kind = UPMU_TRACE_MPI_ENTER;
        e->mpi.bytes = 0;
        e->tick = d->mpi_begin < floor ? floor : d->mpi_begin > e->tick ? e->tick : d->mpi_begin;
    } else if (record == SCHEMA_KIND_MPI_DONE) {
        if (d->n_frames) { /* of several requests */
            s->last.mpi.comm = s->last.mpi.request = 0;
            s->last.mpi.peer = s->last.mpi.tag = UPMU_MPI_NONE;
        }
        s->last.mpi.bytes = UPMU_NO_VALUE;
        e->mpi.call = d->mpi_made;
    } else {
        e->mpi.peer = d->mpi_source;
        e->mpi.tag = d->mpi_source_tag;
        e->mpi.bytes = d->mpi_received;
    }
}

/* The next event of a record that is several: further requests, then the return. */
static void source_take_part(struct source *s)
{
    struct decoded *d = &s->now;
    struct upmu_trace_event *e = &d->event;
    uint64_t words[SCHEMA_DONE_WORDS];
    s->has_last = d->n_frames >= SCHEMA_DONE_WORDS;
    if (s->has_last) {
        memcpy(words, d->frames, sizeof words);
        d->frames += sizeof words;
        d->n_frames -= SCHEMA_DONE_WORDS;
        e->result = (int32_t)(words[SCHEMA_DONE_CALL] >> 32);
        e->mpi.call = (uint32_t)words[SCHEMA_DONE_CALL];
        e->mpi.comm = words[SCHEMA_DONE_COMM];
        e->mpi.peer = (int32_t)(uint32_t)words[SCHEMA_DONE_PEER];
        e->mpi.tag = (int32_t)(words[SCHEMA_DONE_PEER] >> 32);
        e->mpi.bytes = words[SCHEMA_DONE_BYTES];
        e->mpi.request = words[SCHEMA_DONE_REQUEST];
    } else {
        *e = s->last;
    }
    source_complete_event(s);
}

static bool source_is_several(const struct source *s)
{
    return s->now.event.kind <= SCHEMA_KIND_MPI_CALL && s->now.event.kind >= SCHEMA_KIND_MPI_EXCHANGE;
}

static void source_take_name(struct source *s)
{
    struct upmu_trace_event *e = &s->now.event;
    s->names = false;
    *e = (struct upmu_trace_event){.size = e->size, .process = e->process, .pid = e->pid};
    e->kind = UPMU_TRACE_THREAD_NAME;
    e->object_type = UPMU_OBJECT_THREAD;
    e->tick = s->packet.head.timestamp_begin;
    e->name = s->packet.head.thread_name;
    s->packet.head.thread_name[CTF_THREAD_NAME_BYTES - 1] = '\0';
    source_complete_event(s);
}

/* The end of a packet that is being written changes with each event. */
static bool source_is_late(const struct source *s)
{
    return s->cursor.tick > s->packet.head.timestamp_end && s->packet.head.event_count != 0;
}

int source_next(struct source *s)
{
    if (s->has_last) {
        source_take_part(s);
        return 1;
    }
    while (!s->over) {
        if (s->names) {
            source_take_name(s);
            return 1;
        }
        while (s->cursor.pos < s->cursor.end) {
            const uint8_t *pos = s->cursor.pos;
            const char *wrong = decode_event(s->meta, &s->cursor, &s->now, s->values);
            if (!wrong && source_is_late(s))
                wrong = "an event is later than the end of its packet";
            if (wrong && s->packet.present < s->packet.content)
                return source_check_packet(s);
            if (wrong)
                return source_damaged(s, s->packet.offset + (uint64_t)(pos - s->data), wrong);
            s->decoded++;
            if (source_is_several(s))
                source_divide(s, s->floor);
            s->floor = s->cursor.tick;
            if (s->now.event.kind > 0) {
                source_complete_event(s);
                return 1;
            }
            int rc = source_keep_record(s);
            if (rc != 0)
                return rc;
        }
        int rc = source_next_packet(s);
        if (rc <= 0)
            return rc;
    }
    return 0;
}

/* Damage ends the search: it is reported when the source itself is read so far. */
void source_read_ahead(const struct source *s, uint64_t tick)
{
    struct source copy = *s;
    size_t done = s->has_packet ? (size_t)(s->cursor.pos - s->data) : 0;
    copy.ahead = true;
    copy.values = calloc(s->meta->n_counters + 1, sizeof *copy.values);
    copy.data = malloc(s->capacity + 1);
    bool usable = copy.values && copy.data && !s->over && !s->broken;
    if (usable && s->has_packet) {
        size_t bytes = (size_t)(s->cursor.end - s->data);
        memcpy(copy.data, s->data, bytes);
        copy.cursor.pos = copy.data + done;
        copy.cursor.end = copy.data + bytes;
    }
    while (usable && copy.now.event.tick <= tick && source_next(&copy) > 0)
        ;
    source_free(&copy);
}

int source_count(int fd, const struct packet *p, const struct meta *m, uint64_t *events)
{
    *events = 0;
    struct source s = {.meta = m};
    s.values = calloc(m->n_counters + 1, sizeof *s.values);
    int rc = s.values ? source_load(&s, fd, p, sizeof p->head) : -ENOMEM;
    s.cursor.tick = p->head.timestamp_begin;
    while (rc == 0 && s.cursor.pos < s.cursor.end && !decode_event(m, &s.cursor, &s.now, s.values))
        ++*events;
    source_free(&s);
    return rc;
}

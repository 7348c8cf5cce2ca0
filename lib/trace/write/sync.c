/* SPDX-License-Identifier: MIT */
/* Lock events. */
#include <string.h>

#include "trace/format/schema.h"
#include "trace/write/stream.h"
#include "trace/write/stream_fast.h"
#include "trace/write/writer.h"

enum {
    /** Longest payload of a synchronization event: all numbers and a name. */
    SYNC_PAYLOAD_MAX = 8 * 8 + 5 * 4 + 2 + UPMU_REGION_NAME_MAX + 1,
    SYNC_SLACK = 8,
    BUILD_ID_MAX = 2 * 64, /* hexadecimal */
    MODULE_PATH_MAX = 4095,
};

static_assert((int)SYNC_PAYLOAD_MAX <= (int)STREAM_PAYLOAD_MAX,
              "a signal handler can leave every synchronization event");
static_assert((int)STREAM_VALUES_MAX <= (int)STREAM_PAYLOAD_MAX, "and every region");
static_assert(3 * 8 + BUILD_ID_MAX + 1 + MODULE_PATH_MAX + 1 <= (int)STREAM_EVENT_MAX, "a module fits into a packet");
static_assert(STREAM_EVENT_MAX + CTF_LONG_HEAD_BYTES + sizeof(struct ctf_packet) <= STREAM_RING_PACKET_MIN,
              "every event fits into a first packet");

/* Class id of each kind, the fullest one if there are several; 0 is not a synchronization class. */
static const uint8_t class_of_kind[] = {
    [UPMU_TRACE_LOCK_BLOCK] = SCHEMA_ID_LOCK_BLOCK,
    [UPMU_TRACE_LOCK_ACQUIRED] = SCHEMA_ID_LOCK_ACQUIRED,
    [UPMU_TRACE_LOCK_ACQUIRE] = SCHEMA_ID_LOCK_ACQUIRE_FULL,
    [UPMU_TRACE_LOCK_RELEASE] = SCHEMA_ID_LOCK_RELEASE_FULL,
    [UPMU_TRACE_LOCK_FAILED] = SCHEMA_ID_LOCK_FAILED,
    [UPMU_TRACE_LOCK_INIT] = SCHEMA_ID_LOCK_INIT,
    [UPMU_TRACE_LOCK_DESTROY] = SCHEMA_ID_LOCK_DESTROY,
    [UPMU_TRACE_LOCK_COUNTS] = SCHEMA_ID_LOCK_COUNTS,
    [UPMU_TRACE_LOCK_NAME] = SCHEMA_ID_LOCK_NAME,
    [UPMU_TRACE_LOCK_MISUSE] = SCHEMA_ID_LOCK_MISUSE,
    [UPMU_TRACE_COND_WAIT] = SCHEMA_ID_COND_WAIT,
    [UPMU_TRACE_COND_WAKE] = SCHEMA_ID_COND_WAKE,
    [UPMU_TRACE_COND_SIGNAL] = SCHEMA_ID_COND_SIGNAL,
    [UPMU_TRACE_COND_BROADCAST] = SCHEMA_ID_COND_BROADCAST,
    [UPMU_TRACE_SEM_POST] = SCHEMA_ID_SEM_POST_FULL,
    [UPMU_TRACE_THREAD_CREATE] = SCHEMA_ID_THREAD_CREATE,
    [UPMU_TRACE_THREAD_START] = SCHEMA_ID_THREAD_START,
    [UPMU_TRACE_THREAD_EXIT] = SCHEMA_ID_THREAD_EXIT,
    [UPMU_TRACE_THREAD_JOIN] = SCHEMA_ID_THREAD_JOIN,
    [UPMU_TRACE_THREAD_JOINED] = SCHEMA_ID_THREAD_JOINED,
    [UPMU_TRACE_THREAD_NAME] = SCHEMA_ID_THREAD_NAME,
    [UPMU_TRACE_THREAD_DETACH] = SCHEMA_ID_THREAD_DETACH,
    [UPMU_TRACE_LOCK_CONSISTENT] = SCHEMA_ID_LOCK_CONSISTENT,
    [UPMU_TRACE_LOCK_ORDER] = SCHEMA_ID_LOCK_ORDER,
    [UPMU_TRACE_LOCK_REQUEST] = SCHEMA_ID_LOCK_REQUEST_FULL,
    [UPMU_TRACE_SEM_OPEN] = SCHEMA_ID_SEM_OPEN,
    [UPMU_TRACE_SEM_CLOSE] = SCHEMA_ID_SEM_CLOSE,
    [UPMU_TRACE_SEM_UNLINK] = SCHEMA_ID_SEM_UNLINK,
    [UPMU_TRACE_SEM_VALUE] = SCHEMA_ID_SEM_VALUE,
    [UPMU_TRACE_THREAD_CANCEL] = SCHEMA_ID_THREAD_CANCEL,
    [UPMU_TRACE_BARRIER_ARRIVE] = SCHEMA_ID_BARRIER_ARRIVE,
    [UPMU_TRACE_BARRIER_LEAVE] = SCHEMA_ID_BARRIER_LEAVE,
    [UPMU_TRACE_FUTEX_WAIT] = SCHEMA_ID_FUTEX_WAIT,
    [UPMU_TRACE_FUTEX_WOKEN] = SCHEMA_ID_FUTEX_WOKEN,
    [UPMU_TRACE_FUTEX_WAKE] = SCHEMA_ID_FUTEX_WAKE,
    [UPMU_TRACE_FUTEX_ALSO] = SCHEMA_ID_FUTEX_ALSO,
    [UPMU_TRACE_SCHED_BEGIN] = SCHEMA_ID_SCHED_BEGIN,
    [UPMU_TRACE_SCHED_OUT] = SCHEMA_ID_SCHED_OUT,
    [UPMU_TRACE_SCHED_IN] = SCHEMA_ID_SCHED_IN,
    [UPMU_TRACE_SCHED_LOST] = SCHEMA_ID_SCHED_LOST,
    [UPMU_TRACE_SCHED_SEEN] = SCHEMA_ID_SCHED_SEEN,
    [UPMU_TRACE_SCHED_WAKE] = SCHEMA_ID_SCHED_WAKE,
    [UPMU_TRACE_KERNEL_LOCK_BLOCK] = SCHEMA_ID_KERNEL_LOCK_BLOCK,
    [UPMU_TRACE_KERNEL_LOCK_DONE] = SCHEMA_ID_KERNEL_LOCK_DONE,
    [UPMU_TRACE_FUTEX_COUNTS] = SCHEMA_ID_FUTEX_COUNTS,
    [UPMU_TRACE_CALL_BLOCK] = SCHEMA_ID_CALL_BLOCK,
    [UPMU_TRACE_CALL_RETURN] = SCHEMA_ID_CALL_RETURN,
};

static uint32_t sync_event_class(const struct trace_sync *e)
{
    bool plain = e->result == 0 && e->site == 0 && e->holder_site == 0 && e->holder_since == 0;
    uint32_t compact = plain ? stream_compact_id(e->kind, e->object_type, e->flags) : SCHEMA_IDS;
    if (compact != SCHEMA_IDS)
        return compact;
    return e->kind > 0 && (size_t)e->kind < sizeof class_of_kind ? class_of_kind[e->kind] : 0;
}

static uint64_t sync_event_number(const struct trace_sync *e, enum schema_slot slot)
{
    switch (slot) {
    case SCHEMA_OBJECT:
        return e->object;
    case SCHEMA_OBJECT_TYPE:
        return (uint64_t)e->object_type;
    case SCHEMA_RESULT:
        return (uint64_t)e->result;
    case SCHEMA_STACK:
        return e->stack;
    case SCHEMA_SITE:
        return e->site;
    case SCHEMA_FLAGS:
        return e->flags;
    case SCHEMA_HOLDER_STACK:
    case SCHEMA_HELD_STACK:
        return e->holder_stack;
    case SCHEMA_HELD:
    case SCHEMA_MUTEX:
    case SCHEMA_MOVED_TO:
    case SCHEMA_THREAD_READY:
        return e->object2;
    case SCHEMA_HOLDER:
    case SCHEMA_COUNTED_THREAD:
    case SCHEMA_PEER:
    case SCHEMA_THREAD_WOKEN:
    case SCHEMA_THREAD_CPUS:
    case SCHEMA_WAKER:
        return (uint64_t)e->peer;
    case SCHEMA_HOLDER_SITE:
    case SCHEMA_HELD_SITE:
    case SCHEMA_RELEASED_SITE:
    case SCHEMA_MUTEX_SITE:
        return e->holder_site;
    case SCHEMA_HOLDER_SINCE:
    case SCHEMA_RELEASED_SINCE:
    case SCHEMA_MUTEX_SINCE:
        return e->holder_since;
    case SCHEMA_HELD_COUNT:
    case SCHEMA_ACQUISITIONS:
    case SCHEMA_SEM_VALUE:
    case SCHEMA_THREAD_SWITCHES:
    case SCHEMA_FUTEXES:
    case SCHEMA_FUTEX_INDEX:
    case SCHEMA_FUTEX_WOKEN:
    case SCHEMA_CPU:
    case SCHEMA_SWITCHES:
    case SCHEMA_KERNEL_LOCK_KINDS:
    case SCHEMA_FUTEX_WAITS:
        return e->count;
    case SCHEMA_CONTENDED:
    case SCHEMA_THREAD_CPU:
    case SCHEMA_FUTEX_RECORDED:
        return e->contended;
    default: /* not a slot of synchronization classes; a test covers every field of every kind */
        return 0;
    }
}

/* The low `bytes` bytes of a number, in the machine's order. SYNC_SLACK bytes beyond them may be overwritten: that needs no branch by
 * the size, and the next field replaces them. */
static uint8_t *sync_put_number(uint8_t *p, uint64_t v, size_t bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(p, &v, sizeof v);
#else
    uint32_t v32 = (uint32_t)v;
    uint16_t v16 = (uint16_t)v;
    if (bytes == sizeof v)
        memcpy(p, &v, sizeof v);
    else if (bytes == sizeof v32)
        memcpy(p, &v32, sizeof v32);
    else if (bytes == sizeof v16)
        memcpy(p, &v16, sizeof v16);
    else
        *p = (uint8_t)v;
#endif
    return p + bytes;
}

static size_t sync_string_length(const char *text, size_t most)
{
    return text ? strnlen(text, most) : 0;
}

/* A string field ends at the first NUL. */
static uint8_t *sync_put_string(uint8_t *p, const char *text, size_t most)
{
    size_t len = sync_string_length(text, most);
    if (len)
        memcpy(p, text, len);
    p[len] = '\0';
    return p + len + 1;
}

static bool write_fields(struct trace_stream *s, uint64_t tick, uint32_t id, const struct trace_sync *e)
{
    uint8_t payload[SYNC_PAYLOAD_MAX + SYNC_SLACK], *p = payload;
    const struct schema_class *c = &schema_classes[id];
    for (size_t i = 0; i < c->n_fields; i++) {
        const struct schema_field *f = &c->fields[i];
        if (f->type == SCHEMA_STRING)
            p = sync_put_string(p, e->name, UPMU_REGION_NAME_MAX);
        else
            p = sync_put_number(p, sync_event_number(e, f->slot), schema_type_bytes(f->type));
    }
    return stream_record(s, tick, id, payload, (size_t)(p - payload));
}

/* Further packets of the thread that an event names have its name: in a ring the event is overwritten. */
static void sync_name_thread(struct trace_stream *s, const struct trace_sync *e)
{
    for (s = __atomic_load_n(&s->home->streams, __ATOMIC_ACQUIRE); s; s = s->next)
        if (__atomic_load_n(&s->used, __ATOMIC_RELAXED) && __atomic_load_n(&s->tid, __ATOMIC_RELAXED) == e->peer)
            stream_name_thread(s, e->name ? e->name : "", CTF_THREAD_NAME_GIVEN);
}

bool upmu_trace_sync_(struct trace_stream *s, uint64_t tick, const struct trace_sync *e)
{
    uint32_t id = sync_event_class(e);
    if (id == 0) {
        stream_lose(s, LOSS_PACKET);
        return false;
    }
    if (__builtin_expect(e->kind == UPMU_TRACE_THREAD_NAME, 0) && e->peer != 0)
        sync_name_thread(s, e);
    if (stream_has_mail(s))
        stream_take_mail(s, tick);
    return write_fields(s, tick, id, e);
}

bool upmu_trace_numbers_(struct trace_stream *s, uint64_t tick, uint32_t id, const uint64_t *numbers, const char *text)
{
    uint8_t payload[SYNC_PAYLOAD_MAX + SYNC_SLACK], *p = payload;
    const struct schema_class *c = &schema_classes[id];
    for (size_t i = 0; i < c->n_fields; i++) {
        if (c->fields[i].type == SCHEMA_STRING)
            p = sync_put_string(p, text, UPMU_REGION_NAME_MAX);
        else
            p = sync_put_number(p, numbers[i], schema_type_bytes(c->fields[i].type));
    }
    if (stream_has_mail(s))
        stream_take_mail(s, tick);
    return stream_record(s, tick, id, payload, (size_t)(p - payload));
}

bool trace_sched(struct trace_stream *s, uint64_t tick, int32_t kind, uint64_t count, uint32_t flags)
{
    const struct trace_sync e = {.kind = kind, .count = count, .flags = flags};
    return write_fields(s, tick, sync_event_class(&e), &e);
}

bool trace_point(struct trace_stream *s, uint64_t tick, int32_t kind, uint64_t value, uint32_t more)
{
    struct trace_sync e = {.kind = kind};
    if (kind == UPMU_TRACE_SCHED_WAKE)
        e.peer = (int32_t)value;
    else
        e.object = value;
    if (kind == UPMU_TRACE_KERNEL_LOCK_BLOCK)
        e.count = more;
    else
        e.result = (int32_t)more;
    return write_fields(s, tick, sync_event_class(&e), &e);
}

bool trace_futexes(struct trace_stream *s, uint64_t tick, uint64_t waits, uint64_t recorded)
{
    const struct trace_sync e = {.kind = UPMU_TRACE_FUTEX_COUNTS, .count = waits, .contended = recorded};
    return write_fields(s, tick, sync_event_class(&e), &e);
}

bool stream_record_context(struct trace_stream *s, uint64_t tick, uint32_t id, const uint8_t *payload, size_t len)
{
    struct trace_stream *aside = stream_for_context(s, tick - 1);
    if (aside)
        return stream_record(aside, aside == s ? tick : tick - 1, id, payload, len);
    stream_lose(s, LOSS_PACKET);
    return false;
}

bool upmu_trace_stack_(struct trace_stream *s, uint64_t tick, uint32_t id, uint32_t method, bool truncated,
                       const uint64_t *frames, uint32_t n)
{
    enum { HEAD = 4 + 2 + 2 };
    uint16_t kept = n < SCHEMA_FRAMES_MAX ? (uint16_t)n : SCHEMA_FRAMES_MAX;
    /* No more than it needs: the program's stack may be a small one. */
    uint8_t *payload = __builtin_alloca(HEAD + kept * sizeof *frames + SYNC_SLACK), *p = payload;
    p = sync_put_number(p, id, 4);
    *p++ = (uint8_t)method;
    *p++ = truncated || kept < n;
    memcpy(p, &kept, sizeof kept);
    p += sizeof kept;
    if (kept)
        memcpy(p, frames, kept * sizeof *frames);
    p += kept * sizeof *frames;
    return stream_record_context(s, tick, SCHEMA_ID_STACK, payload, (size_t)(p - payload));
}

bool upmu_trace_module_(struct trace_stream *s, uint64_t tick, uint64_t base, uint64_t start, uint64_t end,
                        const char *build_id, const char *path)
{
    size_t text = sync_string_length(build_id, BUILD_ID_MAX) + sync_string_length(path, MODULE_PATH_MAX) + 2;
    uint8_t *payload = __builtin_alloca(3 * sizeof base + text + SYNC_SLACK),
            *p = payload; /* as in upmu_trace_stack_() */
    p = sync_put_number(p, base, 8);
    p = sync_put_number(p, start, 8);
    p = sync_put_number(p, end, 8);
    p = sync_put_string(p, build_id, BUILD_ID_MAX);
    p = sync_put_string(p, path, MODULE_PATH_MAX);
    return stream_record_context(s, tick, SCHEMA_ID_MODULE, payload, (size_t)(p - payload));
}

bool upmu_trace_module_gone_(struct trace_stream *s, uint64_t tick, uint64_t base, uint64_t start, uint64_t end)
{
    uint8_t payload[3 * sizeof(uint64_t)], *p = payload;
    p = sync_put_number(p, base, 8);
    p = sync_put_number(p, start, 8);
    p = sync_put_number(p, end, 8);
    return stream_record_context(s, tick, SCHEMA_ID_MODULE_GONE, payload, (size_t)(p - payload));
}

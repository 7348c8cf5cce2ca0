/* SPDX-License-Identifier: MIT */
/*
 * Events of regions, marks and values.
 *
 * The layouts are those of schema.c. An event exists once content_size covers it: the process may be killed between any
 * two instructions, and committed events stay readable.
 *
 * A signal handler may interrupt this code and record on the same stream. It finds the stream busy and leaves its event
 * in a pending slot, which the interrupted code writes right after its own event. A handler ends before the code it
 * interrupted continues, so the stream stays in time order.
 */
#include <string.h>

#include "trace/format/schema.h"
#include "trace/write/stream.h"
#include "trace/write/writer.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* How much of upmu_value is written, so that the reader restores all of it. */
enum form {
    FORM_SHARED, /* one time for all counters */
    FORM_TIMES,  /* a time for each */
    FORM_FULL,
};

/* Bytes per counter, and once, of each form. */
static const struct {
    uint8_t each, once;
} form_bytes[] = {
    [FORM_SHARED] = {8 + 1 + 1, 8},
    [FORM_TIMES] = {8 + 1 + 1 + 8, 0},
    [FORM_FULL] = {8 + 4 + 4 + 8 + 8 + 8, 0},
};

static inline bool value_is_plain(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT && v->raw == v->value && v->running == v->enabled && v->cause == 0;
}

/* No number and no times, only the status and its cause. */
static inline bool value_is_bare(const struct upmu_value *v)
{
    return v->value == UPMU_NO_VALUE && (v->raw | v->enabled | v->running) == 0 && v->status != UPMU_EXACT &&
           v->status >= 0 && v->status <= UINT8_MAX && v->cause >= INT8_MIN && v->cause <= INT8_MAX;
}

/* The shortest lossless form, and the time that all plain counters share in FORM_SHARED. */
static inline enum form values_form(const struct upmu_value *v, size_t n, uint64_t *time)
{
    enum form form = FORM_SHARED;
    bool have_time = false;
    *time = 0;
    for (size_t i = 0; i < n; i++) {
        if (LIKELY(value_is_plain(&v[i]))) {
            if (!have_time)
                *time = v[i].enabled;
            else if (v[i].enabled != *time)
                form = FORM_TIMES;
            have_time = true;
        } else if (!value_is_bare(&v[i])) {
            return FORM_FULL;
        }
    }
    return form;
}

static inline uint8_t *put_u64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *put_i32(uint8_t *p, int32_t v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline uint8_t *put_text(uint8_t *p, const char *text, size_t len)
{
    memcpy(p, text, len);
    p[len] = '\0';
    return p + len + 1;
}

/* The part of the full form after the values. */
static uint8_t *put_values_full(uint8_t *p, const struct upmu_value *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p = put_i32(p, v[i].status);
    for (size_t i = 0; i < n; i++)
        p = put_i32(p, v[i].cause);
    for (size_t i = 0; i < n; i++)
        p = put_u64(p, v[i].raw);
    for (size_t i = 0; i < n; i++)
        p = put_u64(p, v[i].enabled);
    for (size_t i = 0; i < n; i++)
        p = put_u64(p, v[i].running);
    return p;
}

static inline uint8_t *put_values(uint8_t *p, const struct upmu_value *v, size_t n, enum form form, uint64_t time)
{
    for (size_t i = 0; i < n; i++)
        p = put_u64(p, v[i].value);
    if (form == FORM_FULL)
        return put_values_full(p, v, n);
    for (size_t i = 0; i < n; i++)
        *p++ = (uint8_t)v[i].status;
    for (size_t i = 0; i < n; i++)
        *p++ = (uint8_t)v[i].cause;
    if (form == FORM_SHARED)
        return put_u64(p, time);
    for (size_t i = 0; i < n; i++)
        p = put_u64(p, v[i].enabled);
    return p;
}

/* An event before it is encoded. */
struct body {
    uint32_t id;
    enum form form;
    const char *text;
    size_t len; /* of the text, without its NUL */
    const struct upmu_value *values;
    size_t n;
    uint64_t time;
};

static inline size_t body_bytes(const struct body *b)
{
    return b->len + 1 + (b->n ? b->n * form_bytes[b->form].each + form_bytes[b->form].once : 0);
}

static inline uint8_t *put_body(uint8_t *p, const struct body *b)
{
    p = put_text(p, b->text, b->len);
    return b->n ? put_values(p, b->values, b->n, b->form, b->time) : p;
}

static inline uint8_t *put_event_head(uint8_t *p, uint32_t id, uint64_t tick, uint64_t last_tick)
{
    if (LIKELY(id < CTF_ID_LONG && tick - last_tick <= CTF_TICK_MASK)) {
        uint32_t head = ctf_short_head(id, tick);
        memcpy(p, &head, sizeof head);
        return p + sizeof head;
    }
    *p++ = ctf_long_mark();
    memcpy(p, &id, sizeof id);
    return put_u64(p + sizeof id, tick);
}

/* The event's tick, which must not be before the stream's last one. */
static inline uint64_t stream_tick(struct trace_stream *s, uint64_t tick)
{
    if (LIKELY(tick >= s->last_tick))
        return tick;
    __atomic_fetch_add(&s->home->control->clamped, 1, __ATOMIC_RELAXED);
    return s->last_tick;
}

/* Commit the event: from here on it exists. */
static inline void stream_commit(struct trace_stream *s, uint8_t *end, uint64_t tick)
{
    struct ctf_packet *p = s->packet;
    s->surplus += (size_t)(end - s->pos) - STREAM_COMPACT_BYTES;
    s->pos = end;
    s->last_tick = tick;
    __builtin_prefetch(end + STREAM_AHEAD, 1);
    __atomic_store_n(&p->timestamp_end, tick, __ATOMIC_RELEASE);
    __atomic_store_n(&p->content_size, (uint64_t)(end - (uint8_t *)p) * 8, __ATOMIC_RELEASE);
}

/* Called by the holder of the stream. CTF readers take the number from the packet; without one, the next packet gets it. */
static void event_write_discarded(struct trace_stream *s)
{
    if (s->packet)
        __atomic_store_n(&s->packet->events_discarded, s->discarded, __ATOMIC_RELAXED);
}

static void stream_lose_event(struct trace_stream *s)
{
    stream_lose(s, LOSS_PACKET);
    event_write_discarded(s);
}

static inline bool event_fits(struct trace_stream *s, size_t payload_bytes, uint64_t tick)
{
    size_t need = CTF_LONG_HEAD_BYTES + payload_bytes;
    if (LIKELY((size_t)(s->limit - s->pos) >= need) || packet_reserve(s, need, tick))
        return true;
    /* Events after the end of a recording at its size limit are not lost. */
    if (__atomic_load_n(&s->home->closed, __ATOMIC_RELAXED) != STREAMS_STOPPED)
        stream_lose_event(s);
    return false;
}

static inline bool write_body(struct trace_stream *s, uint64_t tick, const struct body *b)
{
    tick = stream_tick(s, tick);
    if (!event_fits(s, body_bytes(b), tick))
        return false;
    stream_commit(s, put_body(put_event_head(s->pos, b->id, tick, s->last_tick), b), tick);
    return true;
}

static bool write_payload(struct trace_stream *s, uint64_t tick, uint32_t id, const uint8_t *payload, size_t len)
{
    tick = stream_tick(s, tick);
    if (!event_fits(s, len, tick))
        return false;
    uint8_t *p = put_event_head(s->pos, id, tick, s->last_tick);
    memcpy(p, payload, len);
    stream_commit(s, p + len, tick);
    return true;
}

/* The interrupted code on this stack holds the stream: leave the event in a slot for it. @return NULL if it is lost. */
static struct stream_pending *stream_claim_pending(struct trace_stream *s, uint64_t tick, uint32_t id, size_t len)
{
    bool is_long = len > STREAM_PENDING_BYTES;
    uint32_t before = __atomic_load_n(&s->claimed, __ATOMIC_RELAXED);
    bool fits = len <= STREAM_PAYLOAD_MAX && before % STREAM_LONG_ONE < STREAM_PENDING &&
                (!is_long || before / STREAM_LONG_ONE < STREAM_PENDING_LONG);
    if (fits) /* another handler may have come in between */
        before = __atomic_fetch_add(&s->claimed, is_long ? STREAM_LONG_ONE + 1 : 1, __ATOMIC_RELAXED);
    uint32_t slot = before % STREAM_LONG_ONE, number = before / STREAM_LONG_ONE;
    if (!fits || slot >= STREAM_PENDING) {
        stream_lose(s, LOSS_HANDLER);
        return NULL;
    }
    struct stream_pending *e = &s->left->pending[slot];
    e->id = id;
    e->tick = tick;
    e->len = (uint32_t)len;
    e->number = number;
    return is_long && number >= STREAM_PENDING_LONG
               ? NULL
               : e; /* NULL: the slot is taken, not filled, and counted as lost then */
}

static uint8_t *stream_pending_payload(struct trace_stream *s, struct stream_pending *e)
{
    return e->len > STREAM_PENDING_BYTES ? s->left->pending_long[e->number] : e->payload;
}

static bool stream_leave_pending(struct trace_stream *s, uint64_t tick, const struct body *b)
{
    struct stream_pending *e = stream_claim_pending(s, tick, b->id, body_bytes(b));
    if (!e)
        return false;
    put_body(stream_pending_payload(s, e), b);
    __atomic_store_n(&e->ready, 1, __ATOMIC_RELEASE);
    return true;
}

/* Write the pending events. A handler may add more meanwhile; the slots are released only if none did. */
static void write_all_pending(struct trace_stream *s)
{
    uint32_t done = 0, claimed = __atomic_load_n(&s->claimed, __ATOMIC_RELAXED);
    do {
        uint32_t slots = claimed % STREAM_LONG_ONE;
        for (; done < slots && done < STREAM_PENDING; done++) {
            struct stream_pending *e = &s->left->pending[done];
            /* A slot may have been claimed by a handler that was left by longjmp. */
            if (__atomic_exchange_n(&e->ready, 0, __ATOMIC_ACQUIRE))
                write_payload(s, e->tick, e->id, stream_pending_payload(s, e),
                              e->len); /* lost ones are counted there */
            else
                stream_lose(s, LOSS_HANDLER);
        }
        done = slots;
    } while (!__atomic_compare_exchange_n(&s->claimed, &claimed, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    event_write_discarded(s);
}

static inline void stream_set_busy(struct trace_stream *s, uint32_t busy)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&s->busy, busy, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void stream_release(struct trace_stream *s)
{
    stream_set_busy(s, 0);
    while (__builtin_expect(__atomic_load_n(&s->claimed, __ATOMIC_RELAXED) != 0, 0)) {
        stream_set_busy(s, 1);
        write_all_pending(s);
        stream_set_busy(s, 0);
    }
}

static void stream_stop_one(struct trace_stream *s)
{
    stream_set_busy(s, 1);
    if (__atomic_load_n(&s->claimed, __ATOMIC_RELAXED))
        write_all_pending(s);
    packet_end(s);
}

void stream_stop(struct trace_stream *s)
{
    stream_stop_one(s);
    if (s->aside && s->aside->packet)
        stream_stop_one(s->aside);
}

static size_t stream_first_bytes(const struct trace_stream *s)
{
    const struct stream_home *home = s->home;
    size_t pages = s->seq > 0 && home->limit_bytes == 0 ? STREAM_REUSE_PAGES : 1;
    size_t bytes = pages * home->page_bytes;
    return s->slots ? home->ring_bytes : bytes < home->packet_bytes ? bytes : home->packet_bytes;
}

void stream_name_thread(struct trace_stream *s, const char *name, uint8_t last)
{
    enum { WORDS = sizeof s->thread_name / sizeof *s->thread_name };
    char text[CTF_THREAD_NAME_BYTES] = "";
    uint64_t words[WORDS];
    memcpy(text, name, strnlen(name, sizeof text - 1));
    text[sizeof text - 1] = (char)last;
    memcpy(words, text, sizeof words);
    for (size_t i = 0; i < WORDS; i++)
        __atomic_store_n(&s->thread_name[i], words[i], __ATOMIC_RELAXED);
}

int stream_start(struct trace_stream *s, pid_t tid, const char *thread_name, uint64_t tick)
{
    /* Discard events that signal handlers left after stream_stop(). */
    uint32_t left = __atomic_exchange_n(&s->claimed, 0, __ATOMIC_RELAXED) % STREAM_LONG_ONE;
    for (uint32_t i = 0; i < left; i++)
        stream_lose(s, LOSS_HANDLER);
    for (uint32_t i = 0; i < STREAM_PENDING && i < left; i++)
        s->left->pending[i].ready = 0;
    __atomic_store_n(&s->tid, tid, __ATOMIC_RELAXED);
    stream_name_thread(s, thread_name, 0);
    s->next_bytes = stream_first_bytes(s);
    s->retry_tick = 0;
    if (tick < s->last_tick)
        tick = s->last_tick;
    int rc = packet_switch(s, tick, true);
    if (rc != 0 && !s->slots && s->next_bytes > s->home->page_bytes) { /* space for less */
        s->next_bytes = s->home->page_bytes;
        rc = packet_switch(s, tick, true);
    }
    if (rc == 0)
        stream_set_busy(s, 0);
    return rc;
}

void stream_start_without_space(struct trace_stream *s, uint64_t tick)
{
    s->fresh = false;
    s->retry_tick = tick + s->home->retry_ticks;
    stream_set_busy(s, 0);
}

static inline bool stream_record_body(struct trace_stream *s, uint64_t tick, const struct body *b)
{
    if (__builtin_expect(__atomic_load_n(&s->busy, __ATOMIC_RELAXED), 0))
        return stream_leave_pending(s, tick, b);
    stream_set_busy(s, 1);
    bool written = write_body(s, tick, b);
    stream_release(s);
    return written;
}

static inline bool stream_is_closed(const struct trace_stream *s)
{
    return __atomic_load_n(&s->home->closed, __ATOMIC_RELAXED) != 0;
}

bool stream_record(struct trace_stream *s, uint64_t tick, uint32_t id, const uint8_t *payload, size_t len)
{
    if (stream_is_closed(s))
        return false;
    if (__atomic_load_n(&s->busy, __ATOMIC_RELAXED)) {
        struct stream_pending *e = stream_claim_pending(s, tick, id, len);
        if (!e)
            return false;
        memcpy(stream_pending_payload(s, e), payload, len);
        __atomic_store_n(&e->ready, 1, __ATOMIC_RELEASE);
        return true;
    }
    stream_set_busy(s, 1);
    bool written = write_payload(s, tick, id, payload, len);
    stream_release(s);
    return written;
}

void upmu_trace_settle_(struct trace_stream *s)
{
    stream_release(s);
}

/* A string field ends at the first NUL, whatever the length given. */
static inline size_t event_text_length(const char *text, size_t len)
{
    return strnlen(text, len < UPMU_REGION_NAME_MAX ? len : UPMU_REGION_NAME_MAX);
}

bool trace_region(struct trace_stream *s, bool end, uint64_t tick, const char *name, size_t name_len,
                  const struct upmu_value *values)
{
    static const uint8_t ids[][2] = {
        [FORM_SHARED] = {SCHEMA_ID_REGION_BEGIN, SCHEMA_ID_REGION_END},
        [FORM_TIMES] = {SCHEMA_ID_REGION_BEGIN_TIMES, SCHEMA_ID_REGION_END_TIMES},
        [FORM_FULL] = {SCHEMA_ID_REGION_BEGIN_FULL, SCHEMA_ID_REGION_END_FULL},
    };
    if (stream_is_closed(s))
        return false;
    if (stream_has_mail(s))
        stream_take_mail(s, tick);
    struct body b = {
        .text = name, .len = event_text_length(name, name_len), .values = values, .n = s->home->n_counters};
    b.form = values_form(values, b.n, &b.time);
    b.id = ids[b.form][end];
    return stream_record_body(s, tick, &b);
}

bool trace_counters(struct trace_stream *s, uint64_t tick, uint64_t object, const struct upmu_value *values)
{
    static const uint8_t ids[] = {[FORM_SHARED] = SCHEMA_ID_COUNTERS,
                                  [FORM_TIMES] = SCHEMA_ID_COUNTERS_TIMES,
                                  [FORM_FULL] = SCHEMA_ID_COUNTERS_FULL};
    uint8_t payload[STREAM_VALUES_MAX], *p = put_u64(payload, object);
    size_t n = s->home->n_counters;
    uint64_t time;
    enum form form = values_form(values, n, &time);
    if (n > 0)
        p = put_values(p, values, n, form, time);
    return stream_record(s, tick, ids[form], payload, (size_t)(p - payload));
}

static bool stream_mark(struct trace_stream *s, uint64_t tick, const char *text, size_t text_len)
{
    struct body b = {.id = SCHEMA_ID_MARK, .text = text, .len = event_text_length(text, text_len)};
    return stream_record_body(s, tick, &b);
}

bool trace_mark(struct trace_stream *s, uint64_t tick, const char *text, size_t text_len)
{
    if (stream_is_closed(s))
        return false;
    if (stream_has_mail(s))
        stream_take_mail(s, tick);
    return stream_mark(s, tick, text, text_len);
}

bool trace_regions_discarded(struct trace_stream *s, uint64_t tick, pid_t thread)
{
    uint8_t payload[sizeof thread];
    (void)put_i32(payload, thread);
    return !stream_is_closed(s) && stream_record(s, tick, SCHEMA_ID_REGIONS_DISCARDED, payload, sizeof payload);
}

/* The text is shared with other processes and may change during the copy: the copy is recorded. If the claim is taken, also
 * by the code that this signal handler interrupted, the text is left to the holder of the claim. */
void stream_take_mail(struct trace_stream *s, uint64_t tick)
{
    struct control_header *control = s->home->control;
    char text[CONTROL_MAIL_MAX];
    uint32_t unclaimed = 0;
    if (stream_is_closed(s) ||
        !__atomic_compare_exchange_n(&s->home->mail_taken, &unclaimed, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    uint32_t len = __atomic_load_n(&control->mail, __ATOMIC_ACQUIRE);
    if (len != 0) {
        memcpy(text, control->text, sizeof text);
        (void)stream_mark(s, tick, text,
                          len < sizeof text ? len : sizeof text); /* a lost mark is counted like any event */
        __atomic_store_n(&control->mail, 0, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&s->home->mail_taken, 0, __ATOMIC_RELEASE);
}

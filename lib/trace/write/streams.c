/* SPDX-License-Identifier: MIT */
/*
 * All streams of a process.
 *
 * Streams are never removed from the list; a free one is claimed by compare-and-swap, so that no lock is needed and a signal
 * handler or a forked child cannot find one held.
 */
#include <errno.h>

#include "base/private_table.h"
#include "trace/write/stream.h"
#include "trace/write/writer.h"

static bool stream_claim(struct trace_stream *s)
{
    uint32_t unused = 0;
    return __atomic_load_n(&s->used, __ATOMIC_RELAXED) == 0 &&
           __atomic_compare_exchange_n(&s->used, &unused, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* `last_tick` of a stream in use changes: it is read of a claimed one only. */
static bool stream_claim_from(struct trace_stream *s, uint64_t from)
{
    if (!stream_claim(s))
        return false;
    bool usable = s->last_tick <= from;
    if (!usable)
        __atomic_store_n(&s->used, 0, __ATOMIC_RELEASE);
    return usable;
}

struct trace_stream *stream_from_pool(struct stream_home *home, uint64_t from)
{
    if (__atomic_load_n(&home->free_streams, __ATOMIC_RELAXED) == 0)
        return NULL;
    struct trace_stream *s = __atomic_load_n(&home->streams, __ATOMIC_ACQUIRE);
    while (s && !stream_claim_from(s, from))
        s = s->next;
    if (s)
        __atomic_fetch_sub(&home->free_streams, 1, __ATOMIC_RELAXED);
    return s;
}

static void stream_to_pool(struct stream_home *home, struct trace_stream *s)
{
    __atomic_store_n(&s->used, 0, __ATOMIC_RELEASE);
    __atomic_fetch_add(&home->free_streams, 1, __ATOMIC_RELAXED);
}

static void stream_publish(struct stream_home *home, struct trace_stream *s)
{
    s->next = __atomic_load_n(&home->streams, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&home->streams, &s->next, s, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

struct trace_stream *stream_add(struct stream_home *home, bool aside)
{
    struct trace_stream *s = stream_new(home, __atomic_fetch_add(&home->next_number, 1, __ATOMIC_RELAXED), aside);
    if (s)
        stream_publish(home, s);
    return s;
}

void trace_stream_release(struct trace_stream *s)
{
    stream_stop(s);
    stream_to_pool(s->home, s);
}

/* Call `act` for streams without a thread, as their owner, and those beside them, while it returns false. @return what it returned. */
static bool streams_ended_any(struct stream_home *home, bool (*act)(struct trace_stream *))
{
    bool done = false;
    for (struct trace_stream *s = __atomic_load_n(&home->streams, __ATOMIC_ACQUIRE); s && !done; s = s->next) {
        if (!stream_claim(s))
            continue;
        done = act(s) || (s->aside && act(s->aside));
        __atomic_store_n(&s->used, 0, __ATOMIC_RELEASE);
    }
    return done;
}

static bool stream_has_ended_packet(struct trace_stream *s)
{
    return s->ended != NULL;
}

static bool stream_cut_ended(struct trace_stream *s)
{
    packet_cut_ended(s);
    return false;
}

static int streams_cut_private(void *home)
{
    (void)streams_ended_any(home, stream_cut_ended);
    return 0;
}

void streams_cut_ended(struct stream_home *home)
{
    if (streams_ended_any(home, stream_has_ended_packet))
        (void)private_table_run(streams_cut_private, home);
}

struct trace_stream *stream_for_context(struct trace_stream *s, uint64_t tick)
{
    int saved = errno;
    if (!s->slots || __atomic_load_n(&s->home->closed, __ATOMIC_RELAXED))
        return s;
    if (!s->aside)
        s->aside = stream_add(s->home, true);
    struct trace_stream *aside = s->aside;
    bool usable = aside && (aside->packet || stream_start(aside, s->tid, (const char *)s->thread_name, tick) == 0);
    errno = saved;
    return usable ? aside : NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Measured cost of an event.
 *
 * The measured code is that of real events; the packet is anonymous memory, which costs as much as a mapped file page
 * once it is present. The cost of new packets is not included.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/tick.h"
#include "trace/format/control.h"
#include "trace/write/stream.h"
#include "trace/write/stream_fast.h"
#include "trace/write/writer.h"

enum { COST_EVENTS = 128, COST_ROUNDS = 4, COST_PACKET_BYTES = 16 * 1024 };

struct scratch {
    struct stream_home home;
    struct control_header control;
    struct trace_stream stream;
};

static void scratch_scratch_clear(struct scratch *s, void *packet, uint64_t tick)
{
    s->home.control = &s->control;
    s->stream.home = &s->home;
    s->stream.packet = packet;
    s->stream.pos = (uint8_t *)packet + sizeof(struct ctf_packet);
    s->stream.limit = (uint8_t *)packet + COST_PACKET_BYTES;
    s->stream.last_tick = tick;
}

static uint64_t scratch_full_events(struct trace_stream *s)
{
    uint64_t begin = tick_now();
    for (int i = 0; i < COST_EVENTS; i++) {
        const struct trace_sync e = {.kind = UPMU_TRACE_LOCK_ACQUIRED, .object_type = UPMU_OBJECT_MUTEX, .object = 1};
        (void)upmu_trace_sync_(s, tick_now(), &e); /* all of them fit */
    }
    return tick_now() - begin;
}

static uint64_t scratch_compact_events(struct trace_stream *s)
{
    uint64_t begin = tick_now();
    for (int i = 0; i < COST_EVENTS; i++)
        (void)stream_fast_sync(s, tick_now(), UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, 1, 0);
    return tick_now() - begin;
}

bool upmu_trace_cost_measure_(double *full, double *compact)
{
    size_t bytes = sizeof(struct scratch) + COST_PACKET_BYTES;
    struct scratch *s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED)
        return false;
    void *packet = s + 1;
    uint64_t least_full = UINT64_MAX, least_compact = UINT64_MAX;
    for (int i = 0; i < COST_ROUNDS; i++) { /* the first one faults the pages in, any other may be interrupted */
        scratch_scratch_clear(s, packet, tick_now());
        uint64_t ticks = scratch_full_events(&s->stream);
        least_full = ticks < least_full ? ticks : least_full;
        scratch_scratch_clear(s, packet, tick_now());
        ticks = scratch_compact_events(&s->stream);
        least_compact = ticks < least_compact ? ticks : least_compact;
    }
    *full = (double)least_full / (double)COST_EVENTS;
    *compact = (double)least_compact / (double)COST_EVENTS;
    munmap(s, bytes);
    return true;
}

bool upmu_trace_own_cost_(struct trace_stream *s, uint64_t tick, uint64_t full_ps, uint64_t compact_ps,
                          uint64_t stack_ps)
{
    const uint64_t payload[] = {full_ps, compact_ps, stack_ps};
    return stream_record_context(s, tick, SCHEMA_ID_OWN_COST, (const uint8_t *)payload, sizeof payload);
}

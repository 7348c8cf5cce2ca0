/* SPDX-License-Identifier: MIT */
/*
 * A packet read while its thread writes it, over all interleavings; and signal handlers at each step of the recorder.
 *
 * Properties: what a reader takes from a packet are complete events, the first ones of one packet, none later than its end; a packet
 * of a ring that is reused meanwhile is left out. Each event that a handler or the interrupted code records is in the packet once.
 * Bound: one reader; six events, and one reuse in a ring of two packets; two switches; words of a read in ascending or descending order. Handlers: three,
 * each at any step, also of another handler.
 *
 * Stores of the writer become visible in program order (release stores), reads of the file happen one after the other. Both sides are
 * compiled here, with atomic operations and pread() that return to the scheduler first.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "unit/interleave.h"
#include "upmu/region.h" /* its inline functions keep the atomic operations of the compiler */

static ssize_t packet_pread(int fd, void *to, size_t bytes, off_t at);
static void step(void);
// NOLINTBEGIN(clang-diagnostic-reserved-identifier)
#define __atomic_store_n(p, v, order) (step(), (void)(*(p) = (v)))
#define __atomic_load_n(p, order) (step(), *(p))
#define pread packet_pread
// NOLINTEND(clang-diagnostic-reserved-identifier)
#include "trace/read/packets.c" // NOLINT(bugprone-suspicious-include)
#include "trace/write/event.c"  // NOLINT(bugprone-suspicious-include)
#include "trace/write/packet.c" // NOLINT(bugprone-suspicious-include)
#include "trace/write/ring.c"   // NOLINT(bugprone-suspicious-include)
#undef __atomic_store_n
#undef __atomic_load_n
#undef pread

enum {
    BYTES = 4096,
    SLOTS = 2,
    PAYLOAD = 8,
    EVENT = CTF_SHORT_HEAD_BYTES + PAYLOAD,
    SWITCHES = 2,
    HANDLERS = 3,
    EVENTS = 6,
    REUSE = 5,
    CHANGING = 17
};

static struct control_header control;
static struct stream_home home = {
    .packet_bytes = BYTES, .ring_bytes = BYTES, .ring_slots = SLOTS, .page_bytes = BYTES, .control = &control};
static struct trace_stream stream;
static struct stream_left left;
static union {
    struct ctf_packet head;
    uint8_t bytes[SLOTS * BYTES];
} file;
static const uint8_t uuid[CTF_UUID_BYTES];
static bool descending, ring, interrupts;

/* ------------------------------------------------------------------- what the modules need of their neighbors */

int control_open_at(int dir, const char *path)
{
    (void)dir;
    (void)path;
    return -1;
}

bool stream_space_take(struct stream_home *h, size_t bytes)
{
    return h && bytes > 0;
}

void stream_space_give(struct stream_home *h, size_t bytes)
{
    (void)h;
    (void)bytes;
}

int stream_open(struct trace_stream *s)
{
    (void)s;
    return -1;
}

void stream_renew(struct trace_stream *s)
{
    (void)s;
}

int stream_write_at(int fd, const void *bytes, size_t n, off_t offset)
{
    (void)fd;
    (void)bytes;
    (void)n;
    (void)offset;
    return -1;
}

void packet_head(const struct trace_stream *s, struct ctf_packet *p, size_t bytes, uint64_t tick)
{
    *p = (struct ctf_packet){.magic = CTF_MAGIC,
                             .timestamp_begin = tick,
                             .timestamp_end = tick,
                             .content_size = sizeof *p * 8,
                             .packet_size = bytes * 8,
                             .packet_seq_num = s->seq,
                             .tid = 1};
}

int packet_make(struct trace_stream *s, off_t offset, size_t bytes, uint64_t tick, struct ctf_packet *at,
                struct ctf_packet **out)
{
    *out = at ? at : (struct ctf_packet *)(void *)(file.bytes + offset);
    packet_head(s, *out, bytes, tick);
    return 0;
}

/* --------------------------------------------------------------------------------------------------- both sides */

static ssize_t packet_pread(int fd, void *to, size_t bytes, off_t at)
{
    (void)fd;
    for (size_t i = 0; i < bytes; i += 8) {
        size_t k = descending ? (bytes - 1) / 8 * 8 - i : i, n = bytes - k < 8 ? bytes - k : 8;
        if (k < CHANGING * sizeof(uint64_t))
            interleave();
        memcpy((char *)to + k, file.bytes + at + k, n);
    }
    return (ssize_t)bytes;
}

/* An event of tick n has the payload n. */
static bool record(uint64_t n)
{
    uint8_t payload[PAYLOAD];
    memcpy(payload, &n, sizeof n);
    return stream_record(&stream, n, 1, payload, sizeof payload);
}

static void begin_packet(void)
{
    memset(&file, 0, sizeof file);
    memset(&stream, 0, sizeof stream);
    memset(&left, 0, sizeof left);
    memset(&control, 0, sizeof control);
    stream.home = &home;
    stream.left = &left;
    stream.slots = ring ? SLOTS : 0;
    stream.ring = file.bytes;
    ck_assert_int_eq(stream_start(&stream, 1, "", 1), 0);
}

static void writer(void)
{
    if (ring)
        ck_assert_int_eq(packet_switch(&stream, REUSE, false), 0);
    for (uint64_t n = ring ? REUSE : 1; n <= EVENTS; n++)
        ck_assert(record(n));
}

static void begin(void)
{
    begin_packet();
    for (uint64_t n = 1; ring && n < REUSE; n++) {
        ck_assert(record(n));
        ck_assert_int_eq(n == REUSE - 2 ? packet_switch(&stream, n, false) : 0, 0);
    }
}

static struct packet taken;
static uint8_t data[BYTES];
static bool good;

/* As source.c and snapshot_stream.c read: of a ring once more after the content, if that is of the same packet. */
static void reader(void)
{
    struct packet now;
    good =
        (ring ? packet_in_slot(0, BYTES, 0, BYTES, uuid, &taken) : packet_at(0, BYTES, 0, uuid, &taken)) == PACKET_GOOD;
    if (!good)
        return;
    ck_assert_int_eq(packets_read(0, data, (size_t)taken.present, 0), 0);
    if (ring)
        good = packet_in_slot(0, BYTES, 0, BYTES, uuid, &now) == PACKET_GOOD &&
               now.head.packet_seq_num == taken.head.packet_seq_num && now.head.tid == taken.head.tid;
}

static void judge(void)
{
    if (!good)
        return;
    size_t events = ((size_t)taken.content - sizeof taken.head) / EVENT;
    /* Events before REUSE are in the first packet, but the last of them, and from REUSE on in the one that replaces it. */
    uint64_t first = ring && taken.head.packet_seq_num > 0 ? REUSE : 1;
    ck_assert_uint_eq((taken.content - sizeof taken.head) % EVENT, 0);
    ck_assert(events == 0 || taken.head.timestamp_begin == first);
    ck_assert_uint_le(first + events - 1, events == 0 ? UINT64_MAX : taken.head.timestamp_end);
    ck_assert(taken.head.event_count == 0 || taken.head.event_count == events);
    for (size_t i = 0; i < events; i++) {
        uint64_t payload;
        memcpy(&payload, data + sizeof taken.head + i * EVENT + CTF_SHORT_HEAD_BYTES, sizeof payload);
        ck_assert_uint_eq(payload, first + i);
    }
}

static void explore(bool of_ring)
{
    const struct interleave_search search = {{writer, reader}, begin, judge, SWITCHES};
    ring = of_ring;
    for (int order = 0; order < 2; order++) {
        descending = order;
        ck_assert_uint_gt(interleave_all(&search), 500);
    }
}

START_TEST(a_packet_in_use_has_complete_events)
{
    explore(false);
}
END_TEST

START_TEST(a_packet_of_a_ring_is_read_whole_or_left_out)
{
    explore(true);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- signal handlers */

/* The steps at which a handler comes, counted over all of the run. */
static unsigned at_step[HANDLERS], steps, handled;

static void step(void)
{
    if (!interrupts) {
        interleave();
        return;
    }
    unsigned now = steps++;
    if (handled < HANDLERS && at_step[handled] == now)
        ck_assert(record(10 + handled++));
}

/* @return whether a handler is left that did not come: the run had fewer steps. */
static bool run_handled(void)
{
    uint64_t seen = 0;
    interrupts = false;
    begin_packet();
    steps = handled = 0;
    interrupts = true;
    ck_assert(record(1));
    ck_assert(record(2));
    interrupts = false;
    if (handled < HANDLERS)
        return true;
    size_t events = (file.head.content_size / 8 - sizeof file.head) / EVENT;
    ck_assert_uint_eq(events, 2 + HANDLERS);
    for (size_t i = 0; i < events; i++) {
        uint64_t payload;
        memcpy(&payload, file.bytes + sizeof file.head + i * EVENT + CTF_SHORT_HEAD_BYTES, sizeof payload);
        ck_assert_uint_lt(payload, 64);
        ck_assert_msg(!(seen >> payload & 1), "event %lu twice", (unsigned long)payload);
        seen |= UINT64_C(1) << payload;
    }
    return false;
}

START_TEST(events_of_handlers_are_there_once)
{
    unsigned long runs = 0;
    bool end[HANDLERS] = {false};
    ring = false;
    for (at_step[0] = 0; !end[0]; at_step[0]++)
        for (end[1] = false, at_step[1] = at_step[0] + 1; !end[1]; at_step[1]++)
            for (end[2] = false, at_step[2] = at_step[1] + 1; !end[2]; at_step[2]++, runs++) {
                end[2] = run_handled();
                end[1] = end[2] && handled < 2;
                end[0] = end[1] && handled < 1;
            }
    printf("%lu ways of three handlers\n", runs);
    ck_assert_uint_gt(runs, 500);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("packet_interleavings");
    tcase_add_test(cases, a_packet_in_use_has_complete_events);
    tcase_add_test(cases, a_packet_of_a_ring_is_read_whole_or_left_out);
    tcase_add_test(cases, events_of_handlers_are_there_once);
    return run_suite("packet_interleavings", cases);
}

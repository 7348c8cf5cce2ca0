/* SPDX-License-Identifier: MIT */
/* Buffers of context-switch records as the kernel writes them, built by hand. */
#include <linux/perf_event.h>
#include <string.h>

#include "kernel/parts.h"
#include "unit/suite.h"

enum { BYTES = 4096, RECORD_SWITCH = 14, SWITCH_BYTES = 24, LOST_BYTES = 40, ROOM = BYTES / SWITCH_BYTES };

static _Alignas(BYTES) unsigned char memory[2 * BYTES];
static struct perf_event_mmap_page *const page = (void *)memory;
static struct kernel_switch_log written;

static void begin(void)
{
    memset(memory, 0, sizeof memory);
    written = (struct kernel_switch_log){.n = 1};
    written.ring[0] = (struct kernel_ring){
        .head = (const uint64_t *)&page->data_head, .page = memory, .page_bytes = BYTES, .data_bytes = BYTES};
}

/* Words go round the end of the buffer. */
static void put(uint64_t word)
{
    memcpy(memory + BYTES + page->data_head % BYTES, &word, sizeof word);
    page->data_head += sizeof word;
}

static void put_header(uint32_t type, uint16_t misc, uint16_t size)
{
    const struct perf_event_header h = {.type = type, .misc = misc, .size = size};
    uint64_t word;
    memcpy(&word, &h, sizeof word);
    put(word);
}

/* The n-th switch: the thread comes (n even) or goes. */
static void put_switch(uint64_t n)
{
    put_header(RECORD_SWITCH, n % 2 ? PERF_RECORD_MISC_SWITCH_OUT : 0, SWITCH_BYTES);
    put(1000 + n);
    put(0);
}

static void put_lost(uint64_t n, uint64_t lost)
{
    put_header(PERF_RECORD_LOST, 0, LOST_BYTES);
    put(0);
    put(lost);
    put(1000 + n);
    put(0);
}

/* Between the last record and now. */
static void expect_presumed_loss(void)
{
    struct kernel_switch r;
    ck_assert(kernel_switches_next(&written, &r));
    ck_assert_uint_eq(r.kind, KERNEL_SWITCH_LOST);
    ck_assert_uint_eq(r.value, 1);
    ck_assert_uint_gt(r.raw_ns, 1000 + 10 * ROOM);
}

static void expect(uint32_t kind, uint64_t raw_ns, uint64_t value)
{
    struct kernel_switch r;
    ck_assert(kernel_switches_next(&written, &r));
    ck_assert_uint_eq(r.kind, kind);
    ck_assert_uint_eq(r.raw_ns, raw_ns);
    ck_assert_uint_eq(r.value, value);
}

static void expect_switches(uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n < to; n++)
        expect(n % 2 ? KERNEL_SWITCH_OUT : KERNEL_SWITCH_IN, 1000 + n, 0);
}

static void expect_end(void)
{
    struct kernel_switch r;
    ck_assert(!kernel_switches_next(&written, &r));
    ck_assert_uint_eq(page->data_tail, page->data_head);
}

START_TEST(records_that_fit_are_returned_and_no_others)
{
    uint64_t n = 0;
    for (int round = 0; round < 5; round++) {
        uint64_t from = n;
        while (n < from + ROOM - 5)
            put_switch(n++);
        expect_switches(from, n);
        expect_end();
    }
}
END_TEST

START_TEST(after_a_full_buffer_a_loss_is_presumed)
{
    for (uint64_t n = 0; n < ROOM; n++)
        put_switch(n);
    expect_switches(0, ROOM);
    expect_presumed_loss();
    expect_end();
}
END_TEST

START_TEST(losses_reported_late_by_the_kernel_are_not_counted_twice)
{
    for (uint64_t n = 0; n < ROOM; n++)
        put_switch(n);
    expect_switches(0, ROOM);
    expect_presumed_loss();
    expect_end();
    put_lost(ROOM + 7, 7);
    put_switch(ROOM + 7);
    expect(KERNEL_SWITCH_LOST, 1000 + ROOM + 7, 6);
    expect_switches(ROOM + 7, ROOM + 8);
    expect_end();
    put_lost(ROOM + 20, 3);
    expect(KERNEL_SWITCH_LOST, 1000 + ROOM + 20, 3);
    expect_end();
}
END_TEST

START_TEST(no_loss_is_presumed_where_the_kernel_has_reported_it)
{
    for (uint64_t n = 0; n < ROOM; n++)
        put_switch(n);
    expect_switches(0, 10);
    put_lost(ROOM + 2, 2);
    put_switch(ROOM + 2);
    expect_switches(10, ROOM);
    expect(KERNEL_SWITCH_LOST, 1000 + ROOM + 2, 2);
    expect_switches(ROOM + 2, ROOM + 3);
    expect_end();
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("switch log");
    tcase_add_checked_fixture(cases, begin, NULL);
    tcase_add_test(cases, records_that_fit_are_returned_and_no_others);
    tcase_add_test(cases, after_a_full_buffer_a_loss_is_presumed);
    tcase_add_test(cases, losses_reported_late_by_the_kernel_are_not_counted_twice);
    tcase_add_test(cases, no_loss_is_presumed_where_the_kernel_has_reported_it);
    return run_suite("kernel switch_log", cases);
}

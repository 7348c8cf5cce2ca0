/* SPDX-License-Identifier: MIT */
/* Lock-order graphs built by hand, and their cycles. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "deadlock/graph/lock_order.h"
#include "unit/suite.h"

enum { TAKINGS = 4096, HELD = 1 << 20, LOCKS = 1 << 15, CYCLES = 64, MEMBERS = 4096 };

static struct wg_acquisition acquisitions[TAKINGS];
static struct wg_order_held held[HELD];
static struct wg_order_edge edges[HELD];
static uint32_t locks[7 * LOCKS + 1], paths[2 * TAKINGS], members[MEMBERS];
static struct wg_order_cycle cycles[CYCLES];
static struct wg_order order;
static size_t n_held;

static void begin(void)
{
    n_held = 0;
    order = (struct wg_order){.acquisitions = acquisitions,
                              .held = held,
                              .edges = edges,
                              .locks = locks,
                              .paths = paths,
                              .cycles = cycles,
                              .max_cycles = CYCLES,
                              .members = members,
                              .max_members = MEMBERS};
}

static struct wg_acquisition *take(uint32_t thread, uint32_t lock, uint32_t n, ...)
{
    va_list ap;
    struct wg_acquisition *t = &acquisitions[order.n_acquisitions++];
    *t = (struct wg_acquisition){.thread = thread, .lock = lock, .first_held = (uint32_t)n_held, .n_held = n};
    va_start(ap, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = va_arg(ap, uint32_t);
        held[n_held++] = (struct wg_order_held){.lock = other};
        if (other >= order.n_locks)
            order.n_locks = other + 1;
    }
    va_end(ap);
    if (lock >= order.n_locks)
        order.n_locks = lock + 1;
    return t;
}

static void one(enum wg_order_class class, uint32_t n)
{
    wg_order_find(&order);
    ck_assert_uint_eq(order.n_cycles, 1);
    ck_assert_int_eq((int)cycles[0].class, (int)class);
    ck_assert_uint_eq(cycles[0].n, n);
    ck_assert(!order.truncated);
}

START_TEST(opposite_orders_of_two_threads_are_an_inversion)
{
    begin();
    take(1, 1, 1u, 0u);
    take(2, 0, 1u, 1u);
    take(3, 0, 1u, 1u); /* the same once more is not another report */
    one(WG_INVERSION, 2);
}
END_TEST

START_TEST(same_order_everywhere_is_nothing)
{
    begin();
    take(1, 1, 1u, 0u);
    take(1, 2, 2u, 0u, 1u);
    take(2, 2, 1u, 0u);
    take(2, 1, 1u, 0u);
    wg_order_find(&order);
    ck_assert_uint_eq(order.n_cycles, 0);
}
END_TEST

START_TEST(a_gate_is_a_gate_only_where_it_is_held)
{
    begin();
    take(1, 1, 2u, 9u, 0u);
    take(2, 0, 2u, 9u, 1u);
    one(WG_GATED, 2);
    take(2, 0, 1u, 1u); /* the same order once without the gate, against the gated one */
    one(WG_INVERSION, 2);
}
END_TEST

/* Three acquisitions in a cycle, all inside semaphore 9. */
static void cycle_in_semaphore(uint32_t permits)
{
    begin();
    take(1, 1, 2u, 9u, 0u);
    take(2, 2, 2u, 9u, 1u);
    take(3, 0, 2u, 9u, 2u);
    for (size_t i = 0; i < n_held; i += 2) {
        held[i].shared = true;
        held[i].permits = permits;
    }
}

START_TEST(a_semaphore_guards_only_when_its_permits_are_used_up)
{
    cycle_in_semaphore(2);
    one(WG_GATED, 3);
    cycle_in_semaphore(3);
    one(WG_INVERSION, 3);
    cycle_in_semaphore(2);
    acquisitions[2].first_held++; /* one of them does not acquire the semaphore */
    acquisitions[2].n_held--;
    one(WG_INVERSION, 3);
    cycle_in_semaphore(2);
    take(2, 0, 1u, 1u); /* two that are not all inside it are not excluded */
    one(WG_INVERSION, 2);
}
END_TEST

START_TEST(readers_of_a_gate_do_not_keep_each_other_out)
{
    begin();
    take(1, 1, 2u, 9u, 0u);
    take(2, 0, 2u, 9u, 1u);
    held[0].shared = held[2].shared = true;
    one(WG_INVERSION, 2);
}
END_TEST

START_TEST(one_thread_alone_does_not_meet_itself)
{
    begin();
    take(1, 1, 1u, 0u);
    take(1, 0, 1u, 1u);
    one(WG_ONE_THREAD, 2);
    take(2, 1, 1u, 0u);
    one(WG_INVERSION, 2);
}
END_TEST

START_TEST(tries_and_time_limits_break_a_cycle)
{
    begin();
    take(1, 1, 1u, 0u);
    take(2, 0, 1u, 1u)->breakable = true;
    one(WG_BROKEN, 2);
}
END_TEST

static bool all_ordered(void *arg, uint32_t a, uint32_t b)
{
    (void)arg;
    return a != b;
}

START_TEST(threads_one_after_the_other_do_not_meet)
{
    begin();
    take(1, 1, 1u, 0u);
    take(2, 0, 1u, 1u);
    order.ordered = all_ordered;
    one(WG_ORDERED, 2);
}
END_TEST

START_TEST(two_readers_make_no_cycle_reader_and_writer_do)
{
    begin();
    struct wg_acquisition *a = take(1, 1, 1u, 0u), *b = take(2, 0, 1u, 1u);
    a->shared = b->shared = held[0].shared = held[1].shared = true;
    wg_order_find(&order);
    ck_assert_uint_eq(order.n_cycles, 0);
    a->shared = b->shared = false; /* each reads one and wants to write the other */
    one(WG_INVERSION, 2);
}
END_TEST

START_TEST(ring_of_any_length_is_one_cycle)
{
    static const uint32_t sizes[] = {3, 5, 50, 300};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        begin();
        for (uint32_t i = 0; i < sizes[s]; i++)
            take(i, (i + 1) % sizes[s], 1u, i);
        one(WG_INVERSION, sizes[s]);
    }
}
END_TEST

START_TEST(ring_of_three_by_two_threads_cannot_happen)
{
    begin();
    take(1, 1, 1u, 0u);
    take(1, 2, 1u, 1u);
    take(2, 0, 1u, 2u);
    one(WG_ONE_THREAD, 3);
}
END_TEST

START_TEST(a_thousand_held_at_once_and_ten_thousand_locks)
{
    enum { DEEP = 1000, WIDE = 20000 };
    begin();
    for (uint32_t i = 1; i < DEEP; i++) {
        struct wg_acquisition *t = &acquisitions[order.n_acquisitions++];
        *t = (struct wg_acquisition){.thread = 1, .lock = i, .first_held = (uint32_t)n_held, .n_held = i};
        for (uint32_t k = 0; k < i; k++)
            held[n_held++].lock = k;
    }
    order.n_locks = WIDE;
    take(2, 0, 1u, (uint32_t)DEEP - 1);
    one(WG_INVERSION, 2);
    ck_assert_uint_eq(acquisitions[members[cycles[0].first]].lock, DEEP - 1);
}
END_TEST

START_TEST(no_memory_is_reported)
{
    begin();
    for (uint32_t i = 0; i < 4 * CYCLES; i += 2) {
        take(1, i + 1, 1u, i);
        take(2, i, 1u, i + 1);
    }
    wg_order_find(&order);
    ck_assert_uint_eq(order.n_cycles, CYCLES);
    ck_assert(order.truncated);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("order");
    tcase_set_timeout(c, 60); /* sanitizers and loaded machines are slow */
    tcase_add_test(c, opposite_orders_of_two_threads_are_an_inversion);
    tcase_add_test(c, same_order_everywhere_is_nothing);
    tcase_add_test(c, a_gate_is_a_gate_only_where_it_is_held);
    tcase_add_test(c, a_semaphore_guards_only_when_its_permits_are_used_up);
    tcase_add_test(c, readers_of_a_gate_do_not_keep_each_other_out);
    tcase_add_test(c, one_thread_alone_does_not_meet_itself);
    tcase_add_test(c, tries_and_time_limits_break_a_cycle);
    tcase_add_test(c, threads_one_after_the_other_do_not_meet);
    tcase_add_test(c, two_readers_make_no_cycle_reader_and_writer_do);
    tcase_add_test(c, ring_of_any_length_is_one_cycle);
    tcase_add_test(c, ring_of_three_by_two_threads_cannot_happen);
    tcase_add_test(c, a_thousand_held_at_once_and_ten_thousand_locks);
    tcase_add_test(c, no_memory_is_reported);
    return run_suite("deadlock.lock_order", c);
}

/* SPDX-License-Identifier: MIT */
/* Modules mapped at the same addresses one after the other. */
#include "trace/read/remapped.h"

#include "suite.h"
#include "trace/read/context.h"

static const struct context_module
    first = {.base = 0x1000, .start = 0x1000, .end = 0x2000, .path = "a", .build_id = "1"},
    second = {.base = 0x1000, .start = 0x1000, .end = 0x2000, .path = "b", .build_id = "2"},
    third = {.base = 0x1800, .start = 0x1800, .end = 0x2800, .path = "c", .build_id = ""},
    apart = {.base = 0x9000, .start = 0x9000, .end = 0xa000, .path = "d", .build_id = ""};
static struct context c;

static void begin(void)
{
    c = (struct context){0};
}

static void end(void)
{
    context_free(&c);
}

/* The path of the module that an address met at that tick is in; NULL: none. */
static const char *module_of(uint64_t address, uint64_t tick)
{
    uint64_t at = remapped_address(&c, address, tick);
    for (size_t i = 0; i < c.n_modules; i++)
        if (at >= c.modules[i].start + c.modules[i].tag && at < c.modules[i].end + c.modules[i].tag)
            return c.modules[i].path;
    return NULL;
}

START_TEST(addresses_without_dispute_stay_as_they_are)
{
    ck_assert_int_eq(remapped_loaded(&c, &first, 10), 0);
    ck_assert_int_eq(remapped_loaded(&c, &apart, 11), 0);
    ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 20), 0);
    ck_assert_int_eq(remapped_loaded(&c, &first, 30), 0);
    ck_assert_uint_eq(c.n_modules, 2);
    ck_assert_uint_eq(remapped_address(&c, 0x1500, 25), 0x1500);
    ck_assert_uint_eq(remapped_address(&c, 0x9500, 25), 0x9500);
}
END_TEST

START_TEST(an_address_is_of_the_module_that_was_there_then)
{
    ck_assert_int_eq(remapped_loaded(&c, &first, 10), 0);
    ck_assert_int_eq(remapped_loaded(&c, &apart, 11), 0);
    ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 20), 0);
    ck_assert_int_eq(remapped_loaded(&c, &second, 30), 0);
    ck_assert_int_eq(remapped_unloaded(&c, second.base, second.start, second.end, 40), 0);
    ck_assert_int_eq(remapped_loaded(&c, &first, 50), 0);
    ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 60), 0);
    ck_assert_int_eq(remapped_loaded(&c, &third, 70), 0);
    ck_assert_uint_eq(c.n_modules, 4);
    ck_assert_str_eq(module_of(0x1500, 15), "a");
    ck_assert_str_eq(module_of(0x1500, 35), "b");
    ck_assert_str_eq(module_of(0x1500, 55), "a");
    ck_assert_str_eq(module_of(0x1900, 55), "a");
    ck_assert_str_eq(module_of(0x1900, 75), "c");
    ck_assert_str_eq(module_of(0x2700, 75), "c");
    ck_assert_uint_eq(remapped_address(&c, 0x9500, 55), 0x9500);
    ck_assert_uint_eq(remapped_address(&c, 0, 55), 0);
    ck_assert_uint_eq(remapped_address(&c, 0x7777, 55), 0x7777);
}
END_TEST

START_TEST(a_module_recorded_late_covers_the_time_after_its_predecessor)
{
    ck_assert_int_eq(remapped_loaded(&c, &second, 50), 0);
    ck_assert_int_eq(remapped_loaded(&c, &first, 10), 0); /* from another stream, read later */
    ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 20), 0);
    ck_assert_int_eq(remapped_unloaded(&c, apart.base, apart.start, apart.end, 25), 0); /* of no known module */
    ck_assert_str_eq(module_of(0x1500, 5), "a");
    ck_assert_str_eq(module_of(0x1500, 15), "a");
    ck_assert_str_eq(module_of(0x1500, 30), "b");
    ck_assert_str_eq(module_of(0x1500, 60), "b");
    ck_assert_int_eq(remapped_unloaded(&c, second.base, second.start, second.end, 70), 0);
    ck_assert_str_eq(module_of(0x1500, 80), "b"); /* as a lock's holder is named after its library went */
}
END_TEST

START_TEST(an_unloading_read_before_the_loading_counts)
{
    /* one stream has a thread's unloadings and second loading, another one the loadings between */
    ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 20), 0);
    ck_assert_int_eq(remapped_unloaded(&c, second.base, second.start, second.end, 40), 0);
    ck_assert_int_eq(remapped_loaded(&c, &first, 50), 0);
    ck_assert_int_eq(remapped_loaded(&c, &first, 10), 0);
    ck_assert_int_eq(remapped_loaded(&c, &second, 30), 0);
    ck_assert_str_eq(module_of(0x1500, 15), "a");
    ck_assert_str_eq(module_of(0x1500, 25), "b");
    ck_assert_str_eq(module_of(0x1500, 35), "b");
    ck_assert_str_eq(module_of(0x1500, 45), "a");
    ck_assert_str_eq(module_of(0x1500, 55), "a");
}
END_TEST

START_TEST(an_address_in_an_unloaded_module_waits_for_the_next_one)
{
    static const uint64_t frames[] = {0x1500, 0x9500};
    const struct context_stack stack = {.id = 1, .n_frames = 2, .tick = 25};
    ck_assert_int_eq(remapped_loaded(&c, &first, 10), 0);
    ck_assert_int_eq(remapped_loaded(&c, &apart, 10), 0);
    ck_assert_int_eq(context_add_stack(&c, &stack, (const uint8_t *)frames), 0);
    ck_assert(!remapped_is_late(&c, 0x1500, 25));
    ck_assert(!remapped_stack_is_late(&c, 1));
    ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 20), 0);
    ck_assert(!remapped_is_late(&c, 0x1500, 15));
    ck_assert(!remapped_is_late(&c, 0x9500, 25));
    ck_assert(!remapped_is_late(&c, 0, 25));
    ck_assert(remapped_is_late(&c, 0x1500, 25));
    ck_assert(remapped_stack_is_late(&c, 1));
    ck_assert(!remapped_stack_is_late(&c, 2));
    c.mappings_ahead = c.n_mappings; /* nothing was found: not searched again */
    ck_assert(!remapped_is_late(&c, 0x1500, 25));
    ck_assert(!remapped_stack_is_late(&c, 1));
    ck_assert_int_eq(remapped_loaded(&c, &second, 30), 0);
    ck_assert(!remapped_is_late(&c, 0x1500, 25));
    ck_assert(!remapped_stack_is_late(&c, 1));
    ck_assert_str_eq(module_of(0x1500, 25), "b");
}
END_TEST

START_TEST(a_record_read_ahead_counts_once)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(remapped_loaded(&c, &first, 10), 0);
        ck_assert_int_eq(remapped_loaded(&c, &apart, 10), 0);
        ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 20), 0);
        ck_assert_int_eq(remapped_loaded(&c, &second, 20), 0);
    }
    ck_assert_uint_eq(c.n_mappings, 4);
    ck_assert_uint_eq(c.n_modules, 3);
}
END_TEST

START_TEST(stacks_are_of_their_own_time)
{
    static const uint64_t frames[] = {0x1500, 0x9500};
    const struct context_stack early = {.id = 1, .n_frames = 2, .tick = 15},
                               late = {.id = 2, .n_frames = 2, .tick = 35};
    ck_assert_int_eq(remapped_loaded(&c, &first, 10), 0);
    ck_assert_int_eq(remapped_loaded(&c, &apart, 10), 0);
    ck_assert_int_eq(context_add_stack(&c, &early, (const uint8_t *)frames), 0);
    ck_assert_int_eq(context_add_stack(&c, &late, (const uint8_t *)frames), 0);
    ck_assert_uint_eq(remapped_stack(&c, 2)->frames[0], 0x1500);
    ck_assert_int_eq(remapped_unloaded(&c, first.base, first.start, first.end, 20), 0);
    ck_assert_int_eq(remapped_loaded(&c, &second, 30), 0);
    ck_assert_uint_eq(remapped_stack(&c, 1)->frames[0], 0x1500);
    ck_assert_uint_ne(remapped_stack(&c, 2)->frames[0], 0x1500);
    ck_assert_uint_eq(remapped_stack(&c, 2)->frames[0], remapped_address(&c, 0x1500, 35));
    ck_assert_uint_eq(remapped_stack(&c, 2)->frames[1], 0x9500);
}
END_TEST

START_TEST(more_modules_than_numbers_are_not_taken_for_each_other)
{
    char path[16];
    struct context_module m = first;
    m.path = path;
    for (uint64_t i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "m%d", (int)i);
        ck_assert_int_eq(remapped_loaded(&c, &m, 10 * i + 1), 0);
        ck_assert_int_eq(remapped_unloaded(&c, m.base, m.start, m.end, 10 * i + 9), 0);
    }
    for (uint64_t i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "m%d", (int)i);
        ck_assert_str_eq(module_of(0x1500, 10 * i + 5), i < 255 ? path : "");
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("remapped");
    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, addresses_without_dispute_stay_as_they_are);
    tcase_add_test(cases, an_address_is_of_the_module_that_was_there_then);
    tcase_add_test(cases, a_module_recorded_late_covers_the_time_after_its_predecessor);
    tcase_add_test(cases, an_unloading_read_before_the_loading_counts);
    tcase_add_test(cases, an_address_in_an_unloaded_module_waits_for_the_next_one);
    tcase_add_test(cases, a_record_read_ahead_counts_once);
    tcase_add_test(cases, stacks_are_of_their_own_time);
    tcase_add_test(cases, more_modules_than_numbers_are_not_taken_for_each_other);
    return run_suite("trace remapped", cases);
}

/* SPDX-License-Identifier: MIT */
/* Sums of recorded calls: of trees as threads write them, and of damaged ones. */
#include "func/format/profile.h"

#include <stdlib.h>
#include <string.h>

#include "func/format/notes.h"
#include "unit/suite.h"

enum { NODES = 16, FRAMES = 8, FRAMES_AT = FUNC_HEADER_BYTES, NODES_AT = FRAMES_AT + FRAMES * 64 };
enum { BYTES = NODES_AT + NODES * 64 };

static union {
    struct func_tree tree;
    unsigned char bytes[BYTES];
} file;

static struct func_node *node_at(uint32_t i)
{
    return (struct func_node *)(void *)(file.bytes + NODES_AT) + i;
}

static struct func_frame *frame_at(uint32_t i)
{
    return (struct func_frame *)(void *)(file.bytes + FRAMES_AT) + i;
}

static uint32_t add_node(uint32_t parent, uint64_t function, uint64_t calls, uint64_t inclusive, uint64_t exclusive)
{
    uint32_t i = file.tree.nodes++;
    *node_at(i) = (struct func_node){.function = function,
                                     .calls = calls,
                                     .inclusive = inclusive,
                                     .exclusive = exclusive,
                                     .min = 1,
                                     .max = (int64_t)inclusive,
                                     .next = node_at(parent)->child};
    node_at(parent)->child = i;
    return i;
}

/* main (1) calls work (2) and leaf (3); work calls leaf, and itself. */
static uint32_t work;

static void make_tree(void)
{
    memset(&file, 0, sizeof file);
    file.tree = (struct func_tree){.version = FUNC_VERSION,
                                   .self = 0x10000,
                                   .top = 0x10000 + FRAMES_AT,
                                   .nodes_start = 0x10000 + NODES_AT,
                                   .nodes = FUNC_NODES_FIXED,
                                   .nodes_ready = NODES,
                                   .frames_at = FRAMES_AT,
                                   .nodes_at = NODES_AT,
                                   .inner_ticks = 10,
                                   .outer_ticks = 20};
    memcpy(file.tree.magic, FUNC_THREAD_MAGIC, sizeof file.tree.magic);
    uint32_t start = add_node(FUNC_NODE_THREAD, 1, 1, 1000, 310);
    work = add_node(start, 2, 4, 600, 440);
    add_node(start, 3, 5, 100, 150);
    add_node(work, 3, 2, 200, 220);
    uint32_t again = add_node(work, 2, 6, 50, 110);
    node_at(again)->child = FUNC_RECURSION | work;
}

static uint32_t number(void *arg, uint64_t function)
{
    (void)arg;
    return (uint32_t)(function % 64);
}

static struct func_profile profile(uint64_t end)
{
    struct func_profile p = {0};
    ck_assert(func_tree_is_valid(&file.tree, BYTES));
    ck_assert(func_profile_add(&p, &file.tree, BYTES, end, 1.0, NULL, number, NULL));
    ck_assert(func_profile_sum(&p, 64));
    return p;
}

static uint64_t edge_calls(const struct func_profile *p, uint32_t caller, uint32_t callee)
{
    for (size_t i = 0; i < p->n_edges; i++)
        if (p->edges[i].caller == caller && p->edges[i].callee == callee)
            return p->edges[i].sums.calls;
    return 0;
}

START_TEST(functions_edges_and_recursion)
{
    make_tree();
    struct func_profile p = profile(0);
    ck_assert_uint_eq(p.functions[1].calls, 1);
    ck_assert_uint_eq(p.functions[1].inclusive_ns, 1000);
    ck_assert_uint_eq(p.functions[1].exclusive_ns, 300); /* without the hooks' inner part */
    ck_assert_uint_eq(p.functions[2].calls, 10);
    ck_assert_uint_eq(p.functions[2].inclusive_ns, 600); /* of the outermost calls */
    ck_assert_uint_eq(p.functions[2].exclusive_ns, 400 + 50);
    ck_assert_uint_eq(p.functions[3].calls, 7);
    ck_assert_uint_eq(edge_calls(&p, FUNC_PROFILE_THREAD, 1), 1);
    ck_assert_uint_eq(edge_calls(&p, 1, 2), 4);
    ck_assert_uint_eq(edge_calls(&p, 2, 2), 6);
    ck_assert_uint_eq(edge_calls(&p, 2, 3), 2);
    ck_assert_uint_eq(p.paths[0].sums.inclusive_ns, 1000);
    func_profile_free(&p);
}
END_TEST

START_TEST(trees_of_threads_are_merged)
{
    make_tree();
    struct func_profile p = {0};
    for (int i = 0; i < 3; i++)
        ck_assert(func_profile_add(&p, &file.tree, BYTES, 0, 2.0, NULL, number, NULL));
    ck_assert(func_profile_sum(&p, 64));
    ck_assert_uint_eq(p.n_paths, 6);
    ck_assert_uint_eq(p.functions[2].calls, 30);
    ck_assert_uint_eq(p.functions[1].inclusive_ns, 6000);
    ck_assert_uint_eq(p.functions[2].max_ns, 1200);
    func_profile_free(&p);
}
END_TEST

START_TEST(counts_of_nodes_are_summed_with_what_is_missing)
{
    enum { COUNTERS = 2 };
    static struct func_count counts[NODES][COUNTERS];
    make_tree();
    memset(counts, 0, sizeof counts);
    for (uint32_t i = FUNC_NODES_FIXED; i < file.tree.nodes; i++)
        counts[i][0] = (struct func_count){.inclusive = {100 * i, 10, 10}, .exclusive = {50 * i, 10, 5}};
    counts[work][1] = (struct func_count){.inclusive_lost = 1, .exclusive_lost = 2};
    const struct func_tree_counts c = {.counts = counts[0], .bytes = sizeof counts, .inner = {3, 0}};
    struct func_profile p = {.counters = COUNTERS};
    ck_assert(func_profile_add(&p, &file.tree, BYTES, 0, 1.0, &c, number, NULL));
    ck_assert(func_profile_add(&p, &file.tree, BYTES, 0, 1.0, NULL, number, NULL)); /* a thread without counts */
    ck_assert(func_profile_sum(&p, 64));
    uint64_t value = 1;
    const struct func_count_sums *f = &p.function_counts[2 * COUNTERS];
    /* Function 2 is node `work`, 3 with 4 calls, and node 6 with 6 nested ones: its inclusive count is that of the first. */
    ck_assert_int_eq(f->inclusive.count, 300);
    ck_assert_int_eq(f->exclusive.count, 150 - 4 * 3 + 300 - 6 * 3);
    ck_assert_uint_eq(f->inclusive_lost, 4);
    ck_assert_uint_eq(f->exclusive_lost, 10);
    ck_assert_uint_eq(f[1].inclusive_lost, 1 + 4);
    ck_assert_uint_eq(f[1].exclusive_lost, 2 + 10);
    ck_assert_int_eq(func_sum_value(&f->inclusive, f->inclusive_lost, &value), FUNC_COUNT_UNKNOWN);
    ck_assert_int_eq(func_sum_value(&f->inclusive, 0, &value), FUNC_COUNT_EXACT);
    ck_assert_uint_eq(value, 300);
    ck_assert_int_eq(func_sum_value(&f->exclusive, 0, &value), FUNC_COUNT_SCALED);
    ck_assert_uint_eq(value, 2 * (150 - 12 + 300 - 18));
    const struct func_sum never = {.enabled = 10}, below = {.count = -3};
    ck_assert_int_eq(func_sum_value(&never, 0, &value), FUNC_COUNT_UNKNOWN);
    ck_assert_int_eq(func_sum_value(&below, 0, &value), FUNC_COUNT_EXACT);
    ck_assert_uint_eq(value, 0);
    for (size_t i = 0; i < p.n_edges; i++)
        if (p.edges[i].caller == 1 && p.edges[i].callee == 3)
            ck_assert_int_eq(p.edge_counts[p.edges[i].counts * COUNTERS].inclusive.count, 400);
    func_profile_free(&p);
}
END_TEST

/* main, and work in it, had not returned. */
START_TEST(open_calls_end_with_the_recording)
{
    make_tree();
    *frame_at(1) = (struct func_frame){
        .start = 5000, .children = 100, .cost = 30, .node = 0x10000 + NODES_AT + FUNC_NODES_FIXED * 64};
    *frame_at(2) = (struct func_frame){.start = 5500, .children = 0, .node = 0x10000 + NODES_AT + work * 64};
    node_at(FUNC_NODES_FIXED)->active = node_at(work)->active = 1;
    file.tree.top += 2 * sizeof(struct func_frame);
    struct func_profile p = profile(6000);
    ck_assert_uint_eq(p.functions[2].calls, 11);
    ck_assert_uint_eq(p.functions[2].open, 1);
    ck_assert_uint_eq(p.functions[2].inclusive_ns, 600 + 500 - 10);
    ck_assert_uint_eq(p.functions[1].calls, 2);
    ck_assert_uint_eq(p.functions[1].inclusive_ns, 1000 + 1000 - 30 - 10 - 30);
    ck_assert_uint_eq(p.functions[1].exclusive_ns, 300 + 1000 - 100 - 520 - 10);
    func_profile_free(&p);
    /* the end is not known: the last return that is */
    p = profile(0);
    ck_assert_uint_eq(p.functions[1].open, 1);
    ck_assert_uint_eq(p.functions[1].inclusive_ns, 1000 + 500 - 70);
    func_profile_free(&p);
}
END_TEST

static uint32_t random_state;

static uint32_t random_next(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* Any bytes: no crash, no endless loop, no more nodes than there are. */
START_TEST(damaged_trees)
{
    for (random_state = 1; random_state < 4000; random_state += 2) {
        uint32_t seed = random_state;
        make_tree();
        file.tree.top += random_next(4) * 64;
        for (uint32_t n = 1 + random_next(12); n > 0; n--) {
            uint32_t at = random_next(3) ? NODES_AT + random_next(NODES * 64) : random_next(BYTES);
            file.bytes[at] = (unsigned char)(random_next(2) ? random_next(256) : random_next(8));
        }
        size_t bytes = random_next(3) ? BYTES : random_next(BYTES);
        struct func_profile p = {0};
        if (func_tree_is_valid(&file.tree, bytes)) {
            ck_assert(func_profile_add(&p, &file.tree, bytes, random_next(10000), 1.0, NULL, number, NULL));
            ck_assert(func_profile_sum(&p, 64));
            ck_assert_uint_le(p.n_paths, NODES);
        }
        func_profile_free(&p);
        random_state = seed;
    }
}
END_TEST

START_TEST(notes_of_modules)
{
    static union {
        struct func_process_header header;
        unsigned char bytes[FUNC_HEADER_BYTES + 256];
    } f;
    struct func_note *n = (struct func_note *)(void *)(f.bytes + FUNC_HEADER_BYTES);
    *n = (struct func_note){.bytes = 64, .base = 0x1000, .start = 0x1000, .end = 0x2000, .gone = 1};
    memcpy(n + 1, "abcd\0/lib/one.so", 17);
    struct func_note *second = (struct func_note *)(void *)(f.bytes + FUNC_HEADER_BYTES + 64);
    *second = (struct func_note){.bytes = 64, .base = 0x1800, .start = 0x1800, .end = 0x2800};
    memcpy(second + 1, "\0/lib/two.so", 13);
    f.header.notes = 128;
    struct func_modules m = {0};
    ck_assert(func_modules_read(&m, &f.header, sizeof f));
    ck_assert_uint_eq(m.n, 2);
    ck_assert_str_eq(func_modules_find(&m, 0x1900)->path, "/lib/two.so");
    ck_assert_ptr_null(func_modules_find(&m, 0x1100)); /* unloaded */
    ck_assert_str_eq(func_modules_find(&m, 0x1900 | UINT64_C(1) << FUNC_ADDRESS_BITS)->path, "/lib/one.so");
    ck_assert_ptr_null(func_modules_find(&m, 0x1900 | UINT64_C(3) << FUNC_ADDRESS_BITS));
    func_modules_free(&m);
    /* cut off anywhere */
    for (size_t bytes = 0; bytes <= 128; bytes++) {
        f.header.notes = (uint32_t)bytes;
        ck_assert(func_modules_read(&m, &f.header, sizeof f));
        ck_assert_uint_eq(m.n, bytes / 64);
        func_modules_free(&m);
    }
    second->bytes = 40; /* the path has no end within it */
    f.header.notes = 128;
    ck_assert(func_modules_read(&m, &f.header, sizeof f));
    ck_assert_uint_eq(m.n, 1);
    func_modules_free(&m);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("profile");
    tcase_add_test(cases, functions_edges_and_recursion);
    tcase_add_test(cases, trees_of_threads_are_merged);
    tcase_add_test(cases, counts_of_nodes_are_summed_with_what_is_missing);
    tcase_add_test(cases, open_calls_end_with_the_recording);
    tcase_add_test(cases, damaged_trees);
    tcase_add_test(cases, notes_of_modules);
    return run_suite("profile", cases);
}

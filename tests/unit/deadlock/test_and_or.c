/* SPDX-License-Identifier: MIT */
/* AND-OR graphs built by hand, and their blocked nodes; random ones against a slow search. */
#include <string.h>

#include "deadlock/graph/and_or.h"
#include "unit/suite.h"

enum { NODES = 20000, EDGES = 40000 };

static struct ao_node nodes[NODES];
static struct ao_edge edges[EDGES];
static uint32_t work[NODES * 6 + EDGES + 1];
static struct ao_graph graph;

static void begin(uint32_t n)
{
    memset(nodes, 0, sizeof nodes);
    graph = (struct ao_graph){.nodes = nodes, .n_nodes = n, .edges = edges, .work = work};
    ck_assert_uint_le(ao_work(n, EDGES), sizeof work / sizeof *work);
}

static void waits(uint32_t from, uint32_t need)
{
    nodes[from].need = need;
}

static void edge(uint32_t from, uint32_t to, bool never)
{
    edges[graph.n_edges++] = (struct ao_edge){from, to, never};
}

START_TEST(a_node_without_needs_can_continue_and_so_can_what_waits_for_it)
{
    begin(3);
    waits(0, 1);
    edge(0, 1, false);
    waits(1, 1);
    edge(1, 2, false);
    ao_solve(&graph);
    ck_assert(nodes[0].can && nodes[1].can && nodes[2].can);
    ck_assert_uint_eq(graph.n_groups, 0);
    ck_assert_uint_eq(nodes[0].group, AO_NONE);
}
END_TEST

START_TEST(all_needs_all_and_any_needs_one)
{
    begin(6);
    waits(0, 2); /* all of: 2, which runs, and 3 */
    edge(0, 2, false);
    edge(0, 3, false);
    waits(1, 1); /* any of both */
    edge(1, 2, false);
    edge(1, 3, false);
    waits(3, 1);
    edge(3, 3, false);
    ao_solve(&graph);
    ck_assert(!nodes[0].can && nodes[1].can && !nodes[3].can);
    ck_assert(nodes[3].core && !nodes[0].core);
    ck_assert_uint_eq(graph.n_groups, 1);
    ck_assert_uint_eq(nodes[0].group, nodes[3].group);
}
END_TEST

START_TEST(a_knot_is_one_group_and_two_cycles_are_two)
{
    begin(8);
    for (uint32_t i = 0; i < 3; i++) { /* each waits for any other */
        waits(i, 1);
        for (uint32_t k = 0; k < 3; k++)
            if (k != i)
                edge(i, k, false);
    }
    for (uint32_t i = 4; i < 6; i++) {
        waits(i, 1);
        edge(i, 9 - i, false);
    }
    waits(6, 1);
    edge(6, 5, false);
    waits(7, 1);
    edge(7, 6, false);
    ao_solve(&graph);
    ck_assert_uint_eq(graph.n_groups, 2);
    ck_assert(nodes[0].core && nodes[1].core && nodes[2].core && nodes[4].core && nodes[5].core);
    ck_assert_uint_eq(nodes[0].group, nodes[2].group);
    ck_assert_uint_ne(nodes[0].group, nodes[4].group);
    ck_assert(!nodes[6].core && !nodes[7].core && nodes[3].can);
    ck_assert_uint_eq(nodes[7].group, nodes[4].group);
}
END_TEST

START_TEST(what_a_node_will_never_do_blocks_although_it_can_continue)
{
    begin(3);
    waits(0, 1);
    edge(0, 2, true);
    waits(1, 1);
    edge(1, AO_NONE, false);
    ao_solve(&graph);
    ck_assert(!nodes[0].can && !nodes[1].can && nodes[2].can);
    ck_assert(nodes[0].core && nodes[1].core);
    ck_assert_uint_eq(graph.n_groups, 2);
}
END_TEST

START_TEST(a_cycle_of_thousands_needs_no_deep_stack)
{
    begin(NODES);
    for (uint32_t i = 0; i < NODES; i++) {
        waits(i, 1);
        edge(i, (i + 1) % NODES, false);
    }
    ao_solve(&graph);
    ck_assert_uint_eq(graph.n_groups, 1);
    for (uint32_t i = 0; i < NODES; i++)
        ck_assert(nodes[i].core && nodes[i].group == 0);
}
END_TEST

/* The least fixed point by going round until nothing changes; a core by what can be reached from it. */
static void slow_able(bool *can)
{
    bool changed = true;
    for (uint32_t i = 0; i < graph.n_nodes; i++)
        can[i] = nodes[i].need == 0;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < graph.n_nodes; i++) {
            uint32_t n = 0;
            for (uint32_t k = 0; k < graph.n_edges; k++)
                n += edges[k].from == i && edges[k].to != AO_NONE && !edges[k].never && can[edges[k].to];
            changed |= !can[i] && n >= nodes[i].need;
            can[i] |= n >= nodes[i].need;
        }
    }
}

static void slow_reach(uint32_t from, const bool *can, bool *reached)
{
    reached[from] = true;
    for (uint32_t k = 0; k < graph.n_edges; k++)
        if (edges[k].from == from && edges[k].to != AO_NONE && !can[edges[k].to] && !reached[edges[k].to])
            slow_reach(edges[k].to, can, reached);
}

START_TEST(random_graphs_agree_with_the_slow_search)
{
    enum { ROUNDS = 2000, SMALL = 9 };
    uint64_t seed = 12345;
    for (int round = 0; round < ROUNDS; round++) {
        bool can[SMALL], to[SMALL][SMALL] = {{false}};
        begin(SMALL);
        for (uint32_t i = 0; i < SMALL; i++) {
            uint32_t n = 0;
            for (uint32_t k = 0; k < SMALL; k++) {
                seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
                if (seed >> 60 < 3) {
                    edge(i, seed >> 52 & 15 ? k : AO_NONE, (seed >> 48 & 7) == 0);
                    n++;
                }
            }
            waits(i, n ? 1 + (uint32_t)(seed >> 40) % n : 0);
        }
        slow_able(can);
        ao_solve(&graph);
        for (uint32_t i = 0; i < SMALL; i++) {
            ck_assert_int_eq(nodes[i].can, can[i]);
            if (!can[i])
                slow_reach(i, can, to[i]);
        }
        for (uint32_t i = 0; i < SMALL; i++) {
            bool core = !can[i];
            for (uint32_t k = 0; k < SMALL; k++) {
                core &= !to[i][k] || to[k][i];
                if (!can[i] && to[i][k] && to[k][i])
                    ck_assert_uint_eq(nodes[i].group, nodes[k].group);
            }
            ck_assert_int_eq(nodes[i].core, core);
        }
    }
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("and_or");
    tcase_add_test(c, a_node_without_needs_can_continue_and_so_can_what_waits_for_it);
    tcase_add_test(c, all_needs_all_and_any_needs_one);
    tcase_add_test(c, a_knot_is_one_group_and_two_cycles_are_two);
    tcase_add_test(c, what_a_node_will_never_do_blocks_although_it_can_continue);
    tcase_add_test(c, a_cycle_of_thousands_needs_no_deep_stack);
    tcase_add_test(c, random_graphs_agree_with_the_slow_search);
    return run_suite("deadlock.and_or", c);
}

/* SPDX-License-Identifier: MIT */
/* Nodes of an AND-OR graph that can never continue. */
#include "deadlock/graph/and_or.h"

#include <string.h>

/* The working space. Of edges only those count that have two nodes. */
struct ao_space {
    uint32_t *first, *list;               /* by node: where its neighbors begin in `list`; n_nodes + 1 */
    uint32_t *queue;                      /* of the fixed point; stack of the components */
    uint32_t *order, *low, *path, *place; /* of the components */
};

size_t ao_work(uint32_t n_nodes, uint32_t n_edges)
{
    enum { PER_NODE = 6 };
    return (size_t)n_nodes * PER_NODE + n_edges + 1;
}

static struct ao_space space_of(const struct ao_graph *g)
{
    struct ao_space s = {.first = g->work};
    s.list = s.first + g->n_nodes + 1;
    s.queue = s.list + g->n_edges;
    s.order = s.queue + g->n_nodes;
    s.low = s.order + g->n_nodes;
    s.path = s.low + g->n_nodes;
    s.place = s.path + g->n_nodes;
    return s;
}

/* Neighbors of each node: the sources of its edges, or with `forward` the targets. */
static void space_sort(const struct ao_graph *g, struct ao_space *s, bool forward)
{
    memset(s->first, 0, (g->n_nodes + 1) * sizeof *s->first);
    for (uint32_t i = 0; i < g->n_edges; i++)
        if (g->edges[i].to != AO_NONE)
            s->first[forward ? g->edges[i].from : g->edges[i].to]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= g->n_nodes; i++) {
        sum += s->first[i];
        s->first[i] = sum; /* the end, which filling turns into the begin */
    }
    for (uint32_t i = 0; i < g->n_edges; i++) {
        const struct ao_edge *e = &g->edges[i];
        if (e->to == AO_NONE)
            continue;
        uint32_t at = --s->first[forward ? e->from : e->to];
        s->list[at] = forward ? e->to : e->never ? AO_NONE : e->from;
    }
}

static void find_able(struct ao_graph *g, struct ao_space *s)
{
    uint32_t begin = 0, end = 0;
    space_sort(g, s, false);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        g->nodes[i].can = g->nodes[i].need == 0;
        g->nodes[i].core = false;
        g->nodes[i].group = AO_NONE;
        s->low[i] = g->nodes[i].need; /* targets that are missing */
        if (g->nodes[i].can)
            s->queue[end++] = i;
    }
    while (begin < end) {
        uint32_t node = s->queue[begin++];
        for (uint32_t k = s->first[node]; k < s->first[node + 1]; k++) {
            uint32_t waiter = s->list[k];
            if (waiter == AO_NONE || g->nodes[waiter].can || --s->low[waiter] > 0)
                continue;
            g->nodes[waiter].can = true;
            s->queue[end++] = waiter;
        }
    }
}

/* A component is complete: the nodes above `root` on the stack. It is a core if it waits for no other one, else it belongs to
 * the first core that it waits for. Components that it waits for are complete. */
static uint32_t component_close(struct ao_graph *g, struct ao_space *s, uint32_t top, uint32_t root)
{
    uint32_t from = top, group = AO_NONE;
    do
        from--;
    while (s->queue[from] != root);
    for (uint32_t i = from; i < top; i++)
        for (uint32_t k = s->first[s->queue[i]]; k < s->first[s->queue[i] + 1]; k++)
            if (!g->nodes[s->list[k]].can && g->nodes[s->list[k]].group != AO_NONE)
                group = g->nodes[s->list[k]].group;
    bool core = group == AO_NONE;
    if (core)
        group = g->n_groups++;
    for (uint32_t i = from; i < top; i++) {
        g->nodes[s->queue[i]].core = core;
        g->nodes[s->queue[i]].group = group;
    }
    return from;
}

/* Tarjan's components of the blocked nodes, without recursion: `path` has the nodes that are being visited, `place` the next
 * neighbor of each. */
static uint32_t component_visit(struct ao_graph *g, struct ao_space *s, uint32_t start, uint32_t count)
{
    uint32_t depth = 0, top = 0;
    s->path[depth++] = start;
    s->order[start] = s->low[start] = ++count;
    s->place[start] = s->first[start];
    s->queue[top++] = start;
    while (depth > 0) {
        uint32_t node = s->path[depth - 1];
        if (s->place[node] == s->first[node + 1]) {
            if (s->low[node] == s->order[node])
                top = component_close(g, s, top, node);
            if (--depth > 0 && s->low[node] < s->low[s->path[depth - 1]])
                s->low[s->path[depth - 1]] = s->low[node];
            continue;
        }
        uint32_t next = s->list[s->place[node]++];
        if (g->nodes[next].can || g->nodes[next].group != AO_NONE)
            continue;
        if (s->order[next] == 0) {
            s->order[next] = s->low[next] = ++count;
            s->place[next] = s->first[next];
            s->queue[top++] = s->path[depth++] = next;
        } else if (s->order[next] < s->low[node]) {
            s->low[node] = s->order[next];
        }
    }
    return count;
}

void ao_solve(struct ao_graph *g)
{
    struct ao_space s = space_of(g);
    uint32_t count = 0;
    g->n_groups = 0;
    find_able(g, &s);
    space_sort(g, &s, true);
    memset(s.order, 0, g->n_nodes * sizeof *s.order);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].can && g->nodes[i].group == AO_NONE)
            count = component_visit(g, &s, i, count);
}

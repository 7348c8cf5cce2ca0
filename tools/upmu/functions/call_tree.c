/* SPDX-License-Identifier: MIT */
/* Call paths as text. */
#include "call_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/report.h"
#include "ui/memory.h"

enum { TREE_ROWS = 4 };

static void tree_write_path(struct output *out, const struct call_tree *tree, const struct call_path *p)
{
    char *weight = tree->is_time ? report_duration(p->weight) : memory_format("%" PRIu64, p->weight);
    char *name = tree->name(tree->arg, p->function);
    double share = tree->total ? 100.0 * (double)p->weight / (double)tree->total : 0;
    fprintf(out->file, "  %5.1f %%  %9s  %12" PRIu64 "  %*s", share, weight, p->count, (int)(2 * (p->depth - 1)), "");
    output_clean(out->file, name);
    fprintf(out->file, "%s\n", p->recursion ? " (recursion)" : "");
    free(weight);
    free(name);
}

/* The child with the largest weight; 0 if it has none. */
static uint32_t tree_hottest(const struct call_tree *tree, uint32_t parent)
{
    struct call_path p;
    uint32_t best = 0;
    uint64_t most = 0;
    if (!tree->path_at(tree->arg, parent, &p))
        return 0;
    for (uint32_t c = p.child; c != 0 && tree->path_at(tree->arg, c, &p); c = p.next)
        if (!p.recursion && p.weight > most) {
            most = p.weight;
            best = c;
        }
    return best;
}

void call_tree_write_hottest(struct output *out, const struct call_tree *tree)
{
    struct call_path p;
    for (uint32_t i = tree_hottest(tree, 0); i != 0 && tree->path_at(tree->arg, i, &p); i = tree_hottest(tree, i))
        tree_write_path(out, tree, &p);
}

struct row {
    uint32_t path;
    uint64_t weight;
};

static int tree_compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->weight < y->weight ? 1 : x->weight > y->weight ? -1 : 0;
}

/* The paths with the largest weights; with a path its parent is always there, whose weight is not smaller. Recursions are no
 * rows of their own: their weight is in the active call. */
static bool *tree_choose(const struct call_tree *tree, size_t wanted)
{
    struct call_path p;
    struct row *rows = memory_array(tree->n, sizeof *rows);
    bool *chosen = memory_array(tree->n, sizeof *chosen);
    size_t found = 0;
    for (uint32_t i = 1; i < tree->n && tree->path_at(tree->arg, i, &p); i++)
        if (!p.recursion)
            rows[found++] = (struct row){i, p.weight};
    qsort(rows, found, sizeof *rows, tree_compare_rows);
    for (size_t i = 0; i < found && i < wanted; i++)
        for (uint32_t at = rows[i].path; at != 0 && !chosen[at] && tree->path_at(tree->arg, at, &p); at = p.parent)
            chosen[at] = true;
    free(rows);
    return chosen;
}

/* Children in the order of their weights. */
static void tree_write_below(struct output *out, const struct call_tree *tree, const bool *chosen, uint32_t parent)
{
    struct call_path p;
    size_t n = 0, cap = 16;
    struct row *rows = memory_array(cap, sizeof *rows);
    if (!tree->path_at(tree->arg, parent, &p))
        p.child = 0;
    for (uint32_t c = p.child; c != 0 && tree->path_at(tree->arg, c, &p); c = p.next) {
        if (!chosen[c])
            continue;
        if (n == cap)
            rows = memory_resize(rows, cap *= 2, sizeof *rows);
        rows[n++] = (struct row){c, p.weight};
    }
    qsort(rows, n, sizeof *rows, tree_compare_rows);
    for (size_t i = 0; i < n; i++)
        if (tree->path_at(tree->arg, rows[i].path, &p)) {
            tree_write_path(out, tree, &p);
            tree_write_below(out, tree, chosen, rows[i].path);
        }
    free(rows);
}

void call_tree_write(struct output *out, const struct call_tree *tree, size_t top)
{
    bool *chosen = tree_choose(tree, top > SIZE_MAX / TREE_ROWS ? SIZE_MAX : TREE_ROWS * top);
    tree_write_below(out, tree, chosen, 0);
    free(chosen);
}

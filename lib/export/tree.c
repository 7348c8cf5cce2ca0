/* SPDX-License-Identifier: MIT */
/* Calling-context tree with weights. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/tree.h"

int tree_start(struct tree *t, size_t n_counts)
{
    *t = (struct tree){.n_counts = n_counts};
    uint32_t label = tree_label(t, "all", NULL, NULL, 0);
    t->nodes = label == MAP_NONE ? NULL : array_reserve(NULL, 0, &t->cap_nodes, sizeof *t->nodes);
    if (!t->nodes)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while summing up a recording");
    t->nodes[0] = (struct tree_node){.label = label};
    t->n_nodes = 1;
    return 0;
}

static uint64_t tree_hash_text(uint64_t h, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)(text ? text : "\1"); *c; c++)
        h = (h ^ *c) * 0x100000001b3u;
    return (h ^ 0xff) * 0x100000001b3u;
}

static bool tree_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static char *tree_copy(const char *text, bool *failed)
{
    char *c = text ? strdup(text) : NULL;
    *failed |= text && !c;
    return c;
}

static uint32_t tree_label_new(struct tree *t, const char *name, const char *file, const char *module, uint32_t line,
                               uint64_t hash)
{
    struct tree_label *all = array_reserve(t->labels, t->n_labels, &t->cap_labels, sizeof *all);
    bool failed = all == NULL;
    if (failed)
        return MAP_NONE;
    t->labels = all;
    uint32_t index = (uint32_t)t->n_labels;
    all[index] = (struct tree_label){.name = tree_copy(name, &failed),
                                     .file = tree_copy(file, &failed),
                                     .module = tree_copy(module, &failed),
                                     .line = line,
                                     .function_label = index};
    t->n_labels++;
    return failed || !map_put(&t->by_text, hash, line, index) ? MAP_NONE : index;
}

uint32_t tree_label(struct tree *t, const char *name, const char *file, const char *module, uint32_t line)
{
    uint64_t hash = tree_hash_text(tree_hash_text(tree_hash_text(0xcbf29ce484222325u, name), file), module);
    uint32_t found;
    /* Equal hashes use consecutive keys. */
    for (; (found = map_find(&t->by_text, hash, line)) != MAP_NONE; hash++) {
        const struct tree_label *l = &t->labels[found];
        if (tree_same(l->name, name) && tree_same(l->file, file) && tree_same(l->module, module))
            return found;
    }
    found = tree_label_new(t, name, file, module, line, hash);
    if (found == MAP_NONE || line == 0)
        return found;
    uint32_t function_label = tree_label(t, name, file, module, 0);
    if (function_label != MAP_NONE)
        t->labels[found].function_label = function_label;
    return function_label == MAP_NONE ? MAP_NONE : found;
}

uint32_t tree_label_of(struct tree *t, enum tree_kind kind, const char *name)
{
    uint32_t label = tree_label(t, name, NULL, NULL, 0);
    if (label != MAP_NONE)
        t->labels[label].kind = (int)kind;
    return label;
}

uint32_t tree_nearest(const struct tree *t, uint32_t node, enum tree_kind kind)
{
    while (node != 0 && t->labels[t->nodes[node].label].kind != (int)kind)
        node = t->nodes[node].parent;
    return node;
}

uint32_t tree_child(struct tree *t, uint32_t parent, uint32_t label)
{
    if (parent == MAP_NONE || label == MAP_NONE)
        return MAP_NONE;
    uint32_t found = map_find(&t->by_child, parent, label);
    if (found != MAP_NONE)
        return found;
    struct tree_node *all = array_reserve(t->nodes, t->n_nodes, &t->cap_nodes, sizeof *all);
    if (!all)
        return MAP_NONE;
    t->nodes = all;
    uint32_t index = (uint32_t)t->n_nodes;
    if (!map_put(&t->by_child, parent, label, index))
        return MAP_NONE;
    all[index] = (struct tree_node){.label = label, .parent = parent, .sibling = all[parent].child};
    all[parent].child = index;
    t->n_nodes++;
    return index;
}

uint64_t *tree_counts(struct tree *t, uint32_t node)
{
    struct tree_node *n = &t->nodes[node];
    if (!n->counts)
        n->counts = calloc(t->n_counts + 1, sizeof *n->counts);
    return n->counts;
}

void tree_own(const struct tree *t, uint32_t node, uint64_t *columns)
{
    const struct tree_node *n = &t->nodes[node];
    columns[0] = n->ns;
    columns[1] = n->count;
    for (size_t i = 0; i < t->n_counts; i++)
        columns[2 + i] = n->counts ? n->counts[i] : 0;
}

uint64_t *tree_sums(const struct tree *t)
{
    size_t columns = tree_columns(t);
    uint64_t *sums = calloc(t->n_nodes, columns * sizeof *sums);
    for (size_t i = 0; sums && i < t->n_nodes; i++)
        tree_own(t, (uint32_t)i, sums + i * columns);
    /* Children have higher numbers than their parents. */
    for (size_t i = t->n_nodes; sums && i-- > 1;)
        for (size_t c = 0; c < columns; c++)
            sums[t->nodes[i].parent * columns + c] += sums[i * columns + c];
    return sums;
}

void tree_free(struct tree *t)
{
    for (size_t i = 0; i < t->n_labels; i++) {
        free(t->labels[i].name);
        free(t->labels[i].file);
        free(t->labels[i].module);
    }
    for (size_t i = 0; i < t->n_nodes; i++)
        free(t->nodes[i].counts);
    free(t->labels);
    free(t->nodes);
    map_free(&t->by_text);
    map_free(&t->by_child);
    *t = (struct tree){0};
}

/* SPDX-License-Identifier: MIT */
/*
 * Differences between the call paths of two recordings.
 *
 * A path is what its nodes are called: addresses, lines and ids of threads differ from run to run.
 */
#include "export/difference.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A thread's name is followed by its id. */
static size_t difference_length(const char *name, bool is_root)
{
    size_t n = strlen(name), digits = n;
    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    return is_root && digits < n && digits > 1 && name[digits - 1] == ' ' ? digits - 1 : n;
}

static uint64_t difference_hash(uint64_t h, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (h ^ 0xff) * 0x100000001b3u; /* the end of the name */
}

/* The hash of each node's path. */
static uint64_t *difference_hashes(const struct tree *t)
{
    uint64_t *all = calloc(t->n_nodes, sizeof *all);
    for (size_t i = 1; all && i < t->n_nodes; i++) {
        const char *name = t->labels[t->nodes[i].label].name;
        all[i] = difference_hash(all[t->nodes[i].parent], name, difference_length(name, t->nodes[i].parent == 0));
    }
    return all;
}

static uint32_t difference_path(struct difference *d, uint64_t hash)
{
    uint32_t i = map_find(&d->by_names, hash, 0);
    if (i != MAP_NONE)
        return i;
    struct difference_path *all = array_reserve(d->paths, d->n, &d->cap, sizeof *all);
    if (!all)
        return MAP_NONE;
    d->paths = all;
    i = (uint32_t)d->n;
    if (!map_put(&d->by_names, hash, 0, i))
        return MAP_NONE;
    all[i] = (struct difference_path){0};
    d->n++;
    return i;
}

/* @return false without memory. */
static bool difference_add_after(struct difference *d, const struct tree *t, const uint64_t *sums)
{
    uint64_t *hashes = difference_hashes(t);
    d->of_node = calloc(t->n_nodes, sizeof *d->of_node);
    bool ok = hashes && d->of_node;
    for (size_t i = 0; ok && i < t->n_nodes; i++) {
        uint32_t path = difference_path(d, hashes[i]);
        ok = path != MAP_NONE;
        if (ok) {
            d->of_node[i] = path;
            d->paths[path].after += sums[i * tree_columns(t)];
        }
    }
    free(hashes);
    return ok;
}

/* A path that the new tree lacks counts as gone if the new tree has its parent: its time includes that of the paths below it.
 * @return false without memory */
static bool difference_add_before(struct difference *d, const struct tree *t)
{
    uint64_t *hashes = difference_hashes(t), *sums = tree_sums(t);
    bool ok = hashes && sums;
    for (size_t i = 0; ok && i < t->n_nodes; i++) {
        uint64_t ns = sums[i * tree_columns(t)];
        uint32_t path = map_find(&d->by_names, hashes[i], 0);
        if (path != MAP_NONE)
            d->paths[path].before += ns;
        else if (map_find(&d->by_names, hashes[t->nodes[i].parent], 0) != MAP_NONE)
            d->gone += ns;
    }
    free(hashes);
    free(sums);
    return ok;
}

int difference_make(struct difference *d, const struct tree *before, const struct tree *after, const uint64_t *sums)
{
    *d = (struct difference){0};
    bool ok = difference_add_after(d, after, sums) && difference_add_before(d, before);
    return ok ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory while comparing two recordings");
}

void difference_free(struct difference *d)
{
    free(d->paths);
    free(d->of_node);
    map_free(&d->by_names);
    *d = (struct difference){0};
}

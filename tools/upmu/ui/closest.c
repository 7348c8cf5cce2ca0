/* SPDX-License-Identifier: MIT */
/*
 * Nearest word by edit distance.
 *
 * A candidate that begins with the whole word (an abbreviation) counts as one edit.
 */
#include "closest.h"

#include <string.h>

static size_t closest_least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* One row of the distance table is enough: `diagonal` keeps the entry that the row above had one column earlier. */
static size_t closest_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[CLOSEST_MAX + 1];

    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t above = row[j];
            row[j] = closest_least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[nb];
}

void closest_begin(struct closest *c, const char *wanted)
{
    size_t n = strlen(wanted);
    c->wanted = wanted;
    c->best = NULL;
    /* More than a third of the letters wrong is another word, not a slip. */
    c->distance = n / 3 + 2;
}

void closest_offer(struct closest *c, const char *candidate)
{
    size_t nw = strlen(c->wanted), nc = strlen(candidate);
    if (nw == 0 || nw > CLOSEST_MAX || nc > CLOSEST_MAX)
        return;
    size_t d = closest_distance(c->wanted, nw, candidate, nc);
    if (d > 1 && nc > nw && memcmp(c->wanted, candidate, nw) == 0)
        d = 1;
    if (d < c->distance) {
        c->distance = d;
        c->best = candidate;
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Nearest name for "did you mean" messages: edit distance with transpositions.
 *
 * A candidate that begins with the whole word (an abbreviation) counts as one edit.
 */
#include "base/text/suggest.h"

#include <string.h>

static char suggest_fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

static size_t suggest_min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of adjacent characters cost one each. */
static size_t suggest_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][SUGGEST_NAME_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];

    memset(rows, 0, sizeof rows);
    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            char ca = suggest_fold(a[i - 1]), cb = suggest_fold(b[j - 1]);
            row[j] = suggest_min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == suggest_fold(b[j - 2]) && suggest_fold(a[i - 2]) == cb &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[nb];
}

void suggest_begin(struct suggest *s, const char *wanted)
{
    size_t n = strlen(wanted);
    s->wanted = wanted;
    s->best = NULL;
    /* Within a third of the name's length; otherwise it is another word, not a typo. */
    s->distance = n / 3 + 2;
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    size_t nw = strlen(s->wanted), nc = strlen(candidate);
    if (nw == 0 || nw > SUGGEST_NAME_MAX || nc > SUGGEST_NAME_MAX)
        return;
    size_t d = suggest_distance(s->wanted, nw, candidate, nc);
    if (d > 1 && nc > nw && suggest_distance(s->wanted, nw, candidate, nw) == 0)
        d = 1;
    if (d < s->distance) {
        s->distance = d;
        s->best = candidate;
    }
}

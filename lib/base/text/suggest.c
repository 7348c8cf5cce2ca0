/* SPDX-License-Identifier: MIT */
/*
 * Nearest name for "did you mean" messages: edit distance with transpositions.
 *
 * A candidate that begins with the whole word (an abbreviation) counts as one edit.
 */
#include "base/text/suggest.h"

#include <stdbool.h>
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

/* Optimal string alignment: insertions, deletions, substitutions and swaps of adjacent characters cost one each.
 * Returns `limit` as soon as the distance is known to be at least that. */
static size_t suggest_distance(const char *a, size_t na, const char *b, size_t nb, size_t limit)
{
    size_t rows[3][SUGGEST_NAME_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2], least_of_last = 0;

    for (size_t j = 0; j <= nb; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t least = row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            char ca = suggest_fold(a[i - 1]), cb = suggest_fold(b[j - 1]);
            row[j] = suggest_min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == suggest_fold(b[j - 2]) && suggest_fold(a[i - 2]) == cb &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
            least = row[j] < least ? row[j] : least;
        }
        if (least >= limit && least_of_last + 1 >= limit) /* a swap goes back two rows */
            return limit;
        least_of_last = least;
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[nb];
}

/* `candidate` is longer than `wanted` and begins with it. */
static bool suggest_is_abbreviation(const char *wanted, size_t nw, const char *candidate, size_t nc)
{
    if (nc <= nw)
        return false;
    for (size_t i = 0; i < nw; i++)
        if (suggest_fold(wanted[i]) != suggest_fold(candidate[i]))
            return false;
    return true;
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
    size_t longer = nw > nc ? nw - nc : nc - nw, d;
    if (suggest_is_abbreviation(s->wanted, nw, candidate, nc))
        d = 1;
    else if (longer >= s->distance)
        return; /* so many insertions or deletions at least */
    else
        d = suggest_distance(s->wanted, nw, candidate, nc, s->distance);
    if (d < s->distance) {
        s->distance = d;
        s->best = candidate;
    }
}

/* SPDX-License-Identifier: MIT */
/* History of a number as a line of bars (a sparkline). */
#include "top_history.h"

#include <string.h>

#include "ui/memory.h"

enum { HEIGHTS = 8, BLOCK_BYTES = 3 };

void top_history_add(struct top_history *h, double number)
{
    h->all[h->n++ % TOP_HISTORY_MAX] = number;
}

static size_t top_history_kept(const struct top_history *h)
{
    return h->n < TOP_HISTORY_MAX ? h->n : TOP_HISTORY_MAX;
}

double top_history_max(const struct top_history *h)
{
    double most = 0;
    for (size_t i = 0; i < top_history_kept(h); i++)
        most = h->all[i] > most ? h->all[i] : most;
    return most;
}

/* 1 to HEIGHTS; 0 for nothing at all. */
static size_t top_history_height(double number, double most)
{
    if (!(number > 0) || !(most > 0))
        return 0;
    size_t height = (size_t)(number / most * HEIGHTS + 0.999);
    return height < 1 ? 1 : height > HEIGHTS ? HEIGHTS : height;
}

char *top_history_line(const struct top_history *h, size_t columns, bool blocks)
{
    static const char ascii[HEIGHTS + 2] = " .:-=+*#@";
    size_t kept = top_history_kept(h), shown = columns < kept ? columns : kept, at = 0;
    double most = top_history_max(h);
    char *line = memory_array(shown * BLOCK_BYTES + 1, 1);
    for (size_t i = h->n - shown; i < h->n; i++) {
        size_t height = top_history_height(h->all[i % TOP_HISTORY_MAX], most);
        if (!blocks || height == 0) {
            line[at++] = ascii[height];
            continue;
        }
        const char block[BLOCK_BYTES] = {'\xe2', '\x96', (char)(0x80 + height)};
        memcpy(line + at, block, sizeof block);
        at += sizeof block;
    }
    line[at] = '\0';
    return line;
}

/* SPDX-License-Identifier: MIT */
/* Columns of a terminal that characters take, as wcwidth(), without a locale. */
#include "columns.h"

#include <stdbool.h>

#include "ranges.h"

static bool columns_in(const struct columns_range *ranges, size_t n, uint32_t code)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else
            n = middle;
    }
    return code >= ranges[low].first && code <= ranges[low].last;
}

size_t columns_of(uint32_t code)
{
    enum { N_NONE = sizeof columns_none / sizeof *columns_none, N_TWO = sizeof columns_two / sizeof *columns_two };
    if (code < columns_none[0].first)
        return 1;
    return columns_in(columns_none, N_NONE - 1, code) ? 0 : columns_in(columns_two, N_TWO - 1, code) ? 2 : 1;
}

/* SPDX-License-Identifier: MIT */
/** @file Durations with a unit in options and environment variables. */
#ifndef UPMU_BASE_TEXT_DURATION_H
#define UPMU_BASE_TEXT_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Parse a duration such as "50 ms" or "1.5s", `len` bytes. A number without a unit is refused unless `unit` has one for it.
 *  @return whether it is one. */
static inline bool duration_ns(const char *text, size_t len, const char *unit, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    enum { WHOLE_MAX = 1000000000, DIGITS_MAX = 18 };
    uint64_t whole = 0, fraction = 0, scale = 1;
    size_t i = 0, digits = 0;
    for (; i < len && text[i] >= '0' && text[i] <= '9' && whole < WHOLE_MAX; i++, digits++)
        whole = whole * 10 + (uint64_t)(text[i] - '0');
    if (digits > 0 && i < len && text[i] == '.')
        for (i++; i < len && text[i] >= '0' && text[i] <= '9' && digits <= DIGITS_MAX; i++, digits++)
            if (scale < WHOLE_MAX) {
                fraction = fraction * 10 + (uint64_t)(text[i] - '0');
                scale *= 10;
            }
    while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n'))
        i++;
    const char *found = i < len || !unit ? text + i : unit;
    size_t found_len = i < len || !unit ? len - i : strlen(unit);
    for (size_t u = 0; digits > 0 && u < sizeof units / sizeof *units; u++)
        if (found_len == strlen(units[u].name) && memcmp(found, units[u].name, found_len) == 0) {
            *ns = whole * units[u].ns + fraction * units[u].ns / scale;
            return true;
        }
    return false;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Text patterns. */
#include "base/text/pattern.h"

#include <stddef.h>

/* Backtracking to the last '*' alone suffices, and bounds the time by the product of both lengths. */
bool pattern_matches(const char *pattern, const char *text)
{
    const char *star = *pattern == '^' ? NULL : pattern, *tried = text;
    pattern += *pattern == '^';
    for (;;) {
        bool end = *pattern == '$' && pattern[1] == '\0';
        if (*pattern == '\0' || (end && *text == '\0'))
            return true;
        if (*pattern == '*') {
            star = ++pattern;
            tried = text;
        } else if (!end && *text != '\0' && *pattern == *text) {
            pattern++;
            text++;
        } else if (star && *tried != '\0') {
            pattern = star;
            text = ++tried;
        } else {
            return false;
        }
    }
}

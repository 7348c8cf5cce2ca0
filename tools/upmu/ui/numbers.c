/* SPDX-License-Identifier: MIT */
/* Numbers of the command line. */
#include "numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool number_long(const char *text, long low, long high, long *out)
{
    char *end;
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || n < low || n > high)
        return false;
    *out = n;
    return true;
}

bool number_size(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    static const char units[] = "KMG";
    size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (digits == 0 || text[digits + (unit ? 1 : 0)] != '\0')
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, NULL, 10);
    if (errno != 0 || n > high >> shift || (uint64_t)n << shift < low)
        return false;
    *out = (uint64_t)n << shift;
    return true;
}

bool number_is_size(const char *text, uint64_t low, uint64_t high)
{
    uint64_t bytes;
    return number_size(text, low, high, &bytes);
}

uint64_t number_nanoseconds(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

bool number_time(const char *text, uint64_t *ns)
{
    double seconds = 0;
    bool zero = text[0] != '\0' && strspn(text, "0.") == strlen(text) && strspn(text, ".") != strlen(text);
    if (!zero && !number_seconds(text, &seconds))
        return false;
    *ns = number_nanoseconds(seconds);
    return true;
}

bool number_seconds(const char *text, double *out)
{
    const double longest = 100.0 * 366 * 86400;
    char *end;
    /* strtod also takes "inf", "nan", blanks and hexadecimal. */
    if (text[0] == '\0' || strspn(text, "0123456789.") != strlen(text))
        return false;
    double seconds = strtod(text, &end);
    if (*end != '\0' || !(seconds > 0) || seconds > longest)
        return false;
    *out = seconds;
    return true;
}

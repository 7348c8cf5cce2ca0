/* SPDX-License-Identifier: MIT */
/* Numbers from the command line. Room: tools/upmu. Before it: the option functions; after it: the commands. */
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

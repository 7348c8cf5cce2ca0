/* SPDX-License-Identifier: MIT */
/* Reasons of the library without the event's name. */
#include "reason.h"

#include <string.h>

const char *reason_body(const char *reason, const char *event)
{
    size_t n = strlen(event);
    if (strncmp(reason, event, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
        return reason + n + 2;
    return reason;
}

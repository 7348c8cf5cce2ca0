/* SPDX-License-Identifier: MIT */
/** @file Nearest events to one that a CPU lacks. */
#include "core/names/near.h"

#include <stdio.h>
#include <string.h>

#include "core/names/registry.h"

void near_describe(const struct arch_family *family, const struct arch_event *row, char *text, size_t cap)
{
    const char *near = row ? arch_text(row->near) : "";
    const struct arch_event *one = arch_family_event(family, near);
    const struct registry_event *known = registry_find(near);
    size_t used = (size_t)snprintf(text, cap, "%s%s", row ? arch_text(row->why) : "", near[0] ? "; near: " : "");
    if (one && known && used < cap) {
        snprintf(text + used, cap - used, "%s (%s)", near, one->why ? arch_text(one->why) : known->summary);
        return;
    }
    /* Event names that explain themselves have no meaning text. */
    while (*near && used < cap) {
        size_t n = strcspn(near, " ");
        used += (size_t)snprintf(text + used, cap - used, "%.*s%s", (int)n, near, near[n] ? ", " : "");
        near += n + strspn(near + n, " ");
    }
}

/* SPDX-License-Identifier: MIT */
/* The grammar of event names and lists of them. Room: core; before it the caller's text, after it event.c. */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "core/event.h"

size_t event_list_next(const char **list, const char **start)
{
    const char *p = *list;
    while (*p == ',' || isspace((unsigned char)*p))
        p++;
    *start = p;
    bool in_slashes = false;
    for (; *p && (in_slashes || *p != ','); p++)
        if (*p == '/')
            in_slashes = !in_slashes;
    *list = p;
    while (p > *start && isspace((unsigned char)p[-1]))
        p--;
    return (size_t)(p - *start);
}

static int bad_modifier(const char *text, char c)
{
    return upmu_fail(UPMU_E_INVAL, "event '%s': modifier '%c' is not known; 'u' counts user mode, 'k' kernel mode",
                     text, c);
}

static int parse_modifiers(const char *text, const char *mods, struct event_name *out)
{
    for (const char *m = mods; *m; m++) {
        if (*m == 'u')
            out->user = true;
        else if (*m == 'k')
            out->kernel = true;
        else
            return bad_modifier(text, *m);
        out->modes_given = true;
    }
    return 0;
}

/* Where the modifiers start, or NULL: after the second slash of pmu/terms/, else after the last colon. A native name
 * has colons of its own, so only a last part made of 'u' and 'k' is taken for modifiers there. */
static const char *find_modifiers(const char *text, bool native)
{
    const char *slash = strchr(text, '/');
    if (slash && !native) {
        const char *second = strchr(slash + 1, '/');
        if (!second)
            return NULL;
        return second[1] == ':' ? second + 2 : second + 1;
    }
    const char *colon = strrchr(text, ':');
    if (!colon || (native && (colon[1] == '\0' || strspn(colon + 1, "uk") != strlen(colon + 1))))
        return NULL;
    return colon + 1;
}

int event_name_parse(const char *text, struct event_name *out)
{
    memset(out, 0, sizeof *out);
    size_t len = strlen(text);
    if (len == 0)
        return upmu_fail(UPMU_E_INVAL, "an event name is empty");
    if (len >= sizeof out->base)
        return upmu_fail(UPMU_E_INVAL, "event name '%.32s...' is longer than %zu bytes", text, sizeof out->base - 1);
    bool native = strncmp(text, "native::", 8) == 0;
    const char *slash = strchr(text, '/');
    if (slash && !native && !strchr(slash + 1, '/'))
        return upmu_fail(UPMU_E_INVAL, "event '%s': the closing '/' is missing, as in %s/", text, text);

    const char *mods = find_modifiers(text, native);
    size_t base_len = len;
    if (mods) {
        int rc = parse_modifiers(text, mods, out);
        if (rc < 0)
            return rc;
        base_len = (size_t)(mods - text);
        if (text[base_len - 1] == ':')
            base_len--;
    }
    memcpy(out->base, text, base_len);
    if (!out->modes_given)
        out->user = out->kernel = true;
    return 0;
}

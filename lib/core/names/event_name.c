/* SPDX-License-Identifier: MIT */
/* Grammar of event names, their modifiers, and lists with groups in braces. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/names/event.h"
#include "core/names/presets.h"
#include "core/names/registry.h"

/* ------------------------------------------------------------------------------------------------- lists */

/* Length of the list item at `p`: up to the next comma outside slashes and braces. */
static size_t list_item_length(const char *p)
{
    const char *start = p;
    bool in_slashes = false, in_braces = false;
    for (; *p && (in_slashes || in_braces || *p != ','); p++) {
        if (*p == '/')
            in_slashes = !in_slashes;
        else if (!in_slashes && (*p == '{' || *p == '}'))
            in_braces = *p == '{';
    }
    while (p > start && isspace((unsigned char)p[-1]))
        p--;
    return (size_t)(p - start);
}

static const char *list_skip_gaps(const char *p)
{
    while (*p == ',' || isspace((unsigned char)*p))
        p++;
    return p;
}

/* Enter the group "{a,b}:mods" at it->rest: find its end and its modifiers. */
static int list_enter_group(struct event_list *it)
{
    const char *open = it->rest, *close = open + 1;
    for (bool in_slashes = false; *close && (in_slashes || *close != '}'); close++) {
        if (*close == '/')
            in_slashes = !in_slashes;
        if (!in_slashes && *close == '{')
            return upmu_fail(UPMU_E_INVAL, "event list '%.64s': a group cannot hold another group", open);
    }
    if (*close == '\0')
        return upmu_fail(UPMU_E_INVAL, "event list '%.64s': the closing '}' is missing", open);
    size_t tail = list_item_length(close + 1);
    const char *mods = close + 1 + (tail > 0 && close[1] == ':');
    size_t n = (size_t)(close + 1 + tail - mods);
    if (n >= sizeof it->modifiers || (tail > 0 && (close[1] != ':' || n == 0)))
        return upmu_fail(UPMU_E_INVAL, "event list '%.64s': '}' must be followed by a comma, or by ':' and modifiers",
                         open);
    memcpy(it->modifiers, mods, n);
    it->modifiers[n] = '\0';
    it->rest = list_skip_gaps(open + 1);
    it->close = close;
    it->after = close + 1 + tail;
    it->in_group = true;
    it->groups++;
    return 0;
}

static void list_leave_group(struct event_list *it)
{
    it->rest = it->after;
    it->in_group = false;
    it->modifiers[0] = '\0';
}

/* Copy a name and append its group's modifiers. */
static int list_copy(const struct event_list *it, const char *start, size_t len, char name[EVENT_NAME_MAX])
{
    size_t more = strlen(it->modifiers);
    if (len + more + 1 >= EVENT_NAME_MAX)
        return upmu_fail(UPMU_E_INVAL, "event name '%.32s...' is longer than %d bytes", start, EVENT_NAME_MAX - 1);
    memcpy(name, start, len);
    name[len] = '\0';
    if (more == 0)
        return 0;
    struct event_name own;
    int rc = event_name_parse(name, &own);
    if (rc < 0)
        return rc;
    bool has_own = strlen(own.base) < len && (len == 0 || name[len - 1] != '/');
    snprintf(name + len, EVENT_NAME_MAX - len, "%s%s", has_own ? "" : ":", it->modifiers);
    return 0;
}

int event_list_next(struct event_list *it, char name[EVENT_NAME_MAX])
{
    for (;;) {
        it->rest = list_skip_gaps(it->rest);
        if (it->in_group && it->rest >= it->close) {
            list_leave_group(it);
            continue;
        }
        if (*it->rest == '\0')
            return 0;
        if (it->in_group || *it->rest != '{')
            break;
        int rc = list_enter_group(it);
        if (rc < 0)
            return rc;
    }
    const char *start = it->rest;
    size_t len = list_item_length(start);
    if (it->in_group && start + len > it->close) {
        len = (size_t)(it->close - start);
        while (len > 0 && isspace((unsigned char)start[len - 1]))
            len--;
    }
    it->rest = start + len;
    int rc = list_copy(it, start, len, name);
    return rc < 0 ? rc : 1;
}

/* --------------------------------------------------------------------------------------------- modifiers */

static const char modifier_letters[] = "ukhGHpP";

static int modifier_unknown(const char *text, char c)
{
    const char *perf_only = strchr("SDIWebR", c) ? " in libupmu (perf uses it for sampling or scheduling)" : "";
    return upmu_fail(UPMU_E_INVAL,
                     "event '%s': modifier '%c' is unknown%s; 'u' counts user mode, 'k' kernel mode, 'h' hypervisor "
                     "mode, 'G' guests, 'H' the host, 'p' requests precision",
                     text, c, perf_only);
}

static int modifiers_parse(const char *text, const char *mods, struct event_name *out)
{
    for (const char *m = mods; *m; m++) {
        if (!strchr(modifier_letters, *m))
            return modifier_unknown(text, *m);
        out->user |= *m == 'u';
        out->kernel |= *m == 'k';
        out->hypervisor |= *m == 'h';
        out->guest |= *m == 'G';
        out->host |= *m == 'H';
        out->precise_max |= *m == 'P';
        if (*m == 'p' && ++out->precise > EVENT_PRECISE_MAX)
            return upmu_fail(UPMU_E_INVAL, "event '%s': at most %d 'p' can be given", text, EVENT_PRECISE_MAX);
    }
    out->modes_given = out->user || out->kernel || out->hypervisor;
    return 0;
}

void event_name_with_modes(const struct event *e, bool user, bool kernel, bool given, char *name, size_t cap)
{
    char mods[16];
    int n = snprintf(mods, sizeof mods, "%s%s%s%.*s%s%s%s", given && user ? "u" : "", given && kernel ? "k" : "",
                     e->hypervisor ? "h" : "", (int)e->precise, "ppp", e->precise_max ? "P" : "", e->guest ? "G" : "",
                     e->host ? "H" : "");
    int left = (int)cap - 2 - n, base = (int)e->name_length;
    snprintf(name, cap, "%.*s%s%s", base < left ? base : left, e->name, n > 0 ? ":" : "", mods);
}

/* ------------------------------------------------------------------------------------------------- names */

bool event_name_is_raw(const char *base)
{
    return base[0] == 'r' && base[1] != '\0' && strspn(base + 1, "0123456789abcdefABCDEF") == strlen(base + 1);
}

bool event_name_is_native(const char *base)
{
    const char *colons = strstr(base, "::");
    return colons && colons > base && !memchr(base, '/', (size_t)(colons - base));
}

/* Whether the text before the first colon is a complete name, so that modifiers follow. */
static bool name_is_complete(const char *text, const char *colon)
{
    char head[EVENT_NAME_MAX];
    snprintf(head, sizeof head, "%.*s", (int)(colon - text), text);
    return registry_find(head) || preset_find(head) || event_name_is_raw(head);
}

/* Where the modifiers of "subsystem:event" start, past the end if it has none; NULL if the text is not a
 * tracepoint. */
static const char *tracepoint_modifiers(const char *text, const char *colon)
{
    size_t len = strcspn(colon + 1, ":");
    bool modifiers = strspn(colon + 1, modifier_letters) == strlen(colon + 1);
    if (modifiers || len == 0 || colon == text || name_is_complete(text, colon))
        return NULL;
    return colon + 1 + len + (colon[1 + len] == ':');
}

/* Where the modifiers start, or NULL: after the second slash of pmu/terms/, else after the last colon. Native names
 * contain colons, so there only a last part made of mode letters is taken as modifiers. */
static const char *find_modifiers(const char *text, bool *tracepoint)
{
    bool native = event_name_is_native(text);
    const char *slash = strchr(text, '/');
    if (slash && !native) {
        const char *second = strchr(slash + 1, '/');
        if (!second)
            return NULL;
        return second[1] == ':' ? second + 2 : second + 1;
    }
    const char *colon = native ? strrchr(text, ':') : strchr(text, ':');
    if (!colon)
        return NULL;
    if (native)
        return colon[1] == '\0' || strspn(colon + 1, "ukhp") != strlen(colon + 1) ? NULL : colon + 1;
    const char *modifiers = tracepoint_modifiers(text, colon);
    *tracepoint = modifiers != NULL;
    return modifiers ? modifiers : colon + 1;
}

int event_name_parse(const char *text, struct event_name *out)
{
    memset(out, 0, sizeof *out);
    size_t len = strlen(text);
    if (len == 0)
        return upmu_fail(UPMU_E_INVAL, "an event name is empty");
    if (len >= sizeof out->base)
        return upmu_fail(UPMU_E_INVAL, "event name '%.32s...' is longer than %zu bytes", text, sizeof out->base - 1);
    if (strpbrk(text, "{}"))
        return upmu_fail(UPMU_E_INVAL, "event '%s': braces group events in a list, as in {cycles,instructions}", text);
    const char *slash = strchr(text, '/');
    if (slash && !event_name_is_native(text) && !strchr(slash + 1, '/'))
        return upmu_fail(UPMU_E_INVAL, "event '%s': the closing '/' is missing, as in %s/", text, text);

    const char *mods = find_modifiers(text, &out->tracepoint);
    size_t base_len = len;
    if (mods && mods > text && *mods == '\0' && mods[-1] == ':')
        return upmu_fail(UPMU_E_INVAL, "event '%s': a modifier is missing after ':', as in %su", text, text);
    if (mods) {
        int rc = modifiers_parse(text, mods, out);
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

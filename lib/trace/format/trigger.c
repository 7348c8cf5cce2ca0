/* SPDX-License-Identifier: MIT */
/* Triggers of snapshots: parser, and requests in the control file. */
#include "trace/format/trigger.h"

#include <string.h>

#include "base/error.h"
#include "base/text/duration.h"
#include "upmu/region.h"

#define TRIGGER_FORMS "\"region NAME > 50 ms\", \"wait > 100 ms\" or \"deadlock\""
#define TRIGGER_WAITS "lock, cond, sem, barrier, join, futex or any"

static const char *const wait_names[CONTROL_WAITS] = {"lock", "cond", "sem", "barrier", "join", "futex"};

static bool trigger_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void trigger_trim(const char **text, size_t *len)
{
    while (*len > 0 && trigger_is_blank(**text)) {
        ++*text;
        --*len;
    }
    while (*len > 0 && trigger_is_blank((*text)[*len - 1]))
        --*len;
}

static bool trigger_is(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

static int trigger_set_region(struct trigger *t, const char *name, size_t len)
{
    trigger_trim(&name, &len);
    if (len == 0)
        return upmu_fail(UPMU_E_INVAL,
                         "trigger \"%s\": the name of the region is missing. Use \"region NAME > 50 ms\".", t->text);
    if (len > UPMU_REGION_NAME_MAX)
        return upmu_fail(UPMU_E_INVAL, "a trigger's region has %zu bytes in its name, at most %d are possible", len,
                         UPMU_REGION_NAME_MAX);
    t->kind = TRIGGER_REGION;
    t->name_at = (size_t)(name - t->text);
    t->name_len = len;
    return 0;
}

static int trigger_set_wait(struct trigger *t, const char *kind, size_t len)
{
    trigger_trim(&kind, &len);
    t->kind = TRIGGER_WAIT;
    if (len == 0)
        t->waits = 1u << CONTROL_WAIT_LOCK;
    if (trigger_is(kind, len, "any"))
        t->waits = (1u << CONTROL_WAITS) - 1;
    for (size_t i = 0; i < CONTROL_WAITS; i++)
        if (trigger_is(kind, len, wait_names[i]))
            t->waits = 1u << i;
    return t->waits ? 0
                    : upmu_fail(UPMU_E_INVAL, "trigger \"%s\": a wait is one of " TRIGGER_WAITS ", not \"%.*s\"",
                                t->text, (int)len, kind);
}

/* The text before `over`, which begins with the '>'. */
static int trigger_set_subject(struct trigger *t, const char *over)
{
    size_t len = (size_t)(over - t->text);
    size_t word = 0;
    while (word < len && !trigger_is_blank(t->text[word]))
        word++;
    if (trigger_is(t->text, word, "region"))
        return trigger_set_region(t, t->text + word, len - word);
    if (trigger_is(t->text, word, "wait"))
        return trigger_set_wait(t, t->text + word, len - word);
    return upmu_fail(UPMU_E_INVAL, "trigger \"%s\" is not known. Use " TRIGGER_FORMS ".", t->text);
}

int trigger_parse(const char *text, size_t len, struct trigger *out)
{
    trigger_trim(&text, &len);
    *out = (struct trigger){.kind = TRIGGER_DEADLOCK};
    if (len >= sizeof out->text)
        return upmu_fail(UPMU_E_INVAL, "a trigger has %zu bytes, at most %zu are possible", len, sizeof out->text - 1);
    memcpy(out->text, text, len);
    if (len == 0)
        return upmu_fail(UPMU_E_INVAL, "a trigger is empty. Use " TRIGGER_FORMS ".");
    if (trigger_is(text, len, "deadlock"))
        return 0;
    const char *over = strrchr(out->text, '>');
    if (!over)
        return upmu_fail(UPMU_E_INVAL, "trigger \"%s\" has no threshold. Use " TRIGGER_FORMS ".", out->text);
    int rc = trigger_set_subject(out, over);
    if (rc != 0)
        return rc;
    const char *limit = over + 1;
    size_t limit_len = strlen(limit);
    trigger_trim(&limit, &limit_len);
    if (!duration_ns(limit, limit_len, NULL, &out->ns) || out->ns == 0)
        return upmu_fail(UPMU_E_INVAL,
                         "trigger \"%s\": \"%s\" is not a duration. Use a number above 0 with ns, us, ms or s, as in "
                         "\"50 ms\".",
                         out->text, limit);
    return 0;
}

int trigger_parse_list(const char *text, struct trigger *out)
{
    int n = 0;
    for (const char *end; *text; text = *end ? end + 1 : end) {
        size_t len = strcspn(text, ";");
        end = text + len;
        if (n == TRIGGERS_MAX)
            return upmu_fail(UPMU_E_INVAL, "there are more than %d triggers of snapshots", TRIGGERS_MAX);
        int rc = trigger_parse(text, len, &out[n]);
        if (rc != 0)
            return rc;
        n++;
    }
    return n;
}

void trigger_request(struct control_header *h, const char *text, int32_t tid, uint64_t tick, uint64_t ticks)
{
    uint32_t ready = 1;
    struct control_request *r = &h->request;
    __atomic_fetch_add(&h->exceeded, 1, __ATOMIC_RELAXED);
    if (!__atomic_compare_exchange_n(&h->snapshot_ready, &ready, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    size_t len = strnlen(text, sizeof r->text - 1);
    r->tick = tick;
    r->ticks = ticks;
    r->tid = tid;
    memcpy(r->text, text, len);
    r->text[len] = '\0';
    __atomic_store_n(&h->snapshot_asked, 1, __ATOMIC_RELEASE);
}

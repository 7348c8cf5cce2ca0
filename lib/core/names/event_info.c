/* SPDX-License-Identifier: MIT */
/* Public functions on event names: information, listing, trial. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/backend.h"
#include "core/names/event.h"
#include "base/forking.h"
#include "core/names/intern.h"
#include "core/kernel_ops.h"
#include "core/machine/machine.h"
#include "core/names/registry.h"

static const char *type_name(const struct event *e)
{
    switch (e->type) {
    case KERNEL_TYPE_HARDWARE:
        return "hardware";
    case KERNEL_TYPE_SOFTWARE:
        return "software";
    case KERNEL_TYPE_HW_CACHE:
        return "hw-cache";
    default:
        return e->pmu[0] ? e->pmu : "raw";
    }
}

void event_describe_encoding(const struct event *e, char *text, size_t cap)
{
    if (e->match == UPMU_MATCH_ABSENT) {
        text[0] = '\0';
        return;
    }
    if (e->formula) {
        snprintf(text, cap, "%s", e->codes);
        return;
    }
    if (e->class == EVENT_USAGE) {
        snprintf(text, cap, "%s", e->config == KERNEL_USAGE_USER ? "getrusage:ru_utime" : "getrusage:ru_stime");
        return;
    }
    int n = snprintf(text, cap, "%s:0x%" PRIx64, type_name(e), e->config);
    if (e->config1 && n > 0 && (size_t)n < cap)
        n += snprintf(text + n, cap - (size_t)n, ",config1=0x%" PRIx64, e->config1);
    if (e->config2 && n > 0 && (size_t)n < cap)
        n += snprintf(text + n, cap - (size_t)n, ",config2=0x%" PRIx64, e->config2);
    if (e->raw_encoding != UINT64_MAX && n > 0 && (size_t)n < cap)
        snprintf(text + n, cap - (size_t)n, " (raw 0x%" PRIx64 ")", e->raw_encoding);
}

/* "0-3, fixed 1": runs of general counters, then the fixed ones. */
static void describe_counters(const struct event *e, char *text, size_t cap)
{
    text[0] = '\0';
    if (e->class != EVENT_CORE || e->match == UPMU_MATCH_ABSENT || e->formula)
        return;
    if (e->counters == ARCH_ANY) {
        snprintf(text, cap, "any");
        return;
    }
    const uint32_t any_general = (1u << ARCH_FIXED) - 1;
    bool any = (e->counters & any_general) == any_general;
    size_t used = any ? (size_t)snprintf(text, cap, "any") : 0;
    for (unsigned bit = any ? ARCH_FIXED : 0; bit < 32 && used < cap; bit++) {
        if (!(e->counters >> bit & 1))
            continue;
        const char *gap = used ? ", " : "";
        unsigned last = bit;
        if (bit >= ARCH_FIXED) {
            used += (size_t)snprintf(text + used, cap - used, "%sfixed %u", gap, bit - ARCH_FIXED);
            continue;
        }
        while (last + 1 < ARCH_FIXED && e->counters >> (last + 1) & 1)
            last++;
        used += (size_t)(last > bit ? snprintf(text + used, cap - used, "%s%u-%u", gap, bit, last)
                                    : snprintf(text + used, cap - used, "%s%u", gap, bit));
        bit = last;
    }
}

static const char *kind_name(unsigned kind)
{
    return kind == ARCH_CODE_HARDWARE ? "hardware" : "hw-cache";
}

static bool is_generic(const struct event *e)
{
    return e->type == KERNEL_TYPE_HARDWARE || e->type == KERNEL_TYPE_HW_CACHE;
}

static void describe_generic(const struct event *e, char *text, size_t cap)
{
    text[0] = '\0';
    if (e->generic.kind != ARCH_CODE_NONE)
        snprintf(text, cap, "%s:0x%" PRIx64, kind_name(e->generic.kind), e->generic.config);
}

/* Which of the two encodings is used, and what is known of the other. */
static void describe_choice(const struct event *e, const char *generic, char *text, size_t cap)
{
    uint64_t made = e->generic.raw_encoding;
    text[0] = '\0';
    if (!e->from_table || e->match == UPMU_MATCH_ABSENT)
        return;
    if (is_generic(e) && made != UINT64_MAX)
        snprintf(text, cap, "the perf generic event, which the kernel encodes as 0x%" PRIx64, made);
    else if (is_generic(e))
        snprintf(text, cap, "the perf generic event; its encoding is only known to the kernel or the firmware");
    else if (generic[0] == '\0')
        snprintf(text, cap, "the raw encoding; the kernel has no perf generic event for it");
    else if (!e->generic.same_name)
        snprintf(text, cap,
                 "the raw encoding; the kernel has no perf generic event of this meaning, though its %s has the same "
                 "encoding",
                 generic);
    else if (made == e->config && e->config1 != 0)
        snprintf(text, cap,
                 "the raw encoding; the kernel's %s has the same encoding, with a second register of its own", generic);
    else if (made == e->config)
        snprintf(text, cap, "the raw encoding; the kernel's %s has the same encoding", generic);
    else if (made == UINT64_MAX)
        snprintf(text, cap,
                 "the raw encoding; the encoding of the kernel's %s on this machine is unknown, or it has none",
                 generic);
    else
        snprintf(text, cap, "the raw encoding; the kernel would use 0x%" PRIx64 " for its %s", made, generic);
}

/* The raw encoding: behind a perf generic event, or of a raw event itself. */
static uint64_t raw_encoding(const struct event *e)
{
    if (e->class != EVENT_CORE || e->match == UPMU_MATCH_ABSENT || e->formula)
        return UPMU_NO_VALUE;
    return is_generic(e) ? e->raw_encoding : e->config;
}

static int fill_info(const struct event *e, struct upmu_event_info *info)
{
    char encoding[512], counters[160], generic[40], choice[160];
    event_describe_encoding(e, encoding, sizeof encoding);
    describe_counters(e, counters, sizeof counters);
    describe_generic(e, generic, sizeof generic);
    describe_choice(e, generic, choice, sizeof choice);
    struct upmu_event_info full = {
        .name = intern(e->name),
        .summary = e->summary,
        .unit = e->unit,
        .papi = e->papi,
        .perf = e->perf,
        .pmu = e->match == UPMU_MATCH_ABSENT ? NULL : intern(e->pmu),
        .type = e->formula ? UINT32_MAX : e->type,
        .match = e->match,
        .config = e->formula ? UPMU_NO_VALUE : e->config,
        .config1 = e->formula ? UPMU_NO_VALUE : e->config1,
        .config2 = e->formula ? UPMU_NO_VALUE : e->config2,
        .encoding = intern(encoding),
        .counters = intern(counters),
        .note = intern(e->note),
        .source = e->source,
        .raw_encoding = raw_encoding(e),
        .generic_event = intern(generic),
        .choice = intern(choice),
        .formula = e->formula ? e->formula : "",
        .scale = e->scale,
        .scale_unit = e->scale_unit ? e->scale_unit : "",
        .cpus = intern(e->cpus),
        .exclude = event_exclude(e) | (e->modes_fixed ? UPMU_EXCLUDE_NAMED : 0),
        .precise = e->precise_max ? EVENT_PRECISE_MAX + 1 : e->precise,
    };
    if (!full.name || !full.encoding || !full.counters || !full.note || !full.generic_event || !full.choice ||
        !full.cpus)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    return opts_give("upmu_event_find", "info", info, UPMU_EVENT_INFO_SIZE_V1, &full, sizeof full);
}

/* Fill the info from the result of a resolution. */
static int info_of(int rc, struct event *e, struct upmu_event_info *info)
{
    if (rc < 0 && rc != UPMU_E_UNSUPPORTED)
        return rc;
    if (rc == UPMU_E_UNSUPPORTED)
        e->match = UPMU_MATCH_ABSENT;
    int filled = fill_info(e, info);
    return filled < 0 ? filled : rc;
}

int upmu_event_find(const char *name, struct upmu_event_info *info)
{
    int rc = name ? OPTS_CHECK(info, UPMU_EVENT_INFO_SIZE_V1) : argument_null(__func__, "name");
    if (rc != 0)
        return rc;
    struct event e;
    enum kernel_backend backend;
    rc = backend_choose(NULL, &backend);
    if (rc < 0 && rc != UPMU_E_BACKEND) /* names can be looked up without it */
        return rc;
    return info_of(backend_resolve(backend, name, &e), &e, info);
}

int upmu_cpu_event_find(const char *cpu, const char *name, struct upmu_event_info *info)
{
    struct machine m;
    int rc = cpu && name ? OPTS_CHECK(info, UPMU_EVENT_INFO_SIZE_V1) : ARGUMENT_NULL(cpu, name);
    if (rc != 0)
        return rc;
    struct event e;
    rc = machine_of_cpu(cpu, &m);
    return rc < 0 ? rc : info_of(event_resolve_on(&m, name, &e), &e, info);
}

/* ------------------------------------------------------------------------------------------------ listing */

/* Listed once: sysfs does not change in a way that matters here. */
static const char **list_names;
static size_t list_count;

static int list_append(const char *name, void *arg)
{
    size_t *cap = arg;
    if (list_count == *cap) {
        size_t want = *cap ? *cap * 2 : 64;
        const char **grown = realloc(list_names, want * sizeof *grown);
        if (!grown)
            return UPMU_E_NOMEM;
        list_names = grown;
        *cap = want;
    }
    const char *kept = intern(name);
    if (!kept)
        return UPMU_E_NOMEM;
    list_names[list_count++] = kept;
    return 0;
}

/* Names of sysfs; `*name` is the one at `i`, or NULL. @return their number. */
static size_t list_sysfs(size_t i, const char **name)
{
    forking_take(FORKING_LIST);
    if (!list_names) {
        size_t cap = 0;
        (void)event_each_sysfs(list_append, &cap);
    }
    size_t n = list_count;
    *name = i < n ? list_names[i] : NULL;
    forking_give(FORKING_LIST);
    return n;
}

size_t upmu_event_count(void)
{
    const char *name;
    size_t n;
    (void)registry_events(&n);
    return n + list_sysfs(0, &name);
}

int upmu_event_name_at(size_t i, const char **name)
{
    size_t n;
    const struct registry_event *events = registry_events(&n);
    if (!name)
        return argument_null(__func__, "name");
    if (i < n)
        *name = events[i].name;
    else
        (void)list_sysfs(i - n, name);
    return *name ? 0 : UPMU_E_END;
}

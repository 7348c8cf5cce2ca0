/* SPDX-License-Identifier: MIT */
/*
 * Event resolution: from a name to its encoding on this machine.
 *
 * A name is tried as a raw code, a native name, a PMU's event in sysfs, and a vendor-neutral name or alias; the
 * table of the CPU family then gives the encoding.
 */
#include "core/names/event.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/formula/formula.h"
#include "core/names/intern.h"
#include "core/kernel_ops.h"
#include "core/machine/machine.h"
#include "core/formula/metric.h"
#include "core/names/near.h"
#include "core/names/presets.h"
#include "core/machine/machine_snapshot.h"
#include "core/names/registry.h"

static void event_clear(struct event *e)
{
    memset(e, 0, sizeof *e);
    e->raw_encoding = UINT64_MAX;
    e->cpu = -1;
    e->scale = 1;
    e->summary = e->unit = e->source = "";
}

/* ---------------------------------------------------------------------------------------- vendor-neutral */

static uint32_t event_perf_type(const struct machine *m, unsigned kind)
{
    switch (kind) {
    case ARCH_CODE_HARDWARE:
        return KERNEL_TYPE_HARDWARE;
    case ARCH_CODE_HW_CACHE:
        return KERNEL_TYPE_HW_CACHE;
    default:
        return m->pmu_type;
    }
}

/* Values of getrusage need no counter, descriptor or permission. */
static void event_from_usage(const struct registry_event *r, struct event *out)
{
    out->class = EVENT_USAGE;
    out->type = KERNEL_TYPE_USAGE;
    out->config = (uint64_t)(r->software - REGISTRY_USAGE);
    out->all_modes_only = true;
    out->match = UPMU_MATCH_APPROXIMATE;
    out->source = "getrusage(2), RUSAGE_THREAD";
    snprintf(out->pmu, sizeof out->pmu, "getrusage");
    snprintf(out->note, sizeof out->note, "%s", r->remark);
}

static void event_from_software(const struct registry_event *r, struct event *out)
{
    out->class = EVENT_SOFTWARE;
    out->type = KERNEL_TYPE_SOFTWARE;
    out->config = (uint64_t)r->software;
    out->match = r->remark[0] ? UPMU_MATCH_APPROXIMATE : UPMU_MATCH_EXACT;
    out->source = "include/uapi/linux/perf_event.h";
    snprintf(out->pmu, sizeof out->pmu, "software");
    snprintf(out->note, sizeof out->note, "%s", r->remark);
}

/* Mode properties of a software event, whichever name it was resolved from. */
static void event_set_software_modes(struct event *e)
{
    e->mode_blind = e->config == KERNEL_SW_CPU_CLOCK || e->config == KERNEL_SW_TASK_CLOCK;
    e->kernel_only = e->config == KERNEL_SW_CONTEXT_SWITCHES || e->config == KERNEL_SW_CPU_MIGRATIONS ||
                     e->config == KERNEL_SW_CGROUP_SWITCHES;
}

static int event_fail_absent(const struct machine *m, const char *name, const char *why, struct event *out)
{
    out->match = UPMU_MATCH_ABSENT;
    snprintf(out->note, sizeof out->note, "%s", why);
    return upmu_fail(UPMU_E_UNSUPPORTED, "%s has no event '%s'%s%s", m->family->title, name, why[0] ? ": " : "", why);
}

/* Whether the kernel has a change made in one release and backported to some stable ones. */
static bool event_kernel_has(const struct machine *m)
{
    const uint32_t *since = m->family->counters.raw.since;
    bool has = m->own_table > 0 || m->kernel >= since[0] || (m->kernel == 0 && m->own_table != -EOPNOTSUPP);
    for (size_t i = 1; i < sizeof m->family->counters.raw.since / sizeof *since && !has; i++)
        has = since[i] != 0 && m->kernel >> 16 == since[i] >> 16 && m->kernel >= since[i];
    return has;
}

/* A raw encoding of an event that the core lacks would open and read 0 with plausible times. */
static bool event_is_missing(const struct machine *m, uint64_t code)
{
    return code > 0 && code <= m->family->listed_raw && m->listed_events != 0 && !(m->listed_events >> code & 1);
}

/* Whether it is uncertain that the core has the event: neither the kernel nor, for events of its table, the vendor
 * lists the encoding. An emulator that lacks listed events of the core it is named after may lack others, too. */
static bool event_is_unsure(const struct machine *m, uint64_t code, bool in_table)
{
    bool listed = code < 64 && (m->listed_events >> code & 1);
    return m->family->listed_raw != 0 && !listed && !(in_table && m->family->confirmed && !m->list_differs);
}

/* Whether an encoding needs a second register, whose value only the kernel has. */
static bool event_needs_register(const struct arch_counters *c, uint64_t code)
{
    for (size_t i = 0; i < c->n_rules; i++)
        if ((code & c->rules[i].mask) == c->rules[i].match)
            return c->rules[i].pool != 0;
    return false;
}

/* Encode a row. With several core types a perf generic event does not select a PMU: it is replaced by the raw
 * encoding on this core's PMU, or, where that is unknown or incomplete, it carries the PMU's type in its upper
 * half. */
static void event_encode_row(const struct machine *m, const struct arch_event *row, struct event *out)
{
    out->type = event_perf_type(m, row->kind);
    out->config = row->config;
    out->config1 = row->config1;
    out->raw_encoding = row->kind == ARCH_CODE_RAW ? UINT64_MAX : row->raw_encoding;
    if (m->n_core_types < 2 || row->kind == ARCH_CODE_RAW)
        return;
    if (row->raw_encoding == UINT64_MAX || event_needs_register(&m->family->counters, row->raw_encoding)) {
        out->config |= (uint64_t)m->pmu_type << 32;
        return;
    }
    out->type = m->pmu_type;
    out->config = row->raw_encoding;
    out->raw_encoding = UINT64_MAX;
}

uint32_t event_exclude(const struct event *e)
{
    uint32_t exclude = (e->user ? 0 : UPMU_EXCLUDE_USER) | (e->kernel ? 0 : UPMU_EXCLUDE_KERNEL);
    if (e->guest && !e->host)
        exclude |= UPMU_EXCLUDE_HOST;
    if ((e->host && !e->guest) || (e->class == EVENT_CORE && machine_core_type(e->core)->family->counters.host_only))
        exclude |= UPMU_EXCLUDE_GUEST;
    return exclude;
}

#define NOT_LISTED "this core does not have it: the kernel's PMU does not list its encoding"

static void event_note_row(const struct machine *m, const char *why, struct event *out)
{
    snprintf(out->note, sizeof out->note, "%s%s%s", why, why[0] && m->core_types_note[0] ? "; " : "",
             m->core_types_note);
    if (m->core_types_beyond)
        out->match = UPMU_MATCH_APPROXIMATE;
}

/* The match of a weighted sum is the weakest match of its terms. */
static int event_from_formula(const struct machine *m, const char *formula, int match, const char *why,
                              struct event *out)
{
    int rc = formula_resolve(m, formula, out);
    if (rc < 0)
        return rc;
    if (match != UPMU_MATCH_EXACT)
        out->match = match;
    out->each_core_type = true;
    event_note_row(m, why, out);
    return 0;
}

/* A count over several core types matches only as well as on the weakest of them. */
static void event_weaken_by_core_types(const struct machine *m, const char *name, struct event *out)
{
    for (unsigned k = 1; k < m->n_core_types && m->core_type == 0 && out->match == UPMU_MATCH_EXACT; k++) {
        const struct machine *core = machine_core_type(k);
        const struct arch_event *row = arch_family_event(core->family, name);
        if (!row || row->match != UPMU_MATCH_APPROXIMATE)
            continue;
        out->match = UPMU_MATCH_APPROXIMATE;
        snprintf(out->note, sizeof out->note, "on %.40s: %s; %s", core->core_pmu, arch_text(row->why),
                 m->core_types_note);
    }
}

static int event_from_table(const struct machine *m, const struct registry_event *r, struct event *out)
{
    const struct arch_event *row = arch_family_event(m->family, r->name);
    out->class = EVENT_CORE;
    if (!row || row->kind == ARCH_CODE_NONE) {
        char why[EVENT_NOTE_MAX];
        near_describe(m->family, row, why, sizeof why);
        return event_fail_absent(m, r->name, why, out);
    }
    if (row->kind == ARCH_CODE_FORMULA) {
        int rc = event_from_formula(m, arch_text(row->formula), row->match, arch_text(row->why), out);
        out->source = arch_text(row->source);
        if (rc == 0)
            event_weaken_by_core_types(m, r->name, out);
        return rc;
    }
    /* As in event_encode_row(): the kernel does not check whether the core has a raw encoding. */
    uint64_t code = row->kind == ARCH_CODE_RAW ? row->config : row->raw_encoding;
    bool raw = row->kind == ARCH_CODE_RAW || (m->n_core_types > 1 && code != UINT64_MAX);
    if (raw && event_is_missing(m, code))
        return event_fail_absent(m, r->name, NOT_LISTED, out);
    out->each_core_type = true;
    event_encode_row(m, row, out);
    out->counters = row->counters;
    out->match = row->match;
    out->source = arch_text(row->source);
    out->from_table = true;
    out->zero_unsure = raw && event_is_unsure(m, code, true);
    (void)arch_family_generic_id(m->family, row,
                                 &out->generic); /* without a generic event, its kind stays ARCH_CODE_NONE */
    snprintf(out->pmu, sizeof out->pmu, "%s", m->core_pmu[0] ? m->core_pmu : m->family->core_pmu);
    event_note_row(m, arch_text(row->why), out);
    event_weaken_by_core_types(m, r->name, out);
    return 0;
}

static int event_from_registry(const struct machine *m, const struct registry_event *r, struct event *out)
{
    out->summary = r->summary;
    out->unit = r->unit;
    out->papi = r->papi;
    out->perf = r->perf;
    if (r->software < 0)
        return event_from_table(m, r, out);
    if (r->software >= REGISTRY_USAGE)
        event_from_usage(r, out);
    else
        event_from_software(r, out);
    return 0;
}

/* -------------------------------------------------------------------------------------------- PAPI's presets */

/* A preset that is a sum is resolved only if each of its events is exact and certain to exist on the core: a part
 * that always reads 0 would go unnoticed in a sum. */
static int event_from_sum(const struct machine *m, const struct preset *p, struct event *out)
{
    char why[EVENT_NOTE_MAX], sum[EVENT_NAME_MAX];
    const char *names[] = {p->first, p->second}, *lacking = NULL;
    for (size_t i = 0; i < 2 && !lacking; i++) {
        struct event part;
        if (event_of_table(m, names[i], &part) < 0 || part.match != UPMU_MATCH_EXACT || part.zero_unsure)
            lacking = names[i];
    }
    if (lacking) {
        snprintf(why, sizeof why, "it is %s + %s, and '%s' is not counted exactly here", p->first, p->second, lacking);
        return event_fail_absent(m, p->name, why, out);
    }
    snprintf(sum, sizeof sum, "%s + %s", p->first, p->second);
    int rc = event_from_formula(m, sum, UPMU_MATCH_EXACT, "", out);
    out->source = arch_text(arch_family_event(m->family, p->first)->source);
    snprintf(out->note, sizeof out->note, "%s", sum);
    return rc;
}

static int event_from_preset(const struct machine *m, const struct preset *p, struct event *out, const char **canonical)
{
    out->papi = p->name;
    out->summary = p->second ? "sum of two events, as PAPI has it" : "PAPI preset";
    out->class = EVENT_CORE;
    *canonical = p->name;
    if (p->second)
        return event_from_sum(m, p, out);
    if (!p->first)
        return event_fail_absent(m, p->name, "count it by this CPU's own name (native::NAME), or through PAPI", out);
    *canonical = p->first;
    return event_from_registry(m, registry_find(p->first), out);
}

/* --------------------------------------------------------------------------------------- native and raw */

/* Resolve an event of the family's own table. Other core types must have it by the same name. */
static int event_from_row(const struct machine *m, const char *name, const struct arch_native *row, struct event *out)
{
    out->class = EVENT_CORE;
    if (event_is_missing(m, row->config))
        return event_fail_absent(m, name, NOT_LISTED, out);
    out->each_core_type = true;
    out->type = m->pmu_type;
    out->config = row->config;
    out->config1 = row->config1;
    out->counters = row->counters;
    out->zero_unsure = event_is_unsure(m, row->config, true);
    out->match = UPMU_MATCH_EXACT;
    out->source = m->family->title;
    snprintf(out->note, sizeof out->note, "%s%s%s", arch_text(row->meaning), m->core_types_note[0] ? "; " : "",
             m->core_types_note);
    snprintf(out->pmu, sizeof out->pmu, "%s", m->core_pmu[0] ? m->core_pmu : m->family->core_pmu);
    return 0;
}

/* Resolve a preset by the CPU's own event or sum for it. */
static int event_from_own_preset(const struct machine *m, const struct arch_preset *own, struct event *out)
{
    const char *formula = arch_text(own->formula);
    const struct arch_native *row = arch_family_native(m->family, formula);
    out->papi = arch_text(own->papi);
    out->summary = "PAPI preset";
    int rc = row ? event_from_row(m, out->papi, row, out) : event_from_formula(m, formula, own->match, "", out);
    if (rc < 0)
        return rc;
    if (row || own->match != UPMU_MATCH_EXACT)
        out->match = own->match;
    out->source = m->family->title;
    snprintf(out->note, sizeof out->note, "%s%s here%s%s%s%s", row ? "native::" : "", formula, own->why ? "; " : "",
             arch_text(own->why), m->core_types_note[0] ? "; " : "", m->core_types_note);
    return 0;
}

int event_of_table(const struct machine *m, const char *name, struct event *out)
{
    const struct registry_event *r = registry_find(name);
    const struct arch_native *native = NULL;
    event_clear(out);
    snprintf(out->name, sizeof out->name, "%s", name);
    out->name_length = (uint8_t)strlen(out->name);
    out->user = out->kernel = true;
    out->core = m->core_type;
    if (r && r->software < 0 && strcmp(r->name, name) == 0)
        return event_from_table(m, r, out);
    native = arch_family_native(m->family, name);
    if (!native)
        return upmu_fail(UPMU_E_NAME, "no event '%s', given or in a formula, in the table of %s", name,
                         m->family->title);
    return event_from_row(m, name, native, out);
}

static void event_from_libpfm4(const struct machine *m, const struct arch_native_code *code, struct event *out)
{
    out->type = code->type;
    out->config = code->config;
    out->config1 = code->config1;
    out->config2 = code->config2;
    out->match = UPMU_MATCH_EXACT;
    out->class = code->type == KERNEL_TYPE_SOFTWARE ? EVENT_SOFTWARE
                 : code->type == KERNEL_TYPE_RAW || code->type == KERNEL_TYPE_HARDWARE ||
                         code->type == KERNEL_TYPE_HW_CACHE || code->type == m->pmu_type
                     ? EVENT_CORE
                     : EVENT_OTHER;
    out->source = "libpfm4";
    snprintf(out->note, sizeof out->note, "%s", code->name);
    snprintf(out->pmu, sizeof out->pmu, "%s", out->class == EVENT_SOFTWARE ? "software" : m->core_pmu);
}

/* The family that "CPU::" names; NULL for "native::", which is this CPU, and for a PMU of libpfm4. */
static const struct arch_family *event_family_of_prefix(const char *base, bool *native)
{
    char prefix[EVENT_NAME_MAX];
    snprintf(prefix, sizeof prefix, "%.*s", (int)(strstr(base, "::") - base), base);
    *native = strcmp(prefix, "native") == 0;
    return *native ? NULL : arch_family_called(prefix);
}

static int event_fail_no_native(const struct machine *m, const char *base, const char *native, bool by_pmu)
{
    if (by_pmu)
        return upmu_fail(UPMU_E_NAME,
                         "no event '%s': names of the form pmu::EVENT are libpfm4's, which is not installed "
                         "(apt-get install libpfm4), or those of a CPU ('upmu list --cpus')",
                         base);
    return upmu_fail(UPMU_E_NAME,
                     "no native event '%s' in the table of %s, and libpfm4 is not installed "
                     "(apt-get install libpfm4)",
                     native, m->family->title);
}

/* libpfm4 describes the running CPU, unless its own environment variables override that. */
static int event_from_native(const struct machine *m, const char *base, struct event *out)
{
    bool is_native;
    const struct arch_family *family = event_family_of_prefix(base, &is_native);
    bool by_table = is_native || family;
    const char *native = strstr(base, "::") + 2;
    struct arch_native_code code = {.type = 0};
    out->summary = "event of this CPU by its own name";
    if (family && family != m->family)
        return upmu_fail(UPMU_E_NAME, "'%s' is an event of %s, and this CPU is %s", base, family->title,
                         m->family->title);
    /* libpfm4 supports only the running CPU. */
    bool elsewhere = m->named || machine_snapshot_in_use();
    int rc = elsewhere ? upmu_fail(UPMU_E_NAME, "no native event '%s' in the table of %s", native, m->family->title)
                       : arch_native_encode(by_table ? native : base, &code);
    if (rc == 0) {
        event_from_libpfm4(m, &code, out);
        return 0;
    }
    const struct arch_native *row = by_table ? arch_family_native(m->family, native) : NULL;
    if (!row && rc == UPMU_E_UNSUPPORTED)
        return event_fail_no_native(m, base, native, !by_table);
    return row ? event_from_row(m, native, row, out) : rc;
}

/* The counters that the family's table allows for an encoding. */
static uint32_t event_counters_of_code(const struct arch_family *family, uint64_t code)
{
    const struct arch_native *row;
    for (size_t at = 0; (row = arch_family_native_next(family, &at)) != NULL;)
        if (row->config == code)
            return row->counters;
    return ARCH_ANY;
}

#define ONE_KIND "counted only on the cores of this PMU; the other core types have other encodings"

static int event_from_raw(const struct machine *m, const char *base, struct event *out)
{
    errno = 0;
    out->config = strtoull(base + 1, NULL, 16);
    if (errno == ERANGE)
        return upmu_fail(UPMU_E_INVAL, "raw event '%s' is longer than 64 bits", base);
    out->type = m->pmu_type;
    out->counters = event_counters_of_code(m->family, out->config);
    out->class = EVENT_CORE;
    out->match = UPMU_MATCH_EXACT;
    out->zero_unsure = event_is_unsure(m, out->config, false);
    out->summary = "raw encoding of the core PMU";
    snprintf(out->pmu, sizeof out->pmu, "%s", m->core_pmu[0] ? m->core_pmu : m->family->core_pmu);
    if (m->n_core_types > 1)
        snprintf(out->note, sizeof out->note, "%s", ONE_KIND);
    return 0;
}

/* ----------------------------------------------------------------------------------------------- resolve */

static int event_fail_unknown(const struct machine *m, const char *base)
{
    struct suggest s;
    suggest_begin(&s, base);
    registry_offer(&s);
    preset_offer(&s);
    metric_offer(&s);
    if (!m->named)
        event_offer_sysfs(&s);
    if (s.best)
        return upmu_fail(UPMU_E_NAME, "no event '%s'; did you mean '%s'?", base, s.best);
    return upmu_fail(UPMU_E_NAME, "no event '%s'; 'upmu list' prints those of this machine", base);
}

/* Resolve a name of the registry or a PAPI preset. For a preset that is neither an event nor a sum here, the CPU
 * may have an event of its own. */
static int event_resolve_known(const struct machine *m, const char *base, const struct registry_event *r,
                               const struct preset *p, struct event *out, const char **canonical)
{
    int rc = UPMU_E_UNSUPPORTED;
    if (r) {
        *canonical = r->name;
        rc = event_from_registry(m, r, out);
    }
    if (rc == UPMU_E_UNSUPPORTED && p)
        rc = event_from_preset(m, p, out, canonical);
    const struct arch_preset *own = rc == UPMU_E_UNSUPPORTED ? arch_family_preset(m->family, base) : NULL;
    if (!own)
        return rc;
    *canonical = arch_text(own->papi);
    return event_from_own_preset(m, own, out);
}

static int event_resolve_base(const struct machine *m, const struct event_name *parts, struct event *out,
                              const char **canonical)
{
    const char *base = parts->base;
    *canonical = base;
    const struct registry_event *r = registry_find(base);
    const struct preset *p = preset_find(base);
    if (r || p)
        return event_resolve_known(m, base, r, p, out, canonical);
    if (event_name_is_native(base))
        return event_from_native(m, base, out);
    if ((strchr(base, '/') || parts->tracepoint) && m->named)
        return upmu_fail(UPMU_E_NAME,
                         "'%s' is an event of the running kernel; it cannot be looked up for another CPU (%s)", base,
                         m->family->title);
    if (parts->tracepoint)
        return event_from_tracepoint(base, out);
    if (strchr(base, '/'))
        return event_from_sysfs(base, out);
    return event_name_is_raw(base) ? event_from_raw(m, base, out) : event_fail_unknown(m, base);
}

/* Fail for a perf generic event that the kernel looks up in the table of another core. */
static int event_fail_table(const struct machine *m, const struct event *e)
{
    const struct arch_raw_field *raw = &m->family->counters.raw;
    unsigned major = raw->since[0] >> 24, minor = raw->since[0] >> 16 & 0xff;
    if (m->own_table != -EOPNOTSUPP)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "'%s': kernels before %u.%u may mistake this CPU for another and count something else under "
                         "this perf generic event, and this kernel could not be checked (%s)",
                         e->name, major, minor, upmu_errno_name(-m->own_table));
    return upmu_fail(UPMU_E_UNSUPPORTED,
                     "'%s': this kernel, older than %u.%u, mistakes this CPU for another and would count something "
                     "else under this perf generic event. Use a raw encoding (r...) of at most 0x%" PRIx64,
                     e->name, major, minor, raw->older_mask);
}

/* An encoding of which the kernel drops bits without an error would count something else. */
int event_check_code(const struct machine *m, const struct event *e)
{
    const struct arch_raw_field *raw = &m->family->counters.raw;
    bool is_new = event_kernel_has(m);
    bool generic = e->type == KERNEL_TYPE_HARDWARE || e->type == KERNEL_TYPE_HW_CACHE;
    if (e->class == EVENT_CORE && generic && raw->own_id && !is_new)
        return event_fail_table(m, e);
    uint64_t mask = is_new || raw->older_mask == 0 ? raw->mask : raw->older_mask;
    if (e->class != EVENT_CORE || e->type != m->pmu_type || mask == 0 || (e->config & ~mask) == 0)
        return 0;
    return upmu_fail(UPMU_E_UNSUPPORTED,
                     "'%s': this kernel passes only the bits 0x%" PRIx64
                     " of a raw encoding to the PMU, and would count 0x%" PRIx64 " instead of 0x%" PRIx64 "%s",
                     e->name, mask, e->config & mask, e->config,
                     mask != raw->mask && (e->config & ~raw->mask) == 0 ? "; newer kernels pass all bits" : "");
}

/* Only PMUs whose drivers switch counters on guest entry and exit separate guests from the host. Others ignore the
 * filter. */
static int event_check_guests(const struct machine *m, const struct event *e)
{
    uint32_t since = m->family->counters.guests_since;
    const char *letter = e->guest ? "G" : "H";
    if (!(e->guest || e->host) || (e->guest && e->host))
        return 0;
    if (e->class != EVENT_CORE || since == 0)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "'%s': the PMU '%s' counts guests and host together and would ignore ':%s'. Omit the modifier",
                         e->name, e->pmu, letter);
    if (!m->named && m->cpu.hypervisor)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "'%s': the PMU of a virtual machine may ignore ':%s' (AMD's does). Omit the modifier", e->name,
                         letter);
    if (!m->named && m->kernel < since)
        return upmu_fail(
            UPMU_E_UNSUPPORTED,
            "'%s': kernels before %u.%u ignore ':%s' on this CPU and count guests and host together. Omit the modifier",
            e->name, since >> 24, since >> 16 & 0xff, letter);
    return 0;
}

static int event_check_modes(const struct machine *m, const struct event *e)
{
    bool all = e->user && e->kernel;
    if (e->mode_blind && !all)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "'%s': a clock runs in all modes, so the modifier would not change the count. Use user-time "
                         "or system-time, or omit the modifier",
                         e->name);
    if (e->kernel_only && !e->kernel)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "'%s' happens only in the kernel: with ':%c' it would always read 0. Omit the modifier",
                         e->name, e->user ? 'u' : 'h');
    if (e->class == EVENT_USAGE && e->modes_fixed)
        return upmu_fail(UPMU_E_UNSUPPORTED, "'%s': the mode is part of the name. Omit the modifier", e->name);
    if (e->all_modes_only && !all)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "the PMU '%s' has no filter for user and kernel mode. Omit the modifier of '%s'", e->pmu,
                         e->name);
    if (e->hypervisor && !e->user && !e->kernel && (e->class != EVENT_CORE || !m->family->counters.counts_hypervisor))
        return upmu_fail(
            UPMU_E_UNSUPPORTED,
            "'%s': the PMU '%s' has no hypervisor mode, so ':h' alone would always read 0. Omit the modifier", e->name,
            e->pmu);
    return event_check_guests(m, e);
}

/* Apply the modifiers of a name, and add them to the canonical name. */
static void event_apply_modifiers(const struct event_name *parts, const char *canonical, struct event *out)
{
    snprintf(out->name, sizeof out->name, "%s", canonical);
    out->name_length = (uint8_t)strlen(out->name);
    out->user = parts->user;
    out->kernel = parts->kernel;
    out->modes_fixed = parts->modes_given;
    out->hypervisor = parts->hypervisor;
    out->guest = parts->guest;
    out->host = parts->host;
    out->precise = parts->precise;
    out->precise_max = parts->precise_max;
    char full[EVENT_NAME_MAX];
    event_name_with_modes(out, out->user, out->kernel, parts->modes_given, full, sizeof full);
    memcpy(out->name, full, sizeof full);
}

int event_resolve(const char *name, struct event *out)
{
    return event_resolve_on(machine_get(), name, out);
}

int event_resolve_on(const struct machine *m, const char *name, struct event *out)
{
    struct event_name parts;
    const char *canonical;
    event_clear(out);
    snprintf(out->name, sizeof out->name, "%s", name);
    int rc = event_name_parse(name, &parts);
    if (rc == 0 && !m->named)
        rc = machine_usable();
    if (rc < 0)
        return rc;
    out->core = m->core_type;
    rc = event_resolve_base(m, &parts, out, &canonical);
    event_apply_modifiers(&parts, canonical, out);
    if (rc < 0)
        return rc;
    if (out->type == KERNEL_TYPE_SOFTWARE)
        event_set_software_modes(out);
    out->zero_unsure |= out->hypervisor && !out->user && !out->kernel;
    /* Hypervisors pass on some events, and accept the others without an error and count nothing. */
    out->zero_unsure |= out->class == EVENT_CORE && m->cpu.hypervisor;
    out->filter_ignored = out->class == EVENT_CORE && m->family->counters.ignores_filter;
    rc = event_check_modes(m, out);
    rc = rc < 0 || out->formula ? rc : event_check_code(m, out); /* the terms of a formula were checked one by one */
    if (rc < 0)
        snprintf(out->note, sizeof out->note, "%s", upmu_error());
    return rc;
}

bool event_always_moves(const struct event *e, bool self)
{
    bool moves =
        e->type == KERNEL_TYPE_HARDWARE && (e->config == KERNEL_HW_CYCLES || e->config == KERNEL_HW_INSTRUCTIONS);
    return moves && e->user && (self || e->kernel); /* another thread may have been in the kernel all the time */
}

/* SPDX-License-Identifier: MIT */
/*
 * Events of kernel PMUs as described in sysfs.
 *
 * `pmu/event/` names a file of the PMU's events folder, `pmu/field=value,.../` sets the bit fields of its format
 * folder.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/names/event.h"
#include "core/names/intern.h"
#include "core/kernel_ops.h"
#include "core/machine/machine.h"

enum { PATH_CAP = 1280, TEXT_CAP = 512 };

struct code {
    uint64_t config, config1, config2;
};

/* Spread the low bits of `value` over the bit ranges of a format such as "config:0-7,32-35". */
static int sysfs_place_field(const char *format, uint64_t value, struct code *code)
{
    uint64_t *word = strncmp(format, "config:", 7) == 0    ? &code->config
                     : strncmp(format, "config1:", 8) == 0 ? &code->config1
                     : strncmp(format, "config2:", 8) == 0 ? &code->config2
                                                           : NULL;
    if (!word)
        return -EOPNOTSUPP;
    const char *p = strchr(format, ':') + 1;
    for (;;) {
        char *end;
        unsigned long low = strtoul(p, &end, 10), high = low;
        if (end == p)
            return -EINVAL;
        if (*end == '-') {
            p = end + 1;
            high = strtoul(p, &end, 10);
            if (end == p)
                return -EINVAL;
        }
        if (low > high || high > 63)
            return -EINVAL;
        for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
            if (value & 1)
                *word |= UINT64_C(1) << bit;
        if (*end != ',')
            return value ? -ERANGE : 0;
        p = end + 1;
    }
}

static int sysfs_find_format(const char *pmu, const char *field, char *format)
{
    if (strcmp(field, "config") == 0 || strcmp(field, "config1") == 0 || strcmp(field, "config2") == 0) {
        snprintf(format, TEXT_CAP, "%.8s:0-63", field);
        return 0;
    }
    char path[PATH_CAP];
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/format/%s", pmu, field);
    int n = machine_line(path, format, TEXT_CAP);
    return n < 0 ? n : 0;
}

static int sysfs_apply_terms(const char *pmu, const char *terms, struct code *code, bool may_name_event);

/* One term: "field=value", "field" (meaning 1), or the name of an event file. */
static int sysfs_apply_term(const char *pmu, const char *term, struct code *code, bool may_name_event)
{
    char field[TEXT_CAP], format[TEXT_CAP];
    uint64_t value = 1;
    snprintf(field, sizeof field, "%s", term);
    char *equals = strchr(field, '=');
    if (equals) {
        char *end;
        *equals = '\0';
        errno = 0;
        value = strtoull(equals + 1, &end, 0);
        if (end == equals + 1 || *end != '\0' || errno != 0 || !isxdigit((unsigned char)equals[1]))
            return upmu_fail(UPMU_E_INVAL, "%s/%s/: '%s' is not a number", pmu, term, equals + 1);
    } else if (may_name_event) {
        char path[PATH_CAP], text[TEXT_CAP];
        snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/events/%s", pmu, field);
        if (machine_line(path, text, sizeof text) > 0)
            return sysfs_apply_terms(pmu, text, code, false);
    }
    if (sysfs_find_format(pmu, field, format) < 0)
        return UPMU_E_NAME; /* the caller has the whole name and adds a suggestion */
    int rc = sysfs_place_field(format, value, code);
    if (rc == -ERANGE)
        return upmu_fail(UPMU_E_INVAL, "%s/%s/: the value does not fit into the field (%s)", pmu, term, format);
    if (rc < 0)
        return upmu_fail(UPMU_E_UNSUPPORTED, "%s/%s/: field format '%s' is not supported", pmu, term, format);
    return 0;
}

static int sysfs_apply_terms(const char *pmu, const char *terms, struct code *code, bool may_name_event)
{
    char copy[TEXT_CAP], *rest = copy, *term;
    int n = snprintf(copy, sizeof copy, "%s", terms);
    if (n < 0 || (size_t)n >= sizeof copy)
        return upmu_fail(UPMU_E_INVAL, "%s/: the terms are too long", pmu);
    while ((term = strsep(&rest, ",")) != NULL) {
        if (*term == '\0')
            return upmu_fail(UPMU_E_INVAL, "%s/%s/: a term is empty", pmu, terms);
        int rc = sysfs_apply_term(pmu, term, code, may_name_event);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The CPUs that a PMU without task counting is opened on ("0-3,8"), and the first of them. */
static void sysfs_find_cpus(const char *pmu, struct event *out)
{
    char path[PATH_CAP], *end;
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/cpumask", pmu);
    if (machine_line(path, out->cpus, sizeof out->cpus) <= 0) {
        out->cpus[0] = '\0';
        return;
    }
    long cpu = strtol(out->cpus, &end, 10);
    out->cpu = end == out->cpus || cpu < 0 || cpu > INT_MAX ? -1 : (int)cpu;
}

/* Scale and unit that the kernel gives for the event: energy in joules, traffic in bytes. */
static void sysfs_find_scale(const char *pmu, const char *terms, struct event *out)
{
    char path[PATH_CAP], scale[64], unit[64], *end;
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/events/%s.scale", pmu, terms);
    if (machine_line(path, scale, sizeof scale) <= 0)
        return;
    double factor = strtod(scale, &end);
    if (end == scale || (*end != '\0' && !isspace((unsigned char)*end)) || !(factor > 0))
        return;
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/events/%s.unit", pmu, terms);
    if (machine_line(path, unit, sizeof unit) <= 0)
        unit[0] = '\0';
    const char *kept = intern(unit);
    out->scale = factor;
    out->scale_unit = kept ? kept : "";
    out->zero_unsure = strcmp(unit, "Joules") == 0; /* virtual machines have energy counters that stay 0 */
    snprintf(out->note, sizeof out->note, "raw counts; times %s gives %s", scale, unit[0] ? unit : "the unit");
}

static int sysfs_fail_unknown(const char *pmu, const char *base)
{
    char wanted[EVENT_NAME_MAX], path[PATH_CAP];
    struct suggest s;
    snprintf(wanted, sizeof wanted, "%s", base);
    suggest_begin(&s, wanted);
    event_offer_sysfs(&s);
    if (s.best)
        return upmu_fail(UPMU_E_NAME, "no event '%s'; did you mean %s?", base, s.best);
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s", pmu);
    return upmu_fail(UPMU_E_NAME, "no event '%s'; %s/events and %s/format list what the PMU supports", base, path,
                     path);
}

int event_from_sysfs(const char *base, struct event *out)
{
    char pmu[64], terms[TEXT_CAP];
    const char *slash = strchr(base, '/');
    size_t pmu_len = (size_t)(slash - base), terms_len = strcspn(slash + 1, "/");
    if (pmu_len == 0 || pmu_len >= sizeof pmu || terms_len == 0 || memchr(base, '.', pmu_len))
        return upmu_fail(UPMU_E_INVAL, "event '%s': expected pmu/event/ or pmu/field=value,.../", base);
    snprintf(pmu, sizeof pmu, "%.*s", (int)pmu_len, base);
    snprintf(terms, sizeof terms, "%.*s", (int)terms_len, slash + 1);
    if (strstr(terms, ".."))
        return upmu_fail(UPMU_E_INVAL, "event '%s': expected pmu/event/ or pmu/field=value,.../", base);

    struct code code = {0};
    int rc = machine_pmu_type(pmu, &out->type);
    if (rc < 0)
        return upmu_fail(UPMU_E_NAME, "no PMU '%s' here; " MACHINE_PMU_DIR " lists those the kernel has", pmu);
    rc = sysfs_apply_terms(pmu, terms, &code, true);
    if (rc == UPMU_E_NAME)
        return sysfs_fail_unknown(pmu, base);
    if (rc < 0)
        return rc;
    out->config = code.config;
    out->config1 = code.config1;
    out->config2 = code.config2;
    sysfs_find_cpus(pmu, out);
    out->match = UPMU_MATCH_EXACT;
    out->class = out->type == KERNEL_TYPE_SOFTWARE ? EVENT_SOFTWARE : EVENT_OTHER;
    for (unsigned k = 0; k < machine_get()->n_core_types; k++) {
        const struct machine *core = machine_core_type(k);
        if (strcmp(pmu, core->core_pmu) != 0 && out->type != core->pmu_type)
            continue;
        out->class = EVENT_CORE;
        out->core = (uint8_t)k;
    }
    out->all_modes_only = strcmp(pmu, "msr") == 0;
    snprintf(out->pmu, sizeof out->pmu, "%s", pmu);
    sysfs_find_scale(pmu, terms, out);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ listing */

struct each_sysfs {
    int (*each)(const char *name, void *arg);
    void *arg;
    const char *pmu;
};

static int sysfs_each_event_file(const char *file, void *arg)
{
    const struct each_sysfs *e = arg;
    char name[EVENT_NAME_MAX];
    if (strchr(file, '.')) /* .scale and .unit files describe an event */
        return 0;
    int n = snprintf(name, sizeof name, "%s/%s/", e->pmu, file);
    return n < 0 || (size_t)n >= sizeof name ? 0 : e->each(name, e->arg);
}

static int sysfs_each_pmu(const char *pmu, void *arg)
{
    struct each_sysfs *e = arg;
    char path[PATH_CAP];
    snprintf(path, sizeof path, MACHINE_PMU_DIR "/%s/events", pmu);
    e->pmu = pmu;
    int rc = core_kernel()->list_dir(path, sysfs_each_event_file, e);
    return rc < 0 ? 0 : rc; /* a PMU without an events folder has no names */
}

int event_each_sysfs(int (*each)(const char *name, void *arg), void *arg)
{
    struct each_sysfs e = {.each = each, .arg = arg};
    int rc = core_kernel()->list_dir(MACHINE_PMU_DIR, sysfs_each_pmu, &e);
    return rc < 0 ? 0 : rc;
}

static int sysfs_offer_one(const char *name, void *arg)
{
    const char *kept = intern(name);
    if (kept)
        suggest_offer(arg, kept);
    return 0;
}

void event_offer_sysfs(struct suggest *s)
{
    event_each_sysfs(sysfs_offer_one, s);
}

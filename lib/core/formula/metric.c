/* SPDX-License-Identifier: MIT */
/* Derived metrics: availability on a CPU, and values computed from counts. */
#include "core/formula/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/text/suggest.h"
#include "base/text/textbuf.h"
#include "core/names/event.h"
#include "core/names/intern.h"
#include "core/machine/machine.h"
#include "core/formula/metric_table.h"
#include "core/names/registry.h"
#include "core/set/value.h"

/* ------------------------------------------------------------------------------------------- finding metrics */

static bool metric_is_for(const struct metric_row *row, const struct arch_family *family)
{
    size_t len = strlen(family->name);
    for (const char *p = row->families; p && *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && strncmp(p, family->name, n) == 0)
            return true;
        p += n + (p[n] == ' ');
    }
    return row->families == NULL;
}

/* Parse a row. It is valid: a test parses all rows of the library, and those of users were parsed when they were
 * read. */
static bool metric_parse(const struct metric_row *row, struct expression *e)
{
    return row && expression_parse(row->formula, e) == 0;
}

bool metric_expression(size_t index, struct expression *out)
{
    const struct metric_row *row;
    for (size_t i = 0; (row = metric_row_at(i)) != NULL; i++)
        if (!row->on_demand && index-- == 0)
            return metric_parse(row, out);
    return false;
}

/* Whether the CPU has all events of a row; `lacks` names the missing one and the reason. */
static bool metric_counted_on(const struct machine *m, const struct metric_row *row, char *lacks, size_t cap)
{
    struct expression e;
    lacks[0] = '\0';
    if (!metric_is_for(row, m->family)) {
        snprintf(lacks, cap, "no formula for %s", m->family->title);
        return false;
    }
    if (!metric_parse(row, &e))
        return false;
    for (size_t i = 0; i < e.n_names; i++) {
        struct event event;
        const char *native = strncmp(e.name[i], "native::", 8) == 0 ? e.name[i] + 8 : NULL;
        if (native && arch_family_native(m->family, native))
            continue; /* libpfm4 is not loaded for a program's report */
        int rc = m->named ? event_resolve_on(m, e.name[i], &event) : event_resolve(e.name[i], &event);
        if (rc == 0)
            continue;
        snprintf(lacks, cap, "%s", upmu_error());
        return false;
    }
    return true;
}

/* The row to show for the metric whose first row has this index. */
static const struct metric_row *metric_best(const struct machine *m, size_t first, char *lacks, size_t cap)
{
    const struct metric_row *row = metric_row_at(first), *next = row, *best = NULL;
    char other[EVENT_NOTE_MAX];
    for (size_t i = first; next && strcmp(next->name, row->name) == 0; next = metric_row_at(++i)) {
        bool counted = metric_counted_on(m, next, best ? other : lacks, best ? sizeof other : cap);
        if (counted) {
            lacks[0] = '\0';
            return next;
        }
        if (!best || (!metric_is_for(best, m->family) && metric_is_for(next, m->family)))
            best = next;
    }
    return best;
}

/* The first row of the `index`-th name. @return false past the last. */
static bool metric_first_row(size_t index, size_t *first)
{
    const struct metric_row *row, *before = NULL;
    for (size_t i = 0; (row = metric_row_at(i)) != NULL; before = row, i++) {
        if (before && strcmp(row->name, before->name) == 0)
            continue;
        if (index-- > 0)
            continue;
        *first = i;
        return true;
    }
    return false;
}

bool metric_find(const struct machine *m, const char *name, struct expression *out)
{
    char lacks[EVENT_NOTE_MAX];
    size_t first;
    return metric_row_find(name, &first) && metric_parse(metric_best(m, first, lacks, sizeof lacks), out);
}

void metric_offer(struct suggest *s)
{
    const struct metric_row *row;
    for (size_t i = 0; (row = metric_row_at(i)) != NULL; i++)
        suggest_offer(s, row->name);
}

/* ------------------------------------------------------------------------------------------------ describing */

static const char *metric_events(const struct metric_row *row)
{
    struct textbuf b = {0};
    struct expression e;
    if (!metric_parse(row, &e))
        return "";
    for (size_t i = 0; i < e.n_names; i++)
        textbuf_printf(&b, "%s%s", i ? "," : "", e.name[i]);
    const char *kept = b.failed ? NULL : intern(b.data ? b.data : "");
    textbuf_free(&b);
    return kept;
}

static int metric_describe(const struct machine *m, size_t index, struct upmu_metric_info *info)
{
    char lacks[EVENT_NOTE_MAX];
    size_t first;
    if (!metric_first_row(index, &first))
        return UPMU_E_END;
    const struct metric_row *row = metric_best(m, first, lacks, sizeof lacks);
    struct upmu_metric_info full = {
        .name = row->name,
        .summary = row->summary,
        .formula = row->formula,
        .unit = row->unit,
        .events = metric_events(row),
        .missing_event = intern(lacks),
        .on_demand = row->on_demand,
    };
    if (!full.events || !full.missing_event)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    return OPTS_GIVE(info, full, UPMU_METRIC_INFO_SIZE_V1);
}

int upmu_metric_at(size_t index, struct upmu_metric_info *info)
{
    int rc = OPTS_CHECK(info, UPMU_METRIC_INFO_SIZE_V1);
    return rc != 0 ? rc : metric_describe(machine_get(), index, info);
}

int upmu_cpu_metric_at(const char *cpu, size_t index, struct upmu_metric_info *info)
{
    int rc = cpu ? OPTS_CHECK(info, UPMU_METRIC_INFO_SIZE_V1) : argument_null(__func__, "cpu");
    if (rc != 0)
        return rc;
    struct machine *m = malloc(sizeof *m);
    if (!m)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    rc = machine_of_cpu(cpu, m);
    rc = rc < 0 ? rc : metric_describe(m, index, info);
    free(m);
    return rc;
}

size_t upmu_metric_count(void)
{
    size_t n = 0, first;
    while (metric_first_row(n, &first))
        n++;
    return n;
}

/* ---------------------------------------------------------------------------------------------------- groups */

struct metric_collected {
    struct textbuf metrics, events;
};

static bool metric_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
            return true;
    return false;
}

static void metric_collect(struct metric_collected *c, const struct machine *m, const char *name)
{
    char lacks[EVENT_NOTE_MAX] = "";
    struct expression e;
    size_t first;
    if (!metric_row_find(name, &first))
        return;
    const struct metric_row *row = metric_best(m, first, lacks, sizeof lacks);
    if (lacks[0] || !metric_parse(row, &e))
        return;
    textbuf_printf(&c->metrics, "%s%s", c->metrics.data ? "," : "", name);
    for (size_t i = 0; i < e.n_names; i++)
        if (!metric_listed(c->events.data, e.name[i]))
            textbuf_printf(&c->events, "%s%s", c->events.data ? "," : "", e.name[i]);
}

static int metric_group_describe(const struct machine *m, size_t index, struct upmu_metric_group_info *info)
{
    const struct metric_group_row *row = &upmu_metric_groups[index];
    struct metric_collected c = {{0}, {0}};
    for (const char *p = row->metrics; *p; p += strcspn(p, ","), p += *p == ',') {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p, ","), p);
        metric_collect(&c, m, name);
    }
    bool failed = c.metrics.failed || c.events.failed;
    struct upmu_metric_group_info full = {
        .name = row->name,
        .summary = row->summary,
        .metrics = failed ? NULL : intern(c.metrics.data ? c.metrics.data : ""),
        .events = failed ? NULL : intern(c.events.data ? c.events.data : ""),
    };
    textbuf_free(&c.metrics);
    textbuf_free(&c.events);
    if (!full.metrics || !full.events)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    return OPTS_GIVE(info, full, UPMU_METRIC_GROUP_INFO_SIZE_V1);
}

int upmu_metric_group_at(const char *cpu, size_t index, struct upmu_metric_group_info *info)
{
    int rc = OPTS_CHECK(info, UPMU_METRIC_GROUP_INFO_SIZE_V1);
    if (rc != 0)
        return rc;
    if (index >= upmu_metric_n_groups)
        return UPMU_E_END;
    if (!cpu)
        return metric_group_describe(machine_get(), index, info);
    struct machine *m = malloc(sizeof *m);
    if (!m)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    rc = machine_of_cpu(cpu, m);
    rc = rc < 0 ? rc : metric_group_describe(m, index, info);
    free(m);
    return rc;
}

size_t upmu_metric_group_count(void)
{
    return upmu_metric_n_groups;
}

/* ------------------------------------------------------------------------------------------------- computing */

/* The identifying parts of an event's name. */
struct metric_key {
    char base[EVENT_NAME_MAX]; /**< canonical */
    char modifiers[EVENT_NAME_MAX];
    bool modeless; /**< a clock, or of a PMU without mode filters: combines with events of any modes */
};

static bool metric_key_of(const char *text, struct metric_key *key)
{
    struct event_name parts;
    if (event_name_parse(text, &parts) < 0)
        return false;
    const struct registry_event *r = registry_find(parts.base);
    size_t base = strlen(parts.base);
    snprintf(key->base, sizeof key->base, "%s", r ? r->name : parts.base);
    snprintf(key->modifiers, sizeof key->modifiers, "%s", text + base + (text[base] == ':'));
    bool clock = r && (strcmp(r->unit, "ns") == 0 || r->software >= REGISTRY_USAGE);
    key->modeless = clock || strchr(parts.base, '/') != NULL;
    return true;
}

/* Input of one computation of a metric. */
struct metric_input {
    const char *const *names;
    const struct upmu_value *values;
    size_t n;
    double seconds;
};

/* The count for a name of the formula, in these modes unless it has its own; NULL if it was not counted. */
static const struct upmu_value *metric_value_of(const struct metric_input *in, const char *name, const char *modes)
{
    struct metric_key wanted, key;
    if (!metric_key_of(name, &wanted))
        return NULL;
    const char *required = wanted.modifiers[0] ? wanted.modifiers : modes;
    for (size_t i = 0; i < in->n; i++) {
        if (!in->names[i] || !metric_key_of(in->names[i], &key) || strcmp(key.base, wanted.base) != 0)
            continue;
        if ((wanted.modeless && !wanted.modifiers[0]) || strcmp(key.modifiers, required) == 0)
            return &in->values[i];
    }
    return NULL;
}

/* Scale of a kernel event's count, from sysfs ("power/energy-pkg/": joules). */
static double metric_scale_of(const char *name)
{
    struct event e;
    return strchr(name, '/') && event_resolve(name, &e) == 0 ? e.scale : 1;
}

/* Compute with all events in the same modes. @return false if one of them was not counted so. */
static bool metric_compute(const struct metric_row *row, const struct expression *e, const struct metric_input *in,
                           const char *modes, struct upmu_metric_value *out)
{
    double numbers[EXPRESSION_NAMES_MAX] = {0};
    *out = (struct upmu_metric_value){.value = NAN, .status = UPMU_EXACT};
    for (size_t i = 0; i < e->n_names; i++) {
        const struct upmu_value *v = metric_value_of(in, e->name[i], modes);
        if (!v)
            return false;
        int weakest = upmu_status_weakest(out->status, v->status);
        out->cause = weakest == out->status ? out->cause : v->cause;
        out->status = weakest;
        numbers[i] = (double)v->value * metric_scale_of(e->name[i]);
    }
    if (out->status != UPMU_EXACT && out->status != UPMU_SCALED)
        return true;
    out->value = expression_compute(e, numbers, in->seconds);
    if (row->never_negative && out->value < 0)
        out->value = NAN;
    if (isnan(out->value))
        out->status = UPMU_NOT_COUNTED; /* division by zero, or inconsistent counts */
    return true;
}

/* All events must have the same modes: user-mode instructions over all cycles would be meaningless. */
static bool metric_try(const struct metric_row *row, const struct metric_input *in, struct upmu_metric_value *out)
{
    struct expression e;
    struct metric_key wanted, key;
    size_t first = 0;
    if (!metric_is_for(row, machine_get()->family) || !metric_parse(row, &e))
        return false;
    while (first < e.n_names && (!metric_key_of(e.name[first], &wanted) || wanted.modeless || wanted.modifiers[0]))
        first++;
    if (first == e.n_names)
        return metric_compute(row, &e, in, "", out);
    for (size_t i = 0; i < in->n; i++) {
        if (!in->names[i] || !metric_key_of(in->names[i], &key) || strcmp(key.base, wanted.base) != 0)
            continue;
        if (metric_compute(row, &e, in, key.modifiers, out))
            return true;
    }
    return false;
}

static int metric_unknown(const char *name)
{
    struct suggest s;
    suggest_begin(&s, name);
    metric_offer(&s);
    return upmu_fail(UPMU_E_NAME, "no metric '%s'%s%s%s%s%s", name, s.best ? "; did you mean '" : "",
                     s.best ? s.best : "", s.best ? "'?" : "", metric_user_fault()[0] ? "; " : "", metric_user_fault());
}

int upmu_metric_eval(const char *metric, const char *const *names, const struct upmu_value *values, size_t n,
                     double seconds, struct upmu_metric_value *out)
{
    if (!metric || !out || (n > 0 && (!names || !values)))
        return upmu_fail(UPMU_E_INVAL, "upmu_metric_eval: `metric`, `names`, `values` or `out` is NULL");
    const struct metric_input in = {names, values, n, seconds};
    const struct metric_row *row;
    bool counted = false;
    size_t first;
    *out = (struct upmu_metric_value){.value = NAN, .status = UPMU_NOT_COUNTED};
    if (!metric_row_find(metric, &first))
        return metric_unknown(metric);
    for (size_t i = first; (row = metric_row_at(i)) != NULL && strcmp(row->name, metric) == 0; i++) {
        struct upmu_metric_value one;
        if (!metric_try(row, &in, &one))
            continue;
        /* The next way is tried only if this one has no number; the first one's reason is reported if none has. */
        if (!counted || !isnan(one.value))
            *out = one;
        counted = true;
        if (!isnan(one.value))
            break;
    }
    return counted ? 0 : upmu_fail(UPMU_E_NAME, "metric '%s': the events it needs were not counted", metric);
}

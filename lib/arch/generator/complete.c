/* SPDX-License-Identifier: MIT */
/** @file Rows for the events that a family's file has none of: sums of what is there, or the reason of absence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/generator/cells.h"
#include "arch/generator/fault.h"
#include "arch/generator/model.h"
#include "arch/generator/text.h"
#include "core/names/registry.h"
#include "upmu/upmu.h"

#define COMPLETE_UNKNOWN "no event of this core is known to count it"
#define COMPLETE_SUM "the sum of events of which not all are exact"
#define COMPLETE_SOURCE "the sources of its terms"

static const struct model_default *complete_default(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t j = 0; m->files[i].kind == MODEL_DEFAULTS && j < m->files[i].n_rows; j++)
            if (strcmp(m->files[i].defaults[j].name, name) == 0)
                return &m->files[i].defaults[j];
    return NULL;
}

/** A directive of the family or of the nearest base with one, or NULL. */
static const char *complete_directive(const struct model_family *f, const char *word)
{
    const struct csv_directive *found = NULL;
    for (; f && !found; f = f->base)
        found = csv_directive(&f->file->csv, word);
    return found ? found->value : NULL;
}

static const char *complete_reason(const struct model_family *f, const struct model_default *d)
{
    bool perf = d->note[0] != '\0';
    const char *reason = complete_directive(f, perf ? "absent-perf" : "absent");
    return reason ? reason : perf ? d->note : COMPLETE_UNKNOWN;
}

static bool complete_has_all(const struct model_family *f, const char *list)
{
    const char *word;
    for (size_t n; (n = model_word(&list, &word)) > 0;) {
        const struct model_event *e = model_find_event(f, word, n);
        if (!e || e->row.kind == ARCH_CODE_NONE)
            return false;
    }
    return true;
}

static const char *complete_near(const struct model_family *f, const struct model_default *d)
{
    for (size_t i = 0; i < d->n_near; i++)
        if (complete_has_all(f, d->near[i]))
            return d->near[i];
    return "";
}

/** Whether a term has the encoding of an earlier one: a sum would count it twice. */
static bool complete_repeats(const struct model_family *f, const char *formula, const struct cells_term *term)
{
    const struct arch_event *row = &model_find_event(f, term->name, term->name_len)->row;
    struct cells_term before;
    for (const char *at = formula; !cells_term(&at, &before) && before.name != term->name;) {
        const struct arch_event *other = &model_find_event(f, before.name, before.name_len)->row;
        if (other->kind == row->kind && other->config == row->config && other->config1 == row->config1)
            return true;
    }
    return false;
}

/** Match of a default sum on a family; absent if the family lacks a term. */
static uint8_t complete_sum(const struct model_family *f, const char *formula)
{
    struct cells_term term;
    uint8_t match = UPMU_MATCH_EXACT;
    if (!formula[0] || model_formula_wrong(f, formula, &term))
        return UPMU_MATCH_ABSENT;
    for (const char *at = formula; *at && !cells_term(&at, &term);) {
        const struct model_event *e = model_find_event(f, term.name, term.name_len);
        if (!e || complete_repeats(f, formula, &term))
            return UPMU_MATCH_ABSENT;
        if (e->row.match != UPMU_MATCH_EXACT)
            match = UPMU_MATCH_APPROXIMATE;
    }
    return match;
}

static struct arch_event complete_row(const struct model_family *f, const struct model_default *d)
{
    uint8_t match = complete_sum(f, d->formula);
    struct arch_event row = {.name = text_add(d->name), .raw_encoding = UINT64_MAX, .match = match};
    if (match == UPMU_MATCH_ABSENT) {
        row.why = text_add(complete_reason(f, d));
        row.near = text_add(complete_near(f, d));
    } else {
        row.kind = ARCH_CODE_FORMULA;
        row.formula = text_add(d->formula);
        row.why = text_add(match == UPMU_MATCH_EXACT ? "" : COMPLETE_SUM);
        row.source = text_add(COMPLETE_SOURCE);
    }
    return row;
}

/** Index of a generated row; equal rows of several families are stored once. */
static size_t complete_add(struct model *m, const struct arch_event *row)
{
    struct model_file *made = &m->made;
    for (size_t i = 0; i < made->n_rows; i++) {
        const struct arch_event *have = &made->events[i].row;
        if (have->name == row->name && have->match == row->match && have->why == row->why && have->near == row->near &&
            have->formula == row->formula)
            return i;
    }
    made->events = fault_grow(made->events, made->n_rows, sizeof *made->events);
    made->events[made->n_rows] = (struct model_event){.row = *row};
    return made->n_rows++;
}

/** The family's own row; if it is absent and names no nearest event, a copy that names one. */
static struct model_ref complete_own(struct model *m, const struct model_family *f, const struct model_default *d,
                                     const struct model_ref *own)
{
    const struct arch_event *have = &model_event_of(own)->row;
    if (have->kind != ARCH_CODE_NONE || have->near || !d)
        return *own;
    struct arch_event row = *have;
    row.near = text_add(complete_near(f, d));
    return (struct model_ref){&m->made, complete_add(m, &row)};
}

/** Row `*out` of a vendor-neutral event of a family: its own row, a default sum, or an absent one. The pass with `sums` comes first
 *  and adds no absent rows, whose nearest event may be a sum. @return false: none in this pass. */
static bool complete_event(struct model *m, const struct model_family *f, const char *name, const struct model_ref *own,
                           bool sums, struct model_ref *out)
{
    const struct model_default *d = complete_default(m, name);
    if (own)
        *out = sums ? *own : complete_own(m, f, d, own);
    if (own || !d)
        return own != NULL;
    struct arch_event row = complete_row(f, d);
    if (sums && row.kind != ARCH_CODE_FORMULA)
        return false;
    *out = (struct model_ref){&m->made, complete_add(m, &row)};
    return true;
}

/* Gives the family a row for each event of the registry, in its order, which `f->events` has, too. Called twice: with `sums` for the
 * default sums, then for what is absent, whose nearest event may be such a sum. */
static void complete_family(struct model *m, struct model_family *f, bool sums)
{
    struct model_ref *all = NULL, ref;
    size_t n_all = 0, n_registry, at = 0;
    const struct registry_event *events = registry_events(&n_registry);
    for (size_t i = 0; i < n_registry; i++) {
        bool own = at < f->n_events && strcmp(arch_text(model_event_of(&f->events[at])->row.name), events[i].name) == 0;
        if (!complete_event(m, f, events[i].name, own ? &f->events[at] : NULL, sums, &ref))
            continue;
        at += own;
        all = fault_grow(all, n_all, sizeof *all);
        all[n_all++] = ref;
    }
    free(f->events);
    f->events = all;
    f->n_events = n_all;
}

void model_complete(struct model *m)
{
    for (size_t i = 0; i < m->n_families; i++)
        for (int pass = 0; !m->families[i].set && pass < 2; pass++)
            complete_family(m, &m->families[i], pass == 0);
    if (m->made.first + m->made.n_rows > UINT16_MAX)
        fault("data/events", 0, "more rows than 16 bits can number");
}

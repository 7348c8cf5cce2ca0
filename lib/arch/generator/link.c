/* SPDX-License-Identifier: MIT */
/** @file Rows of each family: its own, those of its bases, its native names and its presets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/generator/cells.h"
#include "arch/generator/fault.h"
#include "arch/generator/model.h"
#include "upmu/upmu.h"

const struct model_event *model_event_of(const struct model_ref *ref)
{
    return &ref->file->events[ref->row];
}

static const struct model_native *model_native_of(const struct model_ref *ref)
{
    return &ref->file->natives[ref->row];
}

static const struct model_preset *model_preset_of(const struct model_ref *ref)
{
    return &ref->file->presets[ref->row];
}

static bool link_same_name(const char *have, const char *name, size_t len)
{
    return strncasecmp(have, name, len) == 0 && have[len] == '\0';
}

const struct model_event *model_find_event(const struct model_family *f, const char *name, size_t len)
{
    for (size_t i = 0; i < f->n_events; i++)
        if (link_same_name(arch_text(model_event_of(&f->events[i])->row.name), name, len))
            return model_event_of(&f->events[i]);
    return NULL;
}

static const struct model_native *model_find_native(const struct model_family *f, const char *name, size_t len)
{
    for (size_t i = 0; i < f->n_natives; i++)
        if (link_same_name(arch_text(model_native_of(&f->natives[i])->row.name), name, len))
            return model_native_of(&f->natives[i]);
    return NULL;
}

size_t model_word(const char **at, const char **word)
{
    *word = *at + strspn(*at, " ");
    size_t n = strcspn(*word, " ");
    *at = *word + n;
    return n;
}

/* Whether a blank-separated list has a word. */
static bool model_list_has(const char *list, const char *word)
{
    const char *have;
    for (size_t n; (n = model_word(&list, &have)) > 0;)
        if (n == strlen(word) && strncmp(have, word, n) == 0)
            return true;
    return false;
}

static struct model_family *link_find(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_families; i++)
        if (strcmp(m->families[i].file->name, name) == 0)
            return &m->families[i];
    return NULL;
}

static void link_add(struct model_ref **refs, size_t *n, const struct model_file *file, size_t row)
{
    *refs = fault_grow(*refs, *n, sizeof **refs);
    (*refs)[(*n)++] = (struct model_ref){file, row};
}

/* ------------------------------------------------------------------------------------------------ families */

static void link_families(struct model *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        struct model_file *file = &m->files[i];
        if (file->kind != MODEL_EVENTS)
            continue;
        struct model_family *same = link_find(m, file->name);
        if (same)
            fault(file->csv.path, 0, "%s is the same family", same->file->csv.path);
        m->families = fault_grow(m->families, m->n_families, sizeof *m->families);
        m->families[m->n_families++] =
            (struct model_family){.file = file, .set = csv_directive(&file->csv, "set") != NULL};
    }
}

static void link_bases(struct model *m)
{
    for (size_t i = 0; i < m->n_families; i++) {
        struct model_family *f = &m->families[i];
        const struct csv_directive *base = csv_directive(&f->file->csv, "base");
        f->base = base ? link_find(m, base->value) : NULL;
        if (base && !f->base)
            fault(f->file->csv.path, base->line, "there is no family '%s' to be the base", base->value);
    }
}

static bool link_is_circle(const struct model_family *f, size_t n_families)
{
    size_t steps = 0;
    for (const struct model_family *b = f->base; b && steps <= n_families; b = b->base)
        steps++;
    return steps > n_families;
}

static bool link_same_row(const struct arch_event *a, const struct arch_event *b)
{
    return a->config == b->config && a->config1 == b->config1 && a->raw_encoding == b->raw_encoding &&
           a->counters == b->counters && a->kind == b->kind && a->match == b->match && a->why == b->why &&
           a->source == b->source && a->formula == b->formula && a->near == b->near;
}

/* Both lists are sorted; a row of the family's own replaces the base's, and must differ from it. */
static void link_events(struct model_family *f)
{
    const struct model_file *own = f->file;
    size_t i = 0, j = 0, n_base = f->base ? f->base->n_events : 0;
    while (i < own->n_rows || j < n_base) {
        const struct model_event *mine = i < own->n_rows ? &own->events[i] : NULL;
        const struct model_event *theirs = j < n_base ? model_event_of(&f->base->events[j]) : NULL;
        int order = !mine ? 1 : !theirs ? -1 : strcmp(arch_text(mine->row.name), arch_text(theirs->row.name));
        if (order == 0 && link_same_row(&mine->row, &theirs->row))
            fault(own->csv.path, mine->line, "%s: the row repeats that of its base %s", arch_text(mine->row.name),
                  f->base->file->name);
        if (order <= 0)
            link_add(&f->events, &f->n_events, own, i);
        else if (f->base)
            link_add(&f->events, &f->n_events, f->base->events[j].file, f->base->events[j].row);
        i += order <= 0;
        j += order >= 0;
    }
}

/* ------------------------------------------------------------------------------------------------ native names */

/** The families of a file of native names or presets: those of its directive, else the one it is named for. */
static const char *link_users(const struct model_file *file)
{
    const struct csv_directive *families = csv_directive(&file->csv, "families");
    return families ? families->value : file->name;
}

static void link_check_list(const struct model *m, const struct model_file *file, int line, const char *list)
{
    char name[128];
    const char *word;
    for (size_t n; (n = model_word(&list, &word)) > 0;) {
        snprintf(name, sizeof name, "%.*s", (int)n, word);
        struct model_family *f = link_find(m, name);
        if (!f || f->set)
            fault(file->csv.path, line, "there is no family '%s'", name);
        if (!model_list_has(link_users(file), name))
            fault(file->csv.path, line, "family '%s' is not in the file's `# families:`", name);
    }
}

static void link_check_families(const struct model *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        const struct model_file *file = &m->files[i];
        if (file->kind != MODEL_NATIVE && file->kind != MODEL_PRESETS)
            continue;
        const struct csv_directive *families = csv_directive(&file->csv, "families");
        link_check_list(m, file, families ? families->line : 0, link_users(file));
        for (size_t j = 0; file->kind == MODEL_NATIVE && j < file->n_rows; j++)
            link_check_list(m, file, file->natives[j].line, file->natives[j].families);
    }
}

static int link_by_name(const void *a, const void *b)
{
    const struct model_native *x = model_native_of(a), *y = model_native_of(b);
    int order = strcasecmp(arch_text(x->row.name), arch_text(y->row.name));
    return order ? order : x->line - y->line;
}

/* A family without native names has those of its base. */
static void link_natives(const struct model *m, struct model_family *f)
{
    for (size_t i = 0; i < m->n_files; i++) {
        const struct model_file *file = &m->files[i];
        if (file->kind != MODEL_NATIVE || !model_list_has(link_users(file), f->file->name))
            continue;
        for (size_t j = 0; j < file->n_rows; j++)
            if (!file->natives[j].families[0] || model_list_has(file->natives[j].families, f->file->name))
                link_add(&f->natives, &f->n_natives, file, j);
    }
    if (f->n_natives == 0 && f->base)
        for (size_t i = 0; i < f->base->n_natives; i++)
            link_add(&f->natives, &f->n_natives, f->base->natives[i].file, f->base->natives[i].row);
    if (f->n_natives > 0)
        qsort(f->natives, f->n_natives, sizeof *f->natives, link_by_name);
    for (size_t i = 1; i < f->n_natives; i++) {
        const struct model_native *row = model_native_of(&f->natives[i]);
        const char *name = arch_text(row->row.name);
        if (strcasecmp(arch_text(model_native_of(&f->natives[i - 1])->row.name), name) == 0)
            fault(f->natives[i].file->csv.path, row->line, "%s has '%s' twice", f->file->name, name);
    }
}

/* ------------------------------------------------------------------------------------------------ formulas, presets */

/** What is wrong with a term of a formula on a family, or NULL. */
static const char *link_term_wrong(const struct model_family *f, const struct cells_term *term)
{
    const struct model_event *row = model_find_event(f, term->name, term->name_len);
    if (!row && !model_find_native(f, term->name, term->name_len))
        return "has no event of this name";
    if (row && row->row.kind == ARCH_CODE_NONE)
        return "lacks the event";
    return row && row->row.kind == ARCH_CODE_FORMULA ? "has it as a formula itself; write its terms" : NULL;
}

const char *model_formula_wrong(const struct model_family *f, const char *formula, struct cells_term *term)
{
    const char *wrong = NULL;
    for (const char *at = formula; *at && !wrong;) {
        if (cells_term(&at, term))
            return "is malformed";
        wrong = link_term_wrong(f, term);
    }
    return wrong;
}

static void link_check_near(const struct model_family *f, const struct model_ref *ref)
{
    const struct model_event *e = model_event_of(ref);
    const char *list = arch_text(e->row.near), *word;
    for (size_t n; (n = model_word(&list, &word)) > 0;) {
        const struct model_event *near = model_find_event(f, word, n);
        if (!near || near->row.kind == ARCH_CODE_NONE)
            fault(ref->file->csv.path, e->line, "%s: '%.*s' is near, but %s has no such event", arch_text(e->row.name),
                  (int)n, word, f->file->name);
    }
}

static void link_check_rows(const struct model_family *f)
{
    for (size_t i = 0; i < f->n_events; i++) {
        const struct model_event *e = model_event_of(&f->events[i]);
        struct cells_term term;
        const char *wrong =
            e->row.kind == ARCH_CODE_FORMULA ? model_formula_wrong(f, arch_text(e->row.formula), &term) : NULL;
        if (wrong)
            fault(f->events[i].file->csv.path, e->line, "%s: '%.*s': %s %s", arch_text(e->row.name), (int)term.name_len,
                  term.name, f->file->name, wrong);
        link_check_near(f, &f->events[i]);
    }
}

static bool link_has_preset(const struct model_family *f, arch_text_ref papi)
{
    for (size_t i = 0; i < f->n_presets; i++)
        if (model_preset_of(&f->presets[i])->row.papi == papi)
            return true;
    return false;
}

static void link_presets(const struct model *m, struct model_family *f)
{
    struct cells_term term;
    for (size_t i = 0; i < m->n_files; i++) {
        const struct model_file *file = &m->files[i];
        if (file->kind != MODEL_PRESETS || !model_list_has(link_users(file), f->file->name))
            continue;
        for (size_t j = 0; j < file->n_rows; j++) {
            struct model_preset *p = &file->presets[j];
            if (link_has_preset(f, p->row.papi) || model_formula_wrong(f, arch_text(p->row.formula), &term))
                continue;
            link_add(&f->presets, &f->n_presets, file, j);
            p->used = true;
        }
    }
}

static void link_check_presets(const struct model *m)
{
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t j = 0; m->files[i].kind == MODEL_PRESETS && j < m->files[i].n_rows; j++)
            if (!m->files[i].presets[j].used)
                fault(m->files[i].csv.path, m->files[i].presets[j].line,
                      "%s: no family of the file has the events of this row, or an earlier row counts",
                      arch_text(m->files[i].presets[j].row.papi));
}

/* ------------------------------------------------------------------------------------------------ all of it */

static void link_family(const struct model *m, struct model_family *f)
{
    if (f->complete)
        return;
    f->complete = true;
    if (f->base)
        link_family(m, f->base);
    link_events(f);
    link_natives(m, f);
    link_presets(m, f);
    if (!f->set)
        link_check_rows(f);
}

void model_link(struct model *m)
{
    link_families(m);
    link_bases(m);
    for (size_t i = 0; i < m->n_families; i++) {
        if (!link_is_circle(&m->families[i], m->n_families))
            continue;
        fault(m->families[i].file->csv.path, 0, "its bases form a circle");
        return;
    }
    link_check_families(m);
    for (size_t i = 0; i < m->n_families; i++)
        link_family(m, &m->families[i]);
    link_check_presets(m);
}

void model_free(struct model *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        csv_free(&m->files[i].csv);
        free(m->files[i].name);
        free(m->files[i].events);
        free(m->files[i].natives);
        free(m->files[i].presets);
        free(m->files[i].defaults);
    }
    free(m->made.events);
    for (size_t i = 0; i < m->n_families; i++) {
        free(m->families[i].events);
        free(m->families[i].natives);
        free(m->families[i].presets);
    }
    free(m->files);
    free(m->families);
}

/* SPDX-License-Identifier: MIT */
/** @file Reading of event table files: each row checked on its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arch/generator/cells.h"
#include "arch/generator/fault.h"
#include "arch/generator/model.h"
#include "arch/generator/text.h"
#include "core/names/registry.h"
#include "upmu/upmu.h"

#define READ_EVENTS "event,match,encoding,counters,near,note,source"
#define READ_NATIVE "name,encoding,counters,meaning,source"
#define READ_NATIVE_FAMILIES READ_NATIVE ",families"
#define READ_PRESETS "preset,match,formula,note"
#define READ_DEFAULTS "event,formula,near,note"

static void read_wrong(const struct model_file *f, int line, const char *wrong)
{
    if (wrong)
        fault(f->csv.path, line, "%s", wrong);
}

static bool read_is_neutral(const char *name)
{
    const struct registry_event *e = registry_find(name);
    return e && e->software < 0 && strcmp(e->name, name) == 0;
}

/* What a row of each match must have and must not have. */
static void read_check_event(const struct model_file *f, int line, const struct arch_event *row)
{
    bool absent = row->match == UPMU_MATCH_ABSENT;
    const char *name = arch_text(row->name);
    if (!read_is_neutral(name))
        fault(f->csv.path, line, "'%s' is no vendor-neutral event of the CPU (lib/core/names/registry.c)", name);
    if (absent != (row->kind == ARCH_CODE_NONE))
        fault(f->csv.path, line, "%s: the encoding is none for absent rows, and for those alone", name);
    if (absent && (row->source || row->counters != ARCH_ANY))
        fault(f->csv.path, line, "%s: an absent row has no counters and no source", name);
    if (!absent && !row->source)
        fault(f->csv.path, line, "%s: the source is missing", name);
    if (!absent && row->near)
        fault(f->csv.path, line, "%s: near is for absent rows", name);
    if ((row->match == UPMU_MATCH_EXACT) != !row->why)
        fault(f->csv.path, line, "%s: approximate and absent rows need a note, exact ones have none", name);
    if (row->kind == ARCH_CODE_FORMULA && row->counters != ARCH_ANY)
        fault(f->csv.path, line, "%s: a formula has no counters of its own", name);
}

static const char *read_source(const struct model_file *f, const char *cell)
{
    const struct csv_directive *source = csv_directive(&f->csv, "source");
    return *cell || !source ? cell : source->value;
}

static void read_event(const struct model_file *f, const struct csv_row *cells, struct model_event *out)
{
    struct arch_event *row = &out->row;
    *row = (struct arch_event){
        .name = text_add(cells->cells[0]), .near = text_add(cells->cells[4]), .why = text_add(cells->cells[5])};
    out->line = cells->line;
    const char *wrong = cells_match(cells->cells[1], &row->match);
    read_wrong(f, out->line, wrong);
    bool present = !wrong && row->match != UPMU_MATCH_ABSENT;
    row->source = text_add(present ? read_source(f, cells->cells[6]) : cells->cells[6]);
    const char *wrong_code = cells_encoding(cells->cells[2], row);
    read_wrong(f, out->line, wrong_code);
    row->formula = wrong_code ? 0 : row->formula;
    const char *wrong_counters = cells_counters(cells->cells[3], &row->counters);
    read_wrong(f, out->line, wrong_counters);
    if (!wrong && !wrong_code && !wrong_counters)
        read_check_event(f, out->line, row);
}

static void read_native(const struct model_file *f, const struct csv_row *cells, struct model_native *out)
{
    struct arch_event code = {0};
    out->line = cells->line;
    out->families = cells->n_cells > 5 ? cells->cells[5] : "";
    out->row.name = text_add(cells->cells[0]);
    out->row.meaning = text_add(cells->cells[3]);
    const char *wrong = cells_encoding(cells->cells[1], &code);
    if (!wrong && code.kind != ARCH_CODE_RAW)
        wrong = "the encoding of a native name is raw:0x...";
    read_wrong(f, out->line, wrong);
    read_wrong(f, out->line, cells_counters(cells->cells[2], &out->row.counters));
    out->row.config = code.config;
    out->row.config1 = code.config1;
    if (!out->row.name || strchr(cells->cells[0], ' '))
        fault(f->csv.path, out->line, "'%s' cannot be a native name: it is empty or has a blank", cells->cells[0]);
    if (!read_source(f, cells->cells[4])[0])
        fault(f->csv.path, out->line, "%s: the source is missing", cells->cells[0]);
}

static void read_preset(const struct model_file *f, const struct csv_row *cells, struct model_preset *out)
{
    const char *papi = cells->cells[0], *formula = cells->cells[2], *wrong = NULL;
    out->line = cells->line;
    out->used = false;
    out->row = (struct arch_preset){.papi = text_add(papi), .why = text_add(cells->cells[3])};
    read_wrong(f, out->line, cells_match(cells->cells[1], &out->row.match));
    for (const char *at = formula; *at && !wrong;) {
        struct cells_term term;
        wrong = cells_term(&at, &term);
    }
    read_wrong(f, out->line, wrong);
    out->row.formula = text_add(wrong ? "" : formula);
    if (strncmp(papi, "PAPI_", 5) != 0)
        fault(f->csv.path, out->line, "'%s' is no preset of PAPI: PAPI_...", papi);
    if (out->row.match == UPMU_MATCH_ABSENT || !out->row.formula)
        fault(f->csv.path, out->line, "%s: a preset that the CPU lacks has no row", papi);
    if ((out->row.match == UPMU_MATCH_APPROXIMATE) != (out->row.why != 0))
        fault(f->csv.path, out->line, "%s: approximate rows need a note, exact ones have none", papi);
}

/* The near events of a default: alternatives, each a list of events. */
static void read_near(const struct model_file *f, char *cell, struct model_default *out)
{
    for (char *next = cell; next && *next;) {
        char *bar = strchr(next, '|'), *end = bar ? bar : next + strlen(next);
        next += strspn(next, " ");
        while (end > next && end[-1] == ' ')
            end--;
        *end = '\0';
        if (out->n_near == MODEL_NEAR_MAX) {
            fault(f->csv.path, out->line, "%s: more than %d alternatives", out->name, MODEL_NEAR_MAX);
            return;
        }
        out->near[out->n_near++] = next;
        const char *list = next, *word;
        for (size_t n; (n = model_word(&list, &word)) > 0;) {
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)n, word);
            if (!read_is_neutral(name))
                fault(f->csv.path, out->line, "%s: near '%s' is no vendor-neutral event", out->name, name);
        }
        next = bar ? bar + 1 : NULL;
    }
}

static void read_default(const struct model_file *f, const struct csv_row *cells, struct model_default *out)
{
    *out = (struct model_default){
        .name = cells->cells[0], .formula = cells->cells[1], .note = cells->cells[3], .line = cells->line};
    if (!read_is_neutral(out->name))
        fault(f->csv.path, out->line, "'%s' is no vendor-neutral event of the CPU (lib/core/names/registry.c)",
              out->name);
    for (const char *at = out->formula, *wrong = NULL; *at && !wrong;) {
        struct cells_term term;
        wrong = cells_term(&at, &term);
        read_wrong(f, out->line, wrong);
    }
    read_near(f, cells->cells[2], out);
}

/* Names ascend. Native names are one name in capitals or not, and may be there once for each family; of a preset's rows the
 * first one counts whose events the family has. */
static void read_order(const struct model_file *f)
{
    for (size_t i = 1; i < f->csv.n_rows; i++) {
        const char *before = f->csv.rows[i - 1].cells[0], *name = f->csv.rows[i].cells[0];
        int order = f->kind == MODEL_NATIVE ? strcasecmp(before, name) : strcmp(before, name);
        if (order == 0 && (f->kind == MODEL_EVENTS || f->kind == MODEL_DEFAULTS))
            fault(f->csv.path, f->csv.rows[i].line, "'%s' is there twice", name);
        if (order > 0)
            fault(f->csv.path, f->csv.rows[i].line, "'%s' is out of order: it comes before '%s'", name, before);
    }
}

static void read_rows(struct model_file *f)
{
    for (size_t i = 0; i < f->csv.n_rows; i++) {
        if (f->kind == MODEL_EVENTS) {
            f->events = fault_grow(f->events, i, sizeof *f->events);
            read_event(f, &f->csv.rows[i], &f->events[i]);
        } else if (f->kind == MODEL_NATIVE) {
            f->natives = fault_grow(f->natives, i, sizeof *f->natives);
            read_native(f, &f->csv.rows[i], &f->natives[i]);
        } else if (f->kind == MODEL_DEFAULTS) {
            f->defaults = fault_grow(f->defaults, i, sizeof *f->defaults);
            read_default(f, &f->csv.rows[i], &f->defaults[i]);
        } else {
            f->presets = fault_grow(f->presets, i, sizeof *f->presets);
            read_preset(f, &f->csv.rows[i], &f->presets[i]);
        }
    }
    f->n_rows = f->csv.n_rows;
}

/* `family.csv`, `name.native.csv`, `name.presets.csv` or `defaults.csv`. */
static void read_name(struct model_file *f)
{
    static const char *const endings[] = {".native.csv", ".presets.csv", ".csv"};
    static const enum model_kind kinds[] = {MODEL_NATIVE, MODEL_PRESETS, MODEL_EVENTS};
    const char *slash = strrchr(f->csv.path, '/');
    f->name = fault_copy(slash ? slash + 1 : f->csv.path);
    size_t len = strlen(f->name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (len > n && strcmp(f->name + len - n, endings[i]) == 0) {
            f->name[len - n] = '\0';
            f->kind = kinds[i];
            break;
        }
    }
    if (strcmp(f->name, "defaults") == 0)
        f->kind = MODEL_DEFAULTS;
    if (strspn(f->name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(f->name))
        fault(f->csv.path, 0, "the file must be named FAMILY.csv, NAME.native.csv or NAME.presets.csv");
}

static bool read_header(const struct model_file *f)
{
    static const char *const headers[] = {READ_EVENTS, READ_NATIVE, READ_PRESETS, READ_DEFAULTS};
    bool right = csv_header_is(&f->csv, headers[f->kind]) ||
                 (f->kind == MODEL_NATIVE && csv_header_is(&f->csv, READ_NATIVE_FAMILIES));
    if (f->csv.header.line && !right)
        fault(f->csv.path, f->csv.header.line, "the header must be: %s", headers[f->kind]);
    return right;
}

void model_read(struct model *m, char *const *paths, size_t n)
{
    size_t rows[MODEL_KINDS] = {0};
    *m = (struct model){.n_files = 0};
    for (size_t i = 0; i < n; i++) {
        m->files = fault_grow(m->files, i, sizeof *m->files);
        struct model_file *f = &m->files[i];
        *f = (struct model_file){.kind = MODEL_EVENTS};
        m->n_files++;
        csv_read(&f->csv, paths[i]);
        read_name(f);
        if (!read_header(f))
            continue;
        read_order(f);
        read_rows(f);
        f->first = rows[f->kind];
        rows[f->kind] += f->n_rows;
    }
    m->made.first = rows[MODEL_EVENTS];
}

/* SPDX-License-Identifier: MIT */
/* Generator of docs/events.md from the registry and the tables, and check that the file is current. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/textbuf.h"
#include "core/arch_ops.h"
#include "core/names/registry.h"
#include "upmu/upmu.h"

enum { ARCH_FAMILIES_MAX = 64 };

static void write_head(struct textbuf *b)
{
    textbuf_printf(
        b,
        "# Events\n\n"
        "Written by `events_doc` from lib/core/names/registry.c and data/events; do not edit.\n\n"
        "The vendor-neutral names and what they are on each core family. `upmu list` shows the same for the\n"
        "machine it runs on, with the reasons.\n\n"
        "- a plain code is an exact match of the definition, `~` an approximate one (the reasons are below),\n"
        "  `-` means that the family has no such event\n"
        "- `hw:N` and `cache:N` are perf generic events, with the raw encoding behind them where it "
        "is\n  known; everything else is a raw encoding of the core PMU. Which of the two is used follows a rule that "
        "each\n"
        "  family states below (*codes*)\n"
        "- `sum` is a weighted sum of other events, its formula is below\n"
        "- names like perf's (`cache-misses`, `l1-dcache-loads`) open what perf opens; where our own name "
        "and\n  perf's are the same number on every CPU, perf's is an alias\n\n");
}

static void write_names(struct textbuf *b, const struct registry_event *events, size_t n)
{
    textbuf_printf(b, "## Names\n\n| name | what it counts | unit | PAPI | perf |\n| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < n; i++) {
        const struct registry_event *e = &events[i];
        textbuf_printf(b, "| `%s` | %s%s%s%s | %s | %s | %s |\n", e->name, e->summary, e->remark[0] ? " (" : "",
                       e->remark, e->remark[0] ? ")" : "", e->unit, e->papi ? e->papi : "", e->perf ? e->perf : "");
    }
    textbuf_printf(b, "\n");
}

static void write_code(struct textbuf *b, const struct arch_event *row)
{
    if (!row || row->kind == ARCH_CODE_NONE) {
        textbuf_printf(b, " -");
        return;
    }
    textbuf_printf(b, " %s", row->match == UPMU_MATCH_APPROXIMATE ? "~" : "");
    if (row->kind == ARCH_CODE_RAW)
        textbuf_printf(b, "0x%04" PRIx64, row->config);
    else if (row->kind == ARCH_CODE_FORMULA)
        textbuf_printf(b, "sum");
    else if (row->kind == ARCH_CODE_HARDWARE)
        textbuf_printf(b, "hw:%" PRIu64, row->config);
    else
        textbuf_printf(b, "cache:0x%05" PRIx64, row->config);
    if (row->kind == ARCH_CODE_RAW && row->config1)
        textbuf_printf(b, " (config1 0x%04" PRIx64 ")", row->config1);
    if (row->kind != ARCH_CODE_RAW && row->raw_encoding != UINT64_MAX)
        textbuf_printf(b, " (0x%04" PRIx64 ")", row->raw_encoding);
}

/** Whether two families have the very same rows. */
static bool same_codes(const struct arch_family *a, const struct arch_family *b, const struct registry_event *events,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (arch_family_event(a, events[i].name) != arch_family_event(b, events[i].name))
            return false;
    }
    return true;
}

/** Whether family `f` is the first of its vendor with these rows. */
static bool begins_column(size_t f, const struct registry_event *events, size_t n)
{
    for (size_t k = 0; k < f; k++) {
        if (strcmp(upmu_arch_families[k]->vendor, upmu_arch_families[f]->vendor) == 0 &&
            same_codes(upmu_arch_families[k], upmu_arch_families[f], events, n))
            return false;
    }
    return true;
}

static void write_column_title(struct textbuf *b, size_t f, const struct registry_event *events, size_t n)
{
    textbuf_printf(b, " %s", upmu_arch_families[f]->name);
    for (size_t k = f + 1; upmu_arch_families[k]; k++) {
        if (strcmp(upmu_arch_families[k]->vendor, upmu_arch_families[f]->vendor) == 0 &&
            same_codes(upmu_arch_families[k], upmu_arch_families[f], events, n))
            textbuf_printf(b, ", %s", upmu_arch_families[k]->name);
    }
    textbuf_printf(b, " |");
}

static void write_vendor_codes(struct textbuf *b, const char *vendor, const struct registry_event *events, size_t n)
{
    size_t columns[ARCH_FAMILIES_MAX], n_columns = 0;
    for (size_t f = 0; upmu_arch_families[f]; f++) {
        if (strcmp(upmu_arch_families[f]->vendor, vendor) == 0 && begins_column(f, events, n) &&
            n_columns < ARCH_FAMILIES_MAX)
            columns[n_columns++] = f;
    }
    textbuf_printf(b, "### %s\n\n| name |", vendor);
    for (size_t c = 0; c < n_columns; c++)
        write_column_title(b, columns[c], events, n);
    textbuf_printf(b, "\n| --- |");
    for (size_t c = 0; c < n_columns; c++)
        textbuf_printf(b, " --- |");
    for (size_t i = 0; i < n; i++) {
        if (events[i].software >= 0)
            continue;
        textbuf_printf(b, "\n| `%s` |", events[i].name);
        for (size_t c = 0; c < n_columns; c++) {
            write_code(b, arch_family_event(upmu_arch_families[columns[c]], events[i].name));
            textbuf_printf(b, " |");
        }
    }
    textbuf_printf(b, "\n\n");
}

static void write_codes(struct textbuf *b, const struct registry_event *events, size_t n)
{
    textbuf_printf(b, "## Codes\n\nEvents that the kernel counts itself (software) are the same everywhere and left "
                      "out. Families\nwith the same rows share a column.\n\n");
    for (size_t f = 0; upmu_arch_families[f]; f++) {
        size_t first = 0;
        while (strcmp(upmu_arch_families[first]->vendor, upmu_arch_families[f]->vendor) != 0)
            first++;
        if (first == f)
            write_vendor_codes(b, upmu_arch_families[f]->vendor, events, n);
    }
}

static void write_counters(struct textbuf *b, const struct arch_counters *c)
{
    if (c->general)
        textbuf_printf(b, "General counters: %u", c->general);
    else
        textbuf_printf(b, "General counters: not known");
    if (c->fixed)
        textbuf_printf(b, "; fixed counters: %u", c->fixed);
    if (c->width)
        textbuf_printf(b, "; bits: %u", c->width);
    textbuf_printf(b, ".%s%s%s%s%s\n\n", c->no_software_siblings ? " No software events in its groups." : "",
                   c->no_group_check ? " A group that cannot fit opens and is never counted." : "",
                   c->no_exclude_hv ? " exclude_hv must be 0." : "",
                   c->shared_filter ? " One user/kernel filter for all counters of a core." : "",
                   c->ignores_filter ? " User/kernel filters are ignored." : "");
}

static bool is_plain(const struct arch_event *row)
{
    return row && row->kind != ARCH_CODE_NONE && row->kind != ARCH_CODE_FORMULA;
}

/** The reason that all codes of a family share, or NULL. */
static const char *common_reason(const struct arch_family *f, const struct registry_event *events, size_t n)
{
    const char *why = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct arch_event *row = arch_family_event(f, events[i].name);
        if (is_plain(row) && why && strcmp(arch_text(row->why), why) != 0)
            return NULL;
        why = is_plain(row) ? arch_text(row->why) : why;
    }
    return why;
}

/** A family with the rows of another one is documented once. */
static const struct arch_family *documented_before(const struct arch_family *f, const struct registry_event *events,
                                                   size_t n)
{
    for (size_t k = 0; upmu_arch_families[k] != f; k++) {
        if (same_codes(upmu_arch_families[k], f, events, n))
            return upmu_arch_families[k];
    }
    return NULL;
}

static void write_reason(struct textbuf *b, const struct arch_event *row)
{
    textbuf_printf(b, "- `%s`: ", arch_text(row->name));
    if (row->kind == ARCH_CODE_FORMULA)
        textbuf_printf(b, "%s%s", arch_text(row->formula), row->why ? "; " : "");
    textbuf_printf(b, "%s\n", arch_text(row->why));
}

/** Whether no absent event before number `i` has the reason of `row`. */
static bool first_with_reason(const struct arch_family *f, const struct arch_event *row,
                              const struct registry_event *events, size_t i)
{
    while (i-- > 0) {
        const struct arch_event *before = arch_family_event(f, events[i].name);
        if (before && before->kind == ARCH_CODE_NONE && before->why == row->why)
            return false;
    }
    return true;
}

/** The absent events that have the reason of `first`, with their nearest ones. */
static void write_absent(struct textbuf *b, const struct arch_family *f, const struct arch_event *first,
                         const struct registry_event *events, size_t n)
{
    const char *gap = "";
    textbuf_printf(b, "- absent, %s: ", arch_text(first->why));
    for (size_t i = 0; i < n; i++) {
        const struct arch_event *row = arch_family_event(f, events[i].name);
        if (!row || row->kind != ARCH_CODE_NONE || row->why != first->why)
            continue;
        textbuf_printf(b, "%s`%s`%s%s%s", gap, arch_text(row->name), row->near ? " (near: " : "", arch_text(row->near),
                       row->near ? ")" : "");
        gap = ", ";
    }
    textbuf_printf(b, "\n");
}

static void write_reasons(struct textbuf *b, const struct arch_family *f, const struct registry_event *events, size_t n)
{
    const struct arch_family *before = documented_before(f, events, n);
    const char *common = common_reason(f, events, n);
    if (before) {
        textbuf_printf(b, "The rows of %s.\n\n", before->name);
        return;
    }
    if (common)
        textbuf_printf(b, common[0] ? "Every code: %s.\n\n" : "Every code is exact.\n\n", common);
    for (size_t i = 0; i < n; i++) {
        const struct arch_event *row = arch_family_event(f, events[i].name);
        if (row && ((is_plain(row) && row->why && !common) || row->kind == ARCH_CODE_FORMULA))
            write_reason(b, row);
    }
    for (size_t i = 0; i < n; i++) {
        const struct arch_event *row = arch_family_event(f, events[i].name);
        if (row && row->kind == ARCH_CODE_NONE && first_with_reason(f, row, events, i))
            write_absent(b, f, row, events, n);
    }
    textbuf_printf(b, "\n");
}

static void write_family(struct textbuf *b, const struct arch_family *f, const struct registry_event *events, size_t n)
{
    textbuf_printf(b, "### %s: %s\n\n", f->name, f->title);
    write_counters(b, &f->counters);
    if (f->remark[0])
        textbuf_printf(b, "Note: %s.\n\n", f->remark);
    textbuf_printf(b, "Codes: %s.\n\n", f->choice);
    write_reasons(b, f, events, n);
}

/** Whether row `j` is the first of the family with its source. */
static bool first_with_source(const struct arch_family *f, size_t j)
{
    arch_text_ref source = arch_family_event_at(f, j)->source;
    for (size_t i = 0; i < j; i++) {
        if (arch_family_event_at(f, i)->source == source)
            return false;
    }
    return source != 0;
}

static void write_sources(struct textbuf *b)
{
    textbuf_printf(b, "## Sources\n\nWhere the rows were read:\n\n");
    for (size_t i = 0; upmu_arch_families[i]; i++) {
        const struct arch_family *f = upmu_arch_families[i];
        for (size_t j = 0; arch_family_event_at(f, j); j++) {
            if (first_with_source(f, j))
                textbuf_printf(b, "- %s: %s\n", f->name, arch_text(arch_family_event_at(f, j)->source));
        }
    }
}

static int write_file(const struct textbuf *b, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(b->data, 1, b->len, f) != b->len || fclose(f) != 0) {
        perror(path);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int check_file(const struct textbuf *b, const char *path)
{
    char *have = malloc(b->len + 1);
    FILE *f = fopen(path, "r");
    size_t n = have && f ? fread(have, 1, b->len + 1, f) : 0;
    int same = n == b->len && memcmp(have, b->data, n) == 0;
    if (f)
        fclose(f);
    free(have);
    if (!same)
        fprintf(stderr, "%s is out of date; write it anew with: events_doc --write %s\n", path, path);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    bool write = argc == 3 && strcmp(argv[1], "--write") == 0;
    if (argc != 3 || (!write && strcmp(argv[1], "--check") != 0)) {
        fprintf(stderr, "usage: %s --write|--check FILE\n", argv[0]);
        return 2;
    }
    size_t n;
    const struct registry_event *events = registry_events(&n);
    struct textbuf b = {0};
    write_head(&b);
    write_names(&b, events, n);
    write_codes(&b, events, n);
    textbuf_printf(&b, "## Families and reasons\n\n");
    for (size_t i = 0; upmu_arch_families[i]; i++)
        write_family(&b, upmu_arch_families[i], events, n);
    write_sources(&b);
    if (b.failed) {
        fprintf(stderr, "out of memory\n");
        return EXIT_FAILURE;
    }
    int result = write ? write_file(&b, argv[2]) : check_file(&b, argv[2]);
    textbuf_free(&b);
    return result;
}

/* SPDX-License-Identifier: MIT */
/** @file C source of the event tables. */
#include "arch/generator/emit.h"

#include <inttypes.h>

#include "arch/generator/text.h"

/** A family's name as part of a C name. */
static void emit_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == '-' ? '_' : *name, out);
}

static void emit_event(FILE *out, const struct arch_event *row)
{
    fprintf(out, "    {.name = %" PRIu32 ", .config = 0x%" PRIx64 ", .config1 = 0x%" PRIx64, row->name, row->config,
            row->config1);
    fprintf(out, ", .raw_encoding = UINT64_C(0x%" PRIx64 "), .counters = 0x%" PRIx32, row->raw_encoding, row->counters);
    fprintf(out, ", .kind = %d, .match = %d, .why = %" PRIu32 ", .source = %" PRIu32, row->kind, row->match, row->why,
            row->source);
    fprintf(out, ", .formula = %" PRIu32 ", .near = %" PRIu32 "},\n", row->formula, row->near);
}

static void emit_native(FILE *out, const struct arch_native *row)
{
    fprintf(out, "    {.name = %" PRIu32 ", .meaning = %" PRIu32 ", .config = 0x%" PRIx64 ", .config1 = 0x%" PRIx64,
            row->name, row->meaning, row->config, row->config1);
    fprintf(out, ", .counters = 0x%" PRIx32 "},\n", row->counters);
}

static void emit_preset(FILE *out, const struct arch_preset *row)
{
    fprintf(out, "    {.papi = %" PRIu32 ", .formula = %" PRIu32 ", .match = %d, .why = %" PRIu32 "},\n", row->papi,
            row->formula, row->match, row->why);
}

/** All rows of a kind, in the order that model_file.first numbers them in. */
static void emit_rows(FILE *out, const struct model *m, enum model_kind kind, const char *declaration)
{
    fprintf(out, "\n%s[] = {\n", declaration);
    for (size_t i = 0; i < m->n_files; i++) {
        const struct model_file *f = &m->files[i];
        for (size_t j = 0; f->kind == kind && j < f->n_rows; j++) {
            if (kind == MODEL_EVENTS)
                emit_event(out, &f->events[j].row);
            else if (kind == MODEL_NATIVE)
                emit_native(out, &f->natives[j].row);
            else
                emit_preset(out, &f->presets[j].row);
        }
    }
    for (size_t i = 0; kind == MODEL_EVENTS && i < m->made.n_rows; i++)
        emit_event(out, &m->made.events[i].row);
    fputs("};\n", out);
}

static void emit_refs(FILE *out, const struct model_ref *refs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%zu,", i % 20 == 0 ? "\n    " : " ", refs[i].file->first + refs[i].row);
}

/** The numbers of the rows of all families, a family's behind those of the one before it. */
static void emit_numbers(FILE *out, const struct model *m)
{
    fputs("\nconst uint16_t arch_table_rows[] = {", out);
    for (size_t i = 0; i < m->n_families; i++) {
        const struct model_family *f = &m->families[i];
        if (f->set)
            continue;
        fprintf(out, "\n    /* %s */", f->file->name);
        emit_refs(out, f->events, f->n_events);
        emit_refs(out, f->natives, f->n_natives);
        emit_refs(out, f->presets, f->n_presets);
    }
    fputs("\n};\n\n", out);
}

static void emit_tables(FILE *out, const struct model *m)
{
    size_t events = 0;
    for (size_t i = 0; i < m->n_families; i++) {
        const struct model_family *f = &m->families[i];
        if (f->set)
            continue;
        size_t natives = events + f->n_events, presets = natives + f->n_natives;
        fputs("const struct arch_table arch_table_", out);
        emit_name(out, f->file->name);
        fprintf(out, " = {.events = %zu, .n_events = %zu, .natives = %zu, .n_natives = %zu", events, f->n_events,
                natives, f->n_natives);
        fprintf(out, ", .presets = %zu, .n_presets = %zu};\n", presets, f->n_presets);
        events = presets + f->n_presets;
    }
}

void emit_source(FILE *out, const struct model *m)
{
    fputs("/* Made from data/events by the build; do not edit. */\n#include \"arch/event_tables.h\"\n", out);
    emit_rows(out, m, MODEL_EVENTS, "const struct arch_event arch_table_events");
    emit_rows(out, m, MODEL_NATIVE, "const struct arch_native arch_table_natives");
    emit_rows(out, m, MODEL_PRESETS, "const struct arch_preset arch_table_presets");
    emit_numbers(out, m);
    emit_tables(out, m);
    fputs("\nconst char arch_table_texts[] =\n", out);
    text_emit(out);
    fputs("    ;\n", out);
}

void emit_header(FILE *out, const struct model *m)
{
    fputs("/* Made from data/events by the build; do not edit. */\n#ifndef UPMU_ARCH_EVENT_TABLES_H\n"
          "#define UPMU_ARCH_EVENT_TABLES_H\n\n#include \"core/arch_ops.h\"\n\n"
          "/* All rows, the numbers of those that each table has, and the block that arch_text_ref refers to. */\n"
          "extern const struct arch_event arch_table_events[];\n"
          "extern const struct arch_native arch_table_natives[];\n"
          "extern const struct arch_preset arch_table_presets[];\n"
          "extern const uint16_t arch_table_rows[];\n"
          "extern const char arch_table_texts[];\n\n",
          out);
    for (size_t i = 0; i < m->n_families; i++) {
        if (m->families[i].set)
            continue;
        fputs("extern const struct arch_table arch_table_", out);
        emit_name(out, m->families[i].file->name);
        fputs(";\n", out);
    }
    fputs("\n#endif\n", out);
}

/* SPDX-License-Identifier: MIT */
/** @file C source of the event tables. */
#include "arch/generator/emit.h"

#include <inttypes.h>

static void emit_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void emit_comma_string(FILE *out, const char *text)
{
    fputs(", ", out);
    emit_string(out, text);
}

/** A family's name as part of a C name. */
static void emit_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(*name == '-' ? '_' : *name, out);
}

static void emit_event(FILE *out, const struct arch_event *row)
{
    fputs("    {.name = ", out);
    emit_string(out, row->name);
    fprintf(out, ", .config = 0x%" PRIx64 ", .config1 = 0x%" PRIx64 ", .raw_encoding = UINT64_C(0x%" PRIx64 ")",
            row->config, row->config1, row->raw_encoding);
    fprintf(out, ", .counters = 0x%" PRIx32 ", .kind = %d, .match = %d, .why = ", row->counters, row->kind, row->match);
    emit_string(out, row->why);
    fputs(", .source = ", out);
    emit_string(out, row->source);
    fputs(", .formula = ", out);
    emit_string(out, row->formula);
    fputs(", .near = ", out);
    emit_string(out, row->near);
    fputs("},\n", out);
}

static void emit_native(FILE *out, const struct arch_native *row)
{
    fputs("    {", out);
    emit_string(out, row->name);
    emit_comma_string(out, row->meaning);
    fprintf(out, ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx32 "},\n", row->config, row->config1, row->counters);
}

static void emit_preset(FILE *out, const struct arch_preset *row)
{
    fputs("    {", out);
    emit_string(out, row->papi);
    emit_comma_string(out, row->formula);
    fprintf(out, ", %d", row->match);
    emit_comma_string(out, row->why);
    fputs("},\n", out);
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

/** The numbers of a family's rows; nothing for none, since C has no empty arrays. */
static void emit_refs(FILE *out, const char *what, const char *family, const struct model_ref *refs, size_t n)
{
    if (n == 0)
        return;
    fprintf(out, "static const uint16_t %s_", what);
    emit_name(out, family);
    fputs("[] = {", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%zu,", i % 20 == 0 ? "\n    " : " ", refs[i].file->first + refs[i].row);
    fputs("\n};\n", out);
}

static void emit_member(FILE *out, const char *what, const char *family, size_t n)
{
    if (n == 0)
        return;
    fprintf(out, "    .%s = %s_", what, what);
    emit_name(out, family);
    fprintf(out, ",\n    .n_%s = %zu,\n", what, n);
}

static void emit_table(FILE *out, const struct model_family *f)
{
    const char *name = f->file->name;
    fprintf(out, "\n/* %s */\n", name);
    emit_refs(out, "events", name, f->events, f->n_events);
    emit_refs(out, "natives", name, f->natives, f->n_natives);
    emit_refs(out, "presets", name, f->presets, f->n_presets);
    fputs("const struct arch_table arch_table_", out);
    emit_name(out, name);
    fputs(" = {\n", out);
    emit_member(out, "events", name, f->n_events);
    emit_member(out, "natives", name, f->n_natives);
    emit_member(out, "presets", name, f->n_presets);
    fputs("};\n", out);
}

void emit_source(FILE *out, const struct model *m)
{
    fputs("/* Made from data/events by the build; do not edit. */\n#include \"arch/event_tables.h\"\n", out);
    emit_rows(out, m, MODEL_EVENTS, "const struct arch_event arch_table_events");
    emit_rows(out, m, MODEL_NATIVE, "const struct arch_native arch_table_natives");
    emit_rows(out, m, MODEL_PRESETS, "const struct arch_preset arch_table_presets");
    for (size_t i = 0; i < m->n_families; i++)
        if (!m->families[i].set)
            emit_table(out, &m->families[i]);
}

void emit_header(FILE *out, const struct model *m)
{
    fputs("/* Made from data/events by the build; do not edit. */\n#ifndef UPMU_ARCH_EVENT_TABLES_H\n"
          "#define UPMU_ARCH_EVENT_TABLES_H\n\n#include \"core/arch_ops.h\"\n\n"
          "/* All rows; a table has the numbers of its own. */\n"
          "extern const struct arch_event arch_table_events[];\n"
          "extern const struct arch_native arch_table_natives[];\n"
          "extern const struct arch_preset arch_table_presets[];\n\n",
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

/* SPDX-License-Identifier: MIT */
/* Durations, locations, call stacks, names and metric values as text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "ui/shorten.h"
#include "report.h"

const char *report_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

size_t report_damages(const struct upmu_overview *overview)
{
    const char *damage;
    size_t n = 0;
    for (; (damage = upmu_overview_damage_message(overview, n)) != NULL; n++)
        complain("damaged: %s", damage);
    return n;
}

void report_title(struct output *out, const char *text)
{
    fprintf(out->file, "\n%s%s%s\n", output_style(out, STYLE_TITLE), text, output_plain(out));
}

void report_more(struct output *out, size_t all, size_t shown)
{
    if (all > shown)
        fprintf(out->file, "  ... and %zu more (--top N shows N of each)\n", all - shown);
}

char *report_thread_text(const struct report *r, uint32_t process, pid_t tid)
{
    const char *name = upmu_overview_thread_name(r->overview, process, tid);
    return name[0] ? memory_format("thread %ld (%s)", (long)tid, name) : memory_format("thread %ld", (long)tid);
}

char *report_program(const struct report *r, uint32_t process)
{
    struct upmu_trace_process p = {.size = sizeof p};
    if (upmu_overview_process_at(r->overview, process, &p) != 0)
        return memory_copy("");
    char *path = memory_format("%.*s", (int)strcspn(p.command, " "), p.command);
    char *program = memory_copy(report_base_name(path));
    free(path);
    return program;
}

char *report_process_text(const struct report *r, uint32_t process)
{
    struct upmu_trace_process p = {.size = sizeof p};
    char *program = report_program(r, process);
    long pid = upmu_overview_process_at(r->overview, process, &p) == 0 ? (long)p.pid : 0;
    char *text = program[0] ? memory_format("%ld (%s)", pid, program) : memory_format("%ld", pid);
    free(program);
    return text;
}

void report_text_process(struct output *out, const struct report *r, const char *before, uint32_t process,
                         const char *after)
{
    char *text = report_process_text(r, process);
    fputs(before, out->file);
    output_clean(out->file, text);
    fputs(after, out->file);
    free(text);
}

char *report_duration(uint64_t ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double n = (double)ns / units[i].ns;
        if (n >= 1)
            return memory_format("%.*f %s", n >= 1000 ? 0 : n >= 100 ? 1 : n >= 10 ? 2 : 3, n, units[i].unit);
    }
    return memory_format("%" PRIu64 " ns", ns);
}

const char *report_type_name(int type)
{
    switch (type) {
    case UPMU_OBJECT_MUTEX:
        return "mutex";
    case UPMU_OBJECT_COND:
        return "condition variable";
    case UPMU_OBJECT_SEM:
        return "semaphore";
    case UPMU_OBJECT_CUSTOM:
        return "custom lock";
    case UPMU_OBJECT_THREAD:
        return "thread";
    case UPMU_OBJECT_RWLOCK:
        return "rwlock";
    case UPMU_OBJECT_SPIN:
        return "spin lock";
    case UPMU_OBJECT_BARRIER:
        return "barrier";
    case UPMU_OBJECT_ONCE:
        return "once";
    case UPMU_OBJECT_FUTEX:
        return "futex";
    case UPMU_OBJECT_CALL:
        return "call";
    case UPMU_OBJECT_QMUTEX:
    case UPMU_OBJECT_QRWLOCK:
    case UPMU_OBJECT_ABSL_MUTEX:
        return upmu_object_type_name(type);
    default:
        return "unknown";
    }
}

const char *report_identity_name(int identity)
{
    static const char *const names[] = {"name", "variable", "created", "first use", "address"};
    return identity >= 0 && (size_t)identity < sizeof names / sizeof *names ? names[identity] : "address";
}

char *report_object_name(const struct report *r, const struct upmu_overview_object *object)
{
    char generation[32] = "";
    if (object->name[0])
        return memory_copy(object->name);
    if (object->type == UPMU_OBJECT_THREAD && object->peer != 0)
        return report_thread_text(r, object->process, object->peer);
    if (object->generation > 0)
        snprintf(generation, sizeof generation, " #%" PRIu32, object->generation + 1);
    return memory_format("0x%" PRIx64 "%s", object->address, generation);
}

char *report_symbol_text(const struct upmu_symbol *s, uint64_t address)
{
    if (s->function && s->file)
        return memory_format("%s %s:%" PRIu32, s->function, report_base_name(s->file), s->line);
    if (s->function)
        return memory_format("%s (%s)", s->function, report_base_name(s->module));
    if (s->module)
        return memory_format("%s+0x%" PRIx64, report_base_name(s->module), s->offset);
    return memory_format("0x%" PRIx64, address);
}

char *report_line(const struct report *r, uint32_t process, uint64_t address, uint32_t stack)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (address == 0 || upmu_overview_line_at(r->overview, process, address, stack, &s) != 0)
        return memory_copy("an unknown place");
    return report_symbol_text(&s, address);
}

char *report_location(const struct report *r, uint32_t process, uint64_t address)
{
    return report_line(r, process, address, 0);
}

char *report_value(const char *counter, const struct upmu_value *value)
{
    struct upmu_event_info info = {.size = sizeof info};
    if (value->status != UPMU_EXACT && value->status != UPMU_SCALED)
        return memory_copy(upmu_status_name(value->status));
    const char *mark = value->status == UPMU_SCALED ? "~" : "";
    bool time = counter && upmu_event_find(counter, &info) == 0 && strcmp(info.unit, "ns") == 0;
    if (!time)
        return memory_format("%s%" PRIu64, mark, value->value);
    char *duration = report_duration(value->value);
    char *text = memory_format("%s%s", mark, duration);
    free(duration);
    return text;
}

/* The first counters of a region of process `process`, at most `max`: names and sums, fit for upmu_metric_eval().
 * @return how many. */
static size_t report_counts(const struct report *r, const struct upmu_overview_region *region, const char **names,
                            struct upmu_value *values, size_t max)
{
    size_t n = 0;
    for (; n < region->n_counts && n < max; n++) {
        names[n] = upmu_overview_counter_name(r->overview, region->process, n);
        if (!names[n])
            break;
        values[n] = region->counts[n].sum;
    }
    return n;
}

enum { REPORT_COUNTS_MAX = 64 };

void report_metrics(const struct report *r, const struct upmu_overview_region *region, report_metric_fn report,
                    void *arg)
{
    const char *names[REPORT_COUNTS_MAX];
    struct upmu_value values[REPORT_COUNTS_MAX];
    struct upmu_metric_info info = {.size = sizeof info};
    struct upmu_metric_value value;
    char last[64] = "";
    size_t n = report_counts(r, region, names, values, REPORT_COUNTS_MAX);

    for (size_t i = 0; upmu_metric_at(i, &info) == 0; i++) {
        /* Variants of one metric are adjacent; the first with a value is reported. */
        if (strcmp(last, info.name) == 0 ||
            upmu_metric_eval(info.name, names, values, n, (double)region->wall_ns / 1e9, &value) != 0)
            continue;
        snprintf(last, sizeof last, "%s", info.name);
        if (isfinite(value.value))
            report(arg, &info, &value);
    }
}

void report_text_stack(struct output *out, const struct report *r, uint32_t process, uint32_t id, const char *what)
{
    struct upmu_symbol s = {.size = sizeof s};
    for (size_t i = 0; upmu_overview_frame_at(r->overview, process, id, i, &s) == 0; i++) {
        const char *label = upmu_frame_label(&s);
        if (i == 0)
            fprintf(out->file, "      %s\n", what);
        char *where = s.file ? memory_format(" %s:%" PRIu32, report_base_name(s.file), s.line) : memory_copy("");
        fputs("        ", out->file);
        if (s.kind >= UPMU_FRAME_TRUNCATED) { /* no function */
            fprintf(out->file, "(%s)\n", label);
            free(where);
            continue;
        }
        if (s.function)
            output_name(out, s.function, strlen("         ()") + text_width(where) + strlen(label));
        else
            fprintf(out->file, "%s+0x%" PRIx64, s.module ? report_base_name(s.module) : "", s.offset);
        output_clean(out->file, where);
        free(where);
        fprintf(out->file, label[0] ? " (%s)\n" : "%s\n", label);
    }
}

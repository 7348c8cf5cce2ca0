/* SPDX-License-Identifier: MIT */
/* Names of threads, objects, spans and source locations. */
#include "export/calls.h"
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/identity.h"
#include "base/error.h"

const struct ov_thread *export_thread(const struct export_job *job, uint32_t thread)
{
    static const struct ov_thread unknown;
    const struct overview *o = &job->facts->pass;
    return thread < o->n_threads ? &o->threads[thread] : &unknown;
}

/* Stores a name in `*slot` at its first use. Without memory it is "?". */
static const char *names_keep(char **slot, const char *text)
{
    if (!*slot)
        *slot = strdup(text);
    return *slot ? *slot : "?";
}

/* Number of processes with the same id that lived at the same time and began before. */
static int names_process_number(const struct export_job *job, uint32_t process)
{
    return process < job->facts->pass.n_processes ? job->process_numbers[process] : 0;
}

pid_t export_pid(const struct export_job *job, uint32_t process)
{
    struct upmu_trace_process p = {.size = sizeof p};
    if (upmu_overview_process_at(job->facts, process, &p) != 0)
        return 0;
    return p.pid + EXPORT_PIDS * names_process_number(job, process);
}

const char *export_process_name(const struct export_job *job, uint32_t process, const char *command,
                                struct textbuf *text)
{
    int number = names_process_number(job, process);
    if (number == 0)
        return command;
    text->len = 0;
    textbuf_printf(text, "%s (#%d of pid %ld)", command, number + 1, (long)(export_pid(job, process) % EXPORT_PIDS));
    return text->failed ? command : text->data;
}

const char *export_thread_name(const struct export_job *job, uint32_t thread)
{
    const struct ov_thread *t = export_thread(job, thread);
    char text[240];
    if (thread >= job->facts->pass.n_threads)
        return "?";
    if (job->thread_names[thread])
        return job->thread_names[thread];
    const char *name = identity_thread(job->facts, thread);
    int n = snprintf(text, sizeof text, "%.180s %ld", name[0] ? name : "thread", (long)t->tid);
    if (names_process_number(job, t->process) > 0)
        snprintf(text + n, sizeof text - (size_t)n, " (#%d of pid %ld)", names_process_number(job, t->process) + 1,
                 (long)t->pid);
    return names_keep(&job->thread_names[thread], text);
}

static void export_object_label(const struct upmu_overview *o, uint32_t object, char *text, size_t size)
{
    const struct ov_object *x = &o->pass.objects[object];
    const char *type = x->type == UPMU_OBJECT_NONE ? "object" : upmu_object_type_name(x->type);
    const char *name = identity_object(o, object).name;
    if (x->type == UPMU_OBJECT_CALL) /* named by the kind of the call */
        snprintf(text, size, "%s", name);
    else if (name[0])
        snprintf(text, size, "%s %s", type, name);
    else if (x->peer > 0)
        snprintf(text, size, "%s %ld", type, (long)x->peer);
    else
        snprintf(text, size, "%s 0x%llx", type, (unsigned long long)x->address);
}

static const char wait_for[] = "wait for ";

/* "wait for mutex the till". */
static const char *export_wait_name(const struct export_job *job, uint32_t object)
{
    const struct overview *o = &job->facts->pass;
    char text[360];
    if (object >= o->n_objects)
        return "?";
    if (job->wait_names[object])
        return job->wait_names[object];
    memcpy(text, wait_for, sizeof wait_for);
    export_object_label(job->facts, object, text + sizeof wait_for - 1, sizeof text - sizeof wait_for);
    return names_keep(&job->wait_names[object], text);
}

const char *export_object_name(const struct export_job *job, uint32_t object)
{
    const char *name = export_wait_name(job, object);
    return name[0] == '?' ? name : name + sizeof wait_for - 1;
}

const char *export_span_category(const struct span *span)
{
    static const char *const names[] = {
        [SPAN_REGION] = "region", [SPAN_WAIT] = "wait", [SPAN_FUNCTION] = "function", [SPAN_MPI] = "mpi"};
    return names[span->kind];
}

const char *export_span_name(const struct export_job *job, const struct span *span)
{
    const struct overview *o = &job->facts->pass;
    if (span->kind == SPAN_WAIT)
        return export_wait_name(job, span->what);
    if (span->kind == SPAN_FUNCTION)
        return calls_name(job, span->what);
    if (span->kind == SPAN_MPI)
        return upmu_trace_mpi_call_name(span->what);
    return span->what < o->n_regions ? o->regions[span->what].name : "?";
}

/* The lowest number that no earlier process with the same id has that was still running when this one began. Those that
 * exec() or a later process with a reused id replaced share their number. */
static uint8_t names_number(const struct export_job *job, uint32_t process, const uint32_t *before)
{
    enum { NUMBERS = 200 }; /* ids with the highest fit into 31 bits; what exceeds it shares the highest number */
    const struct ov_process *all = job->facts->pass.processes;
    bool used[NUMBERS] = {false};
    uint8_t number = 0;
    for (uint32_t i = before[process]; i != MAP_NONE; i = before[i])
        if (all[i].last_ns > all[process].start_ns && all[process].last_ns > all[i].start_ns)
            used[job->process_numbers[i]] = true;
    while (number + 1 < NUMBERS && used[number])
        number++;
    return number;
}

static bool names_number_processes(struct export_job *job)
{
    struct upmu_trace_process p = {.size = sizeof p};
    uint32_t *before = calloc(job->facts->pass.n_processes + 1, sizeof *before); /* the one before with the same id */
    struct map last = {0};
    bool ok = before && job->process_numbers;
    for (uint32_t i = 0; ok && i < job->facts->pass.n_processes; i++) {
        if (upmu_overview_process_at(job->facts, i, &p) != 0)
            break;
        before[i] = map_find(&last, (uint64_t)p.pid, 0);
        job->process_numbers[i] = names_number(job, i, before);
        ok = map_put(&last, (uint64_t)p.pid, 0, i);
    }
    map_free(&last);
    free(before);
    return ok;
}

int export_names_start(struct export_job *job)
{
    job->thread_names = calloc(job->facts->pass.n_threads + 1, sizeof(char *));
    job->wait_names = calloc(job->facts->pass.n_objects + 1, sizeof(char *));
    job->process_numbers = calloc(job->facts->pass.n_processes + 1, sizeof *job->process_numbers);
    return job->thread_names && job->wait_names && names_number_processes(job) ? 0 : export_no_memory();
}

void export_names_free(struct export_job *job)
{
    for (size_t i = 0; job->thread_names && i < job->facts->pass.n_threads; i++)
        free(job->thread_names[i]);
    for (size_t i = 0; job->wait_names && i < job->facts->pass.n_objects; i++)
        free(job->wait_names[i]);
    free(job->thread_names);
    free(job->wait_names);
    free(job->process_numbers);
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Longest text of a frame. */
enum { SYMBOL_TEXT_MAX = 760 };

uint32_t export_frame(struct export_job *job, const struct upmu_symbol *s)
{
    char offset[320];
    snprintf(offset, sizeof offset, "%.250s+0x%llx", s->module ? base_name(s->module) : "",
             (unsigned long long)s->offset);
    return tree_label(&job->tree, s->function ? s->function : offset, s->file, s->module, s->line);
}

uint32_t export_frame_labeled(struct export_job *job, const struct upmu_symbol *s)
{
    const char *label = upmu_frame_label(s);
    uint32_t plain = s->kind >= UPMU_FRAME_TRUNCATED ? MAP_NONE : export_frame(job, s);
    struct textbuf text = {0};
    if (label[0] == '\0')
        return plain;
    if (s->kind >= UPMU_FRAME_TRUNCATED)
        textbuf_printf(&text, "[%s]", label);
    else if (plain != MAP_NONE)
        textbuf_printf(&text, "%s (%s)", job->tree.labels[plain].name, label);
    uint32_t labeled =
        text.failed || !text.data ? MAP_NONE : tree_label(&job->tree, text.data, s->file, s->module, s->line);
    textbuf_free(&text);
    return labeled;
}

/* "function file.c:12 (signal frame)" */
static void symbol_text(const struct upmu_symbol *s, char *text, size_t size)
{
    const char *label = upmu_frame_label(s);
    int n = 0;
    if (s->kind >= UPMU_FRAME_TRUNCATED) {
        snprintf(text, size, "[%s]", label);
        return;
    }
    if (s->function && s->file)
        n = snprintf(text, size, "%.400s %.200s:%u", s->function, base_name(s->file), (unsigned)s->line);
    else if (s->function)
        n = snprintf(text, size, "%.600s", s->function);
    else
        n = snprintf(text, size, "%.400s+0x%llx", s->module ? base_name(s->module) : "", (unsigned long long)s->offset);
    if (label[0])
        snprintf(text + n, size - (size_t)n, " (%s)", label);
}

const char *export_site_label(struct export_job *job, uint32_t process, uint64_t address)
{
    struct upmu_symbol s = {.size = sizeof s};
    char text[SYMBOL_TEXT_MAX];
    uint32_t label = map_find(&job->by_site, process, address);
    if (label != MAP_NONE)
        return job->tree.labels[label].name;
    if (address == 0 || upmu_overview_line_at(job->facts, process, address, 0, &s) != 0)
        return "";
    symbol_text(&s, text, sizeof text);
    label = tree_label(&job->tree, text, NULL, NULL, 0);
    if (label == MAP_NONE || !map_put(&job->by_site, process, address, label))
        return "";
    return job->tree.labels[label].name;
}

const char *export_stack_text(struct export_job *job, uint32_t process, uint32_t stack)
{
    struct upmu_symbol s = {.size = sizeof s};
    struct textbuf all = {0};
    char text[SYMBOL_TEXT_MAX];
    if (stack == 0)
        return "";
    uint32_t label = map_find(&job->by_stack_text, process, stack);
    if (label != MAP_NONE)
        return job->tree.labels[label].name;
    for (size_t i = 0; upmu_overview_frame_at(job->facts, process, stack, i, &s) == 0; i++) {
        symbol_text(&s, text, sizeof text);
        textbuf_printf(&all, "%s%s", i > 0 ? "\n" : "", text);
    }
    label = all.failed ? MAP_NONE : tree_label(&job->tree, all.data ? all.data : "", NULL, NULL, 0);
    textbuf_free(&all);
    if (label == MAP_NONE || !map_put(&job->by_stack_text, process, stack, label))
        return "";
    return job->tree.labels[label].name;
}

const char *export_unfinished(const struct export_job *job)
{
    return job->window.to_ns == UINT64_MAX ? "ended with the recording" : "had not ended by the end of the time window";
}

bool export_has_number(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

/* SPDX-License-Identifier: MIT */
/*
 * Writer of the Firefox Profiler's processed profile, version 60, whose tables are columns. Newer viewers upgrade it.
 *
 * Commas are written here: the buffer may have been flushed before an element.
 */
#include "export/firefox/firefox.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"

/** One row of a column. */
typedef void firefox_cell(struct export_job *job, const void *rows, size_t row);

/* A column of `n` rows; `from` is passed to `cell`. */
static int firefox_column(struct export_job *job, const char *name, const void *from, size_t n, firefox_cell *cell)
{
    int rc = 0;
    textbuf_printf(&job->out, "\"%s\":[", name);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (i > 0)
            export_text(&job->out, ",");
        cell(job, from, i);
        rc = export_flush(job);
    }
    export_text(&job->out, "],");
    return rc;
}

static void firefox_length(struct export_job *job, size_t n)
{
    export_text(&job->out, "\"length\":");
    textbuf_uint(&job->out, n);
}

static void firefox_null(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    (void)row;
    export_text(&job->out, "null");
}

static void firefox_zero(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    (void)row;
    export_text(&job->out, "0");
}

static void firefox_minus(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    (void)row;
    export_text(&job->out, "-1");
}

static void firefox_false(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    (void)row;
    export_text(&job->out, "false");
}

static void firefox_row(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    textbuf_uint(&job->out, row);
}

static void firefox_number(struct export_job *job, const void *rows, size_t row)
{
    textbuf_uint(&job->out, ((const uint32_t *)rows)[row]);
}

/* Milliseconds with nanoseconds. */
static void firefox_ms(struct textbuf *b, uint64_t ns)
{
    textbuf_printf(b, "%llu.%06llu", (unsigned long long)(ns / 1000000), (unsigned long long)(ns % 1000000));
}

static uint64_t firefox_since_zero(const struct export_job *job, uint64_t ns)
{
    return ns > job->firefox->zero_ns ? ns - job->firefox->zero_ns : 0;
}

/* ------------------------------------------------------------------------------------------------- shared tables */

static uint32_t firefox_lib(struct firefox *f, const char *module)
{
    for (size_t i = 0; i < f->n_libs; i++)
        if (strcmp(f->libs[i], module) == 0)
            return (uint32_t)i;
    const char **all = array_reserve(f->libs, f->n_libs, &f->cap_libs, sizeof *all);
    if (!all)
        return MAP_NONE;
    f->libs = all;
    all[f->n_libs] = module;
    return (uint32_t)f->n_libs++;
}

static uint32_t firefox_source(struct firefox *f, const char *file)
{
    uint32_t string = firefox_string(f, file), found = map_find(&f->by_source, string, 0);
    if (found != MAP_NONE || string == MAP_NONE)
        return found;
    uint32_t *all = array_reserve(f->sources, f->n_sources, &f->cap_sources, sizeof *all);
    if (!all)
        return MAP_NONE;
    f->sources = all;
    all[f->n_sources] = string;
    return map_put(&f->by_source, string, 0, (uint32_t)f->n_sources) ? (uint32_t)f->n_sources++ : MAP_NONE;
}

static const char *firefox_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Numbers of functions, strings, files and modules of each label. */
static int firefox_number_labels(struct export_job *job)
{
    struct firefox *f = job->firefox;
    const struct tree *t = &job->tree;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_labels; i++) {
        const struct tree_label *l = &t->labels[i];
        uint32_t lib = l->module ? firefox_lib(f, l->module) : 0, source = l->file ? firefox_source(f, l->file) : 0;
        f->names[i] = firefox_string(f, l->name);
        f->files[i] = l->file ? source + 1 : 0;
        f->modules[i] = l->module ? lib + 1 : 0;
        f->functions[i] = l->function_label == i ? n++ : 0;
        if (lib == MAP_NONE || f->names[i] == MAP_NONE || source == MAP_NONE)
            return export_no_memory();
    }
    for (uint32_t i = 0; i < t->n_labels; i++)
        f->functions[i] = f->functions[t->labels[i].function_label];
    for (size_t i = 0; i < f->n_libs; i++)
        if (firefox_string(f, firefox_base(f->libs[i])) == MAP_NONE)
            return export_no_memory();
    return 0;
}

/* Stacks are the nodes of the tree below threads, in its order: parents come first. */
static uint32_t firefox_number_stacks(struct export_job *job)
{
    struct firefox *f = job->firefox;
    const struct tree *t = &job->tree;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_nodes; i++)
        f->stacks[i] = i == 0 || t->labels[t->nodes[i].label].kind == TREE_THREAD ? MAP_NONE : n++;
    return n;
}

static int firefox_number_all(struct export_job *job)
{
    struct firefox *f = job->firefox;
    size_t labels = job->tree.n_labels + 1;
    f->stacks = calloc(job->tree.n_nodes + 1, sizeof *f->stacks);
    f->functions = calloc(labels, sizeof *f->functions);
    f->names = calloc(labels, sizeof *f->names);
    f->files = calloc(labels, sizeof *f->files);
    f->modules = calloc(labels, sizeof *f->modules);
    if (!f->stacks || !f->functions || !f->names || !f->files || !f->modules)
        return export_no_memory();
    return firefox_number_labels(job);
}

static void firefox_stack_frame(struct export_job *job, const void *rows, size_t row)
{
    textbuf_uint(&job->out, job->tree.nodes[((const uint32_t *)rows)[row]].label);
}

static void firefox_stack_prefix(struct export_job *job, const void *rows, size_t row)
{
    uint32_t parent = job->tree.nodes[((const uint32_t *)rows)[row]].parent;
    if (job->firefox->stacks[parent] == MAP_NONE)
        export_text(&job->out, "null");
    else
        textbuf_uint(&job->out, job->firefox->stacks[parent]);
}

static int firefox_stacks(struct export_job *job)
{
    size_t n = firefox_number_stacks(job);
    uint32_t *nodes = calloc(n + 1, sizeof *nodes);
    if (!nodes)
        return export_no_memory();
    for (uint32_t i = 0; i < job->tree.n_nodes; i++)
        if (job->firefox->stacks[i] != MAP_NONE)
            nodes[job->firefox->stacks[i]] = i;
    export_text(&job->out, "\"stackTable\":{");
    int rc = firefox_column(job, "frame", nodes, n, firefox_stack_frame);
    if (rc == 0)
        rc = firefox_column(job, "prefix", nodes, n, firefox_stack_prefix);
    firefox_length(job, n);
    export_text(&job->out, "},\n");
    free(nodes);
    return rc;
}

static void firefox_frame_category(struct export_job *job, const void *rows, size_t row)
{
    static const uint8_t categories[] = {[TREE_FUNCTION] = FIREFOX_CODE,
                                         [TREE_THREAD] = FIREFOX_OTHER,
                                         [TREE_WAIT] = FIREFOX_WAIT,
                                         [TREE_REGION] = FIREFOX_REGION};
    (void)rows;
    textbuf_uint(&job->out, categories[job->tree.labels[row].kind]);
}

static void firefox_frame_line(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    if (job->tree.labels[row].line)
        textbuf_uint(&job->out, job->tree.labels[row].line);
    else
        export_text(&job->out, "null");
}

/* A frame for each label, with the line of its call. */
static int firefox_frames(struct export_job *job)
{
    static const struct {
        const char *name;
        firefox_cell *cell;
    } columns[] = {{"address", firefox_minus},    {"inlineDepth", firefox_zero},  {"category", firefox_frame_category},
                   {"subcategory", firefox_zero}, {"nativeSymbol", firefox_null}, {"innerWindowID", firefox_zero},
                   {"line", firefox_frame_line},  {"column", firefox_null}};
    size_t n = job->tree.n_labels;
    export_text(&job->out, "\"frameTable\":{");
    int rc = firefox_column(job, "func", job->firefox->functions, n, firefox_number);
    for (size_t i = 0; rc == 0 && i < sizeof columns / sizeof *columns; i++)
        rc = firefox_column(job, columns[i].name, NULL, n, columns[i].cell);
    firefox_length(job, n);
    export_text(&job->out, "},\n");
    return rc;
}

static void firefox_function_name(struct export_job *job, const void *rows, size_t row)
{
    textbuf_uint(&job->out, job->firefox->names[((const uint32_t *)rows)[row]]);
}

static void firefox_function_module(struct export_job *job, const void *rows, size_t row)
{
    uint32_t module = job->firefox->modules[((const uint32_t *)rows)[row]];
    textbuf_printf(&job->out, "%ld", (long)module - 1);
}

static void firefox_function_source(struct export_job *job, const void *rows, size_t row)
{
    uint32_t file = job->firefox->files[((const uint32_t *)rows)[row]];
    if (file)
        textbuf_uint(&job->out, file - 1);
    else
        export_text(&job->out, "null");
}

static int firefox_functions(struct export_job *job)
{
    const struct tree *t = &job->tree;
    uint32_t *labels = calloc(t->n_labels + 1, sizeof *labels);
    size_t n = 0;
    if (!labels)
        return export_no_memory();
    for (uint32_t i = 0; i < t->n_labels; i++)
        if (t->labels[i].function_label == i)
            labels[n++] = i;
    export_text(&job->out, "\"funcTable\":{");
    const struct {
        const char *name;
        firefox_cell *cell;
    } columns[] = {{"name", firefox_function_name},     {"isJS", firefox_false},
                   {"relevantForJS", firefox_false},    {"resource", firefox_function_module},
                   {"source", firefox_function_source}, {"lineNumber", firefox_null},
                   {"columnNumber", firefox_null}};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof columns / sizeof *columns; i++)
        rc = firefox_column(job, columns[i].name, labels, n, columns[i].cell);
    firefox_length(job, n);
    export_text(&job->out, "},\n");
    free(labels);
    return rc;
}

static void firefox_lib_name(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    textbuf_uint(&job->out, firefox_string(job->firefox, firefox_base(job->firefox->libs[row])));
}

static void firefox_one(struct export_job *job, const void *rows, size_t row)
{
    (void)rows;
    (void)row;
    export_text(&job->out, "1");
}

static void firefox_string_text(struct export_job *job, const void *rows, size_t row)
{
    textbuf_json(&job->out, ((char *const *)rows)[row]);
}

/* Modules as resources of type 1 (library), and files. */
static int firefox_rest(struct export_job *job)
{
    struct firefox *f = job->firefox;
    export_text(&job->out, "\"resourceTable\":{");
    int rc = firefox_column(job, "lib", NULL, f->n_libs, firefox_row);
    if (rc == 0)
        rc = firefox_column(job, "name", NULL, f->n_libs, firefox_lib_name);
    if (rc == 0)
        rc = firefox_column(job, "host", NULL, f->n_libs, firefox_null);
    if (rc == 0)
        rc = firefox_column(job, "type", NULL, f->n_libs, firefox_one);
    firefox_length(job, f->n_libs);
    export_text(&job->out,
                "},\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n"
                "\"sources\":{");
    if (rc == 0)
        rc = firefox_column(job, "uuid", NULL, f->n_sources, firefox_null);
    if (rc == 0)
        rc = firefox_column(job, "filename", f->sources, f->n_sources, firefox_number);
    firefox_length(job, f->n_sources);
    export_text(&job->out, "}},\n");
    return rc;
}

static int firefox_shared(struct export_job *job)
{
    export_text(&job->out, "\"shared\":{");
    int rc = firefox_column(job, "stringArray", job->firefox->strings, job->firefox->n_strings, firefox_string_text);
    if (rc == 0)
        rc = firefox_stacks(job);
    if (rc == 0)
        rc = firefox_frames(job);
    if (rc == 0)
        rc = firefox_functions(job);
    if (rc == 0)
        rc = firefox_rest(job);
    return rc;
}

/* ------------------------------------------------------------------------------------------------------- threads */

static void firefox_sample_stack(struct export_job *job, const void *rows, size_t row)
{
    uint32_t stack = job->firefox->stacks[((const struct firefox_sample *)rows)[row].node];
    if (stack == MAP_NONE)
        export_text(&job->out, "null");
    else
        textbuf_uint(&job->out, stack);
}

static void firefox_sample_time(struct export_job *job, const void *rows, size_t row)
{
    firefox_ms(&job->out, firefox_since_zero(job, ((const struct firefox_sample *)rows)[row].time_ns));
}

static void firefox_sample_ms(struct export_job *job, const void *rows, size_t row)
{
    firefox_ms(&job->out, ((const struct firefox_sample *)rows)[row].n);
}

static void firefox_sample_count(struct export_job *job, const void *rows, size_t row)
{
    textbuf_uint(&job->out, ((const struct firefox_sample *)rows)[row].n);
}

static bool firefox_is_time(const struct export_job *job)
{
    return !job->samples || job->samples_are_time;
}

static int firefox_samples(struct export_job *job, const struct firefox_thread *t)
{
    bool time = firefox_is_time(job);
    export_text(&job->out, "\"samples\":{");
    int rc = firefox_column(job, "stack", t->samples, t->n_samples, firefox_sample_stack);
    if (rc == 0)
        rc = firefox_column(job, "time", t->samples, t->n_samples, firefox_sample_time);
    if (rc == 0)
        rc = firefox_column(job, "weight", t->samples, t->n_samples, time ? firefox_sample_ms : firefox_sample_count);
    textbuf_printf(&job->out, "\"weightType\":\"%s\",", time ? "tracing-ms" : "samples");
    firefox_length(job, t->n_samples);
    export_text(&job->out, "},\n");
    return rc;
}

static void firefox_marker_name(struct export_job *job, const void *rows, size_t row)
{
    textbuf_uint(&job->out, ((const struct firefox_marker *)rows)[row].name);
}

static void firefox_marker_begin(struct export_job *job, const void *rows, size_t row)
{
    firefox_ms(&job->out, firefox_since_zero(job, ((const struct firefox_marker *)rows)[row].begin_ns));
}

static void firefox_marker_end(struct export_job *job, const void *rows, size_t row)
{
    const struct firefox_marker *m = &((const struct firefox_marker *)rows)[row];
    if (m->instant)
        export_text(&job->out, "null");
    else
        firefox_ms(&job->out, firefox_since_zero(job, m->end_ns));
}

/* 0: at one time, 1: from begin to end */
static void firefox_marker_phase(struct export_job *job, const void *rows, size_t row)
{
    textbuf_uint(&job->out, !((const struct firefox_marker *)rows)[row].instant);
}

static void firefox_marker_category(struct export_job *job, const void *rows, size_t row)
{
    textbuf_uint(&job->out, ((const struct firefox_marker *)rows)[row].category);
}

static void firefox_marker_data(struct export_job *job, const void *rows, size_t row)
{
    static const char *const types[] = {[FIREFOX_OTHER] = "mark", [FIREFOX_WAIT] = "wait", [FIREFOX_REGION] = "region"};
    const struct firefox_marker *m = &((const struct firefox_marker *)rows)[row];
    const struct {
        const char *key;
        uint32_t string;
    } texts[] = {{"at", m->at}, {"holder", m->holder}, {"acquired", m->acquired_at}, {"counters", m->counters}};
    textbuf_printf(&job->out, "{\"type\":\"%s\"", types[m->category]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].string)
            json_string(&job->out, texts[i].key, job->firefox->strings[texts[i].string]);
    if (m->unfinished)
        json_string(&job->out, "unfinished", export_unfinished(job));
    export_text(&job->out, "}");
}

static int firefox_markers(struct export_job *job, const struct firefox_thread *t)
{
    static const struct {
        const char *name;
        firefox_cell *cell;
    } columns[] = {{"name", firefox_marker_name},         {"startTime", firefox_marker_begin},
                   {"endTime", firefox_marker_end},       {"phase", firefox_marker_phase},
                   {"category", firefox_marker_category}, {"data", firefox_marker_data}};
    int rc = 0;
    export_text(&job->out, "\"markers\":{");
    for (size_t i = 0; rc == 0 && i < sizeof columns / sizeof *columns; i++)
        rc = firefox_column(job, columns[i].name, t->markers, t->n_markers, columns[i].cell);
    firefox_length(job, t->n_markers);
    export_text(&job->out, "}}");
    return rc;
}

static int firefox_compare_samples(const void *a, const void *b)
{
    uint64_t x = ((const struct firefox_sample *)a)->time_ns, y = ((const struct firefox_sample *)b)->time_ns;
    return x < y ? -1 : x > y;
}

static int firefox_compare_markers(const void *a, const void *b)
{
    const struct firefox_marker *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns; /* the outer one first */
}

static const char *firefox_command(const struct export_job *job, pid_t pid)
{
    struct upmu_trace_process p = {.size = sizeof p};
    for (uint32_t i = 0; upmu_overview_process_at(job->facts, i, &p) == 0; i++)
        if (export_pid(job, i) == pid)
            return p.command;
    return "";
}

static int firefox_write_thread(struct export_job *job, const struct firefox_thread *t, bool first)
{
    struct textbuf *b = &job->out;
    export_text(b, first ? "\n{" : ",\n{");
    json_string(b, "name", job->firefox->strings[t->name]);
    json_bool(b, "isMainThread", t->pid % EXPORT_PIDS == t->tid);
    json_string(b, "processType", "default");
    json_string(b, "processName", firefox_command(job, t->pid));
    json_uint(b, "processStartupTime", 0);
    json_null(b, "processShutdownTime");
    json_uint(b, "registerTime", 0);
    json_null(b, "unregisterTime");
    json_array(b, "pausedRanges");
    json_array_end(b);
    json_bool(b, "showMarkersInTimeline", true);
    json_key(b, "pid"); /* a text in the format */
    textbuf_printf(b, "\"%ld\"", (long)t->pid);
    json_uint(b, "tid", (uint64_t)t->tid);
    export_text(b, ",\n");
    int rc = firefox_samples(job, t);
    return rc == 0 ? firefox_markers(job, t) : rc;
}

static int firefox_threads(struct export_job *job)
{
    struct firefox *f = job->firefox;
    bool first = true;
    int rc = 0;
    export_text(&job->out, "\"threads\":[");
    for (size_t i = 0; rc == 0 && i < f->n_threads; i++) {
        const struct firefox_thread *t = &f->threads[i];
        if (t->n_samples == 0 && t->n_markers == 0 && t->pid % EXPORT_PIDS != t->tid)
            continue;
        rc = firefox_write_thread(job, t, first);
        first = false;
    }
    export_text(&job->out, "]}\n");
    return rc;
}

/* ----------------------------------------------------------------------------------------------------- the whole */

static const char firefox_meta[] =
    "\"interval\":1,\"processType\":0,\"product\":\"libupmu\",\"importedFrom\":\"libupmu\",\"stackwalk\":1,\"debug\":"
    "false,"
    "\"version\":31,\"preprocessedProfileVersion\":60,\"symbolicated\":true,\"symbolicationNotSupported\":true,"
    "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
    "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n\"categories\":["
    "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Wait\",\"color\":\"red\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Region\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Code\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}],\n\"markerSchema\":["
    "{\"name\":\"wait\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"tableLabel\":"
    "\"{marker.data.at}\",\"fields\":[{\"key\":\"at\",\"label\":\"At\",\"format\":\"string\"},"
    "{\"key\":\"holder\",\"label\":\"Held by\",\"format\":\"string\"},"
    "{\"key\":\"acquired\",\"label\":\"Acquired at\",\"format\":\"string\"},"
    "{\"key\":\"unfinished\",\"label\":\"Unfinished\",\"format\":\"string\"}]},"
    "{\"name\":\"region\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"isStackBased\":true,"
    "\"tableLabel\":\"{marker.data.counters}\",\"fields\":[{\"key\":\"counters\",\"label\":\"Counters\",\"format\":"
    "\"string\"},"
    "{\"key\":\"unfinished\",\"label\":\"Unfinished\",\"format\":\"string\"}]},"
    "{\"name\":\"mark\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":[]}]},\n";

/* Samples without a trace have no date. */
static void firefox_find_zero(struct export_job *job)
{
    struct firefox *f = job->firefox;
    f->zero_ns = job->facts->pass.begin_ns;
    for (size_t i = 0; i < f->n_threads; i++)
        for (size_t k = 0; k < f->threads[i].n_samples; k++) {
            uint64_t time_ns = f->threads[i].samples[k].time_ns;
            f->zero_ns = f->zero_ns == 0 || time_ns < f->zero_ns ? time_ns : f->zero_ns;
        }
}

static void firefox_start_meta(struct export_job *job)
{
    const struct firefox *f = job->firefox;
    struct textbuf *b = &job->out;
    export_text(b, "{\"meta\":{\"startTime\":");
    firefox_ms(b, job->facts->pass.n_processes > 0 ? f->zero_ns : 0);
    export_text(b, ",");
    export_text(b, firefox_meta);
    export_text(b, "\"libs\":[");
    for (size_t i = 0; i < f->n_libs; i++) {
        export_text(b, i ? ",{" : "{");
        json_string(b, "arch", "");
        json_string(b, "name", firefox_base(f->libs[i]));
        json_string(b, "path", f->libs[i]);
        json_string(b, "debugName", firefox_base(f->libs[i]));
        json_string(b, "debugPath", f->libs[i]);
        json_string(b, "breakpadId", "");
        json_null(b, "codeId");
        json_object_end(b);
    }
    export_text(b, "],\n");
}

int firefox_write(struct export_job *job)
{
    struct firefox *f = job->firefox;
    for (size_t i = 0; i < f->n_threads; i++) {
        struct firefox_thread *t = &f->threads[i];
        if (t->n_samples > 0)
            qsort(t->samples, t->n_samples, sizeof *t->samples, firefox_compare_samples);
        if (t->n_markers > 0)
            qsort(t->markers, t->n_markers, sizeof *t->markers, firefox_compare_markers);
    }
    firefox_find_zero(job);
    int rc = firefox_number_all(job);
    if (rc == 0)
        firefox_start_meta(job);
    if (rc == 0)
        rc = firefox_shared(job);
    return rc == 0 ? firefox_threads(job) : rc;
}

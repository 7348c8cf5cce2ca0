/* SPDX-License-Identifier: MIT */
/* upmu list: events and metrics of this machine, their encoding, and whether they count. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ui/command.h"
#include "ui/csv.h"
#include "list.h"
#include "ui/memory.h"
#include "metrics.h"
#include "ui/options.h"
#include "ui/reason.h"
#include "ui/table.h"

enum { LIST_JSON = 1, LIST_CSV, LIST_NO_PROBE, LIST_METRICS, LIST_CPU, LIST_CPUS, LIST_NATIVE, LIST_METRICS_FILE };

struct list_request {
    const struct command *self;
    const char *pattern;
    bool as_json;
    bool as_csv;
    bool no_probe;
    bool only_metrics;
    bool natives;
    bool cpus;
    const char *cpu;            /* the CPU whose table is asked for; NULL: this machine */
    const char *metrics_file;   /* NULL: that of UPMU_METRICS */
    struct trial_store *trials; /* NULL with --no-probe */
};

static int list_option(void *arg, int id, const char *value)
{
    struct list_request *r = arg;
    r->as_json |= id == LIST_JSON;
    r->as_csv |= id == LIST_CSV;
    r->no_probe |= id == LIST_NO_PROBE;
    r->only_metrics |= id == LIST_METRICS;
    r->natives |= id == LIST_NATIVE;
    r->cpus |= id == LIST_CPUS;
    if (id == LIST_CPU)
        r->cpu = value;
    if (id == LIST_METRICS_FILE)
        r->metrics_file = value;
    if (id != OPTION_OPERAND)
        return 0;
    if (r->pattern)
        return options_usage(r->self, "one pattern at a time");
    r->pattern = value;
    return 0;
}

const char *list_match(int match)
{
    switch (match) {
    case UPMU_MATCH_EXACT:
        return "exact";
    case UPMU_MATCH_APPROXIMATE:
        return "approximate";
    case UPMU_MATCH_ABSENT:
        return "absent";
    default:
        return "?";
    }
}

const char *list_state(const struct trial *trial)
{
    if (!trial->made)
        return NULL;
    if (trial->code != 0)
        return "refused";
    return trial->seen > 0 || !trial->event ? "verified" : "not seen";
}

/* "" if not tried, "verified", "opens, not seen counting", "no" if the machine has no such event, else the reason in
 *  short. */
static const char *list_here(const struct trial *trial)
{
    if (!trial->made)
        return "";
    if (trial->code == 0)
        return trial->seen > 0 || !trial->event ? "verified" : "opens, not seen counting";
    return trial->code == UPMU_E_UNSUPPORTED ? "no" : upmu_strerror(trial->code);
}

/* ------------------------------------------------------------------------------------------- finding out */

static bool list_matches(const char *pattern, const char *name)
{
    if (!pattern)
        return true;
    if (!name)
        return false;
    if (strpbrk(pattern, "*?["))
        return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
    return strcasestr(name, pattern) != NULL;
}

static void list_add_event(struct list *list, const struct upmu_event_info *info, struct trial_store *trials)
{
    list->events = memory_resize(list->events, list->n_events + 1, sizeof *list->events);
    struct list_event *e = &list->events[list->n_events++];
    *e = (struct list_event){.info = *info};
    if (trials)
        e->trial = trials_of_event(trials, info->name);
}

/* Absent events are listed, too. */
static int event_lookup(const char *cpu, const char *name, struct upmu_event_info *info)
{
    *info = (struct upmu_event_info){.size = sizeof *info};
    int rc = cpu ? upmu_cpu_event_find(cpu, name, info) : upmu_event_find(name, info);
    return rc == UPMU_E_UNSUPPORTED ? 0 : rc;
}

static bool list_is_native(const char *name)
{
    return strncmp(name, "native::", strlen("native::")) == 0;
}

/* The names of a CPU's table, or of this machine. With --native the CPU's own names, else the others. */
static const char *list_next_name(const struct list_request *r, size_t *position)
{
    const char *name;

    if (!r->cpu && !r->natives)
        return upmu_event_name_at((*position)++, &name) == 0 ? name : NULL;
    do
        if (upmu_cpu_event_name_at(r->cpu, (*position)++, &name) != 0)
            return NULL;
    while (list_is_native(name) != r->natives);
    return name;
}

static int list_find_events(struct list *list, const struct list_request *r)
{
    size_t position = 0;
    const char *name;

    while ((name = list_next_name(r, &position)) != NULL) {
        struct upmu_event_info info;
        if (event_lookup(r->cpu, name, &info) != 0) {
            complain("%s: %s", name, upmu_error());
            return -1;
        }
        if (list_matches(r->pattern, name) || list_matches(r->pattern, info.perf) ||
            list_matches(r->pattern, info.papi))
            list_add_event(list, &info, r->trials);
    }
    return 0;
}

/* A metric can be had if each of its events counts, and is as sure as the least sure of them. */
static struct trial list_try_metric(struct trial_store *trials, const struct upmu_metric_info *metric)
{
    struct trial weakest = {.made = true};

    if (metric->missing_event[0])
        return (struct trial){
            .made = true, .code = UPMU_E_UNSUPPORTED, .event = metric->name, .reason = metric->missing_event};
    char *names = memory_copy(metric->events), *rest = names, *name;

    while (weakest.code == 0 && (name = strsep(&rest, ",")) != NULL) {
        struct upmu_event_info info;
        if (name[0] == '\0' || event_lookup(NULL, name, &info) != 0)
            continue;
        struct trial trial = trials_of_event(trials, info.name);
        if (!weakest.event || trial.code != 0 || trial.seen < weakest.seen)
            weakest = trial;
    }
    free(names);
    return weakest;
}

static int list_metric_lookup(const char *cpu, size_t index, struct upmu_metric_info *info)
{
    return cpu ? upmu_cpu_metric_at(cpu, index, info) : upmu_metric_at(index, info);
}

static void list_find_metrics(struct list *list, const struct list_request *r)
{
    struct upmu_metric_info info = {.size = sizeof info};

    for (size_t i = 0; list_metric_lookup(r->cpu, i, &info) == 0; i++) {
        if (!list_matches(r->pattern, info.name))
            continue;
        list->metrics = memory_resize(list->metrics, list->n_metrics + 1, sizeof *list->metrics);
        struct list_metric *m = &list->metrics[list->n_metrics++];
        *m = (struct list_metric){.info = info};
        if (r->trials)
            m->trial = list_try_metric(r->trials, &info);
    }
}

static void list_find_groups(struct list *list, const struct list_request *r)
{
    struct upmu_metric_group_info info = {.size = sizeof info};

    for (size_t i = 0; upmu_metric_group_at(r->cpu, i, &info) == 0; i++) {
        list->groups = memory_resize(list->groups, list->n_groups + 1, sizeof *list->groups);
        list->groups[list->n_groups++] = info;
    }
}

/* Names outside any list (raw codes, native names, modifiers) are looked up. */
static int list_find_spelled(struct list *list, const struct list_request *r)
{
    struct upmu_event_info info;

    if (!r->only_metrics && r->pattern && event_lookup(r->cpu, r->pattern, &info) == 0) {
        list_add_event(list, &info, r->trials);
        return 0;
    }
    if (r->only_metrics)
        complain("no metric matches '%s'", r->pattern ? r->pattern : "");
    else
        complain("no event or metric matches '%s': %s", r->pattern ? r->pattern : "", upmu_error());
    return -1;
}

static int list_find(struct list *list, const struct list_request *r)
{
    list->cpu = (struct upmu_cpu_info){.size = sizeof list->cpu};
    if (r->cpu && upmu_cpu_find(r->cpu, &list->cpu) != 0) {
        complain("%s", upmu_error());
        return -1;
    }
    if (!r->only_metrics && list_find_events(list, r) != 0)
        return -1;
    if (!r->natives && (!r->cpu || r->only_metrics))
        list_find_metrics(list, r);
    if (r->only_metrics && !r->pattern)
        list_find_groups(list, r);
    return list->n_events + list->n_metrics > 0 ? 0 : list_find_spelled(list, r);
}

static void list_free(struct list *list)
{
    free(list->events);
    free(list->metrics);
    free(list->groups);
}

/* ---------------------------------------------------------------------------------------------- for people */

static enum output_style list_here_style(const struct trial *trial)
{
    return trial->code == 0 && (trial->seen > 0 || !trial->event) ? STYLE_GOOD : STYLE_WARNING;
}

static void list_events_text(struct output *out, const struct list *list)
{
    static const struct table_column columns[] = {
        {"EVENT", false},       {"UNIT", false},  {"ENCODING", false}, {"COUNTERS", false},
        {"COUNTS HERE", false}, {"MATCH", false}, {"NOTE", false},
    };
    struct table t;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < list->n_events; i++) {
        const struct list_event *e = &list->events[i];
        bool absent = e->info.match == UPMU_MATCH_ABSENT;
        table_cell(&t, STYLE_PLAIN, "%s", e->info.name);
        table_cell(&t, STYLE_PLAIN, "%s", e->info.unit);
        table_cell(&t, STYLE_PLAIN, "%s", absent ? "-" : e->info.encoding);
        table_cell(&t, STYLE_PLAIN, "%s", list->cpu.name ? e->info.counters : "");
        table_cell(&t, list_here_style(&e->trial), "%s", list_here(&e->trial));
        table_cell(&t, absent ? STYLE_WARNING : STYLE_PLAIN, "%s", list_match(e->info.match));
        table_cell(&t, STYLE_PLAIN, "%s", e->info.note);
    }
    table_end(&t, out, 0);
}

static void list_metrics_text(struct output *out, const struct list *list)
{
    static const struct table_column columns[] = {
        {"METRIC", false},      {"UNIT", false},    {"FORMULA", false},
        {"COUNTS HERE", false}, {"MEANING", false}, {"NOTE", false},
    };
    struct table t;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < list->n_metrics; i++) {
        const struct list_metric *m = &list->metrics[i];
        table_cell(&t, STYLE_PLAIN, "%s", m->info.name);
        table_cell(&t, STYLE_PLAIN, "%s", m->info.unit);
        table_cell(&t, STYLE_PLAIN, "%s", m->info.formula);
        table_cell(&t, list_here_style(&m->trial), "%s", list_here(&m->trial));
        table_cell(&t, STYLE_PLAIN, "%s", m->info.summary);
        table_cell(&t, STYLE_WARNING, "%s", m->info.missing_event);
    }
    table_end(&t, out, 0);
}

static void list_groups_text(struct output *out, const struct list *list)
{
    static const struct table_column columns[] = {{"GROUP", false}, {"METRICS", false}, {"MEANING", false}};
    struct table t;

    if (list->n_groups == 0)
        return;
    fputc('\n', out->file);
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < list->n_groups; i++) {
        const struct upmu_metric_group_info *g = &list->groups[i];
        table_cell(&t, STYLE_PLAIN, "%s", g->name);
        table_cell(&t, STYLE_PLAIN, "%s", g->metrics[0] ? g->metrics : "(none on this CPU)");
        table_cell(&t, STYLE_PLAIN, "%s", g->summary);
    }
    table_end(&t, out, 0);
}

/* The first reason of each error code; `codes_printed` is a set of bits. An event that the CPU lacks has its reason in its note. */
static void list_reason_of_code(struct output *out, const struct trial *trial, uint32_t *codes_printed)
{
    uint32_t bit = trial->code > -32 ? 1u << (-trial->code & 31) : 0;

    if (!trial->made || trial->code == 0 || trial->code == UPMU_E_UNSUPPORTED || (*codes_printed & bit))
        return;
    *codes_printed |= bit;
    fprintf(out->file, "\n%s: ", upmu_strerror(trial->code));
    output_clean(out->file, reason_body(trial->reason, trial->event));
    fputc('\n', out->file);
}

static void list_reasons_text(struct output *out, const struct list *list)
{
    uint32_t codes_printed = 0;

    for (size_t i = 0; i < list->n_events; i++)
        list_reason_of_code(out, &list->events[i].trial, &codes_printed);
    for (size_t i = 0; i < list->n_metrics; i++)
        list_reason_of_code(out, &list->metrics[i].trial, &codes_printed);
}

/* The CPU of --cpu: its title and its special properties. */
static void list_cpu_text(struct output *out, const struct upmu_cpu_info *cpu)
{
    if (!cpu->name)
        return;
    fprintf(out->file, "%s (%s)\n", cpu->title, cpu->name);
    if (cpu->remark[0])
        fprintf(out->file, "note: %s\n", cpu->remark);
    fprintf(out->file, "codes: %s\n\n", cpu->rule);
}

static void list_write_text(struct output *out, const struct list *list)
{
    list_cpu_text(out, &list->cpu);
    list_events_text(out, list);
    if (list->n_events > 0 && list->n_metrics > 0)
        fputc('\n', out->file);
    list_metrics_text(out, list);
    list_groups_text(out, list);
    list_reasons_text(out, list);
}

/* --------------------------------------------------------------------------------------------------- CSV */

static void list_write_csv(struct output *out, const struct list *list)
{
    struct csv c;

    csv_begin(&c, out->file, ',');
    if (list->n_events > 0)
        csv_row(&c, (const char *const[]){"event", "unit", "encoding", "here", "match", "note", NULL});
    for (size_t i = 0; i < list->n_events; i++) {
        const struct list_event *e = &list->events[i];
        const char *encoding = e->info.match == UPMU_MATCH_ABSENT ? "" : e->info.encoding;
        csv_row(&c, (const char *const[]){e->info.name, e->info.unit, encoding, list_here(&e->trial),
                                          list_match(e->info.match), e->info.note, NULL});
    }
    /* One kind of rows per file: metrics only where no event is listed. */
    if (list->n_events > 0)
        return;
    csv_row(&c, (const char *const[]){"metric", "unit", "formula", "here", "summary", "lacks", NULL});
    for (size_t i = 0; i < list->n_metrics; i++) {
        const struct list_metric *m = &list->metrics[i];
        csv_row(&c, (const char *const[]){m->info.name, m->info.unit, m->info.formula, list_here(&m->trial),
                                          m->info.summary, m->info.missing_event, NULL});
    }
}

/* --------------------------------------------------------------------------------------------- the command */

static int list_write(const struct list *list, const struct list_request *r)
{
    struct output out;

    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (r->as_json)
        list_write_json(&out, list);
    else if (r->as_csv)
        list_write_csv(&out, list);
    else
        list_write_text(&out, list);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

/* @return whether the options are compatible; if not, after a message. */
static bool list_options_agree(const struct list_request *r)
{
    const char *fault = NULL;

    if (r->as_json && r->as_csv)
        fault = "--json or --csv, not both";
    else if (r->natives && r->only_metrics)
        fault = "--native or --metrics, not both";
    else if (r->cpus && (r->cpu || r->natives || r->only_metrics || r->pattern))
        fault = "--cpus can be combined with --json or --csv only";
    if (fault)
        options_usage(r->self, "%s", fault);
    return fault == NULL;
}

static int list_run(const struct command *self, int argc, char **argv)
{
    struct list_request request = {.self = self};
    struct list list = {0};
    int status = options_parse(self, argc, argv, list_option, &request, NULL);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (!list_options_agree(&request))
        return EXIT_USAGE;
    if (!metrics_load(request.metrics_file))
        return EXIT_FAILED;
    if (request.cpus)
        return list_cpus(request.as_json, request.as_csv);
    request.trials = request.no_probe || request.cpu ? NULL : trials_open();
    status = list_find(&list, &request) == 0 ? list_write(&list, &request) : EXIT_FAILED;
    list_free(&list);
    trials_close(request.trials);
    return status;
}

static const struct option_spec list_options[] = {
    {LIST_METRICS, 'm', "metrics", NULL, "metrics and their groups only"},
    {LIST_METRICS_FILE, 0, "metrics-file", "FILE", "metrics of your own: lines of name = formula"},
    {LIST_NO_PROBE, 'n', "no-probe", NULL, "do not try the events, only look them up"},
    {LIST_CPU, 'C', "cpu", "CPU", "the table of a CPU by its family or chip, on any machine"},
    {LIST_CPUS, 0, "cpus", NULL, "the CPUs that have a table"},
    {LIST_NATIVE, 'N', "native", NULL, "the CPU's own names, as native::NAME"},
    {LIST_JSON, 'j', "json", NULL, "one JSON document instead of tables"},
    {LIST_CSV, 'c', "csv", NULL, "comma-separated values (events; metrics with --metrics)"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_list = {
    .name = "list",
    .summary = "show the events and metrics of this machine and whether they count",
    .usage = "[OPTIONS] [PATTERN]",
    .about = "Shows each event of this machine with its encoding, whether it counts here (it is opened under a short\n"
             "load: verified if the count rises), how well the encoding matches the definition, and a note; then the\n"
             "metrics computed from them. --cpu shows the table of any CPU instead. PATTERN is a part of a name, or a\n"
             "whole name with the wildcards * ? [ ]; the names of perf and PAPI are searched, too. A name outside the\n"
             "list (a raw code, native::NAME, a modifier) is looked up.\n",
    .options = list_options,
    .exits = "  0  something was listed\n"
             "  1  nothing matches PATTERN, there is no such CPU, or the output could not be written\n"
             "  2  the command line is invalid\n",
    .run = list_run,
};

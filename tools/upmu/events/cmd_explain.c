/* SPDX-License-Identifier: MIT */
/* upmu explain: encoding, match and other names of one event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/command.h"
#include "ui/json.h"
#include "list.h"
#include "ui/memory.h"
#include "ui/options.h"
#include "perf_name.h"

enum { EXPLAIN_JSON = 1, EXPLAIN_CPU };

struct explain_request {
    const struct command *self;
    const char *event;
    const char *cpu; /* NULL: this machine */
    bool as_json;
};

static int explain_option(void *arg, int id, const char *value)
{
    struct explain_request *r = arg;
    r->as_json |= id == EXPLAIN_JSON;
    if (id == EXPLAIN_CPU)
        r->cpu = value;
    if (id != OPTION_OPERAND)
        return 0;
    if (r->event)
        return options_usage(r->self, "one event at a time");
    r->event = value;
    return 0;
}

/* A line with its title, unless the text is empty. */
static void explain_line(struct output *out, const char *title, const char *text)
{
    if (!text || text[0] == '\0')
        return;
    fprintf(out->file, "%-10s ", title);
    output_clean(out->file, text);
    fputc('\n', out->file);
}

static void explain_text(struct output *out, const struct upmu_event_info *e, const struct upmu_cpu_info *cpu)
{
    bool absent = e->match == UPMU_MATCH_ABSENT;
    char words[256];
    perf_name(e, words, sizeof words);
    explain_line(out, "event", e->name);
    explain_line(out, "counts", e->summary);
    explain_line(out, "unit", e->unit);
    explain_line(out, "CPU", cpu->title);
    explain_line(out, "formula", e->formula);
    explain_line(out, "encoding", absent ? "none" : e->encoding);
    explain_line(out, "generic", e->generic_event);
    if (e->raw_encoding != UPMU_NO_VALUE)
        fprintf(out->file, "%-10s 0x%llx\n", "raw", (unsigned long long)e->raw_encoding);
    explain_line(out, "used", e->choice);
    if (e->choice && e->choice[0])
        explain_line(out, "rule", cpu->rule);
    explain_line(out, "counters", e->counters);
    explain_line(out, "match", list_match(e->match));
    if (e->scale_unit[0])
        fprintf(out->file, "%-10s a count times %.17g is in %s\n", "scale", e->scale, e->scale_unit);
    explain_line(out, "CPUs", e->cpus);
    explain_line(out, "note", e->note);
    explain_line(out, "PAPI", e->papi);
    explain_line(out, "perf", words);
    explain_line(out, "source", e->source);
    explain_line(out, "remark", cpu->remark);
}

static void explain_json(struct output *out, const struct upmu_event_info *e, const struct upmu_cpu_info *cpu)
{
    struct json_document doc;
    char words[256];

    struct textbuf *j = json_begin(&doc, out->file, "upmu-explain");
    json_object(j, "cpu");
    list_cpu_members(j, cpu);
    json_object_end(j);
    json_object(j, "event");
    list_event_members(j, e);
    perf_name(e, words, sizeof words);
    json_string(j, "perf_words", words[0] ? words : NULL);
    json_object_end(j);
    json_end(&doc);
}

static int explain_write(const struct explain_request *r, const struct upmu_event_info *e,
                         const struct upmu_cpu_info *cpu)
{
    struct output out;

    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (r->as_json)
        explain_json(&out, e, cpu);
    else
        explain_text(&out, e, cpu);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

/* A metric by its name. @return whether it is one, and was written. */
static bool explain_metric(const struct explain_request *r, int *status)
{
    struct upmu_metric_info m = {.size = sizeof m};
    struct output out;
    size_t i = 0;
    while ((*status = r->cpu ? upmu_cpu_metric_at(r->cpu, i, &m) : upmu_metric_at(i, &m)) == 0 &&
           strcmp(m.name, r->event) != 0)
        i++;
    if (*status != 0 || r->as_json)
        return false;
    *status = EXIT_FAILED;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return true;
    explain_line(&out, "metric", m.name);
    explain_line(&out, "meaning", m.summary);
    explain_line(&out, "unit", m.unit);
    explain_line(&out, "formula", m.formula);
    explain_line(&out, "events", m.events);
    explain_line(&out, "lacks", m.missing_event);
    *status = output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
    return true;
}

static int explain_run(const struct command *self, int argc, char **argv)
{
    struct explain_request r = {.self = self};
    struct upmu_cpu_info cpu = {.size = sizeof cpu};
    struct upmu_event_info e = {.size = sizeof e};
    int status = options_parse(self, argc, argv, explain_option, &r, NULL);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (!r.event)
        return options_usage(self, "EVENT is missing");
    int rc = upmu_cpu_find(r.cpu, &cpu);
    if (rc == 0)
        rc = r.cpu ? upmu_cpu_event_find(r.cpu, r.event, &e) : upmu_event_find(r.event, &e);
    /* That a CPU lacks an event is an answer. */
    if (rc != 0 && rc != UPMU_E_UNSUPPORTED) {
        char *message = memory_copy(upmu_error());
        bool metric = explain_metric(&r, &status);
        if (!metric)
            complain("%s", message);
        free(message);
        if (metric)
            return status;
        return EXIT_FAILED;
    }
    return explain_write(&r, &e, &cpu);
}

static const struct option_spec explain_options[] = {
    {EXPLAIN_CPU, 'C', "cpu", "CPU", "on a CPU by its family or chip, on any machine"},
    {EXPLAIN_JSON, 'j', "json", NULL, "one JSON document"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_explain = {
    .name = "explain",
    .summary = "show the encoding of an event on a CPU, and the reason for it",
    .usage = "[OPTIONS] EVENT",
    .about =
        "Shows one event in full: what it counts, its encoding in perf_event_open, the perf generic event and the\n"
        "raw encoding, which of the two is used and why, the counters it can use, how well the encoding matches\n"
        "the definition (exact, approximate, absent), and its names in PAPI and perf. No event is opened.\n",
    .options = explain_options,
    .exits = "  0  explained, also when the CPU lacks the event\n"
             "  1  there is no such event or CPU, or the output could not be written\n"
             "  2  the command line is invalid\n",
    .run = explain_run,
};

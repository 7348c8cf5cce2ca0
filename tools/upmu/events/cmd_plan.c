/* SPDX-License-Identifier: MIT */
/* upmu plan: groups of events, their counters, multiplexing and refusals. */
#include <stdio.h>
#include <string.h>

#include "ui/command.h"
#include "ui/json.h"
#include "list.h"
#include "ui/options.h"
#include "ui/reason.h"
#include "ui/table.h"

enum { PLAN_EVENT = 1, PLAN_CPU, PLAN_JSON };

struct plan_request {
    const struct command *self;
    const char *events;
    const char *cpu; /* NULL: this machine */
    bool as_json;
};

static int plan_option(void *arg, int id, const char *value)
{
    struct plan_request *r = arg;
    r->as_json |= id == PLAN_JSON;
    if (id == PLAN_CPU)
        r->cpu = value;
    if (id != PLAN_EVENT && id != OPTION_OPERAND)
        return 0;
    if (r->events)
        return options_usage(r->self, "one list of events at a time, its names separated by commas");
    return options_events(r->self, value, &r->events);
}

static struct upmu_plan_entry plan_entry_at(const struct upmu_plan *plan, size_t i)
{
    struct upmu_plan_entry e = {.size = sizeof e};
    /* In range and of the right size, it cannot fail. */
    (void)!upmu_plan_entry_at(plan, i, &e);
    return e;
}

/* ---------------------------------------------------------------------------------------------- for people */

static void plan_row(struct table *t, const struct upmu_plan *plan, const struct upmu_plan_entry *e, size_t i)
{
    if (e->group >= 0)
        table_cell(t, STYLE_PLAIN, "%d", e->group + 1);
    else
        table_cell(t, STYLE_PLAIN, "-");
    table_cell(t, STYLE_PLAIN, "%s", e->role == UPMU_PLAN_FILLER ? "(filler)" : e->name);
    table_cell(t, STYLE_PLAIN, "%s", e->pmu);
    table_cell(t, STYLE_PLAIN, "%s", e->counter);
    table_cell(t, STYLE_PLAIN, "%s", e->encoding);
    if (e->multiplexed > 1)
        table_cell(t, STYLE_WARNING, "1/%u", (unsigned)e->multiplexed);
    else
        table_cell(t, STYLE_GOOD, "all");
    if (e->same_as != i)
        table_cell(t, STYLE_PLAIN, "counted once for %s", plan_entry_at(plan, e->same_as).name);
    else if (e->role == UPMU_PLAN_FILLER)
        table_cell(t, STYLE_PLAIN, "reserves its counters against other groups");
    else if (e->role == UPMU_PLAN_TERM)
        table_cell(t, STYLE_PLAIN, "a part of %s", plan_entry_at(plan, e->event).name);
    else
        table_cell(t, STYLE_PLAIN, "%s", e->role == UPMU_PLAN_CORE_TYPE ? "summed with the other core types" : "");
}

static void plan_table(struct output *out, const struct upmu_plan *plan)
{
    static const struct table_column columns[] = {
        {"GROUP", true},     {"EVENT", false}, {"PMU", false},  {"COUNTER", false},
        {"ENCODING", false}, {"TIME", true},   {"NOTE", false},
    };
    struct table t;
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t g = 0; g < upmu_plan_group_count(plan); g++) {
        for (size_t i = 0; i < upmu_plan_entry_count(plan); i++) {
            struct upmu_plan_entry e = plan_entry_at(plan, i);
            if (e.group == (int32_t)g)
                plan_row(&t, plan, &e, i);
        }
    }
    for (size_t i = 0; i < upmu_plan_entry_count(plan); i++) { /* those that are no events of a group, yet counted */
        struct upmu_plan_entry e = plan_entry_at(plan, i);
        if (e.group < 0 && e.cause == 0)
            plan_row(&t, plan, &e, i);
    }
    table_end(&t, out, 0);
}

static void plan_refusals(struct output *out, const struct upmu_plan *plan)
{
    for (size_t i = 0; i < upmu_plan_entry_count(plan); i++) {
        struct upmu_plan_entry e = plan_entry_at(plan, i);
        if (e.cause == 0 || e.role != UPMU_PLAN_EVENT)
            continue;
        fprintf(out->file, "%snot counted:%s %s: ", output_style(out, STYLE_WARNING), output_plain(out), e.name);
        output_clean(out->file, reason_body(e.reason, e.name));
        fputc('\n', out->file);
    }
}

static void plan_text(struct output *out, const struct upmu_plan *plan, const struct upmu_cpu_info *cpu)
{
    bool multiplexed = false;
    for (size_t i = 0; i < upmu_plan_entry_count(plan); i++)
        multiplexed |= plan_entry_at(plan, i).multiplexed > 1;
    fprintf(out->file, "%s\n\n", cpu->title);
    plan_table(out, plan);
    if (multiplexed)
        fputs("\nThe groups are multiplexed: values are scaled by the share of the time that a group is counted.\n",
              out->file);
    if (!upmu_plan_proven(plan))
        fputs("A plan with fewer groups may exist.\n", out->file);
    if (upmu_plan_note(plan)[0])
        fprintf(out->file, "%s\n", upmu_plan_note(plan));
    plan_refusals(out, plan);
}

/* ------------------------------------------------------------------------------------------------------- JSON */

static void plan_entry_json(struct textbuf *j, const struct upmu_plan_entry *e)
{
    static const char *const roles[] = {"event", "kind", "filler", "term"};
    bool nowhere = e->group < 0;
    json_object(j, NULL);
    json_string(j, "name", e->name);
    json_string(j, "role", roles[e->role]);
    json_uint(j, "event", e->event);
    json_string(j, "pmu", e->cause ? NULL : e->pmu);
    json_string(j, "encoding", e->cause ? NULL : e->encoding);
    if (nowhere)
        json_null(j, "group");
    else
        json_int(j, "group", e->group);
    json_string(j, "counter", e->counter[0] ? e->counter : NULL);
    json_uint(j, "with", e->same_as);
    json_uint(j, "multiplexed", e->multiplexed);
    json_string(j, "cause", e->cause ? upmu_strerror(e->cause) : NULL);
    json_string(j, "reason", e->reason[0] ? e->reason : NULL);
    json_object_end(j);
}

static void plan_json(struct output *out, const struct upmu_plan *plan, const struct upmu_cpu_info *cpu)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-plan");
    json_object(j, "cpu");
    list_cpu_members(j, cpu);
    json_object_end(j);
    json_uint(j, "groups", upmu_plan_group_count(plan));
    json_bool(j, "proven", upmu_plan_proven(plan));
    json_string(j, "note", upmu_plan_note(plan)[0] ? upmu_plan_note(plan) : NULL);
    json_array(j, "entries");
    for (size_t i = 0; i < upmu_plan_entry_count(plan); i++) {
        struct upmu_plan_entry e = plan_entry_at(plan, i);
        plan_entry_json(j, &e);
    }
    json_array_end(j);
    json_end(&doc);
}

/* ------------------------------------------------------------------------------------------------ the command */

static int plan_write(const struct plan_request *r, const struct upmu_plan *plan, const struct upmu_cpu_info *cpu)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (r->as_json)
        plan_json(&out, plan, cpu);
    else
        plan_text(&out, plan, cpu);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

static int plan_run(const struct command *self, int argc, char **argv)
{
    struct plan_request r = {.self = self};
    struct upmu_cpu_info cpu = {.size = sizeof cpu};
    struct upmu_plan *plan;
    int status = options_parse(self, argc, argv, plan_option, &r, NULL);
    if (status != OPTIONS_CONTINUE)
        return status;
    if (!r.events)
        return options_usage(self, "events are missing: -e cycles,instructions");
    if (upmu_cpu_find(r.cpu, &cpu) < 0 || upmu_plan_open(&plan, r.cpu, r.events) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    status = plan_write(&r, plan, &cpu);
    upmu_plan_close(plan);
    return status;
}

static const struct option_spec plan_options[] = {
    {PLAN_EVENT, 'e', "event", "LIST", "the events, separated by commas"},
    {PLAN_CPU, 'C', "cpu", "CPU", "on a CPU by its family or chip, on any machine"},
    {PLAN_JSON, 'j', "json", NULL, "one JSON document"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_plan = {
    .name = "plan",
    .summary = "show which events are counted together and which are multiplexed",
    .usage = "[OPTIONS] -e LIST",
    .about =
        "Shows the groups into which a list of events is divided, the counter of each event, the share of the time\n"
        "that it is counted if the groups are multiplexed, and which events cannot be counted, with the reason.\n"
        "No event is opened.\n",
    .options = plan_options,
    .exits = "  0  planned, also when some events cannot be counted\n"
             "  1  there is no such event or CPU, or the output could not be written\n"
             "  2  the command line is invalid\n",
    .run = plan_run,
};

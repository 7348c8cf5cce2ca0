/* SPDX-License-Identifier: MIT */
/* upmu export: a recording in the formats of other tools. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ui/command.h"
#include "export_file.h"
#include "ui/library.h"
#include "ui/options.h"
#include "ui/output.h"

enum {
    EXPORT_FORMAT = 1,
    EXPORT_OUTPUT = 2,
    EXPORT_WHAT = 3,
    EXPORT_LIST = 4,
    EXPORT_FROM = 5,
    EXPORT_TO = 6,
    EXPORT_BASE = 7,
    EXPORT_STACKS = 8
};

struct export_request {
    const struct command *self;
    struct export_order order;
    bool list;
};

static int export_what(struct export_request *q, const char *value)
{
    static const char *const names[] = {
        [UPMU_EXPORT_AUTO] = "auto",           [UPMU_EXPORT_WAITS] = "waits",     [UPMU_EXPORT_REGIONS] = "regions",
        [UPMU_EXPORT_FUNCTIONS] = "functions", [UPMU_EXPORT_SAMPLES] = "samples", [UPMU_EXPORT_WALL] = "wall"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(names[i], value) == 0) {
            q->order.opts.what = i;
            return 0;
        }
    }
    return options_usage(q->self, "--of is one of waits, regions, functions, samples, wall and auto, not '%s'", value);
}

static int export_option(void *arg, int id, const char *value)
{
    struct export_request *q = arg;
    switch (id) {
    case EXPORT_FORMAT:
        q->order.format = value;
        return 0;
    case EXPORT_OUTPUT:
        q->order.output = output_is_standard(value) ? NULL : value;
        return 0;
    case EXPORT_WHAT:
        return export_what(q, value);
    case EXPORT_FROM:
        return options_time(q->self, "--from", value, &q->order.opts.from_ns);
    case EXPORT_TO:
        return options_time(q->self, "--to", value, &q->order.opts.to_ns);
    case EXPORT_BASE:
        q->order.opts.base = value;
        return 0;
    case EXPORT_STACKS:
        return options_stacks(q->self, value, &q->order.opts.stacks);
    case EXPORT_LIST:
        q->list = true;
        return 0;
    default:
        if (q->order.dir)
            return options_usage(q->self, "one directory at a time");
        q->order.dir = value;
        return 0;
    }
}

static int export_list_formats(void)
{
    struct output out;
    struct upmu_export_format f = {.size = sizeof f};
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    for (size_t i = 0; upmu_export_format_at(i, &f) == 0; i++)
        fprintf(out.file, "  %s%-11s%s %s\n", output_style(&out, STYLE_TITLE), f.name, output_plain(&out), f.summary);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

static int export_run(const struct command *self, int argc, char **argv)
{
    struct export_request q = {.self = self, .order.opts.size = sizeof q.order.opts};
    int status = options_parse(self, argc, argv, export_option, &q, NULL);
    if (status != OPTIONS_CONTINUE)
        return status;
    if (q.list)
        return export_list_formats();
    if (!q.order.format)
        return options_usage(self, "--format is missing; --formats lists the formats");
    if (!q.order.dir)
        return options_usage(self, "DIR is missing: give the directory of a recording");
    if (q.order.opts.to_ns != 0 && q.order.opts.to_ns < q.order.opts.from_ns)
        return options_usage(self, "--to is before --from");
    if (!q.order.output && isatty(STDOUT_FILENO))
        return options_usage(self, "refusing to write an export to a terminal: use -o FILE or a pipe");
    library_complain_symbols();
    if (q.order.output)
        return export_to_file(&q.order);
    return export_to(&q.order, STDOUT_FILENO);
}

static const struct option_spec export_options[] = {
    {EXPORT_FORMAT, 'f', "format", "FORMAT", "output format; see --formats"},
    {EXPORT_OUTPUT, 'o', "output", "FILE", "output file (default, and -: standard output)"},
    {EXPORT_WHAT, 0, "of", "WHAT",
     "contents of profiles: waits, regions, functions, samples, wall (samples and waits) or auto (default)"},
    {EXPORT_FROM, 0, "from", "SECONDS", "start of the exported range, from the start of the recording"},
    {EXPORT_TO, 0, "to", "SECONDS", "end of the exported range"},
    {EXPORT_BASE, 0, "base", "OLD",
     "flamegraph, html: changes since the recording OLD, by call path; html also by lock, thread and region"},
    {EXPORT_STACKS, 0, "stacks", "HOW", OPTIONS_STACKS_HELP},
    {EXPORT_LIST, 0, "formats", NULL, "list the formats"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_export = {
    .name = "export",
    .summary = "write a recording in the format of another tool",
    .usage = "-f FORMAT [-o FILE] [--of WHAT] [--from SECONDS] [--to SECONDS] [--base OLD] [--stacks HOW] DIR",
    .about =
        "Reads the recording DIR (or one process in it) and writes it as a timeline (chrome, perfetto, firefox), a\n"
        "profile (folded, flamegraph, callgrind, pprof, otlp, speedscope, firefox), a table of all events (csv, "
        "jsonl,\n"
        "arrow), a list of source locations for editors (tasks, gcc), or a report for any browser (html).\n",
    .options = export_options,
    .exits =
        "  0  everything recorded was written\n"
        "  1  DIR cannot be read, a part of it is damaged (the rest is written), or the output could not be written\n"
        "     (-o FILE is not changed)\n"
        "  2  the command line is invalid\n",
    .run = export_run,
};

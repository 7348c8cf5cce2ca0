/* SPDX-License-Identifier: MIT */
/* upmu repair: cut incomplete packets off the trace of a killed process. */
#include <inttypes.h>
#include <stddef.h>

#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"
#include "upmu/trace.h"

struct repair_request {
    const struct command *self;
    const char *dir;
};

static int repair_option(void *arg, int id, const char *value)
{
    struct repair_request *request = arg;
    (void)id; /* no options: only operands come here */
    if (request->dir)
        return options_usage(request->self, "one directory at a time");
    request->dir = value;
    return 0;
}

static void repair_report(FILE *out, const char *dir, const struct upmu_trace_repair_result *done)
{
    output_clean(out, dir);
    fprintf(out, ": %" PRIu32 " %s checked", done->processes, done->processes == 1 ? "process" : "processes");
    if (done->running)
        fprintf(out, ", %" PRIu32 " still running, not changed", done->running);
    if (done->reordered)
        fprintf(out, ", %" PRIu32 " %s sorted", done->reordered, done->reordered == 1 ? "ring" : "rings");
    if (done->trimmed)
        fprintf(out, ", %" PRIu32 " %s trimmed by %" PRIu64 " bytes that held no event\n", done->trimmed,
                done->trimmed == 1 ? "stream" : "streams", done->bytes);
    else
        fputs(done->reordered ? "\n" : ", nothing to trim\n", out);
}

static int repair_run(const struct command *self, int argc, char **argv)
{
    struct repair_request request = {.self = self};
    struct upmu_trace_repair_result done = {.size = sizeof done};
    struct output out;
    int status = options_parse(self, argc, argv, repair_option, &request, NULL);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (!request.dir)
        return options_usage(self, "DIR is missing: give the directory of a recording");
    if (upmu_trace_repair(request.dir, &done) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    repair_report(out.file, request.dir, &done);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

static const struct option_spec repair_options[] = {{0, 0, NULL, NULL, NULL}};

const struct command command_repair = {
    .name = "repair",
    .summary = "make the trace of a killed process readable for every CTF reader",
    .usage = "DIR",
    .about =
        "Cuts the unfinished last packets off the streams of the recording DIR (or of one process in it), and\n"
        "sorts the packets of rings by time, so that every CTF reader opens it. Recorded events and the traces of\n"
        "running processes do not change, and repairing twice is harmless.\n",
    .options = repair_options,
    .exits = "  0  done, also if there was nothing to trim\n"
             "  1  DIR does not exist, cannot be written, or is not a trace\n"
             "  2  the command line is invalid\n",
    .run = repair_run,
};

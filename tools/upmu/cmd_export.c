/* SPDX-License-Identifier: MIT */
/* upmu export: a recording in the formats of other tools. Room: tools/upmu. Before it: main; after it: upmu_export() of
 * libupmu_analysis. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "output.h"
#include "upmu/export.h"
#include "upmu/upmu.h"

enum { EXPORT_FORMAT = 1, EXPORT_OUTPUT = 2, EXPORT_WHAT = 3, EXPORT_LIST = 4 };

struct export_request {
    const struct command *self;
    const char *dir, *format, *output;
    bool list;
    struct upmu_export_opts opts;
};

static int export_what(struct export_request *q, const char *value)
{
    static const char *const names[] = {
        [UPMU_EXPORT_AUTO] = "auto", [UPMU_EXPORT_WAITS] = "waits", [UPMU_EXPORT_REGIONS] = "regions"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(names[i], value) == 0) {
            q->opts.what = i;
            return 0;
        }
    }
    return options_usage(q->self, "--of is one of waits, regions and auto, not '%s'", value);
}

static int export_option(void *arg, int id, const char *value)
{
    struct export_request *q = arg;
    switch (id) {
    case EXPORT_FORMAT:
        q->format = value;
        return 0;
    case EXPORT_OUTPUT:
        q->output = value;
        return 0;
    case EXPORT_WHAT:
        return export_what(q, value);
    case EXPORT_LIST:
        q->list = true;
        return 0;
    default:
        if (q->dir)
            return options_usage(q->self, "one directory at a time");
        q->dir = value;
        return 0;
    }
}

static int list_formats(void)
{
    struct output out;
    struct upmu_export_format f = {.size = sizeof f};
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    for (size_t i = 0; upmu_export_format(i, &f) == 0; i++)
        fprintf(out.file, "  %s%-11s%s %s\n", output_style(&out, STYLE_TITLE), f.name, output_plain(&out), f.summary);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

/* ------------------------------------------------------------------------------------------------- progress */

struct progress {
    struct timespec start;
    bool shown;
};

/* A line that replaces itself, on a terminal, once the export has taken a second. */
static void show_progress(void *arg, uint64_t done, uint64_t all)
{
    struct progress *p = arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (all == 0 || (now.tv_sec - p->start.tv_sec) * 1000 + (now.tv_nsec - p->start.tv_nsec) / 1000000 < 1000)
        return;
    fprintf(stderr, "\r%3d %% of %" PRIu64 " events", (int)(100 * (done < all ? done : all) / all), all);
    fflush(stderr);
    p->shown = true;
}

/* ---------------------------------------------------------------------------------------------------- writing */

static int export_to(const struct export_request *q, int fd)
{
    struct upmu_export_opts opts = q->opts;
    struct upmu_export_result result = {.size = sizeof result};
    struct progress progress = {0};
    opts.size = sizeof opts;
    if (isatty(STDERR_FILENO)) {
        clock_gettime(CLOCK_MONOTONIC, &progress.start);
        opts.progress = show_progress;
        opts.arg = &progress;
    }
    int rc = upmu_export(q->dir, q->format, fd, &opts, &result);
    if (progress.shown)
        fputs("\r\033[K", stderr);
    if (rc < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    if (result.lost)
        complain("%" PRIu64 " events of this recording were lost when it was made", result.lost);
    if (result.left_out)
        complain("%" PRIu64 " items were left out: more than viewers bear (512 levels, 200 lines)", result.left_out);
    if (result.without_number)
        complain("%" PRIu64 " counters of regions have no number, or are not the first process's: the sums lack them",
                 result.without_number);
    if (result.damages)
        complain("%" PRIu64 " damages: a part of the recording could not be read; upmu report names them",
                 result.damages);
    return result.damages ? EXIT_FAILED : EXIT_OK;
}

/* A device or a pipe is written to as it is. */
static int export_to_device(const struct export_request *q)
{
    int fd = open(q->output, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        complain("%s cannot be written: %s", q->output, strerror(errno));
        return EXIT_FAILED;
    }
    int status = export_to(q, fd);
    return close(fd) == 0 ? status : EXIT_FAILED;
}

/* A file is made beside its name and takes it when it is whole: a failed export leaves no half of one. */
static int export_to_file(const struct export_request *q)
{
    char temporary[PATH_MAX + 32], real[PATH_MAX];
    struct stat st;
    if (stat(q->output, &st) == 0 && !S_ISREG(st.st_mode))
        return export_to_device(q);
    const char *target = realpath(q->output, real) ? real : q->output; /* a link stays one */
    int n = snprintf(temporary, sizeof temporary, "%s.upmu-%ld", target, (long)getpid());
    int fd = n < (int)sizeof temporary ? open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                                       : (errno = ENAMETOOLONG, -1);
    if (fd < 0) {
        complain("%s cannot be written: %s", q->output, strerror(errno));
        return EXIT_FAILED;
    }
    int status = export_to(q, fd);
    if (close(fd) != 0 && status == EXIT_OK) {
        complain("%s cannot be written: %s", q->output, strerror(errno));
        status = EXIT_FAILED;
    }
    if (status == EXIT_OK && rename(temporary, target) != 0) {
        complain("%s cannot be written: %s", q->output, strerror(errno));
        status = EXIT_FAILED;
    }
    if (status != EXIT_OK)
        (void)unlink(temporary);
    return status;
}

static int export_run(const struct command *self, int argc, char **argv)
{
    struct export_request q = {.self = self, .opts.size = sizeof q.opts};
    int status = options_parse(self, argc, argv, export_option, &q, NULL);
    if (status != OPTIONS_GO_ON)
        return status;
    if (q.list)
        return list_formats();
    if (!q.format)
        return options_usage(self, "which format? --formats lists them");
    if (!q.dir)
        return options_usage(self, "which trace? give its directory");
    if (q.output)
        return export_to_file(&q);
    if (isatty(STDOUT_FILENO))
        return options_usage(self, "a terminal is no place for an export: give a file with -o, or a pipe");
    return export_to(&q, STDOUT_FILENO);
}

static const struct option_spec export_options[] = {
    {EXPORT_FORMAT, 'f', "format", "FORMAT", "what to write; see --formats"},
    {EXPORT_OUTPUT, 'o', "output", "FILE", "where to; standard output if not given"},
    {EXPORT_WHAT, 0, "of", "WHAT", "what profiles add up: waits, regions, or auto (default)"},
    {EXPORT_LIST, 0, "formats", NULL, "list the formats"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_export = {
    .name = "export",
    .summary = "write a recording in the format of another tool",
    .usage = "-f FORMAT [-o FILE] [--of WHAT] DIR",
    .about =
        "Reads the recording DIR (or one process in it) and writes it as a timeline (chrome, perfetto), a profile\n"
        "(folded, flamegraph, callgrind, pprof, speedscope) a table of all events (csv, jsonl)\n"
        "or a list of places for editors (tasks, gcc).\n",
    .options = export_options,
    .exits = "  0  everything recorded was written\n"
             "  1  DIR cannot be read, a stream is damaged, or the output could not be written; -o FILE is as before\n"
             "  2  the command line makes no sense\n",
    .run = export_run,
};

/* SPDX-License-Identifier: MIT */
/*
 * upmu gather: an archive with what a bug report needs.
 *
 * With UPMU_FSROOT set to the unpacked archive the library reads the files of that machine, and takes the results of
 * trials from the archive.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checksum.h"
#include "events/trials.h"
#include "ui/command.h"
#include "gather.h"
#include "ui/memory.h"
#include "ui/options.h"
#include "ui/output.h"
#include "upmu/upmu.h"

enum { GATHER_OUTPUT = 1 };

struct gather_request {
    const struct command *self;
    const char *path;
};

static int gather_option(void *arg, int id, const char *value)
{
    struct gather_request *r = arg;

    if (id == OPTION_OPERAND)
        return options_usage(r->self, "unexpected argument '%s'", value);
    r->path = value;
    return 0;
}

void gather_text(struct gather *g, const char *path, const char *text, size_t len)
{
    char *name = memory_format(GATHER_ROOT "/%s", path);

    if (tar_add(&g->tar, name, text, len) == 0) {
        fprintf(g->manifest, "%016" PRIx64 " %zu %s\n", checksum(text, len), len, path);
        g->files++;
        g->bytes += len;
    } else {
        g->left_out++;
    }
    free(name);
}

/* ------------------------------------------------------------------------------- results of trials */

/* A text in memory that grows. */
struct memory_file {
    FILE *file;
    char *text;
    size_t len;
};

static int memory_file_open(struct memory_file *m)
{
    m->file = open_memstream(&m->text, &m->len);
    if (!m->file)
        complain("out of memory");
    return m->file ? 0 : -1;
}

/* A text truncated for lack of memory would look complete. */
static int memory_file_close(struct memory_file *m)
{
    if (fclose(m->file) == 0)
        return 0;
    complain("out of memory");
    return -1;
}

/* Fields are separated by tabs, rows by newlines: neither may be in a field. */
static void gather_put_field(FILE *out, const char *text, char end)
{
    for (; *text; text++)
        fputc(*text == '\t' || *text == '\n' ? ' ' : *text, out);
    fputc(end, out);
}

static int gather_put_finding(const struct upmu_diagnosis *f, void *arg)
{
    FILE *out = arg;

    fprintf(out, "%d\t", (int)f->state);
    gather_put_field(out, f->topic, '\t');
    gather_put_field(out, f->text, '\t');
    gather_put_field(out, f->remedy, '\n');
    return 0;
}

static int gather_findings(struct gather *g)
{
    struct memory_file m = {0};

    if (memory_file_open(&m) != 0)
        return -1;
    int rc = upmu_diagnose(gather_put_finding, m.file);
    if (rc != 0)
        complain("cannot examine the machine: %s", upmu_error());
    rc |= memory_file_close(&m);
    if (rc == 0)
        gather_text(g, "upmu/findings", m.text, m.len);
    free(m.text);
    return rc;
}

/* A metric of this CPU may have events outside the vendor-neutral set. */
static void gather_try_metrics(struct trial_store *trials)
{
    struct upmu_metric_info info = {.size = sizeof info};

    for (size_t i = 0; upmu_metric_at(i, &info) == 0; i++) {
        char *names = memory_copy(info.events), *rest = names, *name;
        while ((name = strsep(&rest, ",")) != NULL)
            if (name[0])
                (void)trials_of_event(trials, name);
        free(names);
    }
}

static int gather_trials(struct gather *g)
{
    struct memory_file m = {0};
    const struct trial *trial;
    const char *name;

    if (memory_file_open(&m) != 0)
        return -1;
    struct trial_store *trials = trials_open();
    for (size_t i = 0; upmu_event_name_at(i, &name) == 0; i++)
        (void)trials_of_event(trials, name);
    gather_try_metrics(trials);
    for (size_t i = 0; (trial = trials_at(trials, i)) != NULL; i++) {
        fprintf(m.file, "%d\t%" PRIu64 "\t", trial->code, trial->seen);
        gather_put_field(m.file, trial->event, '\t');
        gather_put_field(m.file, trial->reason ? trial->reason : "", '\n');
    }
    trials_close(trials);
    int rc = memory_file_close(&m);
    if (rc == 0)
        gather_text(g, "upmu/trials", m.text, m.len);
    free(m.text);
    return rc;
}

/* --------------------------------------------------------------------------------------------- the command */

static void gather_all(struct gather *g, FILE *report, int *rc)
{
    for (const struct gather_group *group = gather_groups; group->what; group++) {
        size_t before = g->files;
        group->take(g);
        fprintf(report, "%5zu files  %s%s%s\n", g->files - before, group->what, group->without[0] ? "; without " : "",
                group->without);
    }
    *rc |= gather_findings(g);
    *rc |= gather_trials(g);
    gather_text(g, "upmu/version", UPMU_VERSION_STRING "\n", strlen(UPMU_VERSION_STRING "\n"));
    fprintf(report, "%5d files  the findings of upmu doctor, the trial of each event, libupmu's version\n", 3);
}

/* The list of files goes in last, since it names them all. */
static int gather_end(struct gather *g, struct memory_file *manifest)
{
    int rc = memory_file_close(manifest);
    char *name = memory_format(GATHER_ROOT "/upmu/manifest");
    (void)tar_add(&g->tar, name, manifest->text, manifest->len); /* a short name and a short text */
    tar_end(&g->tar);
    free(name);
    free(manifest->text);
    return rc;
}

static void gather_summary(const struct gather *g, const char *path, FILE *report)
{
    if (g->unreadable > 0)
        fprintf(report, "%5zu files could not be read\n", g->unreadable);
    if (g->left_out > 0)
        fprintf(report, "%5zu files were left out: they or their names are too long\n", g->left_out);
    fprintf(report,
            "%s: %zu files, %zu bytes, all listed in " GATHER_ROOT "/upmu/manifest\n"
            "To use it on another machine: tar xf %s; UPMU_FSROOT=" GATHER_ROOT " upmu list\n",
            path, g->files, g->bytes, path);
}

static int gather_write(const char *path)
{
    struct output archive, report;
    struct memory_file manifest = {0};
    int rc = 0;

    if (memory_file_open(&manifest) != 0)
        return EXIT_FAILED;
    bool piped = output_is_standard(path); /* only the archive goes to standard output */
    if (output_file(&archive, path) != 0 || output_standard(&report, piped ? OUTPUT_STDERR : OUTPUT_STDOUT) != 0) {
        (void)memory_file_close(&manifest); /* nothing is in it yet */
        free(manifest.text);
        return EXIT_FAILED;
    }
    archive.binary = true;
    struct gather g = {.manifest = manifest.file};
    tar_begin(&g.tar, archive.file, (int64_t)time(NULL));
    gather_all(&g, report.file, &rc);
    rc |= gather_end(&g, &manifest);
    rc |= output_close(&archive);
    if (rc == 0)
        gather_summary(&g, piped ? "ARCHIVE" : path, report.file);
    rc |= output_close(&report);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}

static int gather_run(const struct command *self, int argc, char **argv)
{
    struct gather_request request = {.self = self, .path = "upmu-gather.tar"};
    const char *recorded = secure_getenv("UPMU_FSROOT");
    int status = options_parse(self, argc, argv, gather_option, &request, NULL);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (recorded && recorded[0]) {
        complain("UPMU_FSROOT is set, but only the running machine can be gathered. Unset it, or use the archive that "
                 "the machine "
                 "snapshot was unpacked from.");
        return EXIT_FAILED;
    }
    return gather_write(request.path);
}

static const struct option_spec gather_options[] = {
    {GATHER_OUTPUT, 'o', "output", "FILE", "the archive (default: upmu-gather.tar; -: standard output)"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_gather = {
    .name = "gather",
    .summary = "pack what a bug report needs into one archive",
    .usage = "[-o FILE]",
    .about =
        "Packs a description of this machine into a tar archive: the CPU, the kernel's PMUs and settings, rights and\n"
        "limits, the findings of upmu doctor, and the result of trying each event. Host name, network addresses,\n"
        "serial numbers, other processes and paths are left out. With UPMU_FSROOT set to the unpacked folder,\n"
        "upmu list and upmu doctor on any machine show that one.\n",
    .options = gather_options,
    .exits = "  0  the archive is written\n"
             "  1  the archive could not be written, or the machine could not be examined\n"
             "  2  the command line is invalid\n",
    .run = gather_run,
};

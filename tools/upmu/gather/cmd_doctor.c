/* SPDX-License-Identifier: MIT */
/* upmu doctor: what works on this machine and how to fix what does not. */
#include <stddef.h>
#include <stdlib.h>

#include "doctor_filters.h"
#include "ui/command.h"
#include "ui/json.h"
#include "ui/library.h"
#include "ui/memory.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/table.h"
#include "upmu/upmu.h"

enum { DOCTOR_JSON = 1 };

struct doctor {
    const struct command *self;
    bool as_json;
    bool missing; /* at least one finding is "missing" */
    struct output out;
    struct table table;
    struct textbuf *json;
    char **program; /* NULL: examine the machine */
};

struct state_form {
    const char *name;
    enum output_style style;
};

static const struct state_form state_forms[] = {
    [UPMU_DIAGNOSIS_OK] = {"ok", STYLE_GOOD},
    [UPMU_DIAGNOSIS_LIMITED] = {"limited", STYLE_WARNING},
    [UPMU_DIAGNOSIS_MISSING] = {"missing", STYLE_BAD},
    [UPMU_DIAGNOSIS_INFO] = {"info", STYLE_PLAIN},
};

static struct state_form doctor_state_form(int state)
{
    if (state < 0 || (size_t)state >= sizeof state_forms / sizeof *state_forms)
        return (struct state_form){"?", STYLE_PLAIN};
    return state_forms[state];
}

static int doctor_option(void *arg, int id, const char *value)
{
    struct doctor *d = arg;
    if (id != DOCTOR_JSON)
        return options_usage(d->self, "unexpected argument '%s'", value);
    d->as_json = true;
    return 0;
}

static int doctor_print_text(const struct upmu_diagnosis *f, void *arg)
{
    struct doctor *d = arg;
    struct state_form form = doctor_state_form(f->state);

    d->missing |= f->state == UPMU_DIAGNOSIS_MISSING;
    table_cell(&d->table, form.style, "%s", form.name);
    table_cell(&d->table, STYLE_PLAIN, "%s", f->topic);
    table_cell(&d->table, STYLE_PLAIN, "%s", f->text);
    if (f->remedy[0] == '\0')
        return 0;
    table_cell(&d->table, STYLE_PLAIN, "%s", "");
    table_cell(&d->table, STYLE_PLAIN, "%s", "");
    table_cell(&d->table, STYLE_TITLE, "remedy: %s", f->remedy);
    return 0;
}

static int doctor_print_json(const struct upmu_diagnosis *f, void *arg)
{
    struct doctor *d = arg;

    d->missing |= f->state == UPMU_DIAGNOSIS_MISSING;
    json_object(d->json, NULL);
    json_string(d->json, "topic", f->topic);
    json_string(d->json, "state", doctor_state_form(f->state).name);
    json_string(d->json, "text", f->text);
    json_string(d->json, "remedy", f->remedy[0] ? f->remedy : NULL);
    json_object_end(d->json);
    return 0;
}

/* A library that the command opens when it needs it; `problem`: why it cannot be opened, or NULL; freed. */
static int doctor_library(struct doctor *d, int (*found)(const struct upmu_diagnosis *f, void *arg), const char *topic,
                          char *problem, const char *text, const char *remedy)
{
    const struct upmu_diagnosis f = {.topic = topic,
                                     .state = problem ? UPMU_DIAGNOSIS_LIMITED : UPMU_DIAGNOSIS_OK,
                                     .text = problem ? problem : text,
                                     .remedy = problem ? remedy : ""};
    int rc = found(&f, d);
    free(problem);
    return rc;
}

static int doctor_libraries(struct doctor *d, int (*found)(const struct upmu_diagnosis *f, void *arg))
{
    char *why = library_problem("upmu/elfutils.so", "upmu_elfutils");
    char *problem = why ? memory_format("functions, lines and names of variables are not shown: %s", why) : NULL;
    free(why);
    int rc = doctor_library(d, found, "symbols", problem, "libdw (upmu/elfutils.so) can be opened",
                            "Install elfutils ('apt install libdw1') and all files of libupmu");
    if (rc != 0)
        return rc;
    why = library_problem("upmu/curses.so", "upmu_curses");
    problem = why ? memory_format("'upmu top' does not draw on terminals, only --json works: %s", why) : NULL;
    free(why);
    return doctor_library(d, found, "terminal", problem, "ncurses (upmu/curses.so) can be opened",
                          "Install ncurses ('apt install libncursesw6') and all files of libupmu");
}

static int doctor_examine(struct doctor *d, int (*found)(const struct upmu_diagnosis *f, void *arg), int *status)
{
    if (d->program)
        return doctor_filters(d->program, found, d, status);
    int rc = upmu_diagnose(found, d);
    return rc != 0 ? rc : doctor_libraries(d, found);
}

static int doctor_text(struct doctor *d, int *status)
{
    static const struct table_column columns[] = {{"STATE", false}, {"TOPIC", false}, {"FOUND", false}};

    table_begin(&d->table, columns, sizeof columns / sizeof *columns);
    int rc = doctor_examine(d, doctor_print_text, status);
    table_end(&d->table, &d->out, 0);
    return rc;
}

static int doctor_json(struct doctor *d, int *status)
{
    struct json_document doc;
    d->json = json_begin(&doc, d->out.file, "upmu-doctor");
    json_array(d->json, "findings");
    int rc = doctor_examine(d, doctor_print_json, status);
    json_array_end(d->json);
    json_end(&doc);
    return rc;
}

static int doctor_run(const struct command *self, int argc, char **argv)
{
    struct doctor d = {.self = self};
    int program, status = options_parse(self, argc, argv, doctor_option, &d, &program);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (program < argc && strcmp(argv[program - 1], "--") != 0) /* a mistyped option must not run a program */
        return options_usage(self, "unexpected argument '%s'; write the command after --", argv[program]);
    d.program = program < argc ? argv + program : NULL;
    status = EXIT_FAILED;
    if (output_standard(&d.out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    int rc = d.as_json ? doctor_json(&d, &status) : doctor_text(&d, &status);
    if (rc != 0 && !d.program)
        complain("the examination failed: %s", upmu_error());
    if (output_close(&d.out) != 0 || rc != 0)
        return status;
    return d.missing ? EXIT_FAILED : EXIT_OK;
}

static const struct option_spec doctor_options[] = {
    {DOCTOR_JSON, 'j', "json", NULL, "one JSON document instead of a table"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "show what works on this machine and how to fix what does not",
    .usage = "[--json] [-- COMMAND [ARGUMENT...]]",
    .about = "Tests CPU, PMUs, permissions, user-space reads, clock, native event names, unwinder and libraries, and\n"
             "shows for each whether it works (ok), works in part (limited) or does not work (missing), with the "
             "command or\n"
             "setting that fixes it.\n"
             "With a command, runs it to its end and shows whether its seccomp filters allow the system calls of a\n"
             "recording. What it writes to standard output goes to standard error.\n",
    .options = doctor_options,
    .exits = "  0  nothing is missing; what works in part is not missing\n"
             "  1  something is missing, or the examination failed\n"
             "  2  the command line is invalid\n"
             "  126, 127  the command cannot be executed, or was not found\n",
    .has_program = true,
    .run = doctor_run,
};

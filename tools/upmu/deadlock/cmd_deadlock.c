/* SPDX-License-Identifier: MIT */
/* upmu deadlock: deadlocked threads and lock-order inversions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/command.h"
#include "deadlock.h"
#include "ui/library.h"
#include "ui/numbers.h"
#include "ui/options.h"
#include "ui/output.h"
#include "upmu/control.h"

enum { DEADLOCK_JSON = 1, DEADLOCK_FORMAT, DEADLOCK_SUPPRESSIONS, DEADLOCK_ONE_THREAD, DEADLOCK_WIDE };
enum { PID_MAX = 1 << 22 };

struct deadlock_request {
    const struct command *self;
    const char *subject;
    const char *suppressions;
    const struct deadlock_format *format;
    bool one_thread; /**< inconsistent orders of one thread count as found */
    bool only_found; /**< write nothing unless there is a deadlock */
    bool is_process; /**< out: the subject is a running process */
};

/* A form of the report. */
static const struct deadlock_format {
    const char *name;
    void (*write)(struct output *out, const struct deadlock_report *r);
} formats[] = {
    {"text", deadlock_write_text},   {"json", deadlock_write_json},   {"gcc", deadlock_write_gcc},
    {"tasks", deadlock_write_tasks}, {"sarif", deadlock_write_sarif},
};

static const struct deadlock_format *deadlock_format_named(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static int deadlock_option(void *arg, int id, const char *value)
{
    struct deadlock_request *q = arg;
    switch (id) {
    case DEADLOCK_JSON:
        q->format = deadlock_format_named("json");
        return 0;
    case DEADLOCK_FORMAT:
        q->format = deadlock_format_named(value);
        return q->format ? 0 : options_usage(q->self, "--format is one of text, json, gcc, tasks and sarif");
    case DEADLOCK_SUPPRESSIONS:
        q->suppressions = value;
        return 0;
    case DEADLOCK_WIDE:
        output_wide();
        return 0;
    case DEADLOCK_ONE_THREAD:
        q->one_thread = true;
        return 0;
    default:
        break;
    }
    if (q->subject)
        return options_usage(q->self, "one directory or process at a time");
    q->subject = value;
    return 0;
}

/* A number is a process, unless there is a directory of that name. */
static bool deadlock_subject_is_process(const char *subject, pid_t *pid)
{
    long n;
    if (access(subject, F_OK) == 0 || !number_long(subject, 1, PID_MAX, &n))
        return false;
    *pid = (pid_t)n;
    return true;
}

static size_t deadlock_count_mpi(const struct deadlock_report *r)
{
    struct upmu_mpi_deadlock d = {.size = sizeof d};
    size_t n = 0;
    while (r->mpi && upmu_mpi_deadlock_at(r->mpi, n, &d) == 0)
        n++;
    return n;
}

/* Ranks of a whole recording, which is read once more for them; a process alone has none to wait for. */
static void deadlock_open_mpi(struct deadlock_report *r, const char *subject)
{
    struct upmu_deadlocks_totals totals = {.size = sizeof totals};
    if (upmu_deadlocks_totals_read(r->deadlocks, &totals) != 0 || !totals.mpi)
        return;
    int rc = upmu_mpi_open(&r->mpi, subject);
    if (rc != 0 && rc != UPMU_E_STATE) /* no rank */
        complain("deadlocks across MPI ranks are not searched: %s", upmu_error());
}

/* Files of a process in a container are found by its own root directory. */
static void deadlock_use_root_of(pid_t pid)
{
    char theirs[40];
    struct stat own, other;
    snprintf(theirs, sizeof theirs, "/proc/%d/ns/mnt", (int)pid);
    if (stat("/proc/self/ns/mnt", &own) != 0 || stat(theirs, &other) != 0 || own.st_ino == other.st_ino)
        return;
    snprintf(theirs, sizeof theirs, "/proc/%d/root", (int)pid);
    (void)setenv("UPMU_SYSROOT", theirs, 0); /* out of memory: as without a container */
}

/* `*unrecorded` is the process, if that is why it cannot be opened. */
static int deadlock_open_subject(struct deadlock_request *q, struct upmu_deadlocks **out, pid_t *unrecorded)
{
    struct upmu_control *control;
    struct upmu_control_status status = {.size = sizeof status};
    const struct upmu_deadlocks_opts how = {.size = sizeof how, .suppressions = q->suppressions};
    pid_t pid;
    q->is_process = deadlock_subject_is_process(q->subject, &pid);
    if (!q->is_process)
        return upmu_deadlocks_open(out, q->subject, &how);
    deadlock_use_root_of(pid);
    int rc = upmu_control_open_pid(&control, pid);
    *unrecorded = rc == UPMU_E_STATE ? pid : 0;
    if (rc != 0)
        return rc;
    rc = upmu_control_status_read(control, 0, &status);
    if (rc == 0)
        rc = upmu_deadlocks_open(out, status.dir, &how);
    upmu_control_close(control);
    return rc;
}

static int deadlock_write_report(const struct deadlock_request *q, const struct deadlock_report *r)
{
    struct output out;
    bool stalled = deadlock_count(r, UPMU_DEADLOCK_STALLED) > 0;
    if (q->only_found && !stalled && deadlock_count(r, UPMU_DEADLOCK_CERTAIN) == 0)
        return EXIT_OK;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    library_complain_symbols();
    q->format->write(&out, r);
    if (output_close(&out) != 0)
        return EXIT_FAILED;
    size_t found = deadlock_count(r, UPMU_DEADLOCK_CERTAIN) + deadlock_count_mpi(r) +
                   deadlock_count_cycles(r, UPMU_LOCK_INVERSION) +
                   (q->one_thread ? deadlock_count_cycles(r, UPMU_LOCK_ONE_THREAD) : 0);
    /* Without a finding, damaged parts make the result uncertain: exit status 1. */
    size_t damages = report_damages(r->report.overview);
    return found > 0 ? EXIT_FOUND : stalled ? EXIT_STALLED : damages > 0 ? EXIT_FAILED : EXIT_OK;
}

static int deadlock_run_subject(struct deadlock_request *q)
{
    struct deadlock_report r = {.subject = q->subject};
    pid_t unrecorded = 0;
    if (deadlock_open_subject(q, &r.deadlocks, &unrecorded) < 0) {
        bool as_json = q->format->write == deadlock_write_json;
        if (unrecorded && (as_json || q->format == &formats[0])) {
            if (!q->only_found)
                library_complain_symbols();
            return deadlock_inspect(unrecorded, as_json, q->only_found);
        }
        if (!q->only_found)
            complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    r.report = (struct report){.overview = upmu_deadlocks_overview(r.deadlocks), .dir = q->subject};
    if (access(q->subject, F_OK) == 0)
        deadlock_open_mpi(&r, q->subject);
    int status = deadlock_write_report(q, &r);
    upmu_mpi_close(r.mpi);
    upmu_deadlocks_close(r.deadlocks);
    return status;
}

/* What cannot be read of a child is not the parent's failure. */
static int deadlock_run_child(void *arg, pid_t child)
{
    struct deadlock_request q = *(const struct deadlock_request *)arg;
    char subject[24];
    snprintf(subject, sizeof subject, "%ld", (long)child);
    q.subject = subject;
    q.only_found = true;
    int status = deadlock_run_subject(&q);
    return status == EXIT_FAILED ? EXIT_OK : status;
}

/* A process that is not deadlocked may wait for a child that is. Text, because the other formats are one document. */
static int deadlock_run(const struct command *self, int argc, char **argv)
{
    struct deadlock_request q = {.self = self, .format = &formats[0]};
    int status = options_parse(self, argc, argv, deadlock_option, &q, NULL);
    if (status != OPTIONS_CONTINUE)
        return status;
    if (!q.subject)
        return options_usage(self, "DIR|PID is missing: give the directory of a recording or a process id");
    status = deadlock_run_subject(&q);
    if (q.is_process && status == EXIT_OK && q.format == &formats[0])
        status = deadlock_children((pid_t)strtol(q.subject, NULL, 10), deadlock_run_child, &q);
    return status;
}

static const struct option_spec deadlock_options[] = {
    {DEADLOCK_JSON, 'j', "json", NULL, "one JSON document, as --format json"},
    {DEADLOCK_FORMAT, 'f', "format", "FORM", "text, json, gcc (warnings by line), tasks (for IDEs) or sarif"},
    {DEADLOCK_SUPPRESSIONS, 's', "suppressions", "FILE", "do not report what FILE names (man upmu-deadlock)"},
    {DEADLOCK_ONE_THREAD, '1', "one-thread", NULL,
     "exit with 3 also for locks that one thread acquired in both orders"},
    {DEADLOCK_WIDE, 'w', "wide", NULL,
     "names in full on a terminal, too; without it they are shortened to fit its lines"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_deadlock = {
    .name = "deadlock",
    .summary = "show deadlocked threads and lock-order inversions, with their locations",
    .usage = "[--format FORM] [--suppressions FILE] [--one-thread] DIR|PID",
    .about = "Analyzes the recording DIR of a running or ended process, or the running process PID: deadlocked\n"
             "threads with the locks that each holds and waits for and the call sites, and lock-order inversions that\n"
             "could lead to a deadlock. Blocked threads that may still be woken, and inversions that cannot deadlock,\n"
             "are shown as such and are not counted as deadlocks.\n",
    .options = deadlock_options,
    .exits =
        "  0  there is no deadlock and no lock-order inversion\n"
        "  1  DIR or PID cannot be read, or only a part without a finding, or the output could not be written\n"
        "  2  the command line is invalid\n"
        "  3  there is a deadlock or a lock-order inversion\n"
        "  4  there is none, but a process is stalled: all its threads sleep, and nothing is known that could wake "
        "one\n",
    .run = deadlock_run,
};

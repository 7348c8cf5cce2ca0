/* SPDX-License-Identifier: MIT */
/* Summary line of a recording, and reasons for an incomplete one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ui/disk.h"
#include "ui/library.h"
#include "ui/memory.h"
#include "ui/output.h"
#include "record.h"
#include "upmu/analysis.h"
#include "upmu/control.h"
#include "upmu/trace.h"

struct totals {
    uint64_t events;
    uint64_t lost;
    uint64_t threads;
    size_t processes;
    size_t running;
    size_t unsynced; /* processes in which sync tracing did not begin */
};

static int summary_add_process(const struct upmu_control *control, size_t index, struct totals *t)
{
    struct upmu_control_status s = {.size = sizeof s};
    if (upmu_control_status_read(control, index, &s) != 0)
        return -1;
    t->events += s.events;
    t->lost += s.lost;
    t->threads += s.threads;
    t->running += s.running;
    t->unsynced += s.mode == UPMU_CONTROL_NO_SYNC && s.events == 0;
    t->processes++;
    return 0;
}

static int summary_add_processes(const char *dir, struct totals *t)
{
    struct upmu_control *control;
    struct upmu_trace_repair_result repair = {.size = sizeof repair};
    int rc = upmu_control_open(&control, dir);
    if (rc != 0)
        return rc;
    rc = upmu_trace_repair(dir, &repair);
    for (size_t i = 0; rc == 0 && i < upmu_control_process_count(control); i++)
        rc = summary_add_process(control, i, t);
    upmu_control_close(control);
    return rc;
}

/* Why the library cannot be loaded, as for a library that it needs: to be freed; NULL if it can be. In a process of its own, since its
 * constructor would record this one if the environment asks for that. */
static char *summary_library_problem(void)
{
    enum { WHY_MAX = 512 };
    char why[WHY_MAX];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t child = fork();
    if (child == 0) {
        clearenv();
        char *problem = library_problem("libupmu_sync.so.0", "upmu_sync_begin");
        _exit(problem && write(ends[1], problem, strlen(problem)) < 0);
    }
    close(ends[1]);
    ssize_t n = child > 0 ? read(ends[0], why, sizeof why - 1) : 0;
    close(ends[0]);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    return n > 0 ? memory_format("%.*s", (int)n, why) : NULL;
}

/* Nothing is there although the command ran. */
static void summary_explain_nothing(const char *dir, const char *shown, const char *failed)
{
    struct statvfs fs;
    char *problem = failed ? NULL : summary_library_problem();
    if (problem)
        complain("nothing was recorded: the library cannot be loaded into the command: %s. Install what is missing",
                 problem);
    else if (failed)
        complain("nothing was recorded: %s failed before a rank called MPI_Init()", failed);
    else if (statvfs(dir, &fs) == 0 && fs.f_bavail == 0)
        complain("nothing was recorded: the disk of %s is full", shown);
    else
        complain(
            "nothing was recorded: the library was not loaded into the command (does it empty its environment, or is "
            "it not readable?), or it could not write to %s",
            shown);
    free(problem);
}

static const char *summary_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Forked children without a recording, of all processes. */
static uint64_t summary_children(const char *dir)
{
    struct upmu_trace *trace;
    uint64_t n = 0;
    if (upmu_trace_open(&trace, dir) != 0)
        return 0;
    for (size_t i = 0; i < upmu_trace_process_count(trace); i++) {
        struct upmu_trace_process p = UPMU_INIT(struct upmu_trace_process);
        if (upmu_trace_process_at(trace, i, &p) == 0)
            n += p.children_unrecorded;
    }
    upmu_trace_close(trace);
    return n;
}

static void summary_write(FILE *to, const struct totals *t, const char *dir, const char *shown, const char *view,
                          uint64_t ns)
{
    fprintf(to, "upmu: %" PRIu64 " record%s of %zu process%s and %" PRIu64 " thread%s", t->events,
            summary_plural(t->events), t->processes, t->processes == 1 ? "" : "es", t->threads,
            summary_plural(t->threads));
    fprintf(to, ", %" PRIu64 " lost", t->lost);
    uint64_t children = summary_children(dir);
    if (children)
        fprintf(to, ", at least %" PRIu64 " forked child%s not recorded", children, children == 1 ? "" : "ren");
    if (t->running)
        fprintf(to, ", %zu still running", t->running);
    fputs(", in ", to);
    output_clean(to, shown);
    uint64_t bytes = disk_bytes(dir);
    if (bytes != UINT64_MAX) {
        char *text = disk_text(bytes, t->threads, ns);
        char *memory = disk_memory_text(dir);
        fprintf(to, " (%s%s%s)", text, memory ? "; memory " : "", memory ? memory : "");
        free(text);
        free(memory);
    }
    char *path = output_shell_path(shown);
    fprintf(to, "; next: upmu report %s%s\n", view, path);
    free(path);
}

/* By one write, beside whatever else writes to the terminal. */
static void summary_print(const struct totals *t, const char *dir, const char *shown, const char *view, uint64_t ns)
{
    char *line = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&line, &bytes);
    summary_write(to ? to : stderr, t, dir, shown, view, ns);
    if (to && fclose(to) == 0)
        fwrite(line, 1, bytes, stderr);
    free(line);
}

/* The causes, a line for each process. */
static void summary_explain_losses(const char *dir)
{
    struct upmu_trace *trace;
    if (upmu_trace_open(&trace, dir) != 0)
        return; /* the report names what cannot be read */
    for (size_t i = 0; i < upmu_trace_process_count(trace); i++) {
        struct upmu_trace_process p = UPMU_INIT(struct upmu_trace_process);
        if (upmu_trace_process_at(trace, i, &p) == 0 && p.lost_note[0])
            complain("process %ld lost records: %s", (long)p.pid, p.lost_note);
    }
    upmu_trace_close(trace);
}

void record_explain_switches(const char *dir)
{
    struct upmu_trace *trace;
    char *said = memory_copy("");
    if (upmu_trace_open(&trace, dir) != 0)
        trace = NULL;
    for (size_t i = 0; i < upmu_trace_process_count(trace); i++) {
        struct upmu_trace_process p = UPMU_INIT(struct upmu_trace_process);
        if (upmu_trace_process_at(trace, i, &p) != 0 || !p.sched_note[0] || strcmp(p.sched_note, said) == 0)
            continue;
        complain("%s", p.sched_note);
        free(said);
        said = memory_copy(p.sched_note);
    }
    upmu_trace_close(trace);
    free(said);
}

static int summarize(const char *dir, const char *shown_dir, const char *view, uint64_t ns, const char *failed)
{
    struct totals t = {0};
    int rc = summary_add_processes(dir, &t);
    if (rc == UPMU_E_FORMAT && t.processes == 0) {
        summary_explain_nothing(dir, shown_dir, failed);
        return -1;
    }
    if (rc != 0) {
        complain("%s; the recorded data is in %s", upmu_error(), shown_dir);
        return -1;
    }
    summary_print(&t, dir, shown_dir, view, ns);
    if (t.unsynced == t.processes && t.lost == 0) {
        complain("locks could not be recorded in the command: see the library's message above");
        return -1;
    }
    if (t.lost == 0)
        return 0;
    complain("%" PRIu64 " event%s lost; the other events are kept", t.lost, summary_plural(t.lost));
    summary_explain_losses(dir);
    return -1;
}

int record_summary(const char *dir, const char *shown_dir, const char *view, uint64_t ns, const char *failed)
{
    int rc = summarize(dir, shown_dir, view, ns, failed);
    if (upmu_overview_save_jit_maps(dir) == UPMU_E_IO)
        complain("cannot save the names of run-time generated code: %s", upmu_error());
    return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * Begin and end of recording: options, counters, report.
 *
 * Without UPMU_ variables and upmu_region_setup() nothing here does anything. Errors in the environment cannot be returned
 * to a caller and become a note in the report.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process/environment.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/spare.h"
#include "base/text/suggest.h"
#include "base/text/textbuf.h"
#include "core/backend.h"
#include "base/forking.h"
#include "region/region_frames.h"
#include "core/check/self_check.h"
#include "core/machine/machine.h"
#include "mpi/launcher.h"

/* Counted by default: context switches need no system call where the kernel's page has them. */
#define DEFAULT_EVENTS "context-switches"

/* ------------------------------------------------------------------------------------------------- options */

static const char *const report_names[] = {
    [REPORT_NONE] = "none", [REPORT_TEXT] = "text", [REPORT_JSON] = "json", [REPORT_CSV] = "csv"};

static int setup_parse_report(const char *text, enum region_report *out)
{
    struct suggest s;
    suggest_begin(&s, text);
    for (size_t i = 0; i < sizeof report_names / sizeof *report_names; i++) {
        if (strcmp(text, report_names[i]) == 0) {
            *out = (enum region_report)i;
            return 0;
        }
        suggest_offer(&s, report_names[i]);
    }
    return upmu_fail(UPMU_E_INVAL, "unknown report format '%s'%s%s%s. Use text, json, csv or none.", text,
                     s.best ? "; did you mean '" : "", s.best ? s.best : "", s.best ? "'?" : "");
}

/* Make a path absolute: the program may change its directory before the report or a child's trace is written. */
static char *setup_absolute_path(const char *path, bool pattern)
{
    char here[PATH_MAX];
    if (!path || !*path)
        return NULL;
    if (*path == '/' || strcmp(path, UPMU_TRACE_MEMORY) == 0 || !getcwd(here, sizeof here))
        return strdup(path);
    struct textbuf b = {0};
    for (const char *p = here; *p; p++)
        textbuf_add(&b, pattern && *p == '%' ? "%%" : p, pattern && *p == '%' ? 2 : 1);
    textbuf_printf(&b, "/%s", path);
    if (b.failed)
        textbuf_free(&b);
    return b.data;
}

/* ------------------------------------------------------------------------------------------------- set up */

static void setup_keep_reason(size_t i, void *arg)
{
    char **reasons = arg;
    free(reasons[i]);
    reasons[i] = strdup(upmu_error());
}

/* Failures that may not affect the next thread: no descriptors, locked memory or memory. */
static bool cause_may_be_temporary(int cause)
{
    return cause == UPMU_E_NFILES || cause == UPMU_E_MLOCK || cause == UPMU_E_NOMEM || cause == UPMU_E_BUSY;
}

/* An event refused for missing rights or hardware is refused in every thread: do not try again. */
static int setup_note_absent(struct region_process *p, const struct counters *c, size_t i)
{
    struct counter_list *list = &p->list;
    int cause = counters_cause(c, i);
    if (!list->absent[i] && cause && !cause_may_be_temporary(cause)) {
        (void)upmu_fail(cause, "%s", p->event_reasons[i] ? p->event_reasons[i] : upmu_strerror(cause));
        return counter_list_leave_out(list, i, cause);
    }
    if (list->reason[i] && !p->event_reasons[i])
        p->event_reasons[i] = strdup(list->reason[i]);
    if (c->counter[i].all_modes && !p->event_reasons[i])
        p->event_reasons[i] = strdup("counted in user and kernel mode: this PMU does not separate them");
    return 0;
}

/* Open the events once in the calling thread, to find how they are counted and why some are not. */
static int setup_try_events(struct region_process *p)
{
    p->event_names = calloc(p->list.n + 1, sizeof *p->event_names);
    p->event_reasons = calloc(p->list.n + 1, sizeof *p->event_reasons);
    void *arena = calloc(1, counters_arena(&p->list));
    if (!p->event_names || !p->event_reasons || !arena) {
        free(arena);
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    }
    struct counters c;
    const struct counter_target target = {.cpu = -1,
                                          .self = true,
                                          .running = true,
                                          .late_page = p->late_page,
                                          .backend = p->list.backend,
                                          .explain = true,
                                          .failed = setup_keep_reason,
                                          .failed_arg = p->event_reasons};
    (void)counters_open(&c, &p->list, &target, arena);
    int rc = 0;
    for (size_t i = 0; i < p->list.n && rc == 0; i++) {
        counters_name(&c, i, p->event_names[i], sizeof p->event_names[i]);
        rc = setup_note_absent(p, &c, i);
    }
    counters_close(&c, false);
    free(arena);
    return rc;
}

static int setup_map_shared(struct region_process *p)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    if (madvise(memory, page, MADV_WIPEONFORK) != 0) {
        munmap(memory, page);
        return upmu_fail(UPMU_E_SYSTEM, "this kernel cannot clear memory in forked children (MADV_WIPEONFORK, Linux "
                                        "4.14): regions stay off");
    }
    p->shared = memory;
    return 0;
}

/* Copy standard error for the report: programs close theirs in exit handlers that run before it. Not with an output file: a
 * caller that waits for the other end to be closed (of a daemon) would wait for this copy. */
static void setup_copy_stderr(struct region_process *p)
{
    struct stat st;
    if (p->report == REPORT_NONE || p->output || fstat(STDERR_FILENO, &st) < 0)
        return;
    p->stderr_fd = -1;
    if (spare_descriptors_left())
        p->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 200);
    if (p->stderr_fd < 0 && spare_descriptors_left()) /* the limit is below that number */
        p->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    p->stderr_dev = st.st_dev;
    p->stderr_ino = st.st_ino;
}

/* Descriptor for a report without a file: the former standard error, if it is still the same file. A program that closes
 * every descriptor may have reused the number. @return a descriptor, or -1. */
static int report_stderr(const struct region_process *p)
{
    struct stat st;
    const int candidates[] = {p->stderr_fd, STDERR_FILENO};
    for (size_t i = 0; i < 2; i++)
        if (candidates[i] >= 0 && fstat(candidates[i], &st) == 0 && st.st_dev == p->stderr_dev &&
            st.st_ino == p->stderr_ino)
            return candidates[i];
    return p->output ? STDERR_FILENO : -1; /* reports that the file cannot be written */
}

/* With a backend from the environment that cannot be used (`lenient`), counts are missing but times are measured. */
static int setup_backend(const char *option, bool lenient, const char **events, enum kernel_backend *backend)
{
    int rc = backend_choose(option, backend);
    if (rc == 0 || !lenient)
        return rc;
    region_note(upmu_error());
    *events = "none";
    *backend = KERNEL_BACKEND_PERF;
    return 0;
}

/* They need no CPU: to examine it costs a process that is only recorded as much as to open its trace, and more with the number of
 * processors. */
static int setup_default_events(struct counter_list *list, bool lenient)
{
    struct machine any;
    int rc = machine_of_cpu("generic", &any);
    return rc < 0 ? rc : counter_list_make_on(&any, list, DEFAULT_EVENTS, UPMU_REGION_EVENTS_MAX, lenient);
}

static int setup_events(struct region_process *p, const char *events, const char *option, bool lenient)
{
    enum kernel_backend backend;
    int rc = setup_backend(option, lenient, &events, &backend);
    if (rc < 0)
        return rc;
    p->time_only = events && strcmp(events, "none") == 0;
    p->asked = events != NULL;
    p->late_page = !events && backend == KERNEL_BACKEND_PERF;
    const char *list = p->time_only ? "" : events ? events : DEFAULT_EVENTS;
    rc = p->late_page ? setup_default_events(&p->list, lenient)
                      : counter_list_make(&p->list, list, UPMU_REGION_EVENTS_MAX, lenient, backend);
    if (rc < 0)
        return rc;
    if (p->list.dropped > 0) {
        char text[96];
        snprintf(text, sizeof text, "%zu events were left out: a region counts at most %d", p->list.dropped,
                 UPMU_REGION_EVENTS_MAX);
        region_note(text);
    }
    rc = self_check_list(&p->list);
    return rc < 0 ? rc : setup_try_events(p);
}

static int setup_all(const struct upmu_region_opts *o, bool lenient)
{
    struct region_process *p = &upmu_regions;
    const char *report = region_option("UPMU_REPORT", o->report);
    int rc = report ? setup_parse_report(report, &p->report) : 0;
    if (rc < 0 && lenient) {
        p->report = REPORT_TEXT;
        region_note(upmu_error());
    } else if (rc < 0) {
        return rc;
    }
    clock_start();
    clock_sample(&p->start);
    rc = setup_events(p, region_option("UPMU_EVENTS", o->events), o->backend, lenient);
    if (rc == 0)
        rc = region_names_start();
    if (rc == 0)
        rc = region_threads_start();
    if (rc < 0)
        return rc;
    p->output = setup_absolute_path(region_option("UPMU_OUTPUT", o->output), true);
    p->trace_dir = setup_absolute_path(region_option("UPMU_TRACE", o->trace), false);
    setup_copy_stderr(p);
    p->kernel_locks = region_option("UPMU_KERNEL_LOCKS", NULL) != NULL;
    if (p->trace_dir && (region_option("UPMU_SCHED", NULL) || p->kernel_locks))
        region_sched_start(p);
    if (p->trace_dir && (rc = region_trace_open(p, region_filters())) < 0) {
        if (!lenient)
            return rc;
        region_note(upmu_error()); /* times are still measured */
    }
    p->step_ticks = (uint64_t)(clock_hz(200000) / 1000); /* the trace may have an earlier time to fit from */
    if ((rc = setup_map_shared(p)) < 0)
        return rc;
    if (region_option("UPMU_REGION_THREADS", NULL)) {
        bool cut;
        p->life_id = region_name_id("(thread)", &cut);
    }
    __atomic_store_n(&p->shared->alive, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&upmu_region_gate_, 1, __ATOMIC_RELEASE);
    return 0;
}

/* Undo a failed set-up, so that it can be tried again. */
static void setup_undo(struct region_process *p)
{
    if (p->trace)
        trace_writer_close(p->trace);
    trace_memory_remove(p->memory);
    for (size_t i = 0; p->event_reasons && i < p->list.n; i++)
        free(p->event_reasons[i]);
    free(p->event_reasons);
    free(p->event_names);
    free(p->output);
    free(p->trace_dir);
    free(p->note);
    counter_list_free(&p->list);
    *p = (struct region_process){.stderr_fd = -1};
}

int upmu_region_setup(const struct upmu_region_opts *opts)
{
    struct upmu_region_opts ours;
    int rc = OPTS_TAKE(ours, opts, UPMU_REGION_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    forking_take(FORKING_SETUP);
    rc = 1;
    if (!upmu_regions.shared)
        rc = setup_all(&ours, false);
    else if (!upmu_regions.from_environment)
        rc = upmu_fail(UPMU_E_STATE, "regions are already on, by an earlier call");
    if (rc < 0 && !upmu_regions.shared)
        setup_undo(&upmu_regions);
    forking_give(FORKING_SETUP);
    return rc;
}

/* Regions are on without a trace: open one now. Running threads acquire their streams at their next event. */
static int setup_add_trace(struct region_process *p, const char *dir)
{
    const char *chosen = region_option("UPMU_TRACE", dir);
    if (p->trace)
        return 0;
    free(p->trace_dir);
    p->trace_dir = setup_absolute_path(chosen, false);
    return p->trace_dir ? region_trace_open(p, region_filters()) : upmu_fail(UPMU_E_NOMEM, "out of memory");
}

int region_ensure_trace(const char *dir)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .trace = dir};
    forking_take(FORKING_SETUP);
    int rc = upmu_regions.shared ? setup_add_trace(&upmu_regions, dir) : setup_all(&opts, false);
    if (rc < 0 && !upmu_regions.shared)
        setup_undo(&upmu_regions);
    forking_give(FORKING_SETUP);
    return rc;
}

/* The upmu command defines it: the variables of its environment are meant for the programs that it starts. */
extern const char upmu_variables_are_for_others_ __attribute__((weak));

/* The launcher of an MPI job, of which only the ranks are recorded, or a program between both. */
static bool setup_is_launcher(void)
{
    const char *mpi = region_option("UPMU_MPI", NULL);
    return mpi && strcmp(mpi, "ranks") == 0 && launcher_rank() < 0;
}

static int setup_is_in_environment(void)
{
    if (&upmu_variables_are_for_others_ || setup_is_launcher())
        return 0;
    return region_option("UPMU_EVENTS", NULL) || region_option("UPMU_REPORT", NULL) ||
           region_option("UPMU_OUTPUT", NULL) || region_option("UPMU_TRACE", NULL);
}

/* Prints "libupmu: SUBJECT: REASON" to standard error, where no report will carry it. */
static void setup_print_note(const char *subject, const char *reason)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "libupmu: %s: %s\n", subject, reason);
    (void)textbuf_write(&b, STDERR_FILENO);
    textbuf_free(&b);
}

/* Named once: in the note of the report, or printed if only lock tracing is on, which has no report. */
static void setup_note_unknown_variables(bool regions)
{
    struct textbuf b = {0};
    bool any = environment_unknown(&b, true) > 0 && !b.failed;
    if (any && regions)
        region_note(b.data);
    else if (any)
        setup_print_note("environment", b.data);
    textbuf_free(&b);
}

__attribute__((constructor)) static void region_load(void)
{
    if (!setup_is_in_environment()) {
        if (region_option("UPMU_SYNC", NULL))
            setup_note_unknown_variables(false);
        return;
    }
    /* Named events or a named file ask for a report; a trace alone does not. */
    bool table = region_option("UPMU_EVENTS", NULL) || region_option("UPMU_OUTPUT", NULL);
    struct upmu_region_opts opts = {.size = sizeof opts, .report = table ? "text" : NULL};
    forking_take(FORKING_SETUP);
    upmu_regions.from_environment = true;
    setup_note_unknown_variables(true);
    if (setup_all(&opts, true) < 0)
        setup_print_note("regions are off", upmu_error());
    else if (upmu_regions.report == REPORT_NONE && upmu_regions.note)
        setup_print_note("regions", upmu_regions.note); /* there is no report for it */
    forking_give(FORKING_SETUP);
}

/* ---------------------------------------------------------------------------------------------------- exit */

/* Path of the output with %p, %h and %% filled in; allocated, NULL without memory. */
static char *report_output_path(const char *pattern, bool child)
{
    struct textbuf b = {0};
    bool has_pid = false;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (const char *p = pattern; *p; p++) {
        if (*p == '%' && p[1] == 'p') {
            textbuf_printf(&b, "%d", (int)getpid());
            has_pid = true;
        } else if (*p == '%' && p[1] == 'h') {
            textbuf_printf(&b, "%s", host);
        } else {
            textbuf_add(&b, p, 1);
            p += *p == '%' && p[1] == '%';
            continue;
        }
        p++;
    }
    struct stat st;
    bool device = !b.failed && b.data && stat(b.data, &st) == 0 && !S_ISREG(st.st_mode);
    if (child && !has_pid && !device) /* never over the parent's report */
        textbuf_printf(&b, ".%d", (int)getpid());
    if (b.failed)
        textbuf_free(&b);
    return b.data;
}

static int report_open_output(const struct region_process *p, char **path)
{
    *path = report_output_path(p->output, p->child);
    if (!*path)
        return -ENOMEM;
    int fd = open(*path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

static void report_print_failure(int fd, const char *path, int err)
{
    struct textbuf b = {0};
    textbuf_printf(&b, "libupmu: cannot write the report to '%s': %s. It follows here:\n", path ? path : "?",
                   strerror(err));
    (void)textbuf_write(&b, fd);
    textbuf_free(&b);
}

/* Write the report to its file; if that fails, to standard error, so that no result is lost. */
static int report_write_or_stderr(const struct region_process *p, enum region_report format)
{
    int rc = -EBADF;
    if (p->output) {
        char *path;
        int fd = report_open_output(p, &path);
        rc = fd < 0 ? fd : region_report_write(format, fd);
        if (fd >= 0 && close(fd) < 0 && rc == 0)
            rc = -errno;
        if (rc < 0)
            report_print_failure(report_stderr(p), path, -rc);
        free(path);
        if (rc == 0)
            return 0;
    }
    int fd = report_stderr(p);
    return fd < 0 ? -EBADF : region_report_write(format, fd);
}

int upmu_region_report(int fd)
{
    struct region_process *p = &upmu_regions;
    if (!p->shared || !p->shared->alive)
        return upmu_fail(UPMU_E_STATE, "upmu_region_report: regions are off");
    enum region_report format = p->report == REPORT_NONE ? REPORT_TEXT : p->report;
    if (fd < 0 && p->report == REPORT_NONE)
        return upmu_fail(UPMU_E_STATE,
                         "upmu_region_report: `fd` is negative, and no report was set up (UPMU_REPORT or opts.report)");
    int rc = fd >= 0 ? region_report_write(format, fd) : report_write_or_stderr(p, format);
    return rc < 0 ? upmu_fail(UPMU_E_IO, "cannot write the report: %s", strerror(-rc)) : 0;
}

void region_finish(bool restricted)
{
    struct region_process *p = &upmu_regions;
    /* In a child that never used a region the shared page is zero: the data is its parent's. */
    if (!p->shared || !__atomic_load_n(&p->shared->alive, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&p->finished, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&upmu_region_gate_, 0, __ATOMIC_RELEASE);
    struct region_thread *t = region_thread_ready();
    if (t)
        region_life_end(t);
    if (p->report != REPORT_NONE)
        (void)report_write_or_stderr(p, p->report);
    region_sched_finish();
    if (p->trace && restricted)
        trace_writer_restrict(p->trace);
    if (p->trace)
        trace_writer_close(p->trace);
    if (p->trace && restricted)
        trace_writer_wait_for_others(p->trace);
    trace_memory_remove(p->memory);
}

__attribute__((destructor)) static void region_unload(void)
{
    region_finish(false);
}

/* SPDX-License-Identifier: MIT */
/* Waiting for the end of a recorded command, reporting deadlocks when they occur. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "deadlock/deadlock.h"
#include "mpi/mpi.h"
#include "record.h"
#include "stat/stat.h"
#include "upmu/control.h"
#include "upmu/snapshot.h"

enum {
    WATCH_TEXT = 64,
    WATCH_QUIET_MS = 1000, /* a process that was forked at the end has begun to record by then, if it does */
};

static void watch_describe(char text[WATCH_TEXT], const struct upmu_deadlock *d)
{
    snprintf(text, WATCH_TEXT, "%s [%s] of %zu thread%s",
             d->certainty == UPMU_DEADLOCK_CERTAIN ? "deadlock" : "stalled", upmu_deadlock_kind_name(d->kind),
             d->n_threads, d->n_threads == 1 ? "" : "s");
}

/* Adds a mark to the trace. The next event of the process writes it: never, if all its threads are blocked; the wait-state file still
 * has the deadlock. */
static void watch_mark(const char *process, const char *text)
{
    struct upmu_control *control;
    if (upmu_control_open(&control, process) != 0)
        return;
    int rc = upmu_control_mark(control, 0, text);
    if (rc < 0 && rc != UPMU_E_BUSY) /* an earlier mark is still pending */
        complain("cannot mark the deadlock in the trace: %s", upmu_error());
    upmu_control_close(control);
}

/* The recorded program has the triggers: another one may be recorded by the same command. */
static bool watch_snapshots_wanted(const struct record_watch *w)
{
    struct upmu_snapshot_totals totals = {.size = sizeof totals};
    return w->snapshots && upmu_snapshot_watch_totals_read(w->snapshots, &totals) == 0 && totals.deadlocks > 0;
}

static void watch_report(struct record_watch *w, const char *process)
{
    struct deadlock_report r = {.subject = process};
    struct upmu_deadlock d = {.size = sizeof d};
    char text[WATCH_TEXT];
    if (upmu_deadlock_watch_take(w->deadlocks, &r.deadlocks) < 0) {
        complain("a deadlock was found, but cannot be reported: %s", upmu_error());
        return;
    }
    r.report = (struct report){.overview = upmu_deadlocks_overview(r.deadlocks), .dir = process};
    for (size_t i = 0; upmu_deadlocks_at(r.deadlocks, i, &d) == 0; i++) {
        bool wanted = d.certainty == UPMU_DEADLOCK_CERTAIN || d.certainty == UPMU_DEADLOCK_STALLED;
        if (!wanted || d.suppressed)
            continue;
        watch_describe(text, &d); /* what is printed is in the recording: its reader may end the program at once */
        watch_mark(process, text);
        if (watch_snapshots_wanted(w))
            snapshots_take(w->snapshots, text);
        if (w->out)
            deadlock_write_one(w->out, &r, i);
    }
    if (w->out)
        (void)fflush(w->out->file); /* an error is reported when the output is closed */
    upmu_deadlocks_close(r.deadlocks);
}

static void watch_report_ranks(struct record_watch *w, struct upmu_mpi *mpi)
{
    struct upmu_mpi_deadlock d = {.size = sizeof d};
    struct upmu_mpi_deadlock_thread t = {.size = sizeof t};
    struct upmu_overview *o = NULL;
    char text[WATCH_TEXT];
    if (upmu_overview_open(&o, w->dir, NULL) != 0)
        complain("call stacks cannot be read: %s", upmu_error());
    for (size_t i = 0; upmu_mpi_deadlock_at(mpi, i, &d) == 0; i++) {
        snprintf(text, sizeof text, "deadlock [%s] across MPI ranks", upmu_mpi_deadlock_name(d.kind));
        if (watch_snapshots_wanted(w) && upmu_mpi_deadlock_thread_at(mpi, i, 0, &t) == 0)
            snapshots_take(w->snapshots, text);
        if (w->out)
            mpi_write_deadlock(w->out, o, mpi, i);
    }
    if (w->out)
        (void)fflush(w->out->file); /* an error is reported when the output is closed */
    upmu_overview_close(o);
    upmu_mpi_close(mpi);
}

void record_watch_ranks(struct record_watch *w, const char *dir)
{
    w->dir = dir;
    if (upmu_mpi_watch_open(&w->ranks, dir) != 0)
        complain("deadlocks across MPI ranks will not be reported: %s", upmu_error());
}

void record_watch_open(struct record_watch *w, const char *dir, struct upmu_snapshot_watch *snapshots,
                       struct output *out)
{
    *w = (struct record_watch){.snapshots = snapshots, .out = out};
    if (upmu_deadlock_watch_open(&w->deadlocks, dir) != 0) {
        complain("deadlocks will not be reported: %s", upmu_error());
        w->deadlocks = NULL;
    }
}

void record_watch_step(struct record_watch *w, bool deadlocks)
{
    const char *process;
    snapshots_poll(w->snapshots);
    if (deadlocks && w->deadlocks && upmu_deadlock_watch_poll(w->deadlocks, &process) > 0)
        watch_report(w, process);
    struct upmu_mpi *mpi;
    if (deadlocks && w->ranks && upmu_mpi_watch_poll(w->ranks, &mpi) > 0)
        watch_report_ranks(w, mpi);
}

void record_watch_close(struct record_watch *w)
{
    upmu_mpi_watch_close(w->ranks);
    upmu_deadlock_watch_close(w->deadlocks);
    snapshots_close(w->snapshots);
}

static bool watch_is_over(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 ? errno != EINTR : info.si_pid == pid;
}

/* The time until samples are written again, at most `most`. */
static int watch_pause(struct upmu_sampler *sampler, int most)
{
    int ms = sampler ? upmu_sampler_drain(sampler) : most;
    return ms > 0 && ms < most ? ms : most; /* that the file cannot be written is reported at the end */
}

/* Whether a process of the recording runs. */
static bool watch_finds_running(const char *dir)
{
    struct upmu_control *control;
    struct upmu_control_status s = {.size = sizeof s};
    bool running = false;
    if (upmu_control_open(&control, dir) != 0)
        return false;
    for (size_t i = 0; !running && upmu_control_status_read(control, i, &s) == 0; i++)
        running = s.running;
    upmu_control_close(control);
    return running;
}

/* The command has ended; others that it has started, as daemons do, are watched until they end or a signal comes. */
static void watch_others(const struct record_request *request, struct record_watch *watch)
{
    int quiet_ms = 0;
    while (quiet_ms <= WATCH_QUIET_MS && stat_signals_seen() == 0) {
        int ms = watch_pause(request->sampler, RECORD_LOOK_MS);
        if (poll(NULL, 0, ms) != 0)
            continue; /* a signal */
        record_watch_step(watch, true);
        quiet_ms = watch_finds_running(request->dir) ? 0 : quiet_ms + ms;
    }
}

static uint64_t watch_clock_ns(void)
{
    enum { NS_PER_SECOND = 1000000000 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void record_watch(struct record_request *request, pid_t pid)
{
    struct record_watch watch;
    struct output out;
    const char *file = request->deadlocks;
    bool open = (file && output_file(&out, file) == 0) || output_standard(&out, OUTPUT_STDERR) == 0;
    /* Without one (before Linux 5.3) poll() takes the descriptor -1 for nothing to wait for, and the time passes. */
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    uint64_t begin_ns = watch_clock_ns();
    struct upmu_snapshot_watch *snapshots = snapshots_open(&request->snapshots, request->dir, request->shown);
    int pause_ms = snapshots ? RECORD_POLL_MS : RECORD_LOOK_MS;
    record_watch_open(&watch, request->dir, snapshots, open ? &out : NULL);
    if (request->record_mpi)
        record_watch_ranks(&watch, request->dir);
    int step_ms = 0, deadlocks_ms = 0; /* since the last time */
    while (!watch_is_over(pid)) {
        int ms = watch_pause(request->sampler, pause_ms);
        step_ms += ms;
        deadlocks_ms += ms;
        if (poll(&end, 1, ms) != 0 || step_ms < pause_ms)
            continue;
        record_watch_step(&watch, deadlocks_ms >= RECORD_LOOK_MS);
        step_ms = 0;
        deadlocks_ms = deadlocks_ms >= RECORD_LOOK_MS ? 0 : deadlocks_ms;
    }
    if (request->wait_all)
        watch_others(request, &watch);
    request->ran_ns = watch_clock_ns() - begin_ns;
    record_watch_close(&watch);
    if (open)
        (void)output_close(&out); /* an error was printed; the exit status is that of the command */
    if (end.fd >= 0)
        close(end.fd);
}

/* SPDX-License-Identifier: MIT */
/*
 * Text formats of Prometheus (0.0.4) and OpenMetrics (1.0).
 *
 * All samples of a family follow each other, so that families are the outer loop. A sample has the labels that make it unique: locks
 * of one name have different addresses or generations.
 */
#include <inttypes.h>

#include "base/text/printable.h"
#include "metrics.h"
#include "report/report.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE };

struct page {
    FILE *out;
    bool prometheus;
};

/* `name` without "_total". */
static void page_family(const struct page *p, const char *name, enum metric_type type, const char *unit,
                        const char *help)
{
    const char *suffix = p->prometheus && type == METRIC_COUNTER ? "_total" : "";
    fprintf(p->out, "# TYPE %s%s %s\n", name, suffix, type == METRIC_COUNTER ? "counter" : "gauge");
    if (!p->prometheus && unit)
        fprintf(p->out, "# UNIT %s %s\n", name, unit);
    fprintf(p->out, "# HELP %s%s %s\n", name, suffix, help);
}

/* A label's value: control characters and bytes that are not UTF-8 are escaped as base/text/printable.h does. */
static void page_label(const struct page *p, char before, const char *name, const char *value)
{
    fprintf(p->out, "%c%s=\"", before, name);
    while (*value) {
        char shown[PRINTABLE_MAX];
        value += printable_next(value, shown);
        for (const char *c = shown; *c; c++) {
            if (*c == '"' || *c == '\\')
                fputc('\\', p->out);
            fputc(*c, p->out);
        }
    }
    fputc('"', p->out);
}

/* The beginning of a sample; further labels and page_value() follow. */
static void page_sample(const struct page *p, const char *name, const struct metrics_process *of)
{
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", (long)of->pid);
    fputs(name, p->out);
    page_label(p, '{', "pid", pid);
    page_label(p, ',', "command", of->command);
}

static void page_value(const struct page *p, uint64_t value)
{
    fprintf(p->out, "} %" PRIu64 "\n", value);
}

static void page_seconds(const struct page *p, uint64_t ns)
{
    fprintf(p->out, "} %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

/* -------------------------------------------------------------------------------------------------- of processes */

static const struct process_metric {
    const char *name, *sample, *help;
    enum metric_type type;
} process_metrics[] = {
    {"upmu_events", "upmu_events_total", "Events recorded.", METRIC_COUNTER},
    {"upmu_lost_events", "upmu_lost_events_total", "Events that could not be recorded.", METRIC_COUNTER},
    {"upmu_threads", "upmu_threads", "Threads with events.", METRIC_GAUGE},
    {"upmu_recording", "upmu_recording", "1: locks are being recorded; 0: recording is paused or stopped.",
     METRIC_GAUGE},
    {"upmu_deadlocked_threads", "upmu_deadlocked_threads", "Threads in a certain deadlock.", METRIC_GAUGE},
};

static uint64_t process_value(const struct metrics_process *of, size_t which)
{
    switch (which) {
    case 0:
        return of->status.events;
    case 1:
        return of->status.lost;
    case 2:
        return of->status.threads;
    case 3:
        return of->status.mode >= 0;
    default:
        return of->n_deadlocked;
    }
}

static void print_processes(const struct page *p, const struct metrics_process *all, size_t n)
{
    for (size_t m = 0; m < sizeof process_metrics / sizeof *process_metrics; m++) {
        page_family(p, process_metrics[m].name, process_metrics[m].type, NULL, process_metrics[m].help);
        for (size_t i = 0; i < n; i++) {
            page_sample(p, process_metrics[m].sample, &all[i]);
            page_value(p, process_value(&all[i], m));
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ of locks */

static void lock_labels(const struct page *p, const struct upmu_monitor_lock *l)
{
    char number[24];
    page_label(p, ',', "type", report_type_name(l->type));
    page_label(p, ',', "lock", l->name);
    snprintf(number, sizeof number, "0x%" PRIx64, l->address);
    page_label(p, ',', "address", number);
    snprintf(number, sizeof number, "%" PRIu32, l->generation);
    page_label(p, ',', "generation", number);
}

/* One family of all locks. */
static void print_locks(const struct page *p, const struct metrics_process *all, size_t n, const char *sample,
                        void (*value)(const struct page *p, const struct upmu_monitor_lock *l))
{
    struct upmu_monitor_lock l = {.size = sizeof l};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].n_locks && upmu_monitor_lock_at(all[i].monitor, k, &l) == 0; k++) {
            page_sample(p, sample, &all[i]);
            lock_labels(p, &l);
            value(p, &l);
        }
}

static void lock_waited(const struct page *p, const struct upmu_monitor_lock *l)
{
    page_seconds(p, l->total_ns);
}

static void lock_waits(const struct page *p, const struct upmu_monitor_lock *l)
{
    page_value(p, l->waits);
}

static void lock_waiters(const struct page *p, const struct upmu_monitor_lock *l)
{
    page_value(p, l->waiters);
}

static void print_all_locks(const struct page *p, const struct metrics_process *all, size_t n)
{
    page_family(p, "upmu_lock_wait_seconds", METRIC_COUNTER, "seconds", "Time that threads waited for the lock.");
    print_locks(p, all, n, "upmu_lock_wait_seconds_total", lock_waited);
    page_family(p, "upmu_lock_waits", METRIC_COUNTER, NULL, "Waits for the lock that have ended.");
    print_locks(p, all, n, "upmu_lock_waits_total", lock_waits);
    page_family(p, "upmu_lock_waiters", METRIC_GAUGE, NULL, "Threads that wait for the lock now.");
    print_locks(p, all, n, "upmu_lock_waiters", lock_waiters);
}

/* ---------------------------------------------------------------------------------------------------- of threads */

static void thread_sample(const struct page *p, const char *sample, const struct metrics_process *of,
                          const struct upmu_monitor_thread *t)
{
    char tid[24];
    snprintf(tid, sizeof tid, "%ld", (long)t->tid);
    page_sample(p, sample, of);
    page_label(p, ',', "tid", tid);
    page_label(p, ',', "thread", t->name);
}

static void print_thread_waits(const struct page *p, const struct metrics_process *all, size_t n)
{
    struct upmu_monitor_thread t = {.size = sizeof t};
    page_family(p, "upmu_thread_wait_seconds", METRIC_COUNTER, "seconds", "Time of the thread within recorded waits.");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; upmu_monitor_thread_at(all[i].monitor, k, &t) == 0; k++) {
            if (t.ended)
                continue;
            thread_sample(p, "upmu_thread_wait_seconds_total", &all[i], &t);
            page_seconds(p, t.waited_ns);
        }
}

enum thread_part { THREAD_CPU, THREAD_RUNNABLE, THREAD_SWITCHES };

static void print_thread_part(const struct page *p, const struct metrics_process *of,
                              const struct upmu_monitor_thread *t, const struct top_task *task, enum thread_part part)
{
    if (part != THREAD_SWITCHES) {
        thread_sample(p, part == THREAD_CPU ? "upmu_thread_cpu_seconds_total" : "upmu_thread_runnable_seconds_total",
                      of, t);
        page_seconds(p, part == THREAD_CPU ? task->run_ns : task->ready_ns);
        return;
    }
    for (int voluntary = 1; voluntary >= 0; voluntary--) {
        thread_sample(p, "upmu_thread_context_switches_total", of, t);
        page_label(p, ',', "kind", voluntary ? "voluntary" : "involuntary");
        page_value(p, voluntary ? task->voluntary : task->involuntary);
    }
}

/* What the kernel has of the threads; those of which it has nothing are left out. */
static void print_tasks(const struct page *p, const struct metrics_process *all, size_t n, enum thread_part part)
{
    struct upmu_monitor_thread t = {.size = sizeof t};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; upmu_monitor_thread_at(all[i].monitor, k, &t) == 0; k++) {
            const struct top_task *task = t.ended ? NULL : top_task_find(&all[i].tasks, t.tid);
            if (task)
                print_thread_part(p, &all[i], &t, task, part);
        }
}

void metrics_print(FILE *out, const struct metrics_process *all, size_t n, bool prometheus)
{
    const struct page p = {out, prometheus};
    print_processes(&p, all, n);
    print_all_locks(&p, all, n);
    print_thread_waits(&p, all, n);
    page_family(&p, "upmu_thread_cpu_seconds", METRIC_COUNTER, "seconds", "Time of the thread on a CPU.");
    print_tasks(&p, all, n, THREAD_CPU);
    page_family(&p, "upmu_thread_runnable_seconds", METRIC_COUNTER, "seconds",
                "Time in which the thread was ready to run but had no CPU.");
    print_tasks(&p, all, n, THREAD_RUNNABLE);
    page_family(&p, "upmu_thread_context_switches", METRIC_COUNTER, NULL, "Context switches of the thread.");
    print_tasks(&p, all, n, THREAD_SWITCHES);
    if (!prometheus)
        fputs("# EOF\n", out);
}

/* SPDX-License-Identifier: MIT */
/* One update of upmu top: recording, kernel statistics of threads, counters. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ui/memory.h"
#include "ui/output.h"
#include "report/report.h"
#include "top.h"
#include "upmu/control.h"

double top_clock(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail: the clock exists and the pointer is ours */
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int top_failed(void)
{
    complain("%s", upmu_error());
    return -1;
}

static int top_open_counters(struct top *t, const char *events)
{
    const struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_PROCESS, .pid = t->pid};
    if (upmu_set_open(&t->set, events, &opts) < 0 || upmu_set_start(t->set) < 0)
        return top_failed();
    t->n_counts = upmu_set_event_count(t->set);
    t->counts = memory_array(t->n_counts + 1, sizeof *t->counts);
    t->counts_before = memory_array(t->n_counts + 1, sizeof *t->counts_before);
    return 0;
}

int top_open(struct top *t, const char *dir, const char *events)
{
    t->totals.size = sizeof t->totals;
    if (dir && upmu_monitor_open(&t->live, dir) < 0)
        return top_failed();
    if (dir && upmu_deadlock_watch_open(&t->watch, dir) != 0)
        return top_failed();
    t->updated_at = top_clock();
    return events ? top_open_counters(t, events) : 0;
}

void top_close(struct top *t)
{
    upmu_monitor_close(t->live);
    upmu_deadlock_watch_close(t->watch);
    upmu_set_close(t->set);
    top_deadlocks_free(t);
    top_bare_free_names(t);
    free(t->names);
    free(t->tasks.all);
    free(t->tasks_before.all);
    free(t->threads);
    free(t->locks);
    free(t->counts);
    free(t->counts_before);
}

/* ------------------------------------------------------------------------------------------------------ threads */

static double top_share(uint64_t now, uint64_t before, double seconds)
{
    double s = now > before && seconds > 0 ? (double)(now - before) * 1e-9 / seconds : 0;
    return s < 1 ? s : 1;
}

static void top_add_task(const struct top *t, struct top_thread *thread)
{
    const struct top_task *now = top_task_find(&t->tasks, thread->live.tid);
    const struct top_task *before = top_task_find(&t->tasks_before, thread->live.tid);
    static const struct top_task none;
    /* A thread that was not there at the last look has begun since. */
    if (!before && t->tasks_before.n > 0)
        before = &none;
    if (thread->live.pid != t->pid || !now || !before)
        return;
    thread->has_task = true;
    thread->running = top_share(now->run_ns, before->run_ns, t->interval_s);
    thread->ready = top_share(now->ready_ns, before->ready_ns, t->interval_s);
    thread->off = thread->running + thread->ready < 1 ? 1 - thread->running - thread->ready : 0;
    thread->voluntary = now->voluntary - before->voluntary;
    thread->involuntary = now->involuntary - before->involuntary;
}

/* Those that waited longest first. */
static int top_compare_threads(const void *a, const void *b)
{
    const struct top_thread *x = a, *y = b;
    if (x->live.waited_ns != y->live.waited_ns)
        return x->live.waited_ns > y->live.waited_ns ? -1 : 1;
    return x->live.tid < y->live.tid ? -1 : x->live.tid > y->live.tid;
}

/* The threads that live. */
static void top_read_recorded(struct top *t)
{
    struct upmu_monitor_thread live = {.size = sizeof live};
    t->threads = memory_resize(t->threads, t->totals.n_threads + 1, sizeof *t->threads);
    t->n_threads = 0;
    for (size_t i = 0; upmu_monitor_thread_at(t->live, i, &live) == 0; i++) {
        if (live.ended)
            continue;
        t->threads[t->n_threads++].live = live;
    }
}

static void top_read_threads(struct top *t)
{
    (t->live ? top_read_recorded : top_bare_read)(t);
    for (size_t i = 0; i < t->n_threads; i++) {
        t->threads[i] = (struct top_thread){.live = t->threads[i].live};
        top_add_task(t, &t->threads[i]);
    }
    if (t->n_threads > 0)
        qsort(t->threads, t->n_threads, sizeof *t->threads, top_compare_threads);
}

/* By process, type and group: locks that can be shown as one follow each other. */
static int top_compare_groups(const void *a, const void *b)
{
    const struct upmu_monitor_lock *x = &((const struct top_lock *)a)->live, *y = &((const struct top_lock *)b)->live;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->type != y->type ? (x->type < y->type ? -1 : 1) : strcmp(x->group, y->group);
}

static int top_compare_locks(const void *a, const void *b)
{
    const struct top_lock *x = a, *y = b;
    if (x->live.waited_ns != y->live.waited_ns)
        return x->live.waited_ns > y->live.waited_ns ? -1 : 1;
    return x->live.total_ns > y->live.total_ns ? -1 : x->live.total_ns < y->live.total_ns;
}

/* Locks of one group as the first of them, with the sums. */
static struct top_lock top_fold_locks(const struct top_lock *all, size_t n)
{
    struct top_lock sum = all[0];
    for (size_t k = 1; k < n; k++) {
        sum.live.waiters += all[k].live.waiters;
        sum.live.waits += all[k].live.waits;
        sum.live.waited_ns += all[k].live.waited_ns;
        sum.live.total_ns += all[k].live.total_ns;
    }
    sum.n = n;
    return sum;
}

static void top_read_locks(struct top *t)
{
    struct top_lock l = {.live.size = sizeof l.live, .n = 1};
    size_t n = 0, end, kept = 0;
    t->locks = memory_resize(t->locks, upmu_monitor_lock_count(t->live) + 1, sizeof *t->locks);
    while (upmu_monitor_lock_at(t->live, n, &l.live) == 0)
        t->locks[n++] = l;
    if (t->group_locks > 1)
        qsort(t->locks, n, sizeof *t->locks, top_compare_groups);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && t->group_locks > 1 && t->locks[i].live.group[0] &&
                          top_compare_groups(&t->locks[i], &t->locks[end]) == 0;)
            end++;
        if (t->group_locks > 1 && end - i >= t->group_locks)
            t->locks[kept++] = top_fold_locks(&t->locks[i], end - i);
        else
            for (size_t k = i; k < end; k++)
                t->locks[kept++] = t->locks[k];
    }
    t->n_locks = kept;
    qsort(t->locks, t->n_locks, sizeof *t->locks, top_compare_locks);
}

static void top_read_tasks(struct top *t)
{
    struct top_tasks before = t->tasks_before;
    t->tasks_before = t->tasks;
    t->tasks = before;
    t->tasks.n = 0;
    if (t->pid > 0)
        top_tasks_read(&t->tasks, t->pid);
}

static int top_read_counts(struct top *t)
{
    struct upmu_value *before = t->counts_before;
    if (!t->set)
        return 0;
    t->counts_before = t->counts;
    t->counts = before;
    return upmu_set_read(t->set, t->counts, t->n_counts) < 0 ? top_failed() : 0;
}

int top_update(struct top *t)
{
    double now = top_clock();
    t->interval_s = now - t->updated_at;
    t->updated_at = now;
    top_read_tasks(t);
    if (top_read_counts(t) != 0)
        return -1;
    if (t->live && (upmu_monitor_update(t->live) < 0 || upmu_monitor_totals_read(t->live, &t->totals) < 0))
        return top_failed();
    top_read_threads(t);
    if (t->live)
        top_read_locks(t);
    top_deadlocks_update(t);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- words */

char *top_object(int type, uint64_t address, const char *name)
{
    if (type == UPMU_OBJECT_CALL) /* named by the kind of the call */
        return memory_copy(name);
    if (name[0])
        return memory_format("%s %s", report_type_name(type), name);
    return memory_format("%s 0x%" PRIx64, report_type_name(type), address);
}

char *top_location(const struct top *t, uint32_t process, uint64_t address)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (address == 0 || upmu_monitor_line_at(t->live, process, address, 0, &s) != 0)
        return memory_copy("");
    return report_symbol_text(&s, address);
}

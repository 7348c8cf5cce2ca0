/* SPDX-License-Identifier: MIT */
/* Sized structs of every public function: the size of the first release, smaller, and larger with zero and unknown tails. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sized.h"
#include "upmu/analysis.h"
#include "upmu/arrow.h"
#include "upmu/control.h"
#include "upmu/deadlock.h"
#include "upmu/export.h"
#include "upmu/monitor.h"
#include "upmu/mpi.h"
#include "upmu/openmp.h"
#include "upmu/overflow.h"
#include "upmu/region.h"
#include "upmu/snapshot.h"
#include "upmu/subscription.h"
#include "upmu/sync.h"
#include "upmu/findings.h"
#include "upmu/functions.h"
#include "upmu/heap.h"
#include "upmu/sampler.h"
#include "upmu/samples.h"
#include "upmu/timeline.h"
#include "upmu/trace.h"

static const char *recording, *recorded_functions;
static uint32_t stack;
static struct upmu_set *command;
static struct upmu_plan *plan;
static struct upmu_trace *trace;
static struct upmu_overview *overview;
static struct upmu_timeline *timeline;
static struct upmu_findings *findings;
static struct upmu_overflow *overflow;
static struct upmu_functions *functions;
static struct upmu_monitor *monitor;
static struct upmu_subscription *subscription;
static struct upmu_control *control;
static struct upmu_deadlocks *deadlocks;
static struct upmu_deadlock_inspect *inspect;
static int failures;

/* CASE(struct, call): `p` points to the struct. */
#define CASES(CASE)                                                                                \
    CASE(upmu_event_info, upmu_event_find("page-faults", p))                                       \
    CASE(upmu_event_info, upmu_cpu_event_find("generic", "page-faults", p))                        \
    CASE(upmu_cpu_info, upmu_cpu_find("generic", p))                                               \
    CASE(upmu_cpu_info, upmu_cpu_at(0, p))                                                         \
    CASE(upmu_metric_info, upmu_metric_at(0, p))                                                   \
    CASE(upmu_metric_info, upmu_cpu_metric_at("generic", 0, p))                                    \
    CASE(upmu_metric_group_info, upmu_metric_group_at(NULL, 0, p))                                 \
    CASE(upmu_plan_entry, upmu_plan_entry_at(plan, 0, p))                                          \
    CASE(upmu_region_stats, upmu_region_stats_read("sized", UPMU_ALL_THREADS, p))                  \
    CASE(upmu_region_event_stats, upmu_region_event_stats_at("sized", UPMU_ALL_THREADS, 0, p))     \
    CASE(upmu_region_health, upmu_region_health_read(p))                                           \
    CASE(upmu_export_format, upmu_export_format_at(0, p))                                          \
    CASE(upmu_trace_process, upmu_trace_process_at(trace, 0, p))                                   \
    CASE(upmu_trace_process, upmu_overview_process_at(overview, 0, p))                             \
    CASE(upmu_trace_repair_result, upmu_trace_repair(recording, p))                                \
    CASE(upmu_overview_totals, upmu_overview_totals_read(overview, p))                             \
    CASE(upmu_overview_thread, upmu_overview_thread_at(overview, 0, p))                            \
    CASE(upmu_overview_thread_wait, upmu_overview_thread_wait_at(overview, 0, UPMU_WAIT_MUTEX, p)) \
    CASE(upmu_overview_sched, upmu_overview_sched_at(overview, 0, p))                              \
    CASE(upmu_overview_region, upmu_overview_region_at(overview, 0, p))                            \
    CASE(upmu_overview_path, upmu_overview_path_read(overview, 0, p))                              \
    CASE(upmu_symbol, upmu_overview_symbol_at(overview, 0, 1, 0, p))                               \
    CASE(upmu_timeline_totals, upmu_timeline_totals_read(timeline, p))                             \
    CASE(upmu_timeline_row, upmu_timeline_row_at(timeline, 0, p))                                  \
    CASE(upmu_monitor_totals, upmu_monitor_totals_read(monitor, p))                                \
    CASE(upmu_monitor_thread, upmu_monitor_thread_at(monitor, 0, p))                               \
    CASE(upmu_control_status, upmu_control_status_read(control, 0, p))                             \
    CASE(upmu_deadlocks_totals, upmu_deadlocks_totals_read(deadlocks, p))                          \
    CASE(upmu_trace_stack, upmu_trace_stack_find(trace, 0, stack, p))                              \
    CASE(upmu_trace_stack, upmu_overview_stack_find(overview, 0, stack, p))                        \
    CASE(upmu_trace_module, upmu_trace_module_at(trace, 0, 0, p))                                  \
    CASE(upmu_overview_object, upmu_overview_object_at(overview, 0, p))                            \
    CASE(upmu_overview_object_thread, upmu_overview_object_thread_at(overview, 0, 0, p))           \
    CASE(upmu_overview_call_site, upmu_overview_call_site_at(overview, 0, 0, p))                   \
    CASE(upmu_overview_section, upmu_overview_section_read(overview, 0, UPMU_SECTION_WAITED, p))   \
    CASE(upmu_overview_pair, upmu_overview_pair_at(overview, 0, p))                                \
    CASE(upmu_overview_path_segment, upmu_overview_path_segment_at(overview, 0, 0, p))             \
    CASE(upmu_overview_path_object, upmu_overview_path_object_at(overview, 0, 0, p))               \
    CASE(upmu_monitor_lock, upmu_monitor_lock_at(monitor, 0, p))                                   \
    CASE(upmu_usage, upmu_set_usage_read(command, p))                                              \
    CASE(upmu_export_opts, exported(p, NULL))                                                      \
    CASE(upmu_export_result, exported(NULL, p))                                                    \
    CASE(upmu_sync_opts, sync_begun(p))                                                            \
    CASE(upmu_set_opts, set_opened(p))                                                             \
    CASE(upmu_overflow_opts, overflow_opened(p))                                                   \
    CASE(upmu_overflow_info, upmu_overflow_info_read(overflow, p))                                 \
    CASE(upmu_overview_opts, overview_opened(p))                                                   \
    CASE(upmu_timeline_opts, timeline_opened(p))                                                   \
    CASE(upmu_deadlocks_opts, deadlocks_opened(p))                                                 \
    CASE(upmu_trace_filter_opts, upmu_trace_filter(trace, p))                                      \
    CASE(upmu_arrow_opts, arrow_opened(p))                                                         \
    CASE(upmu_deadlock, upmu_deadlocks_at(deadlocks, 0, p))                                        \
    CASE(upmu_deadlock_thread, upmu_deadlocks_thread_at(deadlocks, 0, 0, p))                       \
    CASE(upmu_deadlock_held, upmu_deadlocks_held_at(deadlocks, 0, 0, 0, p))                        \
    CASE(upmu_findings_opts, findings_opened(p))                                                   \
    CASE(upmu_finding, upmu_findings_at(findings, 0, p))                                           \
    CASE(upmu_functions_opts, functions_opened(p))                                                 \
    CASE(upmu_functions_totals, upmu_functions_totals_read(functions, p))                          \
    CASE(upmu_function, upmu_functions_at(functions, 0, p))                                        \
    CASE(upmu_function_edge, upmu_functions_edge_at(functions, 0, p))                              \
    CASE(upmu_function_path, upmu_functions_path_at(functions, 0, p))                              \
    CASE(upmu_snapshot, snapshot_taken(p))                                                         \
    CASE(upmu_snapshot, snapshot_polled(p))                                                        \
    CASE(upmu_snapshot_watch_opts, snapshots_watched(p))                                           \
    CASE(upmu_subscription_opts, subscribed(p))                                                    \
    CASE(upmu_subscription_totals, upmu_subscription_totals_read(subscription, p))                 \
    CASE(upmu_snapshot_totals, snapshots_counted(p))                                               \
    CASE(upmu_lock_cycle, upmu_deadlocks_cycle_at(deadlocks, 0, p))                                \
    CASE(upmu_lock_acquisition, upmu_deadlocks_acquisition_at(deadlocks, 0, 0, p))                 \
    CASE(upmu_deadlock_held, upmu_deadlocks_acquisition_held_at(deadlocks, 0, 0, 0, p))            \
    CASE(upmu_deadlock_inspect_thread, upmu_deadlock_inspect_thread_at(inspect, 0, p))

static int snapshot_taken(void *p)
{
    static int number;
    char path[4200];
    snprintf(path, sizeof path, "%s-snapshot-%d", recording, number++);
    return upmu_snapshot_take(recording, path, NULL, p);
}

static int subscribed(void *p)
{
    struct upmu_subscription *other;
    int rc = upmu_subscription_open(&other, p);
    upmu_subscription_close(other);
    return rc;
}

static int snapshots_watched(void *p)
{
    struct upmu_snapshot_watch *watch;
    int rc = upmu_snapshot_watch_open(&watch, recording, "snapshots", p);
    upmu_snapshot_watch_close(watch);
    return rc;
}

static int with_watch(int (*call)(struct upmu_snapshot_watch *watch, void *p), void *p)
{
    struct upmu_snapshot_watch *watch;
    int rc = upmu_snapshot_watch_open(&watch, recording, "snapshots", NULL);
    if (rc == 0)
        rc = call(watch, p);
    upmu_snapshot_watch_close(watch);
    return rc;
}

static int watch_polled(struct upmu_snapshot_watch *watch, void *p)
{
    return upmu_snapshot_watch_poll(watch, p);
}

static int watch_counted(struct upmu_snapshot_watch *watch, void *p)
{
    return upmu_snapshot_watch_totals_read(watch, p);
}

static int snapshot_polled(void *p)
{
    return with_watch(watch_polled, p);
}

static int snapshots_counted(void *p)
{
    return with_watch(watch_counted, p);
}

static int set_opened(void *p)
{
    struct upmu_set *set;
    int rc = upmu_set_open(&set, "page-faults", p);
    upmu_set_close(set);
    return rc;
}

static void overflowed(const struct upmu_overflow_sample *sample, void *arg)
{
    (void)sample;
    (void)arg;
}

static int overflow_opened(void *p)
{
    struct upmu_overflow *o;
    struct upmu_overflow_opts *opts = p;
    opts->period = 1000000;
    opts->callback = overflowed;
    int rc = upmu_overflow_open(&o, opts);
    (void)upmu_overflow_close(o);
    return rc;
}

static int exported(void *opts, void *result)
{
    int fd = open("/dev/null", O_WRONLY);
    int rc = upmu_export(recording, "csv", fd, opts, result);
    close(fd);
    return rc;
}

static int sync_begun(void *p)
{
    int rc = upmu_sync_begin(p);
    return rc != 0 ? rc : upmu_sync_end();
}

static int overview_opened(void *p)
{
    struct upmu_overview *o;
    int rc = upmu_overview_open(&o, recording, p);
    upmu_overview_close(o);
    return rc;
}

static int findings_opened(void *p)
{
    struct upmu_findings *f;
    int rc = upmu_findings_open(&f, overview, NULL, p);
    upmu_findings_close(f);
    return rc;
}

static int functions_opened(void *p)
{
    struct upmu_functions *f;
    int rc = upmu_functions_open(&f, recorded_functions, p);
    upmu_functions_close(f);
    return rc;
}

static int timeline_opened(void *p)
{
    struct upmu_timeline *t;
    int rc = upmu_timeline_open(&t, recording, p);
    upmu_timeline_close(t);
    return rc;
}

static int arrow_opened(void *p)
{
    struct upmu_trace *t;
    struct ArrowArrayStream stream;
    int rc = upmu_trace_open(&t, recording);
    if (rc == 0)
        rc = upmu_trace_arrow(t, p, &stream);
    if (rc == 0)
        stream.release(&stream);
    else
        upmu_trace_close(t);
    return rc;
}

static int deadlocks_opened(void *p)
{
    struct upmu_deadlocks *d;
    int rc = upmu_deadlocks_open(&d, recording, p);
    upmu_deadlocks_close(d);
    return rc;
}

#define RUN(type, call) SIZED_RUN(failures, type, v1_of(#type), call);

/* The recorded sizes are found by the name of the struct. */
static size_t v1_of(const char *type)
{
    static const struct {
        const char *type;
        size_t v1;
    } all[] = {
#include "sized_v1.h"
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].type, type) == 0)
            return all[i].v1;
    printf("FAILED: no size is recorded for struct %s\n", type);
    exit(1);
}

static void opened(int rc, const char *what)
{
    if (rc == 0)
        return;
    printf("FAILED: %s: %s\n", what, upmu_error());
    exit(1);
}

/* A process sets regions up once: each call has a process of its own, and a refusal is repeated here for its message. */
static int regions_set_up(void *p)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(upmu_region_setup(p) == 0 ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : upmu_region_setup(p);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *take_lock(void *tid)
{
    __atomic_store_n((int *)tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Never returns: it waits for its own lock. */
static void *take_twice(void *tid)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    __atomic_store_n((int *)tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    pthread_mutex_lock(&own);
    pthread_mutex_lock(&own);
    return NULL;
}

static void *take_inverted(void *arg)
{
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&other);
    return arg;
}

/* Whether the thread sleeps: the only thing that it can wait for is the lock. */
static int taker_sleeps(const int *taker)
{
    char path[64], state = '?';
    int tid = __atomic_load_n(taker, __ATOMIC_ACQUIRE);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *f = tid ? fopen(path, "r") : NULL;
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (f)
        fclose(f);
    return state == 'S';
}

static void wait_until_asleep(const int *taker)
{
    while (!taker_sleeps(taker))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* A recording in which a thread waits for a lock that this one holds, two locks are acquired in both orders, and a thread is
 * deadlocked. */
static void record_waits(void)
{
    static int waiter, stuck;
    struct upmu_sync_opts opts = UPMU_INIT(struct upmu_sync_opts, .trace = recording);
    pthread_t thread;
    opened(upmu_sync_begin(&opts), "lock tracing");
    pthread_mutex_lock(&lock);
    opened(pthread_create(&thread, NULL, take_lock, &waiter), "thread");
    wait_until_asleep(&waiter);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&lock);
    opened(pthread_join(thread, NULL), "join");
    opened(pthread_create(&thread, NULL, take_inverted, NULL), "thread");
    opened(pthread_join(thread, NULL), "join");
    opened(pthread_create(&thread, NULL, take_twice, &stuck), "thread");
    wait_until_asleep(&stuck);
    opened(upmu_sync_end(), "lock tracing");
}

static void run_command(void)
{
    char *argv[] = {"true", NULL};
    struct upmu_set_opts opts = UPMU_INIT(struct upmu_set_opts, .target = UPMU_TARGET_COMMAND, .argv = argv);
    opened(upmu_set_open(&command, "page-faults", &opts), "command");
    opened(upmu_set_start(command), "command");
    opened(upmu_set_wait(command, NULL), "command");
}

/* The trace to its end, for its modules and a stack. */
static void read_trace(void)
{
    const struct upmu_trace_event *e;
    while (upmu_trace_next(trace, &e) > 0)
        stack = e->stack ? e->stack : stack;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    recording = argv[1];
    recorded_functions = argv[2];
    RUN(upmu_region_opts, regions_set_up(p))
    const struct upmu_region_opts opts =
        UPMU_INIT(struct upmu_region_opts, .events = "page-faults", .trace = recording);
    opened(upmu_region_setup(&opts), "regions");
    (void)upmu_region_begin("sized");
    (void)upmu_region_end("sized");
    record_waits();
    run_command();
    struct upmu_overflow_opts clock = UPMU_INIT(struct upmu_overflow_opts, .period = 1000000, .callback = overflowed);
    opened(upmu_overflow_open(&overflow, &clock), "overflow");
    opened(upmu_plan_open(&plan, "generic", "page-faults"), "plan");
    opened(upmu_trace_open(&trace, recording), "trace");
    opened(upmu_overview_open(&overview, recording, NULL), "overview");
    opened(upmu_timeline_open(&timeline, recording, NULL), "timeline");
    opened(upmu_monitor_open(&monitor, recording), "monitor");
    opened(upmu_monitor_update(monitor), "monitor");
    opened(upmu_subscription_open(&subscription, NULL), "subscription");
    opened(upmu_control_open(&control, recording), "control");
    opened(upmu_deadlocks_open(&deadlocks, recording, NULL), "deadlocks");
    opened(upmu_findings_open(&findings, overview, deadlocks, NULL), "findings");
    opened(upmu_functions_open(&functions, recorded_functions, NULL), "functions");
    opened(upmu_deadlock_inspect_open(&inspect, getpid()), "inspection");
    read_trace();
    CASES(RUN)
    return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Software events count known work in every order, subset, target and start/stop cycle.
 *
 *     set_group_truth [--all] [--cases N] [--seed S]
 *
 * A case is a list of one to five events in some order, a target, the age of its threads and a number of start/stop cycles. Known
 * work is pages touched for the first time and sleeps; the kernel's own accounts of it are read inside and around what is
 * counted, and the count must lie between them. --all runs all orders of all subsets on each target, --cases adds
 * random cases. Without arguments GROUP_TRUTH_CASES applies, for guests, which give none; guest_part=N in the environment
 * runs every N-th order and case there.
 */
#include "support/behavior.h"

#include <sched.h>
#include <sys/wait.h>

enum { TASK_CLOCK, CPU_CLOCK, PAGE_FAULTS, MINOR_FAULTS, SWITCHES, EVENTS, THREADS_MAX = 8, CYCLES_MAX = 3 };

static const char *const event_names[EVENTS] = {"task-clock", "cpu-clock", "page-faults", "minor-faults",
                                                "context-switches"};

enum target { THREAD, INHERIT, PROCESS, COMMAND, CPU, REGIONS, TARGETS };
static const char *const target_names[TARGETS] = {"thread", "inherit", "process", "command", "cpu", "regions"};

struct truth_case {
    enum target target;
    unsigned event[EVENTS], n;
    unsigned cycles, pages, sleeps, threads;
    bool fresh; /* in a thread that begins for the case */
};

/** The values of the kernel's own accounts. */
struct truth_work {
    uint64_t faults, switches, cpu_ns, wall_ns;
};

/** Work of one case: seen inside of what is counted, and around it. */
struct truth_bounds {
    struct truth_work inner, outer;
};

#ifndef GROUP_TRUTH_CASES
#define GROUP_TRUTH_CASES 0
#endif

static enum rights rights;

/* A machine that is busy, or whose host is, spends milliseconds within a switch now and then: CPU time in which no event runs. A
 * clock that is wrong for another reason is wrong each time, and so is a count once. */
enum { TRIES = 3, CLOCK_MISSED = 75 };
static unsigned tries_left;
static bool clock_missed; /* atomic */

/* ------------------------------------------------------------------------------------------------- known work */

static struct truth_work work_now(int who)
{
    struct rusage u;
    CHECK(getrusage(who, &u) == 0, "getrusage");
    return (struct truth_work){
        .faults = (uint64_t)u.ru_minflt + (uint64_t)u.ru_majflt,
        .switches = (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw,
        .cpu_ns = nanoseconds(who == RUSAGE_THREAD ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID),
        .wall_ns = nanoseconds(CLOCK_MONOTONIC_RAW),
    };
}

static void work_add(struct truth_work *sum, const struct truth_work *from, const struct truth_work *to)
{
    sum->faults += to->faults - from->faults;
    sum->switches += to->switches - from->switches;
    sum->cpu_ns += to->cpu_ns - from->cpu_ns;
    sum->wall_ns += to->wall_ns - from->wall_ns;
}

static void work_do(const struct truth_case *c, struct truth_work *inner)
{
    struct truth_work before = work_now(RUSAGE_THREAD);
    unsigned char *p = fresh_pages(c->pages);
    touch_pages(p, c->pages, (size_t)sysconf(_SC_PAGESIZE));
    for (unsigned i = 0; i < c->sleeps; i++)
        sleep_briefly();
    free_pages(p, c->pages);
    struct truth_work after = work_now(RUSAGE_THREAD);
    work_add(inner, &before, &after);
}

/* ---------------------------------------------------------------------------------------------------- verdicts */

static void case_list(const struct truth_case *c, char *list, size_t cap)
{
    int at = 0;
    for (unsigned i = 0; i < c->n; i++)
        at += snprintf(list + at, cap - (size_t)at, "%s%s", i ? "," : "", event_names[c->event[i]]);
}

static void judge(const struct truth_case *c, unsigned e, int status, uint64_t value, const struct truth_bounds *b)
{
    /* Both sides' clocks are read at different instants, and a switch itself is CPU time in which no event runs. */
    const uint64_t slack = 50000 * (uint64_t)c->threads * c->cycles + 200000 * b->outer.switches;
    uint64_t low = 0, high = 0;
    char list[128];
    case_list(c, list, sizeof list);
    if (e == SWITCHES && rights == RIGHTS_USER && status == UPMU_REFUSED)
        return; /* it happens in the kernel alone */
    if (e == PAGE_FAULTS || e == MINOR_FAULTS) {
        low = b->inner.faults;
        high = b->outer.faults;
    } else if (e == SWITCHES) {
        low = b->inner.switches;
        high = b->outer.switches;
    } else {
        low = b->inner.cpu_ns > slack ? b->inner.cpu_ns - slack : 0;
        high = b->outer.wall_ns * c->threads + slack;
    }
    if (c->target == CPU)
        high = UINT64_MAX; /* whatever else runs there */
    if (e < PAGE_FAULTS && status == UPMU_EXACT && value < low && tries_left > 0) {
        __atomic_store_n(&clock_missed, true, __ATOMIC_RELAXED);
        return;
    }
    CHECK(status == UPMU_EXACT && value >= low && value <= high,
          "%s%s [%s] threads %u cycles %u pages %u sleeps %u: %s is %llu (%s), the kernel's accounts are %llu to %llu",
          target_names[c->target], c->fresh ? " fresh" : "", list, c->threads, c->cycles, c->pages, c->sleeps,
          event_names[e], (unsigned long long)value, upmu_status_name(status), (unsigned long long)low,
          (unsigned long long)high);
}

static void judge_set(const struct truth_case *c, struct upmu_set *set, const struct truth_bounds *b)
{
    struct upmu_value v[EVENTS];
    CHECK(upmu_set_read(set, v, EVENTS) == (int)c->n, "read");
    for (unsigned i = 0; i < c->n; i++)
        judge(c, c->event[i], v[i].status, v[i].value, b);
    upmu_set_close(set);
}

static struct upmu_set *open_case(const struct truth_case *c, struct upmu_set_opts *opts)
{
    struct upmu_set *set;
    char list[128];
    case_list(c, list, sizeof list);
    opts->size = sizeof *opts;
    CHECK(upmu_set_open(&set, list, opts) == 0, "%s: %s", target_names[c->target], list);
    return set;
}

/* ----------------------------------------------------------------------------------- own thread, CPU, inheritance */

/* What the set does itself between the outer bounds is in them. */
static void *count_thread(void *arg)
{
    const struct truth_case *c = arg;
    struct upmu_set_opts opts = {.target = c->target == CPU ? UPMU_TARGET_CPU : UPMU_TARGET_THREAD};
    struct truth_bounds b = {0};
    struct upmu_set *set = open_case(c, &opts);
    for (unsigned k = 0; k < c->cycles; k++) {
        struct truth_work before = work_now(RUSAGE_THREAD);
        CHECK(upmu_set_start(set) == 0, "start");
        work_do(c, &b.inner);
        CHECK(upmu_set_stop(set) == 0, "stop");
        struct truth_work after = work_now(RUSAGE_THREAD);
        work_add(&b.outer, &before, &after);
        work_do(c, &(struct truth_work){0}); /* of no concern to a set that is stopped */
    }
    judge_set(c, set, &b);
    return NULL;
}

static void run_thread(struct truth_case *c)
{
    pthread_t threads[THREADS_MAX];
    unsigned n = c->threads;
    c->threads = 1; /* each thread judges its own */
    if (!c->fresh)
        count_thread(c);
    for (unsigned i = 0; c->fresh && i < n; i++)
        threads[i] = start_thread(count_thread, c);
    for (unsigned i = 0; c->fresh && i < n; i++)
        join_thread(threads[i]);
}

static void run_cpu(struct truth_case *c)
{
    cpu_set_t all, one;
    if (rights != RIGHTS_ALL)
        return;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0, "getaffinity");
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (!CPU_ISSET(0, &all) || sched_setaffinity(0, sizeof one, &one) != 0)
        return;
    c->threads = 1;
    count_thread(c);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0, "setaffinity");
}

struct worker {
    const struct truth_case *c;
    struct truth_work inner;
};

static void *work_thread(void *arg)
{
    struct worker *w = arg;
    work_do(w->c, &w->inner);
    return NULL;
}

static void work_in_threads(const struct truth_case *c, struct truth_work *inner)
{
    const struct truth_work none = {0};
    pthread_t threads[THREADS_MAX];
    struct worker w[THREADS_MAX];
    for (unsigned i = 0; i < c->threads; i++) {
        w[i] = (struct worker){.c = c};
        threads[i] = start_thread(work_thread, &w[i]);
    }
    for (unsigned i = 0; i < c->threads; i++) {
        join_thread(threads[i]);
        work_add(inner, &none, &w[i].inner);
    }
}

static void run_inherit(struct truth_case *c)
{
    struct upmu_set_opts opts = {.target = UPMU_TARGET_THREAD, .flags = UPMU_SET_INHERIT};
    struct truth_bounds b = {0};
    struct upmu_set *set = open_case(c, &opts);
    for (unsigned k = 0; k < c->cycles; k++) {
        struct truth_work before = work_now(RUSAGE_SELF);
        CHECK(upmu_set_start(set) == 0, "start");
        work_in_threads(c, &b.inner);
        CHECK(upmu_set_stop(set) == 0, "stop");
        struct truth_work after = work_now(RUSAGE_SELF);
        work_add(&b.outer, &before, &after);
    }
    c->threads++; /* and the one that starts them */
    judge_set(c, set, &b);
}

/* --------------------------------------------------------------------------------------- processes and commands */

static void say(int fd)
{
    CHECK(write(fd, "", 1) == 1, "write");
}

static void await(int fd)
{
    char byte;
    CHECK(read(fd, &byte, 1) == 1, "read");
}

/* The child's side: ready, work on each byte, and the accounts once nothing is counted any more. */
static void child_serve(const struct truth_case *c, int in, int out, struct truth_bounds *b)
{
    struct truth_work before = work_now(RUSAGE_SELF);
    say(out);
    for (unsigned k = 0; k < c->cycles; k++) {
        await(in);
        work_in_threads(c, &b->inner);
        say(out);
    }
    await(in);
    struct truth_work after = work_now(RUSAGE_SELF);
    work_add(&b->outer, &before, &after);
    say(out);
    await(in);
    _exit(0);
}

static void run_process(struct truth_case *c)
{
    int to[2], from[2];
    struct truth_bounds *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(b != MAP_FAILED && pipe(to) == 0 && pipe(from) == 0, "pipes");
    pid_t pid = fork();
    CHECK(pid >= 0, "fork");
    if (pid == 0)
        child_serve(c, to[0], from[1], b);
    struct upmu_set_opts opts = {.target = UPMU_TARGET_PROCESS, .pid = pid};
    await(from[0]);
    struct upmu_set *set = open_case(c, &opts);
    for (unsigned k = 0; k < c->cycles; k++) {
        CHECK(upmu_set_start(set) == 0, "start");
        say(to[1]);
        await(from[0]);
        CHECK(upmu_set_stop(set) == 0, "stop");
    }
    say(to[1]);
    await(from[0]);
    c->threads++;
    judge_set(c, set, b);
    say(to[1]);
    CHECK(waitpid(pid, NULL, 0) == pid, "waitpid");
    munmap(b, sizeof *b);
    for (int i = 0; i < 2; i++) {
        close(to[i]);
        close(from[i]);
    }
}

static void run_command(struct truth_case *c)
{
    char pages[16], sleeps[16];
    snprintf(pages, sizeof pages, "%u", c->pages);
    snprintf(sleeps, sizeof sleeps, "%u", c->sleeps);
    char *argv[] = {(char *)"/proc/self/exe", (char *)"--work", pages, sleeps, NULL};
    struct upmu_set_opts opts = {.target = UPMU_TARGET_COMMAND, .argv = argv};
    struct truth_bounds b = {.inner = {.faults = c->pages, .switches = c->sleeps}};
    struct truth_work before = work_now(RUSAGE_CHILDREN);
    struct upmu_set *set = open_case(c, &opts);
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_wait(set, NULL) == 0, "wait");
    struct truth_work after = work_now(RUSAGE_CHILDREN);
    work_add(&b.outer, &before, &after);
    judge_set(c, set, &b);
}

/* ------------------------------------------------------------------------------------------------------- regions */

struct region_worker {
    const struct truth_case *c;
    struct truth_bounds b;
};

static void *count_region(void *arg)
{
    struct region_worker *w = arg;
    for (unsigned k = 0; k < w->c->cycles; k++) {
        struct truth_work before = work_now(RUSAGE_THREAD);
        CHECK(upmu_region_begin("case") == 0, "begin");
        work_do(w->c, &w->b.inner);
        CHECK(upmu_region_end("case") == 0, "end");
        struct truth_work after = work_now(RUSAGE_THREAD);
        work_add(&w->b.outer, &before, &after);
        work_do(w->c, &(struct truth_work){0});
    }
    return NULL;
}

/* Regions are set up once per process. */
static void regions_in_child(const struct truth_case *c)
{
    const struct truth_work none = {0};
    struct region_worker w[THREADS_MAX];
    struct truth_bounds b = {0};
    pthread_t threads[THREADS_MAX];
    char list[128];
    case_list(c, list, sizeof list);
    regions_on(list);
    for (unsigned i = 0; i < c->threads; i++) {
        w[i] = (struct region_worker){.c = c};
        if (c->fresh)
            threads[i] = start_thread(count_region, &w[i]);
    }
    if (!c->fresh)
        count_region(&w[0]);
    for (unsigned i = 0; i < c->threads; i++) {
        if (c->fresh)
            join_thread(threads[i]);
        work_add(&b.inner, &none, &w[i].b.inner);
        work_add(&b.outer, &none, &w[i].b.outer);
    }
    struct test_region s = region_of("case", UPMU_ALL_THREADS);
    for (unsigned i = 0; i < c->n; i++)
        judge(c, c->event[i], s.events[i].status, s.events[i].stat.sum, &b);
    _exit(clock_missed ? CLOCK_MISSED : 0);
}

static void run_regions(struct truth_case *c)
{
    int status;
    if (!c->fresh)
        c->threads = 1;
    pid_t pid = fork();
    CHECK(pid >= 0, "fork");
    if (pid == 0)
        regions_in_child(c);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "status %#x", (unsigned)status);
    clock_missed = WEXITSTATUS(status) == CLOCK_MISSED;
    CHECK(clock_missed || WEXITSTATUS(status) == 0, "status %#x", (unsigned)status);
}

/* --------------------------------------------------------------------------------------------------------- cases */

static void run_case(struct truth_case c)
{
    static void (*const runs[TARGETS])(struct truth_case *) = {
        [THREAD] = run_thread,   [INHERIT] = run_inherit, [PROCESS] = run_process,
        [COMMAND] = run_command, [CPU] = run_cpu,         [REGIONS] = run_regions,
    };
    tries_left = TRIES;
    do {
        struct truth_case now = c;
        tries_left--;
        clock_missed = false;
        runs[c.target](&now);
    } while (clock_missed);
}

static unsigned part = 1; /* every part-th order is run */

/* All orders of all subsets: extend the list by each event that is not in it. @return cases run. */
static size_t run_orders(struct truth_case *c, unsigned used)
{
    static unsigned order;
    size_t n = 0;
    if (c->n > 0 && order++ % part == 0) {
        run_case(*c);
        n++;
    }
    for (unsigned e = 0; e < EVENTS; e++) {
        if (used >> e & 1)
            continue;
        c->event[c->n++] = e;
        n += run_orders(c, used | 1u << e);
        c->n--;
    }
    return n;
}

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % n);
}

static struct truth_case random_case(void)
{
    /* mostly those that need no further process, which are a tenth as dear */
    static const enum target targets[] = {THREAD,  THREAD, THREAD,  THREAD,  THREAD,  INHERIT,
                                          INHERIT, CPU,    PROCESS, REGIONS, REGIONS, COMMAND};
    struct truth_case c = {.target = targets[random_below(sizeof targets / sizeof *targets)]};
    c.n = 1 + random_below(EVENTS);
    for (unsigned i = 0; i < EVENTS; i++)
        c.event[i] = i;
    for (unsigned i = EVENTS - 1; i > 0; i--) {
        unsigned k = random_below(i + 1), kept = c.event[i];
        c.event[i] = c.event[k];
        c.event[k] = kept;
    }
    c.cycles = c.target == COMMAND ? 1 : 1 + random_below(CYCLES_MAX);
    c.pages = 1 + random_below(64);
    c.sleeps = random_below(8) == 0;
    c.threads = c.target == CPU || c.target == COMMAND ? 1 : random_below(4) == 0 ? THREADS_MAX : 1;
    c.fresh = random_below(2);
    return c;
}

static int do_command(char *const *argv)
{
    struct truth_case c = {.pages = (unsigned)atoi(argv[2]), .sleeps = (unsigned)atoi(argv[3])};
    work_do(&c, &(struct truth_work){0});
    return 0;
}

int main(int argc, char **argv)
{
    size_t orders = 0, cases = argc > 1 ? 0 : GROUP_TRUTH_CASES, seed = 1;
    bool all = argc > 1 ? strcmp(argv[1], "--all") == 0 : GROUP_TRUTH_CASES > 0;
    if (argc == 4 && strcmp(argv[1], "--work") == 0)
        return do_command(argv);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cases") == 0 && i + 1 < argc)
            cases = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoul(argv[++i], NULL, 10);
    }
    const char *guest_part = getenv("guest_part"); /* of the guest's kernel command line */
    if (argc == 1 && guest_part) {
        part = (unsigned)strtoul(guest_part, NULL, 10);
        CHECK(part > 0, "guest_part=%s", guest_part);
        cases /= part;
    }
    rights = rights_here();
    if (rights == RIGHTS_NONE)
        skip("perf_event_open is denied here");
    for (int t = 0; all && t < TARGETS; t++) {
        struct truth_case c = {.target = (enum target)t, .cycles = t == COMMAND ? 1 : 2, .pages = 20, .threads = 1};
        orders += run_orders(&c, 0);
        c.fresh = true;
        orders += t == THREAD || t == REGIONS ? run_orders(&c, 0) : 0;
    }
    random_state = seed;
    for (size_t i = 0; i < cases; i++)
        run_case(random_case());
    printf("%zu orders and %zu random cases (seed %zu), 0 wrong\n", orders, cases, seed);
    return 0;
}

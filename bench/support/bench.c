/* SPDX-License-Identifier: MIT */
/* Alternating measurement of a subject and its floor. */
#include "bench.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tick.h"

enum {
    ROUNDS_FULL = 400,
    ROUNDS_SHORT = 25,
    ROUNDS_WARM = 3,
    ROUNDS_LEAST = 5,
    SERIES_SHORT = 5,
    SECONDS_FULL = 20,
    SECONDS_SHORT = 5,
};

/* ---------------------------------------------------------------------------------------------- the machine */

/* The n-th CPU this process may use, -1 past the last. */
static int usable_cpu(int n)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return -1;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && n-- == 0)
            return (int)cpu;
    return -1;
}

bool bench_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

/* ---------------------------------------------------------------------------------------- start of a benchmark */

static void usage(const char *title, int status)
{
    fprintf(status ? stderr : stdout,
            "usage: bench_%s [--short] [--no-bars] [--json] [--no-heading]\n"
            "  --short       few rounds and bars three times as high: only to see that it works\n"
            "  --no-bars     show the bars, do not judge by them (sanitizers, unoptimized builds)\n"
            "  --json        one object per line\n"
            "  --no-heading  the table without its first lines\n",
            title);
    exit(status);
}

static void take_options(struct bench *b, int argc, char **argv)
{
    bool judge = true;
    b->heading = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--short") == 0)
            b->brief = true;
        else if (strcmp(argv[i], "--no-bars") == 0)
            judge = false;
        else if (strcmp(argv[i], "--json") == 0)
            b->json = true;
        else if (strcmp(argv[i], "--no-heading") == 0)
            b->heading = false;
        else
            usage(b->title, strcmp(argv[i], "--help") == 0 ? 0 : 2);
    }
    b->rounds = b->brief ? ROUNDS_SHORT : ROUNDS_FULL;
    b->row_ns = 1e9 * (b->brief ? SECONDS_SHORT : SECONDS_FULL);
    b->slack = judge ? b->brief ? 3 : 1 : 0;
}

/* Regions set up by the environment before main() are not the ones to be measured. */
static void refuse_environment(const char *title)
{
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, "UPMU_", 5) == 0) {
            fprintf(stderr, "bench_%s: %.*s is set and would change what is measured; unset it\n", title,
                    (int)strcspn(*e, "="), *e);
            exit(2);
        }
    }
}

struct bench *bench_start(const char *title, int argc, char **argv)
{
    struct bench *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) {
        perror("bench: mmap");
        exit(2);
    }
    b->title = title;
    take_options(b, argc, argv);
    refuse_environment(title);
    b->cpu = usable_cpu(0);
    b->other = usable_cpu(1);
    b->ns_per_tick = 1e9 / clock_hz(100000000);
    return b;
}

/* ------------------------------------------------------------------------------------------------------ parts */

static struct bench_row *new_row(struct bench *b, const char *name)
{
    if (b->n_rows >= BENCH_ROWS_MAX) {
        fprintf(stderr, "bench_%s: more than %d rows\n", b->title, BENCH_ROWS_MAX);
        _exit(2);
    }
    struct bench_row *row = &b->rows[b->n_rows++];
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

void bench_part(struct bench *b, const char *name, void (*part)(struct bench *b))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!bench_pin(b->cpu))
            perror("bench: sched_setaffinity");
        part(b);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        bench_fail(new_row(b, name), "no child could be run for it");
    else if (WIFSIGNALED(status))
        bench_fail(new_row(b, name), "died by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        bench_fail(new_row(b, name), "ended with status %d", WEXITSTATUS(status));
}

/* ----------------------------------------------------------------------------------------------------- rounds */

static double now_ns(const struct bench *b, const struct bench_pair *p)
{
    struct timespec ran;
    if (!p->work)
        return (double)tick_now() * b->ns_per_tick;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ran);
    return (double)ran.tv_sec * 1e9 + (double)ran.tv_nsec;
}

static double batch_ns(const struct bench *b, const struct bench_pair *p, const struct bench_side *side)
{
    if (side->before)
        side->before(side->arg);
    double start = now_ns(b, p);
    side->loop(side->arg, p->n);
    double ns = now_ns(b, p) - start;
    if (p->aside)
        ns -= (double)p->aside(side->arg) * b->ns_per_tick;
    if (side->after)
        side->after(side->arg);
    return ns / (double)(p->n * (p->calls ? p->calls : 1));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_share(double *numbers, size_t n, double share)
{
    qsort(numbers, n, sizeof *numbers, ascending);
    return numbers[(size_t)((double)(n - 1) * share)];
}

/* Who goes first changes from round to round, so that neither always finds what the other has left in the caches.
 * @return how many rounds there were. */
static size_t run_rounds(const struct bench *b, const struct bench_pair *p, double *subject, double *floor)
{
    uint64_t start = tick_now();
    for (size_t i = 0; i < ROUNDS_WARM + b->rounds; i++) {
        if (i >= ROUNDS_WARM + ROUNDS_LEAST && (double)(tick_now() - start) * b->ns_per_tick > b->row_ns)
            return i - ROUNDS_WARM;
        size_t at = i < ROUNDS_WARM ? 0 : i - ROUNDS_WARM;
        if (i % 2)
            subject[at] = batch_ns(b, p, &p->subject);
        floor[at] = batch_ns(b, p, &p->floor);
        if (i % 2 == 0)
            subject[at] = batch_ns(b, p, &p->subject);
    }
    return b->rounds;
}

static void measure(const struct bench *b, const struct bench_pair *p, struct bench_row *row)
{
    double subject[ROUNDS_FULL], floor[ROUNDS_FULL], ratio[ROUNDS_FULL];
    size_t n = run_rounds(b, p, subject, floor);
    for (size_t i = 0; i < n; i++)
        ratio[i] = subject[i] / floor[i];
    row->ns = bench_share(subject, n, 0.5);
    row->ns_p10 = bench_share(subject, n, 0.1);
    row->floor_ns = bench_share(floor, n, 0.5);
    row->ratio = bench_share(ratio, n, 0.5);
    row->ratio_low = bench_share(ratio, n, 0.25);
    row->ratio_high = bench_share(ratio, n, 0.75);
}

/* Another load may disturb all rounds of a short run: a row fails only if every series is too slow. */
struct bench_row *bench_compare(struct bench *b, const struct bench_pair *p)
{
    struct bench_row *row = new_row(b, p->subject.name);
    snprintf(row->floor, sizeof row->floor, "%s", p->floor.name);
    row->judge = p->judge;
    row->bar = p->bar;
    measure(b, p, row);
    for (int more = SERIES_SHORT - 1; b->brief && more > 0 && !bench_met(b, row); more--)
        measure(b, p, row);
    return row;
}

struct bench_row *bench_added(struct bench *b, const char *name, double ns, double floor_ns, double most)
{
    struct bench_row *row = new_row(b, name);
    snprintf(row->floor, sizeof row->floor, "bare");
    row->judge = BENCH_ADDED;
    row->bar = most;
    row->ns = row->ns_p10 = ns;
    row->floor_ns = floor_ns;
    row->ratio = row->ratio_low = row->ratio_high = ns / floor_ns;
    return row;
}

struct bench_row *bench_count(struct bench *b, const char *name, double count, double most)
{
    struct bench_row *row = new_row(b, name);
    row->judge = BENCH_COUNT;
    row->count = count;
    row->bar = most;
    return row;
}

void bench_skip(struct bench *b, const char *name, const char *why, ...)
{
    struct bench_row *row = new_row(b, name);
    va_list args;
    va_start(args, why);
    vsnprintf(row->skipped, sizeof row->skipped, why, args);
    va_end(args);
}

void bench_fail(struct bench_row *row, const char *why, ...)
{
    va_list args;
    va_start(args, why);
    vsnprintf(row->failed, sizeof row->failed, why, args);
    va_end(args);
}

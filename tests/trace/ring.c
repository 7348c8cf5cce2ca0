/* SPDX-License-Identifier: MIT */
/*
 * Ring recordings: the latest events in files of constant size, with the number of overwritten ones.
 *
 * After a normal end, after SIGKILL at a random time, and read while written. What later events refer to is kept. Our reader
 * needs no repair; with the argument "babeltrace2", that reads the same afterwards.
 *
 *     ring ROUNDS [babeltrace2]
 */
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/tick.h"
#include "trace/write/writer.h"
#include "upmu/trace.h"

enum {
    RING_BYTES = 128 * 1024, /* eight packets of the least length, where pages are small */
    EVENTS = 60000,          /* some ten times what fits */
    PER_THREAD = 7000,
    STACK_FRAMES = 3,
};

static char dir[4096];
static _Atomic uint64_t *committed; /* shared with the child */

#define CHECK(x)                                                                 \
    do {                                                                         \
        if (!(x)) {                                                              \
            fprintf(stderr, "ring.c:%d: %s (%s)\n", __LINE__, #x, upmu_error()); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

/* ------------------------------------------------------------------------------------------------------ writing */

/* Numbers 0 ... as marks; short threads reuse one stream, and each records a stack first. */
static void write_numbers(struct trace_writer *w, uint64_t n)
{
    const uint64_t frames[STACK_FRAMES] = {1, 2, 3};
    struct trace_stream *s = NULL;
    char text[16];
    for (uint64_t i = 0; i < n; i++) {
        if (i % PER_THREAD == 0) {
            if (s)
                trace_stream_release(s);
            CHECK(trace_stream_acquire(w, 100 + (pid_t)(i / PER_THREAD), "writer", &s) == 0);
            CHECK(upmu_trace_stack_(s, tick_now(), 1 + (uint32_t)(i / PER_THREAD), 1, false, frames, STACK_FRAMES));
        }
        int len = snprintf(text, sizeof text, "%" PRIu64, i);
        CHECK(trace_mark(s, tick_now(), text, (size_t)len));
        atomic_store(committed, i + 1);
    }
    trace_stream_release(s);
}

static struct trace_writer *open_writer(void)
{
    struct trace_writer *w;
    struct trace_config config = {.dir = dir, .ring_bytes = RING_BYTES};
    CHECK(trace_writer_open(&w, &config) == 0);
    return w;
}

/* ------------------------------------------------------------------------------------------------------ reading */

struct seen {
    uint64_t first, next, n;
    struct upmu_trace_process process;
};

/* Numbers may only grow. While they are `live`, there may be gaps between, and what the latest refer to may have come after
 * the reader was through with the stream that has it. */
static struct seen read_numbers(bool live)
{
    struct seen s = {.process = {.size = sizeof s.process}};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        uint64_t i = strtoull(e->name, NULL, 10);
        if (s.n == 0)
            s.first = i;
        else
            CHECK(live ? i >= s.next : i == s.next);
        CHECK(e->kind == UPMU_TRACE_MARK && e->tid == 100 + (pid_t)(i / PER_THREAD));
        s.next = i + 1;
        s.n++;
    }
    CHECK(rc == 0);
    CHECK(upmu_trace_process_at(t, 0, &s.process) == 0);
    for (uint32_t id = 1; !live && s.n > 0 && id <= 1 + (s.next - 1) / PER_THREAD; id++) {
        struct upmu_trace_stack stack = {.size = sizeof stack};
        CHECK(upmu_trace_stack_find(t, 0, id, &stack) == 0 && stack.n_frames == STACK_FRAMES && stack.frames[2] == 3);
    }
    upmu_trace_close(t);
    return s;
}

static void check_size(void)
{
    char pattern[sizeof dir + 16];
    glob_t g;
    struct stat st;
    snprintf(pattern, sizeof pattern, "%s/*/stream_????", dir);
    CHECK(glob(pattern, 0, NULL, &g) == 0 && g.gl_pathc == 1);
    size_t least = 4 * (size_t)sysconf(_SC_PAGESIZE);
    CHECK(stat(g.gl_pathv[0], &st) == 0 && (size_t)st.st_size <= (least > RING_BYTES ? least : RING_BYTES));
    globfree(&g);
}

static void check_babeltrace(uint64_t n, uint64_t overwritten)
{
    char command[sizeof dir + 64];
    uint64_t lines = 0, discarded = 0;
    snprintf(command, sizeof command, "babeltrace2 '%s' 2>&1", dir);
    FILE *f = popen(command, "r");
    char line[1024];
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f)) {
        lines += strstr(line, " mark: ") != NULL;
        discarded += strstr(line, "discarded") != NULL;
    }
    CHECK(pclose(f) == 0 && lines == n);
    CHECK((discarded > 0) == (overwritten > 0));
}

/* The same after repair, and a second repair finds nothing to do. */
static void repair_keeps(const struct seen *before, bool with_babeltrace)
{
    for (int i = 0; i < 2; i++) {
        struct upmu_trace_repair_result r = {.size = sizeof r};
        CHECK(upmu_trace_repair(dir, &r) == 0 && r.running == 0 && r.processes == 1);
        CHECK(r.reordered == 0 || i == 0);
        struct seen after = read_numbers(false);
        CHECK(after.first == before->first && after.n == before->n);
        CHECK(after.process.overwritten == before->process.overwritten && after.process.lost == 0);
        CHECK(after.process.events == before->process.events);
    }
    if (with_babeltrace)
        check_babeltrace(before->n, before->process.overwritten);
}

/* -------------------------------------------------------------------------------------------------------- cases */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void clean(void)
{
    CHECK(nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* Repair leaves a living process alone. */
static void write_in_child(uint64_t n)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        struct trace_writer *w = open_writer();
        write_numbers(w, n);
        trace_writer_close(w);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void few_events_need_no_round(bool with_babeltrace)
{
    write_in_child(10);
    struct seen s = read_numbers(false);
    CHECK(s.first == 0 && s.n == 10 && s.process.overwritten == 0 && s.process.lost == 0 && s.process.complete);
    repair_keeps(&s, with_babeltrace);
    clean();
}

static void the_latest_stay(bool with_babeltrace)
{
    write_in_child(EVENTS);
    struct seen s = read_numbers(false);
    CHECK(s.next == EVENTS && s.process.complete && s.process.lost == 0);
    CHECK(s.process.overwritten == s.first && s.first + s.n == EVENTS);
    /* At least seven of eight packets; an event has 4 bytes of head and up to 6 of text. */
    CHECK(s.n > RING_BYTES / 8 * 6 / 10);
    check_size();
    repair_keeps(&s, with_babeltrace);
    check_size();
    clean();
}

static _Noreturn void write_for_ever(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail */
    write_numbers(open_writer(), UINT64_MAX);
    _exit(1);
}

/* A process that is killed while it begins a packet anew has counted it already or has not yet. */
static void killed_at(long us, bool with_babeltrace)
{
    atomic_store(committed, 0);
    pid_t child = fork();
    if (child == 0)
        write_for_ever();
    CHECK(child > 0);
    while (atomic_load(committed) < EVENTS / 4)
        usleep(100);
    usleep((useconds_t)us);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    uint64_t noted = atomic_load(committed);
    struct seen s = read_numbers(false);
    CHECK(s.next == noted || s.next == noted + 1);
    CHECK(!s.process.complete && s.process.lost == 0 && s.n > 0);
    uint64_t off = s.process.overwritten > s.first ? s.process.overwritten - s.first : s.first - s.process.overwritten;
    CHECK(off == 0 || off < RING_BYTES / 8 / 8);
    repair_keeps(&s, with_babeltrace);
    clean();
}

static void read_while_written(void)
{
    atomic_store(committed, 0);
    pid_t child = fork();
    if (child == 0)
        write_for_ever();
    CHECK(child > 0);
    while (atomic_load(committed) < EVENTS)
        usleep(100);
    uint64_t last = 0;
    for (int i = 0; i < 20; i++) {
        uint64_t before = atomic_load(committed);
        struct seen s = read_numbers(true);
        CHECK(s.next >= before && s.next >= last);
        last = s.next;
    }
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    clean();
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    bool with_babeltrace = argc > 2;
    if (with_babeltrace && system("babeltrace2 --version >/dev/null 2>&1") != 0) {
        printf("skipped, because babeltrace2 is not installed\n");
        return 77;
    }
    snprintf(dir, sizeof dir, "%s/upmu-ring-%d", tmp ? tmp : "/tmp", (int)getpid());
    committed = mmap(NULL, sizeof *committed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(committed != MAP_FAILED);
    unsigned seed = (unsigned)time(NULL);
    printf("seed %u\n", seed);
    srandom(seed);
    few_events_need_no_round(with_babeltrace);
    the_latest_stay(with_babeltrace);
    for (long i = 0; i < rounds; i++)
        killed_at(random() % 3000, with_babeltrace);
    read_while_written();
    printf("the latest events are there, the overwritten ones are counted: %ld kills\n", rounds);
    return 0;
}

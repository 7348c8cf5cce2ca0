/* SPDX-License-Identifier: MIT */
/*
 * A program killed at a random moment loses nothing that was committed: a child records from several threads and notes
 * each event it has committed in shared memory, is killed, and everything noted must be read back in order, by our
 * reader before and after repair and, with "babeltrace2" as argument, by that after repair.
 *
 *     survive_kill ROUNDS [babeltrace2]
 */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/tick.h"
#include "trace/write/writer.h"
#include "upmu/trace.h"

enum { THREADS = 3, PACKET_BYTES = 4096 };

/** Counts that the child leaves before it is killed. */
struct notes {
    _Atomic uint64_t committed[THREADS];
};

struct worker {
    struct trace_writer *w;
    struct notes *notes;
    int index;
};

static int failed(const char *what)
{
    fprintf(stderr, "FAILED: %s: %s\n", what, upmu_error());
    return 1;
}

/* ----------------------------------------------------------------------------------------------------- victim */

static void pause_briefly(void)
{
    for (int i = 0; i < 2000; i++)
        atomic_signal_fence(memory_order_seq_cst);
}

/* Few events per packet and many packets: the moments between two packets are the dangerous ones. */
static void *work(void *arg)
{
    const struct worker *me = arg;
    struct trace_stream *s = NULL;
    char text[200];
    memset(text, '.', sizeof text);
    for (uint64_t n = 0;; n++) {
        if (s && n % 50 == 49) { /* threads come and go, too */
            trace_stream_release(s);
            s = NULL;
        }
        if (!s && trace_stream_acquire(me->w, 100 + me->index, "victim", &s) != 0)
            abort();
        int len = snprintf(text, sizeof text, "%" PRIu64, n);
        text[len] = ' ';
        if (!trace_mark(s, tick_now(), text, sizeof text))
            abort();
        atomic_store(&me->notes->committed[me->index], n + 1);
        pause_briefly();
    }
}

static void be_killed(const char *dir, struct notes *notes)
{
    struct worker workers[THREADS];
    pthread_t thread;
    struct trace_writer *w;
    struct trace_config config = {.dir = dir, .packet_bytes = PACKET_BYTES};
    if (trace_writer_open(&w, &config) != 0)
        _exit(1);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){w, notes, i};
        if (pthread_create(&thread, NULL, work, &workers[i]) != 0)
            _exit(1);
    }
    for (;;)
        pause();
}

/* ---------------------------------------------------------------------------------------------------- witness */

/* Every event noted is there, and those there are in order. @return events, or -1. */
static int64_t read_back(const char *dir, const struct notes *notes)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    uint64_t next[THREADS] = {0};
    int64_t n = 0;
    int rc;
    if (upmu_trace_open(&t, dir) != 0)
        return -failed("open");
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        int i = e->tid - 100;
        if (i < 0 || i >= THREADS || strtoull(e->name, NULL, 10) != next[i]++) {
            fprintf(stderr, "FAILED: thread %d has \"%.20s\"\n", i, e->name);
            return -1;
        }
        n++;
    }
    struct upmu_trace_process p = {.size = sizeof p};
    if (rc < 0 || upmu_trace_process_at(t, 0, &p) != 0)
        return -failed("next");
    upmu_trace_close(t);
    for (int i = 0; i < THREADS; i++) {
        uint64_t noted = atomic_load(&notes->committed[i]);
        if (next[i] < noted || next[i] > noted + 1) {
            fprintf(stderr, "FAILED: thread %d committed %" PRIu64 " events, %" PRIu64 " were read\n", i, noted,
                    next[i]);
            return -1;
        }
    }
    if (p.complete || (int64_t)p.events != n) {
        fprintf(stderr, "FAILED: complete %" PRIu32 ", %" PRIu64 " events stated, %" PRId64 " read\n", p.complete,
                p.events, n);
        return -1;
    }
    return n;
}

static int64_t count_by_babeltrace(const char *dir)
{
    char command[4200];
    int64_t lines = 0;
    snprintf(command, sizeof command, "babeltrace2 '%s'", dir);
    FILE *f = popen(command, "r");
    if (!f)
        return -1;
    for (int c; (c = getc(f)) != EOF;)
        lines += c == '\n';
    return pclose(f) == 0 ? lines : -1;
}

static int check_dead(const char *dir, const struct notes *notes, int with_babeltrace)
{
    struct upmu_trace_repair_result r = {.size = sizeof r};
    int64_t before = read_back(dir, notes);
    if (before < 0)
        return -1;
    if (upmu_trace_repair(dir, &r) != 0 || r.running != 0)
        return -failed("repair");
    int64_t after = read_back(dir, notes);
    if (after != before) {
        fprintf(stderr, "FAILED: %" PRId64 " events before repair, %" PRId64 " after\n", before, after);
        return -1;
    }
    if (with_babeltrace && count_by_babeltrace(dir) != before) {
        fprintf(stderr, "FAILED: babeltrace2 does not read the %" PRId64 " events\n", before);
        return -1;
    }
    return (int)r.trimmed;
}

/* @return streams that needed repair, or -1. */
static int round_of(const char *dir, struct notes *notes, long us, int with_babeltrace)
{
    memset(notes, 0, sizeof *notes);
    pid_t child = fork();
    if (child == 0)
        be_killed(dir, notes);
    while (child > 0 && atomic_load(&notes->committed[THREADS - 1]) == 0)
        usleep(100);
    usleep((useconds_t)us);
    if (child < 0 || kill(child, SIGKILL) != 0 || waitpid(child, NULL, 0) != child)
        return -1;
    return check_dead(dir, notes, with_babeltrace);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Otherwise space is made by writing zeros, which takes its time. */
static int can_set_aside(const char *dir)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int can = fd >= 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, PACKET_BYTES) == 0;
    if (fd >= 0)
        close(fd);
    return can;
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    char dir[4096];
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    int with_babeltrace = argc > 2, trimmed = 0;
    if (with_babeltrace && system("babeltrace2 --version >/dev/null 2>&1") != 0) {
        printf("skipped, because babeltrace2 is not installed\n");
        return 77;
    }
    struct notes *notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED)
        return 1;
    unsigned seed = (unsigned)time(NULL);
    srandom(seed);
    for (long i = 0; i < rounds; i++) {
        snprintf(dir, sizeof dir, "%s/upmu-kill-XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(dir))
            return 1;
        int rc = round_of(dir, notes, random() % 10000, with_babeltrace);
        if (rc < 0) {
            fprintf(stderr, "in round %ld of seed %u; the recording is %s\n", i, seed, dir);
            return 1;
        }
        trimmed += rc;
        nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    printf("%ld kills, %d unfinished packets cut off\n", rounds, trimmed);
    if (!can_set_aside(tmp ? tmp : "/tmp")) {
        printf("their number is not judged, because this file system cannot set space aside\n");
        return 0;
    }
    /* The threads spend most of their time in making packets: it must be rare that a kill finds one half made. */
    return trimmed <= rounds / 2 ? 0 : 1;
}

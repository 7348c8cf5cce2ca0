/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of a recorded program: no file of the recorder ever has a number in its table.
 *
 *     full      every number below the limit is in use while threads come and go and streams grow: nothing is lost, and a
 *               preempted thread has its time without a CPU
 *     reused    threads close and reuse numbers, also all of them at once: each open() gets the number that it has to get, and
 *               no byte of the recorder is in a file of the program
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "read_object.h"

enum { LIMIT = 48, LOCKERS = 2, ROUNDS = 8000, SHORT = 20, REUSED = 4000, FILES = 4, PAIR = 2 };

static pthread_mutex_t used = PTHREAD_MUTEX_INITIALIZER;
static void *lock_often(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        lock(&used);
        unlock(&used);
    }
    return arg;
}

static void *lock_once(void *arg)
{
    lock(&used);
    unlock(&used);
    return arg;
}

static atomic_int preempted, last_tid;

/* Two threads with one CPU: both are preempted in the end. */
static void *until_preempted(void *cpu)
{
    struct rusage usage;
    cpu_set_t one;
    bool counted = false;
    CPU_ZERO(&one);
    CPU_SET(*(size_t *)cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    lock_once(NULL);
    atomic_store(&last_tid, (int)syscall(SYS_gettid));
    while (atomic_load(&preempted) < PAIR) {
        CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
        if (!counted && usage.ru_nivcsw > 0) {
            counted = true;
            atomic_fetch_add(&preempted, 1);
        }
    }
    return NULL;
}

/* @return on how many CPUs: one pair on the first, another one on the last. */
static uint32_t preempt_threads(void)
{
    pthread_t pair[PAIR];
    cpu_set_t all;
    size_t first = 0, last = CPU_SETSIZE - 1;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET(first, &all))
        first++;
    while (!CPU_ISSET(last, &all))
        last--;
    for (int p = 0; p < 2; p++) {
        atomic_store(&preempted, 0);
        for (int i = 0; i < PAIR; i++)
            CHECK(pthread_create(&pair[i], NULL, until_preempted, p == 0 ? &first : &last) == 0);
        for (int i = 0; i < PAIR; i++)
            CHECK(pthread_join(pair[i], NULL) == 0);
    }
    return first == last ? 1 : 2;
}

/* The end of a thread of the last pair. */
static void check_end(uint32_t cpus)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int ends = 0;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while (upmu_trace_next(t, &e) > 0)
        if (e->kind == UPMU_TRACE_THREAD_EXIT && e->tid == atomic_load(&last_tid)) {
            CHECK(e->thread_exit.ready_ns > 0 || access("/proc/self/schedstat", R_OK) != 0);
            CHECK(e->thread_exit.cpus >= cpus);
            ends++;
        }
    CHECK(ends == 1);
    upmu_trace_close(t);
}

static void check_recording(uint64_t acquisitions)
{
    struct upmu_trace_process p = {.size = sizeof p};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    uint64_t seen = 0;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while (upmu_trace_next(t, &e) > 0)
        seen += e->object == (uintptr_t)&used &&
                (e->kind == UPMU_TRACE_LOCK_ACQUIRE || e->kind == UPMU_TRACE_LOCK_ACQUIRED);
    CHECK(upmu_trace_process_at(t, 0, &p) == 0);
    if (p.lost != 0)
        fprintf(stderr, "%" PRIu64 " events lost: %s\n", p.lost, p.lost_note);
    CHECK(p.lost == 0);
    CHECK(seen == acquisitions);
    upmu_trace_close(t);
}

static void full(void)
{
    struct rlimit before, few = {LIMIT, LIMIT};
    pthread_t lockers[LOCKERS];
    int fds[LIMIT], n = 0;
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few.rlim_max = before.rlim_max;
    begin(UPMU_SYNC_ALL);
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (n < LIMIT && (fds[n] = dup(STDERR_FILENO)) >= 0)
        n++;
    CHECK(dup(STDERR_FILENO) < 0);
    for (int i = 0; i < LOCKERS; i++)
        CHECK(pthread_create(&lockers[i], NULL, lock_often, NULL) == 0);
    for (int i = 0; i < SHORT; i++)
        in_thread(lock_once, NULL);
    for (int i = 0; i < LOCKERS; i++)
        CHECK(pthread_join(lockers[i], NULL) == 0);
    uint32_t cpus = preempt_threads();
    end();
    while (n > 0)
        close(fds[--n]);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    check_recording((uint64_t)LOCKERS * ROUNDS + SHORT + 2 * PAIR);
    check_end(cpus);
}

static int make_file(int number)
{
    char path[sizeof dir + 16];
    snprintf(path, sizeof path, "%s-%d", dir, number);
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void check_file(int number, const char *expected)
{
    char path[sizeof dir + 16], text[16] = "";
    struct stat st;
    snprintf(path, sizeof path, "%s-%d", dir, number);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size == (off_t)strlen(expected));
    CHECK(read(fd, text, sizeof text) == st.st_size && strcmp(text, expected) == 0);
    close(fd);
    unlink(path);
}

static void reused(void)
{
    pthread_t lockers[LOCKERS];
    CHECK(syscall(SYS_close_range, 3L, 1000000L, 0L) == 0 || errno == ENOSYS);
    begin(UPMU_SYNC_ALL);
    for (int i = 0; i < LOCKERS; i++)
        CHECK(pthread_create(&lockers[i], NULL, lock_often, NULL) == 0);
    for (int i = 0; i < REUSED; i++) {
        CHECK(close(STDIN_FILENO) == 0);
        CHECK(open("/dev/null", O_RDONLY) == STDIN_FILENO);
        if (i % (REUSED / SHORT) == 0)
            in_thread(lock_once, NULL);
    }
    /* The control file is the only one that stays open, and its number is no low one. */
    for (int i = 0; i < SHORT; i++) {
        CHECK(syscall(SYS_close_range, 3L, 1000000L, 0L) == 0 || errno == ENOSYS);
        for (int f = 0; f < FILES; f++) {
            int fd = make_file(f);
            CHECK(fd == STDERR_FILENO + 1 + f);
            CHECK(write(fd, "own", 3) == 3);
        }
        in_thread(lock_once, NULL);
    }
    for (int i = 0; i < LOCKERS; i++)
        CHECK(pthread_join(lockers[i], NULL) == 0);
    end();
    for (int f = 0; f < FILES; f++)
        check_file(f, "own");
    check_recording((uint64_t)LOCKERS * ROUNDS + 2 * SHORT);
}

int main(int argc, char **argv)
{
    if (UNDER_THREAD_SANITIZER) {
        printf("skipped, because ThreadSanitizer does not support the thread that opens the files\n");
        return 77;
    }
    CHECK(mkdtemp(dir) != NULL && argc == 2);
    if (strcmp(argv[1], "full") == 0)
        full();
    else
        reused();
    return remove_recording();
}

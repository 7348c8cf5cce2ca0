/* SPDX-License-Identifier: MIT */
/*
 * Committed events of a recording process after SIGKILL at random times: all are read back.
 *
 * The process counts its calls in a shared page; an event is committed before its call returns.
 *
 *     sync_kill [KILLS SLOWER]     SLOWER: how many times longer each process lives, where all is emulated
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sanitizer.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

enum { THREADS = 3, KILLS = 100 };

#define CHECK(x)                                                                 \
    do {                                                                         \
        if (!(x)) {                                                              \
            fprintf(stderr, "kill.c:%d: %s (%s)\n", __LINE__, #x, upmu_error()); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

struct done {
    pid_t tid;
    uint64_t pairs;
    char line[48];
};

static struct done *done; /* shared with the child */
static pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    struct done *d = arg;
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    d->tid = (pid_t)syscall(SYS_gettid);
    for (uint64_t i = 0;; i++) {
        pthread_mutex_t *m = i % 16 ? &own : &shared_mutex;
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
        __atomic_store_n(&d->pairs, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void record_until_killed(const char *dir)
{
    struct upmu_sync_opts o = {.size = sizeof o, .mode = UPMU_SYNC_ALL, .trace = dir};
    pthread_t t;
    CHECK(upmu_sync_begin(&o) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t, NULL, work, &done[i]) == 0);
    for (;;)
        pause();
}

/* Pairs of each thread as the trace has them: an acquisition, waited for or not, and its release. */
static void read_back(const char *dir, uint64_t acquired[THREADS], uint64_t released[THREADS])
{
    struct upmu_trace_repair_result repair = {.size = sizeof repair};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    CHECK(upmu_trace_repair(dir, &repair) == 0 && repair.running == 0);
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        for (int i = 0; i < THREADS; i++) {
            if (e->tid != done[i].tid)
                continue;
            acquired[i] += e->kind == UPMU_TRACE_LOCK_ACQUIRE || e->kind == UPMU_TRACE_LOCK_ACQUIRED;
            released[i] += e->kind == UPMU_TRACE_LOCK_RELEASE;
        }
    }
    CHECK(rc == 0);
    upmu_trace_close(t);
}

static uint64_t most_pairs(void)
{
    uint64_t most = 0;
    for (int i = 0; i < THREADS; i++) {
        uint64_t pairs = __atomic_load_n(&done[i].pairs, __ATOMIC_ACQUIRE);
        most = pairs > most ? pairs : most;
    }
    return most;
}

/* Kill a recording process at a random time, once a thread has done so many pairs. */
static void kill_once(unsigned seed, unsigned slower, uint64_t pairs)
{
    char dir[] = "/tmp/upmu-sync-kill-XXXXXX", command[64];
    uint64_t acquired[THREADS] = {0}, released[THREADS] = {0};
    CHECK(mkdtemp(dir) != NULL);
    memset(done, 0, THREADS * sizeof *done);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        record_until_killed(dir);
    while (most_pairs() < pairs) {
        CHECK(waitpid(pid, NULL, WNOHANG) == 0); /* it has not ended by itself */
        usleep(1000);
    }
    usleep(slower * (1000 + seed * 7919u % 20000));
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (done[0].tid || done[1].tid || done[2].tid) /* else there may be no trace yet */
        read_back(dir, acquired, released);
    for (int i = 0; i < THREADS; i++) {
        /* At most one pair was under way beyond what was counted. */
        if (acquired[i] < done[i].pairs || released[i] < done[i].pairs || acquired[i] > done[i].pairs + 1) {
            fprintf(stderr, "kill %u, thread %d: %" PRIu64 " pairs done, %" PRIu64 " acquired, %" PRIu64 " released\n",
                    seed, i, done[i].pairs, acquired[i], released[i]);
            exit(1);
        }
    }
    CHECK(system(command) == 0);
}

int main(int argc, char **argv)
{
    if (UNDER_THREAD_SANITIZER) {
        printf("skipped, because %s\n", "ThreadSanitizer leaves too few events to be worth a kill");
        return 77;
    }
    unsigned kills = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : KILLS;
    unsigned slower = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    uint64_t most = 0;
    done = mmap(NULL, THREADS * sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(done != MAP_FAILED);
    for (unsigned i = 0; i < kills; i++) {
        /* most while it starts, each fourth well after that */
        kill_once(i, slower, i % 4 == 0 ? 1000 / slower / slower : 0);
        most = most_pairs() > most ? most_pairs() : most;
    }
    printf("%u kills, every event read back; the busiest thread did %" PRIu64 " pairs\n", kills, most);
    return 0;
}

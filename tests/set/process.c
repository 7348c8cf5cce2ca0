/* SPDX-License-Identifier: MIT */
/* A set on another process counts its existing and later threads, and their page faults add up. */
#include <signal.h>
#include <sys/wait.h>

#include "support/behavior.h"

enum { THREADS = 8, PAGES = 500, LATER = 3 };

/* -------------------------------------------------------------------------------------------- the process counted */

static pthread_barrier_t ready, go;

static void *touching(void *arg)
{
    (void)arg;
    unsigned char *p = fresh_pages(PAGES);
    touch_pages(p, PAGES, (size_t)sysconf(_SC_PAGESIZE));
    return NULL;
}

static void *busy_then_touching(void *arg)
{
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&go);
    return touching(arg);
}

/* Signal that all threads exist, wait for the command, touch, and touch again in threads that are created only now. */
static void process(int report, int command)
{
    pthread_t threads[THREADS - 1], later[LATER];
    char c = 0;
    pthread_barrier_init(&ready, NULL, THREADS);
    pthread_barrier_init(&go, NULL, THREADS);
    for (int i = 0; i < THREADS - 1; i++)
        threads[i] = start_thread(busy_then_touching, NULL);
    pthread_barrier_wait(&ready);
    CHECK(write(report, &c, 1) == 1 && read(command, &c, 1) == 1, "no word from the parent");
    pthread_barrier_wait(&go);
    touching(NULL);
    for (int i = 0; i < THREADS - 1; i++)
        join_thread(threads[i]);
    for (int i = 0; i < LATER; i++)
        later[i] = start_thread(touching, NULL);
    for (int i = 0; i < LATER; i++)
        join_thread(later[i]);
    CHECK(write(report, &c, 1) == 1, "no parent");
    while (read(command, &c, 1) == 1) /* until the parent has read its counters */
        ;
    _exit(0);
}

/* ------------------------------------------------------------------------------------------------------- counting */

struct counted {
    struct upmu_value value;
    size_t instances;
};

static struct counted count_process(uint32_t flags)
{
    int from[2], to[2];
    char c;
    CHECK(pipe(from) == 0 && pipe(to) == 0, "pipe");
    pid_t pid = fork();
    CHECK(pid >= 0, "fork");
    if (pid == 0) {
        close(from[0]);
        close(to[1]);
        process(from[1], to[0]);
    }
    close(from[1]);
    close(to[0]);
    CHECK(read(from[0], &c, 1) == 1, "no word from the process");
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_PROCESS, .pid = pid, .flags = flags};
    struct counted counted;
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0, "open");
    CHECK(upmu_set_pid(set) == pid, "%d", (int)upmu_set_pid(set));
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(write(to[1], &c, 1) == 1 && read(from[0], &c, 1) == 1, "the process is gone");
    CHECK(upmu_set_read(set, &counted.value, 1) == 1, "read");
    counted.instances = upmu_set_instance_count(set);
    upmu_set_close(set);
    close(to[1]);
    close(from[0]);
    CHECK(waitpid(pid, NULL, 0) == pid, "waitpid");
    return counted;
}

/* Each thread that starts or ends touches some pages of its own, the first page of its stack at least. */
static void expect(struct counted c, uint64_t touched, uint64_t threads)
{
    /* A sanitizer has threads of its own. */
    CHECK(SANITIZED ? c.instances >= THREADS : c.instances == THREADS, "%zu threads counted", c.instances);
    CHECK(c.value.status == UPMU_EXACT, "%s", upmu_status_name(c.value.status));
    CHECK(c.value.value >= touched, "%llu faults of %llu pages", (unsigned long long)c.value.value,
          (unsigned long long)touched);
    if (!SANITIZED)
        CHECK(c.value.value < touched + 30 * threads, "%llu faults of %llu pages", (unsigned long long)c.value.value,
              (unsigned long long)touched);
}

int main(void)
{
    struct upmu_set *set;
    struct upmu_set_opts gone = {.size = sizeof gone, .target = UPMU_TARGET_PROCESS};
    if (rights_here() == RIGHTS_NONE)
        skip("no event can be counted here (%s)", strerror(errno));
    size_t before = open_descriptors();
    expect(count_process(0), (THREADS + LATER) * PAGES, THREADS + LATER);
    expect(count_process(UPMU_SET_NO_INHERIT), THREADS * PAGES, THREADS);
    CHECK(open_descriptors() == before, "%zu descriptors, %zu before", open_descriptors(), before);
    gone.pid = fork();
    if (gone.pid == 0)
        _exit(0);
    CHECK(waitpid(gone.pid, NULL, 0) == gone.pid, "waitpid");
    CHECK(upmu_set_open(&set, "page-faults", &gone) == UPMU_E_GONE && set == NULL, "a process that has ended");
    return 0;
}

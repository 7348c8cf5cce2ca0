/* SPDX-License-Identifier: MIT */
/*
 * Regions around fork(), vfork(), posix_spawn() and exec(), as argv[1] names (forked.sh).
 *
 * Prints a line "PID REGION=COUNT ..." per process that must report; forked.sh compares it with the report. Descriptors and
 * counts are checked here.
 */
#include <spawn.h>
#include <signal.h>
#include <sys/wait.h>

#include "support/behavior.h"

enum { BEFORE = 3, IN_CHILD = 5, AFTER = 4, PAGES = 200, THREADS = 4, MANY = 40 };

extern char **environ;

static void expect_report(const char *text)
{
    char line[256];
    int n = snprintf(line, sizeof line, "%d %s\n", (int)getpid(), text);
    CHECK(write(STDOUT_FILENO, line, (size_t)n) == n, "write");
}

static void instances(const char *name, int n)
{
    for (int i = 0; i < n; i++)
        instance(name);
}

/* Descriptors of perf events this process has. */
static int perf_descriptors(void)
{
    char path[300], target[64];
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *e;
    CHECK(dir != NULL, "/proc/self/fd");
    while ((e = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t len = readlink(path, target, sizeof target - 1);
        target[len > 0 ? len : 0] = '\0';
        n += strstr(target, "perf_event") != NULL;
    }
    closedir(dir);
    return n;
}

static int per_thread; /* perf descriptors of a thread that uses regions */

/* The child starts clean: its own counters only, its own counts and none of its parent's. */
static void child_work(void)
{
    struct test_region s;
    unsigned char *p = fresh_pages(PAGES);
    instances("in child", IN_CHILD - 1);
    CHECK(perf_descriptors() == per_thread, "%d perf descriptors, %d of one thread", perf_descriptors(), per_thread);
    CHECK(upmu_region_begin("in child") == 0, "begin");
    touch_pages(p, PAGES, (size_t)sysconf(_SC_PAGESIZE));
    CHECK(upmu_region_end("in child") == 0, "end");
    CHECK(region_count("in child") == IN_CHILD, "%llu", (unsigned long long)region_count("in child"));
    CHECK(region_of("in child", own_tid()).count == IN_CHILD, "under another thread's number");
    CHECK(test_region_read("before", UPMU_ALL_THREADS, &s) == UPMU_E_NAME, "the parent's region is the child's too");
    CHECK(upmu_region_end("around") == UPMU_E_STATE, "the parent's region is open in the child");
    if (rights_here() != RIGHTS_NONE) {
        s = region_of("in child", UPMU_ALL_THREADS);
        CHECK(s.events[0].stat.max >= PAGES && s.events[0].stat.max < PAGES + 20, "%llu faults",
              (unsigned long long)s.events[0].stat.max);
    }
    free_pages(p, PAGES);
}

static void child_reports(void)
{
    child_work();
    expect_report("in child=5");
    exit(0);
}

static void wait_for(pid_t pid)
{
    int status;
    CHECK(pid > 0, "no child: %s", strerror(errno));
    CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's status is %x", status);
}

/* -------------------------------------------------------------------------------------------- ways to make a child */

static void by_fork(void)
{
    pid_t pid = fork();
    if (pid == 0)
        child_reports();
    wait_for(pid);
}

static void by_plain_fork(void)
{
    pid_t pid = _Fork();
    if (pid == 0)
        child_reports();
    wait_for(pid);
}

static void by_clone(void)
{
    if (SANITIZED_THREAD)
        skip("ThreadSanitizer does not see a raw clone");
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        child_reports();
    wait_for(pid);
}

static void by_vfork(void)
{
    static char program[] = "true";
    static char *const argv[] = {program, NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        execvp("true", argv);
        _exit(1);
    }
    wait_for(pid);
}

/* The new program is measured as its own process: it has the environment. */
static void by_spawn(void)
{
    static char program[] = "/proc/self/exe", word[] = "spawned";
    static char *const argv[] = {program, word, NULL};
    pid_t pid;
    CHECK(posix_spawn(&pid, program, NULL, NULL, argv, environ) == 0, "posix_spawn");
    wait_for(pid);
}

static void grandchild(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        child_work();
        by_fork();
        instance("in child");
        expect_report("in child=6");
        exit(0);
    }
    wait_for(pid);
}

static void silent_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        exit(0); /* exit handlers run: there must be nothing to report */
    wait_for(pid);
}

static int stop;
static pthread_barrier_t all_busy;

static void *busy(void *arg)
{
    (void)arg;
    instance("busy");
    pthread_barrier_wait(&all_busy);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        struct test_region s;
        (void)upmu_region_begin("busy");
        (void)upmu_mark("busy");
        (void)upmu_region_end("busy");
        CHECK(test_region_read("busy", UPMU_ALL_THREADS, &s) == 0, "stats");
        (void)health_now();
    }
    return NULL;
}

/* Other threads are inside the recorder and the readers at the moment of the fork. */
static void many_from_many_threads(void)
{
    pthread_t threads[THREADS];
    if (SANITIZED)
        skip("a sanitizer's allocator may be locked permanently in the child of a program with many threads");
    pthread_barrier_init(&all_busy, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_thread(busy, NULL);
    pthread_barrier_wait(&all_busy);
    for (int i = 0; i < MANY; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(200); /* a lock that is never released */
            child_reports();
        }
        wait_for(pid);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
}

static const struct {
    const char *name;
    void (*make)(void);
} ways[] = {
    {"fork", by_fork},   {"plain_fork", by_plain_fork}, {"clone", by_clone},      {"vfork", by_vfork},
    {"spawn", by_spawn}, {"grandchild", grandchild},    {"silent", silent_child}, {"threads", many_from_many_threads},
};

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "spawned") == 0) {
        instances("spawned", 2);
        expect_report("spawned=2");
        return 0;
    }
    instances("before", BEFORE);
    per_thread = perf_descriptors();
    CHECK(upmu_region_begin("around") == 0, "begin");
    size_t way = 0;
    while (way < sizeof ways / sizeof *ways && strcmp(ways[way].name, how) != 0)
        way++;
    CHECK(way < sizeof ways / sizeof *ways, "no such way: %s", how);
    ways[way].make();
    instances("after", AFTER);
    CHECK(upmu_region_end("around") == 0, "the region open over the fork");
    CHECK(health_now().end_without_begin == 0 && health_now().closed_by_outer == 0, "misuse where there was none");
    expect_report(strcmp(how, "threads") == 0 ? "before=3 around=1 after=4 busy=*" : "before=3 around=1 after=4");
    return 0;
}

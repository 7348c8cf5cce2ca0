/* SPDX-License-Identifier: MIT */
/* Regions until the end of a process, which ends in the way argv[1] names (exiting.sh). */
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdatomic.h>

#include "support/behavior.h"

static pthread_key_t key;

static void in_exit_handler(void)
{
    instance("exit handler");
}

__attribute__((destructor)) static void in_destructor(void)
{
    (void)upmu_region_begin("destructor");
    (void)upmu_region_end("destructor");
}

static void in_key_destructor(void *arg)
{
    (void)arg;
    instance("key destructor");
}

static void *with_key(void *arg)
{
    instance("thread");
    CHECK(pthread_setspecific(key, arg) == 0, "pthread_setspecific");
    return NULL;
}

static void handlers(void)
{
    static char word;
    CHECK(atexit(in_exit_handler) == 0, "atexit");
    CHECK(pthread_key_create(&key, in_key_destructor) == 0, "pthread_key_create");
    join_thread(start_thread(with_key, &word));
    (void)upmu_region_begin("never ended");
}

static void close_all(void)
{
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
}

static void closes_its_output(void)
{
    CHECK(atexit(close_all) == 0, "atexit");
}

/* The numbers stdio and the program's own writes see are no longer where they were. */
static void reuses_its_output(void)
{
    close_all();
    CHECK(open("data", O_RDWR | O_CREAT | O_TRUNC, 0600) >= 0 && open("data", O_RDWR) >= 0, "open");
}

static atomic_int at_work;

static void *for_ever(void *arg)
{
    (void)arg;
    for (;;) {
        (void)upmu_region_begin("running");
        (void)upmu_mark("still running");
        (void)upmu_region_end("running");
        atomic_fetch_add(&at_work, atomic_load(&at_work) < INT_MAX / 2);
    }
    return NULL;
}

/* On a busy machine a new thread may have to wait for its first moment. */
static void while_threads_run(void)
{
    for (int i = 0; i < 4; i++)
        start_thread(for_ever, NULL);
    while (atomic_load(&at_work) < 4)
        usleep(1000);
    usleep(20000);
}

static void with_a_decimal_comma(void)
{
    CHECK(setlocale(LC_ALL, "") != NULL, "setlocale");
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    CHECK(strcmp(text, "0,5") == 0, "this locale writes %s", text);
}

static void with_few_descriptors(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    CHECK(limit.rlim_cur <= 64, "started under a limit of %llu", (unsigned long long)limit.rlim_cur);
}

/* As daemons do that close what they did not open. */
static void closes_foreign_descriptors(void)
{
    int counters = 0;
    for (int fd = 3; fd < 1024; fd++) {
        char path[32], target[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        counters += readlink(path, target, sizeof target - 1) > 0 && strstr(target, "[perf_event]");
        close(fd);
    }
    printf("%d counters closed\n", counters);
    (void)upmu_region_begin("main, \"quoted\"");
    (void)upmu_region_end("main, \"quoted\"");
}

static void nothing_special(void)
{
}

static void in_another_directory(void)
{
    CHECK(chdir("/") == 0, "chdir");
}

static const struct {
    const char *name;
    void (*how)(void);
} ways[] = {
    {"plain", nothing_special},    {"handlers", handlers},          {"close", closes_its_output},
    {"reuse", reuses_its_output},  {"running", while_threads_run},  {"comma", with_a_decimal_comma},
    {"few", with_few_descriptors}, {"moved", in_another_directory}, {"foreign", closes_foreign_descriptors},
};

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "plain";
    for (int i = 0; i < 5; i++) {
        (void)upmu_region_begin("main, \"quoted\"");
        usleep(100);
        (void)upmu_region_end("main, \"quoted\"");
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(how, ways[i].name) == 0)
            ways[i].how();
    return 0;
}

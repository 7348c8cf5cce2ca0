/* SPDX-License-Identifier: MIT */
/*
 * Every system call of a recording fails once, in a process of its own: faults [all]
 *
 * After each failure the program's result is what it is without a recording, no descriptor is left, a call that fails has a
 * message, and each event is in the recording or counted as lost. By default the first calls of each function,
 * and some of the others, fail with one of the errors in turn, and each pwrite() is a short one; with `all`, each call fails with each
 * error, and is a short transfer.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector.h"
#include "upmu/region.h"
#include "upmu/sync.h"
#include "upmu/trace.h"
#include "upmu/upmu.h"

enum { THREADS = 3, PAIRS = 900, LIMIT_S = 60, TEXT_MAX = 400, UNFIRED = 9, CALLS_MAX = 400, FIRST = 2, STEP = 23 };

static const char *const functions[] = {INJECTOR_FUNCTIONS, NULL};
static const int errors[] = {ENOSPC, EMFILE, ENOMEM, EACCES, EPERM, EINTR, ENOSYS, EIO};
enum { ERRORS = sizeof errors / sizeof *errors };

/* ------------------------------------------------------------------------------------------ the recorded program */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;

static void *work(void *arg)
{
    upmu_region_begin("work");
    for (int i = 0; i < PAIRS; i++) {
        if (pthread_mutex_lock(&mutex) != 0)
            abort();
        sum++;
        if (pthread_mutex_unlock(&mutex) != 0)
            abort();
    }
    upmu_region_end("work");
    return arg;
}

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* Prints "begin RC MESSAGE" for the parent. Exit status: 0, UNFIRED if the call was never made. */
static int subject(const char *dir)
{
    struct upmu_sync_opts o = {.size = sizeof o, .mode = UPMU_SYNC_ALL, .trace = dir};
    pthread_t t[THREADS];
    int rc = upmu_sync_begin(&o);
    printf("begin %d %s\n", rc, rc < 0 ? upmu_error() : "");
    int before = descriptors();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&t[i], NULL, work, NULL) != 0)
                return 1;
        for (int i = 0; i < THREADS; i++)
            if (pthread_join(t[i], NULL) != 0)
                return 1;
    }
    int after = descriptors();
    if (rc == 0 && upmu_sync_end() != 0)
        return 1;
    printf("sum %lu, %d descriptors more\n", sum, after - before);
    return 0;
}

/* --------------------------------------------------------------------------------------------------- the judgment */

static char scratch[] = "/tmp/upmu-faults-XXXXXX";
static unsigned failures;

static void failed(const char *fault, const char *what, const char *text)
{
    printf("FAILED: %s: %s%s\n", fault, what, text);
    failures++;
}

/* Acquisitions in the recording, and lost events. @return false if it cannot be read. */
static bool read_recording(const char *dir, uint64_t *events, uint64_t *lost)
{
    struct upmu_trace_process p = {.size = sizeof p};
    const struct upmu_trace_event *e;
    struct upmu_trace *t;
    int rc;
    *events = *lost = 0;
    if (upmu_trace_open(&t, dir) != 0)
        return false;
    while ((rc = upmu_trace_next(t, &e)) > 0)
        *events += e->kind == UPMU_TRACE_LOCK_ACQUIRE || e->kind == UPMU_TRACE_LOCK_ACQUIRED;
    for (size_t i = 0; upmu_trace_process_at(t, i, &p) == 0; i++)
        *lost += p.lost;
    upmu_trace_close(t);
    return rc == 0;
}

static void judge(const char *fault, const char *dir, const char *text)
{
    const uint64_t expected = (uint64_t)THREADS * 2 * PAIRS;
    char result[64];
    uint64_t events, lost;
    int rc = 1;
    snprintf(result, sizeof result, "sum %d, 0 descriptors more\n", THREADS * 2 * PAIRS);
    /* An event whose identity cannot be read stays open: its number may be the program's. */
    bool kept = strncmp(fault, "ioctl", 5) == 0 && strstr(text, ", 1 descriptors more");
    if (!strstr(text, result) && !kept)
        failed(fault, "the program printed ", text);
    if (sscanf(text, "begin %d", &rc) != 1 || rc > 0)
        failed(fault, "the program printed ", text);
    if (rc < 0 && strchr(text, '\n') - text < (long)strlen("begin -10 ..."))
        failed(fault, "no message: ", text);
    if (rc < 0)
        return;
    if (!read_recording(dir, &events, &lost))
        failed(fault, "the recording cannot be read: ", upmu_error());
    else if (events + lost < expected) {
        snprintf(result, sizeof result, "%" PRIu64 " and %" PRIu64 " of %" PRIu64, events, lost, expected);
        failed(fault, "events recorded and lost: ", result);
    }
}

static bool writes_at(const char *function)
{
    return strcmp(function, "pwrite") == 0;
}

static bool is_transfer(const char *function)
{
    return strcmp(function, "read") == 0 || strcmp(function, "write") == 0 || writes_at(function);
}

/* @return false if the program makes fewer calls. */
static bool try(const char *self, const char *function, long n, int err)
{
    char fault[64], dir[sizeof scratch + 8], command[sizeof dir + 16], text[TEXT_MAX] = "";
    int out[2], status;
    snprintf(fault, sizeof fault, "%s:%ld:%d", function, n, err);
    snprintf(dir, sizeof dir, "%s/r", scratch);
    if (pipe(out) != 0)
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("FAULT", fault, 1);
        setenv("UPMU_TRACE_PACKET", "16K", 1);
        setenv("UPMU_EVENTS", "page-faults,context-switches", 1);
        setenv("UPMU_REPORT", "none", 1);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        alarm(LIMIT_S);
        execl(self, self, "subject", dir, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    size_t got = 0;
    ssize_t r;
    while (got < sizeof text - 1 && (r = read(out[0], text + got, sizeof text - 1 - got)) > 0)
        got += (size_t)r;
    close(out[0]);
    if (waitpid(child, &status, 0) != child)
        exit(1);
    bool fired = !(WIFEXITED(status) && WEXITSTATUS(status) == UNFIRED);
    if (fired && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        snprintf(command, sizeof command, "status %d; ", status);
        failed(fault, command, text);
    } else if (fired) {
        judge(fault, dir, text);
    }
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 && fired;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "subject") == 0) {
        const char *fault = getenv("FAULT"), *colon = fault ? strchr(fault, ':') : NULL;
        int rc = subject(argv[2]);
        fflush(stdout);
        return rc == 0 && colon && injector_calls() <= atol(colon + 1) ? UNFIRED : rc;
    }
    bool all = argc == 2 && strcmp(argv[1], "all") == 0;
    unsigned tried = 0;
    if (!mkdtemp(scratch))
        return 1;
    for (size_t f = 0; functions[f]; f++) {
        int kinds = ERRORS + is_transfer(functions[f]);
        unsigned now = tried;
        bool fires = true;
        for (long n = 0; fires && n < CALLS_MAX; n += all || n < FIRST ? 1 : STEP)
            for (int e = 0; e < (all ? kinds : 1) && fires; e++) {
                size_t kind = all ? (size_t)e : (f + (size_t)n) % (size_t)kinds;
                fires = try(argv[0], functions[f], n, kind < ERRORS ? errors[kind] : 0);
                tried += fires;
            }
        fires = !all && writes_at(functions[f]);
        for (long n = 0; fires && n < CALLS_MAX; n++) {
            fires = try(argv[0], functions[f], n, 0);
            tried += fires;
        }
        printf("%-16s %u failures\n", functions[f], tried - now);
    }
    rmdir(scratch);
    printf("%u calls failed, %u times with a wrong result\n", tried, failures);
    return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * System calls that recording adds to a program are those of the list: calls LIBRARY SECURITY.md
 *
 * The subject runs bare and recorded under ptrace, with everything a recording can have. Whatever the recorded one calls and
 * the bare one does not must be in `system_calls`, with the phase (start, run, end), and in the document. Then it runs below a
 * filter that allows nothing else, which also applies to the recorder's threads that no tracer sees.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check/system_calls.h"
#include "tracer.h"

enum { THREADS = 3, PAIRS = 600, TEXT_MAX = 400, DOCUMENT_MAX = 1 << 16, FILTER_MAX = 1000, FSTATS_MAX = 120 };

/* ------------------------------------------------------------------------------------------ the recorded program */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static long sum, turn;

static void count(long n)
{
    if (n > 0)
        count(n - 1); /* call stacks of several depths */
    pthread_mutex_lock(&mutex);
    sum++;
    pthread_mutex_unlock(&mutex);
}

static void *work(void *arg)
{
    for (long i = 0; i < PAIRS; i++)
        count(i % 5);
    pthread_mutex_lock(&other);
    turn++;
    pthread_cond_broadcast(&changed);
    while (turn < THREADS)
        pthread_cond_wait(&changed, &other); /* the last one in sees all others asleep */
    pthread_mutex_unlock(&other);
    sem_post(&sem);
    poll(NULL, 0, 3);
    return arg;
}

static const char allowed_variable[] = "CALLS_ALLOWED";

/* Allow the calls of the list that a running recording makes, and those whose numbers are in the variable; others end the process. */
static bool restrict_to(const char *allowed)
{
    static struct sock_filter f[2 * (FILTER_MAX + 1)];
    unsigned n = 0;
    f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *end; *allowed && n < FILTER_MAX; allowed = end + (*end == ',')) {
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)strtoul(allowed, &end, 10), 0, 1);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < system_calls_count && n < FILTER_MAX; i++) {
        if ((system_calls[i].uses & ~(unsigned)(SYSTEM_CALL_START | SYSTEM_CALL_UNFILTERED)) == 0)
            continue;
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, system_calls[i].number, 0, 1);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    const struct sock_fprog program = {(unsigned short)n, f};
    return n <= FILTER_MAX && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

static int subject(void)
{
    const char *allowed = getenv(allowed_variable);
    pthread_t t[THREADS];
    (void)getpgid(0); /* a mark for the tracer */
    if (allowed && !restrict_to(allowed))
        return 1;
    if (sem_init(&sem, 0, 0) != 0)
        return 1;
    for (int round = 0; round < 2; round++) {
        turn = 0;
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&t[i], NULL, work, NULL) != 0)
                return 1;
        for (int i = 0; i < THREADS; i++)
            if (sem_wait(&sem) != 0 || pthread_join(t[i], NULL) != 0)
                return 1;
    }
    (void)getpgid(0);
    return sum == 2L * THREADS * (PAIRS + PAIRS / 5 * 10) ? 0 : 1;
}

/* --------------------------------------------------------------------------------------------------- the judgment */

static char document[DOCUMENT_MAX];
static unsigned missing;

static const struct system_call *listed(unsigned number)
{
    for (size_t i = 0; i < system_calls_count; i++)
        if (system_calls[i].number == number)
            return &system_calls[i];
    return NULL;
}

static bool listed_for(unsigned number, unsigned use)
{
    for (size_t i = 0; i < system_calls_count; i++)
        if (system_calls[i].number == number && (system_calls[i].uses & use))
            return true;
    return false;
}

static void compare(const struct tracer_calls *bare, const struct tracer_calls *now, const char *what)
{
    static const char *const phases[] = {"start", "run", "end"};
    static const unsigned uses[] = {
        SYSTEM_CALL_START, SYSTEM_CALL_RUN | SYSTEM_CALL_COUNTERS | SYSTEM_CALL_INSTEAD | SYSTEM_CALL_UNFILTERED,
        SYSTEM_CALL_END | SYSTEM_CALL_COUNTERS | SYSTEM_CALL_INSTEAD | SYSTEM_CALL_UNFILTERED};
    for (unsigned phase = 0; phase < TRACER_PHASES; phase++)
        for (unsigned n = 0; n < TRACER_NUMBERS; n++) {
            const struct system_call *c = listed(n);
            if (!now->made[phase][n] || bare->made[phase][n] || listed_for(n, uses[phase]))
                continue;
            printf("FAILED: %s: system call %u (%s) in phase %s is not listed\n", what, n, c ? c->name : "?",
                   phases[phase]);
            missing++;
        }
    unsigned fstats = now->made[1][SYS_fstat];
#ifdef SYS_newfstatat
    fstats += now->made[1][SYS_newfstatat];
#endif
    if (fstats > FSTATS_MAX) {
        printf("FAILED: %s: fstat() was called %u times: for call stacks, not for packets and threads only\n", what,
               fstats);
        missing++;
    }
}

/* The subject's own calls for the variable. */
static void own_calls(const struct tracer_calls *bare, char *out, size_t size)
{
    int at = snprintf(out, size, "%s=%u,", allowed_variable, (unsigned)SYS_getpgid);
    for (unsigned n = 0; n < TRACER_NUMBERS; n++)
        if ((bare->made[1][n] || bare->made[2][n]) && at >= 0 && (size_t)at < size)
            at += snprintf(out + at, size - (size_t)at, "%u,", n);
}

static void compare_document(const char *path)
{
    char word[64];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(document, 1, sizeof document - 1, f) : 0;
    if (f)
        (void)fclose(f);
    for (size_t i = 0; n > 0 && i < system_calls_count; i++) {
        snprintf(word, sizeof word, "`%s`", system_calls[i].name);
        if (strstr(document, word))
            continue;
        printf("FAILED: %s is not in %s\n", system_calls[i].name, path);
        missing++;
    }
    if (n == 0) {
        printf("FAILED: cannot read %s\n", path);
        missing++;
    }
}

/* Without a tracer. */
static int run(char *const *argv, const char *const *set)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        for (size_t i = 0; set[i]; i++)
            putenv(strdup(set[i]));
        execv(argv[0], argv);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

int main(int argc, char **argv)
{
    static const char *const recordings[][8] = {
        {"UPMU_SYNC=contended"},
        {"UPMU_SYNC=all", "UPMU_SYNC_ALL_STACKS=1", "UPMU_TRACE_PACKET=16K", "UPMU_SYNC_REQUESTS=1"},
        {"UPMU_SYNC=all", "UPMU_EVENTS=page-faults,context-switches,instructions", "UPMU_SYNC_COUNTERS=1",
         "UPMU_SCHED=1", "UPMU_REPORT=none"},
        {"UPMU_SYNC=holders", "UPMU_TRACE_POLICY=ring:256K", "UPMU_SNAPSHOT_ON=wait > 1 us"},
    };
    static struct tracer_calls bare, now;
    char scratch[] = "/tmp/upmu-calls-XXXXXX", trace[64], preload[TEXT_MAX], own[TEXT_MAX], command[64];
    char *const subject_argv[] = {argv[0], (char *)"subject", NULL};
    const char *set[16] = {NULL};
    if (argc == 2 && strcmp(argv[1], "subject") == 0)
        return subject();
    if (argc != 3 || !mkdtemp(scratch))
        return 2;
    if (tracer_run((char **)subject_argv, set, &bare) < 0) {
        printf("skipped, because this kernel does not let programs be traced (PTRACE_GET_SYSCALL_INFO)\n");
        return 77;
    }
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
    snprintf(trace, sizeof trace, "UPMU_TRACE=%s/r", scratch);
    for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
        size_t n = 0;
        for (; recordings[i][n]; n++)
            set[n] = recordings[i][n];
        set[n++] = preload;
        set[n++] = trace;
        set[n] = NULL;
        int status = tracer_run((char **)subject_argv, set, &now);
        if (status != 0) {
            printf("FAILED: %s: the subject ended with status %d\n", recordings[i][0], status);
            missing++;
        }
        compare(&bare, &now, recordings[i][0]);
        own_calls(&bare, own, sizeof own);
        set[n++] = own;
        set[n] = NULL;
        status = run(subject_argv, set);
        if (status != 0) {
            printf("FAILED: %s: below a filter for the list and %s the subject ended with status %d\n",
                   recordings[i][0], own, status);
            missing++;
        }
        snprintf(command, sizeof command, "rm -rf %s/r", scratch);
        if (system(command) != 0) // NOLINT(cert-env33-c): a fixed command
            return 1;
    }
    rmdir(scratch);
    compare_document(argv[2]);
    printf("%zu system calls listed, %u missing\n", system_calls_count, missing);
    return missing != 0;
}

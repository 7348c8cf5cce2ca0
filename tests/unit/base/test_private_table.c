/* SPDX-License-Identifier: MIT */
/* Calls that open files without a descriptor in the program's table. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/private_table.h"
#include "base/sanitizer.h"
#include "unit/suite.h"

static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

static int open_null(void *opened)
{
    int fd = open("/dev/null", O_RDONLY);
    *(int *)opened = fd;
    return fd < 0 ? -errno : fd;
}

static void *nothing(void *arg)
{
    return arg;
}

static void second_thread(void)
{
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, nothing, NULL), 0);
    ck_assert_int_eq(pthread_join(t, NULL), 0);
}

START_TEST(a_process_with_threads_sees_no_descriptor)
{
    int opened = -1, lowest;
    if (UNDER_TSAN)
        return; /* a direct call: ThreadSanitizer does not support such a thread */
    second_thread();
    lowest = lowest_free();
    errno = ERANGE;
    ck_assert_int_ge(private_table_run(open_null, &opened), 0);
    ck_assert_int_eq(errno, ERANGE);
    ck_assert_int_ge(opened, 0);
    ck_assert_int_eq(lowest_free(), lowest);
}
END_TEST

START_TEST(a_full_table_is_no_obstacle)
{
    struct rlimit before, few;
    int opened = -1;
    if (UNDER_TSAN)
        return;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){(rlim_t)lowest_free(), before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    ck_assert_int_lt(dup(STDERR_FILENO), 0);
    int rc = private_table_run(open_null, &opened);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_ge(rc, 0);
}
END_TEST

static int call_result(void *argument)
{
    return *(int *)argument;
}

START_TEST(the_result_is_that_of_the_call)
{
    int number = 42, failure = -ENOSPC;
    second_thread();
    ck_assert_int_eq(private_table_run(call_result, &number), 42);
    ck_assert_int_eq(private_table_run(call_result, &failure), -ENOSPC);
}
END_TEST

static int raise_signal(void *pid)
{
    return kill(*(pid_t *)pid, SIGUSR1);
}

static volatile sig_atomic_t handled_in;

static void handler(int number)
{
    (void)number;
    handled_in = (sig_atomic_t)syscall(SYS_gettid);
}

START_TEST(signals_wait_for_the_end)
{
    struct sigaction action = {.sa_handler = handler};
    sigset_t now;
    pid_t pid = getpid();
    second_thread();
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    ck_assert_int_eq(private_table_run(raise_signal, &pid), 0);
    ck_assert_int_eq(handled_in, pid);
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &now), 0);
    ck_assert_int_eq(sigismember(&now, SIGUSR1), 0);
}
END_TEST

static int own_state(void *state)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    FILE *f = fopen(path, "r");
    const char *end = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    *(char *)state = end ? end[2] : '?';
    return f ? fclose(f) : -1;
}

START_TEST(the_caller_is_not_asleep)
{
    char state = 0;
    if (UNDER_TSAN)
        return;
    second_thread();
    ck_assert_int_eq(private_table_run(own_state, &state), 0);
    ck_assert_int_eq(state, 'D');
}
END_TEST

enum { AT_ONCE = 3 };

static int arrived;

/* Stays until all are here; where its stack is. */
static int meet(void *frame)
{
    *(uintptr_t *)frame = (uintptr_t)__builtin_frame_address(0);
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < AT_ONCE)
        sched_yield();
    return 0;
}

/* @return NULL: the call ran on a stack other than this thread's */
static void *call_with_others(void *arg)
{
    pthread_attr_t attr;
    void *lowest;
    size_t bytes;
    uintptr_t frame = 0;
    if (private_table_run(meet, &frame) != 0 || pthread_getattr_np(pthread_self(), &attr) != 0)
        return arg;
    bool known = pthread_attr_getstack(&attr, &lowest, &bytes) == 0;
    pthread_attr_destroy(&attr);
    return known && frame - (uintptr_t)lowest >= bytes ? NULL : arg;
}

START_TEST(calls_at_the_same_time_leave_small_stacks_alone)
{
    pthread_t threads[AT_ONCE];
    if (UNDER_TSAN)
        return;
    for (int i = 0; i < AT_ONCE; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_with_others, &arrived), 0);
    for (int i = 0; i < AT_ONCE; i++) {
        void *own = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &own), 0);
        ck_assert_ptr_null(own);
    }
}
END_TEST

START_TEST(without_another_thread_it_fails)
{
    struct rlimit before, none;
    int opened = -1;
    if (UNDER_TSAN || UNDER_ASAN || geteuid() != 0) /* the leak checker makes a thread at exit */
        return;
    second_thread();
    ck_assert_int_eq(setuid(65534), 0); /* root has no limit */
    ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &before), 0);
    none = (struct rlimit){1, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &none), 0);
    int rc = private_table_run(open_null, &opened);
    ck_assert_int_eq(rc, -EAGAIN);
    ck_assert_int_eq(opened, -1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("private_table");
    tcase_add_test(cases, a_process_with_threads_sees_no_descriptor);
    tcase_add_test(cases, a_full_table_is_no_obstacle);
    tcase_add_test(cases, the_result_is_that_of_the_call);
    tcase_add_test(cases, signals_wait_for_the_end);
    tcase_add_test(cases, the_caller_is_not_asleep);
    tcase_add_test(cases, calls_at_the_same_time_leave_small_stacks_alone);
    tcase_add_test(cases, without_another_thread_it_fails);
    return run_suite("private_table", cases);
}

/* SPDX-License-Identifier: MIT */
/* Deadlocks that the recording does not have as a whole: it began late, a lock is mapped twice, or is the C library's own. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "cases.h"
#include "upmu/sync.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static struct dl_meeting meeting, begun;

/* Recording pauses, as if it had not begun, and begins. */
static void record_nothing(void)
{
    while (upmu_sync_end() == 0)
        ;
}

static void record(void)
{
    if (upmu_sync_begin(NULL) < 0)
        dl_must(EINVAL, "upmu_sync_begin");
    dl_meet(&begun, 1);
}

/* A thread that takes locks before the recording begins, and one afterwards. */
struct two_locks {
    pthread_mutex_t *early, *late;
};

static void *early_and_late(void *arg)
{
    const struct two_locks *l = arg;
    MUST(pthread_mutex_lock(l->early));
    dl_meet(&meeting, 3);
    while (__atomic_load_n(&begun.come, __ATOMIC_ACQUIRE) == 0)
        dl_rest(1);
    MUST(pthread_mutex_lock(l->late));
    return NULL;
}

static void *both_early(void *arg)
{
    const struct two_locks *l = arg;
    MUST(pthread_mutex_lock(l->early));
    dl_meet(&meeting, 3);
    MUST(pthread_mutex_lock(l->late));
    return NULL;
}

static void *nothing(void *arg)
{
    return arg;
}

static void late_with(void *(*function)(void *), unsigned wait_ms)
{
    static struct two_locks ab = {&a, &b}, ba = {&b, &a};
    record_nothing();
    pthread_t s = dl_start(function, &ab), t = dl_start(function, &ba);
    dl_meet(&meeting, 3);
    dl_rest(wait_ms);
    record();
    MUST(pthread_join(dl_start(nothing, NULL), NULL));
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void late_after_deadlock(void)
{
    late_with(both_early, 300);
}

static void late_between_the_locks(void)
{
    late_with(early_and_late, 0);
}

static void late_self(void)
{
    record_nothing();
    MUST(pthread_mutex_lock(&a));
    record();
    MUST(pthread_mutex_lock(&a));
}

static pthread_t joined;

static void *wants_a(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void late_join_with_its_lock(void)
{
    record_nothing();
    MUST(pthread_mutex_lock(&a));
    joined = dl_start(wants_a, NULL);
    dl_rest(200);
    record();
    MUST(pthread_join(joined, NULL));
}

static void *writes_early(void *arg)
{
    MUST(pthread_rwlock_wrlock(&r));
    dl_meet(&meeting, 3);
    while (__atomic_load_n(&begun.come, __ATOMIC_ACQUIRE) == 0)
        dl_rest(1);
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void *reads_late(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 3);
    while (__atomic_load_n(&begun.come, __ATOMIC_ACQUIRE) == 0)
        dl_rest(1);
    MUST(pthread_rwlock_rdlock(&r));
    return arg;
}

static void late_rwlock(void)
{
    record_nothing();
    pthread_t s = dl_start(writes_early, NULL), t = dl_start(reads_late, NULL);
    dl_meet(&meeting, 3);
    record();
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

/* ------------------------------------------------------------------------------------------- waits that end: quiet */

static void *holds_a_while(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    dl_rest(2500);
    MUST(pthread_mutex_unlock(&a));
    return arg;
}

static void late_holder_sleeps(void)
{
    record_nothing();
    pthread_t s = dl_start(holds_a_while, NULL);
    dl_meet(&meeting, 2);
    pthread_t t = dl_start(wants_a, NULL);
    dl_rest(100);
    record();
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

/* ------------------------------------------------------------------------------------------------- mapped twice */

static pthread_mutex_t *mapping(int fd)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        dl_must(errno, "mmap");
    return p;
}

/* Each lock is held under one address and wanted under the other. */
static void twice_mapped_cross(void)
{
    pthread_mutexattr_t attr;
    int fd = memfd_create("locks", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        dl_must(errno, "memfd_create");
    pthread_mutex_t *x = mapping(fd), *y = mapping(fd);
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    MUST(pthread_mutex_init(&x[0], &attr));
    MUST(pthread_mutex_init(&x[1], &attr));
    struct two_locks first = {&x[0], &y[1]}, second = {&x[1], &y[0]};
    pthread_t s = dl_start(both_early, &first), t = dl_start(both_early, &second);
    dl_meet(&meeting, 3);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

/* --------------------------------------------------------------------------------------- locks of the C library */

static void *stream_then_mutex(void *arg)
{
    flockfile(stderr);
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void *mutex_then_stream(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    flockfile(stderr);
    return arg;
}

static void stream_and_mutex_cross(void)
{
    dl_both(stream_then_mutex, mutex_then_stream);
}

static FILE *streams[2];

static void *locks_streams(void *arg)
{
    size_t first = (size_t)(uintptr_t)arg;
    flockfile(streams[first]);
    dl_meet(&meeting, 2);
    flockfile(streams[1 - first]);
    return NULL;
}

static void streams_cross(void)
{
    streams[0] = tmpfile();
    streams[1] = tmpfile();
    pthread_t s = dl_start(locks_streams, NULL), t = dl_start(locks_streams, (void *)(uintptr_t)1);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void *holds_stream(void *arg)
{
    flockfile(stdout);
    dl_meet(&meeting, 2);
    dl_rest(2500);
    funlockfile(stdout);
    return arg;
}

static void stream_held_long(void)
{
    pthread_t s = dl_start(holds_stream, NULL);
    dl_meet(&meeting, 2);
    flockfile(stdout);
    funlockfile(stdout);
    MUST(pthread_join(s, NULL));
}

static int in_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info;
    (void)size;
    (void)arg;
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&a));
    return 1;
}

static void *loader_then_mutex(void *arg)
{
    (void)dl_iterate_phdr(in_loader, NULL);
    return arg;
}

static void *mutex_then_loader(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 2);
    (void)dl_iterate_phdr(in_loader, NULL);
    return arg;
}

static void loader_and_mutex_cross(void)
{
    dl_both(loader_then_mutex, mutex_then_loader);
}

/* ------------------------------------------------------------------------- futexes that no wrapper sees: all asleep */

static int word;

/* The system call itself, which is not recorded. */
static void futex_wait(int *at, int op, const struct timespec *timeout)
{
#if defined(__x86_64__)
    register const struct timespec *r10 __asm__("r10") = timeout;
    long rc = SYS_futex;
    __asm__ volatile("syscall" : "+a"(rc) : "D"(at), "S"((long)op), "d"(0L), "r"(r10) : "rcx", "r11", "memory");
#else
    (void)at, (void)op;
    if (timeout)
        dl_rest(1000);
    else
        pause();
#endif
}

static void *waits_on_word(void *arg)
{
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
        futex_wait(&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, NULL);
    return arg;
}

static void all_asleep(void)
{
    MUST(pthread_join(dl_start(waits_on_word, NULL), NULL));
}

static void *waits_some_time(void *arg)
{
    const struct timespec timeout = {.tv_sec = 2};
    futex_wait(&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, &timeout);
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    return arg;
}

static void asleep_for_a_time(void)
{
    MUST(pthread_join(dl_start(waits_some_time, NULL), NULL));
}

static void wake(int sig)
{
    (void)sig;
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
}

static void asleep_until_signal(void)
{
    struct sigaction action = {.sa_handler = wake};
    sigaction(SIGUSR1, &action, NULL);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        dl_rest(2500);
        kill(parent, SIGUSR1);
        _exit(0);
    }
    waits_on_word(NULL);
    waitpid(child, NULL, 0);
}

static void asleep_until_other_process(void)
{
    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        dl_rest(2500);
        *shared = 1;
        syscall(SYS_futex, shared, FUTEX_WAKE, 1, NULL, NULL, 0);
        _exit(0);
    }
    while (__atomic_load_n(shared, __ATOMIC_ACQUIRE) == 0)
        futex_wait(shared, FUTEX_WAIT, NULL);
    waitpid(child, NULL, 0);
}

static void *reads_early(void *arg)
{
    MUST(pthread_rwlock_rdlock(&r));
    dl_meet(&meeting, 3);
    while (__atomic_load_n(&begun.come, __ATOMIC_ACQUIRE) == 0)
        dl_rest(1);
    MUST(pthread_mutex_lock(&a));
    return arg;
}

static void *writes_late(void *arg)
{
    MUST(pthread_mutex_lock(&a));
    dl_meet(&meeting, 3);
    while (__atomic_load_n(&begun.come, __ATOMIC_ACQUIRE) == 0)
        dl_rest(1);
    MUST(pthread_rwlock_wrlock(&r));
    return arg;
}

/* Which thread reads is not written anywhere. */
static void late_reader_unknown(void)
{
    record_nothing();
    pthread_t s = dl_start(reads_early, NULL), t = dl_start(writes_late, NULL);
    dl_meet(&meeting, 3);
    record();
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

const struct dl_case cases_late[] = {
    {"late_after_deadlock", late_after_deadlock},
    {"late_between_the_locks", late_between_the_locks},
    {"late_self", late_self},
    {"late_join_with_its_lock", late_join_with_its_lock},
    {"late_rwlock", late_rwlock},
    {"late_holder_sleeps", late_holder_sleeps},
    {"late_reader_unknown", late_reader_unknown},
    {"twice_mapped_cross", twice_mapped_cross},
    {"stream_and_mutex_cross", stream_and_mutex_cross},
    {"streams_cross", streams_cross},
    {"stream_held_long", stream_held_long},
    {"loader_and_mutex_cross", loader_and_mutex_cross},
    {"all_asleep", all_asleep},
    {"asleep_for_a_time", asleep_for_a_time},
    {"asleep_until_signal", asleep_until_signal},
    {"asleep_until_other_process", asleep_until_other_process},
    {NULL, NULL},
};

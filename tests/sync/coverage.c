/* SPDX-License-Identifier: MIT */
/*
 * Calls of every function of docs/sync-coverage.md by the main thread, between marks.
 *
 * The first mark has the function's name. A call that can wait waits for another thread, which releases the object once the
 * main thread is asleep. Of libupmu only upmu_mark() is used, if it is loaded.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "../support/sanitizer.h"
#include "robust.h"

#define CHECK(x)                                                  \
    do {                                                          \
        if (!(x)) {                                               \
            fprintf(stderr, "coverage.c:%d: %s\n", __LINE__, #x); \
            exit(1);                                              \
        }                                                         \
    } while (0)

static int (*mark)(const char *);

/* One call that is looked at. */
#define CALL(name, result, ...)                           \
    do {                                                  \
        mark(#name);                                      \
        bool as_expected = name(__VA_ARGS__) == (result); \
        mark("-");                                        \
        CHECK(as_expected);                               \
    } while (0)

/* One that returns nothing. */
#define CALL_VOID(name, ...) \
    do {                     \
        mark(#name);         \
        name(__VA_ARGS__);   \
        mark("-");           \
    } while (0)

/* ----------------------------------------------------------------------------- another thread that holds something */

typedef int step(void *object);

static struct {
    step *take, *give;
    void *object;
    pthread_t thread;
    atomic_bool taken, armed;
} other;

static pid_t main_tid;
static clockid_t main_clock;

static void task_read(pid_t tid, const char *name, char text[256])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)tid, name);
    memset(text, 0, 256);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, text, 255) > 0 && close(fd) == 0);
}

/* It slept when this was called before, and has not run since: it does not sleep on its way to the wait. */
static bool sleeps(pid_t tid)
{
    static char before[256];
    char text[256], runs[256];
    task_read(tid, "stat", text);
    task_read(tid, "schedstat", runs);
    const char *state = strrchr(text, ')');
    bool same = strcmp(runs, before) == 0;
    memcpy(before, runs, sizeof before);
    return same && state && state[2] == 'S';
}

/* The main thread sleeps, so it is in the call; or it has used so much time that it can only be spinning there. */
static bool main_waits(void)
{
    struct timespec used;
    clock_gettime(main_clock, &used);
    static struct timespec begin;
    if (begin.tv_sec == 0 && begin.tv_nsec == 0)
        begin = used;
    long ns = (used.tv_sec - begin.tv_sec) * 1000000000 + used.tv_nsec - begin.tv_nsec;
    bool waits = sleeps(main_tid) || ns > 20000000;
    if (waits)
        begin = (struct timespec){0};
    return waits;
}

static void *other_thread(void *arg)
{
    if (other.take)
        CHECK(other.take(other.object) == 0);
    atomic_store(&other.taken, true);
    while (!atomic_load(&other.armed))
        usleep(500);
    while (!main_waits())
        usleep(500);
    CHECK(other.give(other.object) == 0);
    return arg;
}

/* From here on another thread holds the object, until the main thread waits after arming. */
static void held_by_other(step *take, step *give, void *object)
{
    other.take = take;
    other.give = give;
    other.object = object;
    other.taken = other.armed = false;
    CHECK(pthread_create(&other.thread, NULL, other_thread, NULL) == 0);
    while (!atomic_load(&other.taken))
        usleep(500);
}

static void other_ended(void)
{
    CHECK(pthread_join(other.thread, NULL) == 0);
}

/* A call that finds it held. */
#define CALL_BLOCKED(name, result, ...)   \
    do {                                  \
        atomic_store(&other.armed, true); \
        CALL(name, result, __VA_ARGS__);  \
        other_ended();                    \
    } while (0)

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    ts.tv_sec += ms / 1000;
    ts.tv_nsec += ms % 1000 * 1000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}

#define LATER in_ms(CLOCK_REALTIME, 100000)
#define LATER_MONOTONIC in_ms(CLOCK_MONOTONIC, 100000)
#define SOON in_ms(CLOCK_REALTIME, 5)
#define SOON_MONOTONIC in_ms(CLOCK_MONOTONIC, 5)

#define STEP(name, type, call)    \
    static int name(void *object) \
    {                             \
        type *o = object;         \
        return (int)(call);       \
    }

/* ------------------------------------------------------------------------------------------------------ threads */

static void *nothing(void *arg)
{
    return arg;
}

static int nothing_c11(void *arg)
{
    (void)arg;
    return 3;
}

static void *sleep_for_ever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void threads(void)
{
    pthread_t t;
    thrd_t c11;
    struct timespec later = LATER, later_monotonic = LATER_MONOTONIC;
    CALL(pthread_create, 0, &t, NULL, nothing, NULL);
    CALL(pthread_setname_np, 0, pthread_self(), "coverage");
    CALL(pthread_join, 0, t, NULL);
    CHECK(pthread_create(&t, NULL, nothing, NULL) == 0);
    CALL(pthread_timedjoin_np, 0, t, NULL, &later);
    CHECK(pthread_create(&t, NULL, nothing, NULL) == 0);
    CALL(pthread_clockjoin_np, 0, t, NULL, CLOCK_MONOTONIC, &later_monotonic);
    CHECK(pthread_create(&t, NULL, nothing, NULL) == 0);
    CALL(pthread_detach, 0, t);
    /* AddressSanitizer takes what a canceled thread leaves of its frames for an error of the destructors that run after them. */
    CHECK(pthread_create(&t, NULL, UNDER_ADDRESS_SANITIZER ? nothing : sleep_for_ever, NULL) == 0);
    if (!UNDER_ADDRESS_SANITIZER)
        CALL(pthread_cancel, 0, t);
    int rc = EBUSY;
    while (rc == EBUSY) {
        mark("pthread_tryjoin_np");
        rc = pthread_tryjoin_np(t, NULL);
        mark("-");
        usleep(500);
    }
    CHECK(rc == 0);
    CALL(thrd_create, thrd_success, &c11, nothing_c11, NULL);
    CALL(thrd_join, thrd_success, c11, &rc);
    CHECK(rc == 3 && thrd_create(&c11, nothing_c11, NULL) == thrd_success);
    CALL(thrd_detach, thrd_success, c11);
}

/* ------------------------------------------------------------------------------------------------------ mutexes */

STEP(mutex_take, pthread_mutex_t, pthread_mutex_lock(o))
STEP(mutex_give, pthread_mutex_t, pthread_mutex_unlock(o))
STEP(mtx_take, mtx_t, mtx_lock(o))
STEP(mtx_give, mtx_t, mtx_unlock(o))

static void *die_with(void *m)
{
    CHECK(pthread_mutex_lock(m) == 0);
    return NULL;
}

static void robust_mutex(void)
{
    static pthread_mutex_t m;
    pthread_mutexattr_t a;
    pthread_t t;
    CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&m, &a) == 0 && pthread_create(&t, NULL, die_with, &m) == 0);
    CHECK(pthread_join(t, NULL) == 0 && pthread_mutex_lock(&m) == EOWNERDEAD);
    CALL(pthread_mutex_consistent, 0, &m);
    CHECK(pthread_mutex_unlock(&m) == 0 && pthread_mutex_destroy(&m) == 0);
}

static void mutexes(void)
{
    static pthread_mutex_t m;
    struct timespec later = LATER, later_monotonic = LATER_MONOTONIC, soon;
    CALL(pthread_mutex_init, 0, &m, NULL);
    CALL(pthread_mutex_lock, 0, &m);
    CALL(pthread_mutex_trylock, EBUSY, &m);
    CALL(pthread_mutex_unlock, 0, &m);
    CALL(pthread_mutex_trylock, 0, &m);
    CHECK(pthread_mutex_unlock(&m) == 0);
    CALL(pthread_mutex_timedlock, 0, &m, &later);
    CHECK(pthread_mutex_unlock(&m) == 0);
    CALL(pthread_mutex_clocklock, 0, &m, CLOCK_MONOTONIC, &later_monotonic);
    CHECK(pthread_mutex_unlock(&m) == 0);
    held_by_other(mutex_take, mutex_give, &m);
    CALL_BLOCKED(pthread_mutex_lock, 0, &m);
    CALL(pthread_mutex_unlock, 0, &m);
    held_by_other(mutex_take, mutex_give, &m);
    soon = SOON;
    CALL(pthread_mutex_timedlock, ETIMEDOUT, &m, &soon);
    CALL_BLOCKED(pthread_mutex_timedlock, 0, &m, &later);
    CHECK(pthread_mutex_unlock(&m) == 0);
    held_by_other(mutex_take, mutex_give, &m);
    soon = SOON_MONOTONIC;
    CALL(pthread_mutex_clocklock, ETIMEDOUT, &m, CLOCK_MONOTONIC, &soon);
    CALL_BLOCKED(pthread_mutex_clocklock, 0, &m, CLOCK_MONOTONIC, &later_monotonic);
    CHECK(pthread_mutex_unlock(&m) == 0);
    CALL(pthread_mutex_destroy, 0, &m);
    if (robust_list_supported())
        robust_mutex();
}

static void c11_mutexes(void)
{
    static mtx_t m;
    struct timespec later = LATER, soon;
    CALL(mtx_init, thrd_success, &m, mtx_timed);
    CALL(mtx_lock, thrd_success, &m);
    CALL(mtx_trylock, thrd_busy, &m);
    CALL(mtx_unlock, thrd_success, &m);
    CALL(mtx_trylock, thrd_success, &m);
    CHECK(mtx_unlock(&m) == thrd_success);
    CALL(mtx_timedlock, thrd_success, &m, &later);
    CHECK(mtx_unlock(&m) == thrd_success);
    held_by_other(mtx_take, mtx_give, &m);
    CALL_BLOCKED(mtx_lock, thrd_success, &m);
    CALL(mtx_unlock, thrd_success, &m);
    held_by_other(mtx_take, mtx_give, &m);
    soon = SOON;
    CALL(mtx_timedlock, thrd_timedout, &m, &soon);
    CALL_BLOCKED(mtx_timedlock, thrd_success, &m, &later);
    CHECK(mtx_unlock(&m) == thrd_success);
    CALL_VOID(mtx_destroy, &m);
}

/* ---------------------------------------------------------------------------------------- condition variables */

STEP(cond_wake, pthread_cond_t, pthread_cond_signal(o))
STEP(cnd_wake, cnd_t, cnd_signal(o))

static void conds(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c;
    CALL(pthread_cond_init, 0, &c, NULL);
    CALL(pthread_cond_signal, 0, &c);
    CALL(pthread_cond_broadcast, 0, &c);
    CHECK(pthread_mutex_lock(&m) == 0);
    held_by_other(NULL, cond_wake, &c);
    CALL_BLOCKED(pthread_cond_wait, 0, &c, &m);
    struct timespec soon = SOON;
    CALL(pthread_cond_timedwait, ETIMEDOUT, &c, &m, &soon);
    soon = SOON_MONOTONIC;
    CALL(pthread_cond_clockwait, ETIMEDOUT, &c, &m, CLOCK_MONOTONIC, &soon);
    CHECK(pthread_mutex_unlock(&m) == 0);
    CALL(pthread_cond_destroy, 0, &c);
}

static void c11_conds(void)
{
    static mtx_t m;
    cnd_t c;
    CHECK(mtx_init(&m, mtx_plain) == thrd_success);
    CALL(cnd_init, thrd_success, &c);
    CALL(cnd_signal, thrd_success, &c);
    CALL(cnd_broadcast, thrd_success, &c);
    CHECK(mtx_lock(&m) == thrd_success);
    held_by_other(NULL, cnd_wake, &c);
    CALL_BLOCKED(cnd_wait, thrd_success, &c, &m);
    struct timespec soon = SOON;
    CALL(cnd_timedwait, thrd_timedout, &c, &m, &soon);
    CHECK(mtx_unlock(&m) == thrd_success);
    CALL_VOID(cnd_destroy, &c);
    mtx_destroy(&m);
}

/* --------------------------------------------------------------------------------------------------- semaphores */

STEP(sem_give, sem_t, sem_post(o))

static void sem_blocked(sem_t *s)
{
    struct timespec later = LATER, later_monotonic = LATER_MONOTONIC, soon = SOON;
    held_by_other(NULL, sem_give, s);
    CALL_BLOCKED(sem_wait, 0, s);
    CALL(sem_timedwait, -1, s, &soon);
    held_by_other(NULL, sem_give, s);
    CALL_BLOCKED(sem_timedwait, 0, s, &later);
    soon = SOON_MONOTONIC;
    CALL(sem_clockwait, -1, s, CLOCK_MONOTONIC, &soon);
    held_by_other(NULL, sem_give, s);
    CALL_BLOCKED(sem_clockwait, 0, s, CLOCK_MONOTONIC, &later_monotonic);
}

static atomic_int waiter_tid;

static void *wait_in_thread(void *s)
{
    atomic_store(&waiter_tid, (int)syscall(SYS_gettid));
    CHECK(sem_wait(s) == 0);
    return s;
}

/* A post that another thread waits for. */
static void sem_wanted(sem_t *s)
{
    pthread_t t;
    CHECK(pthread_create(&t, NULL, wait_in_thread, s) == 0);
    while (atomic_load(&waiter_tid) == 0 || !sleeps((pid_t)atomic_load(&waiter_tid)))
        usleep(500);
    CALL(sem_post, 0, s);
    CHECK(pthread_join(t, NULL) == 0);
}

static void semaphores(void)
{
    sem_t s;
    char name[64];
    int value;
    struct timespec later = LATER, later_monotonic = LATER_MONOTONIC;
    CALL(sem_init, 0, &s, 0, 0);
    CALL(sem_trywait, -1, &s);
    CALL(sem_post, 0, &s);
    CALL(sem_wait, 0, &s);
    CHECK(sem_post(&s) == 0);
    CALL(sem_trywait, 0, &s);
    CHECK(sem_post(&s) == 0);
    CALL(sem_timedwait, 0, &s, &later);
    CHECK(sem_post(&s) == 0);
    CALL(sem_clockwait, 0, &s, CLOCK_MONOTONIC, &later_monotonic);
    CALL(sem_getvalue, 0, &s, &value);
    sem_wanted(&s);
    sem_blocked(&s);
    CALL(sem_destroy, 0, &s);
    snprintf(name, sizeof name, "/upmu-coverage-%d", (int)getpid());
    mark("sem_open");
    sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 2u);
    mark("-");
    CHECK(named != SEM_FAILED && sem_getvalue(named, &value) == 0 && value == 2);
    CALL(sem_close, 0, named);
    CALL(sem_unlink, 0, name);
}

/* ------------------------------------------------------------------------------------ rwlocks, spin locks, barriers */

STEP(rwlock_read, pthread_rwlock_t, pthread_rwlock_rdlock(o))
STEP(rwlock_write, pthread_rwlock_t, pthread_rwlock_wrlock(o))
STEP(rwlock_give, pthread_rwlock_t, pthread_rwlock_unlock(o))

static void rwlock_blocked(pthread_rwlock_t *l)
{
    struct timespec later = LATER, later_monotonic = LATER_MONOTONIC, soon;
    held_by_other(rwlock_write, rwlock_give, l);
    CALL_BLOCKED(pthread_rwlock_rdlock, 0, l);
    CALL(pthread_rwlock_unlock, 0, l);
    held_by_other(rwlock_read, rwlock_give, l);
    CALL_BLOCKED(pthread_rwlock_wrlock, 0, l);
    CALL(pthread_rwlock_unlock, 0, l);
    held_by_other(rwlock_write, rwlock_give, l);
    soon = SOON;
    CALL(pthread_rwlock_timedrdlock, ETIMEDOUT, l, &soon);
    CALL_BLOCKED(pthread_rwlock_timedrdlock, 0, l, &later);
    CHECK(pthread_rwlock_unlock(l) == 0);
    held_by_other(rwlock_write, rwlock_give, l);
    soon = SOON_MONOTONIC;
    CALL(pthread_rwlock_clockrdlock, ETIMEDOUT, l, CLOCK_MONOTONIC, &soon);
    CALL_BLOCKED(pthread_rwlock_clockrdlock, 0, l, CLOCK_MONOTONIC, &later_monotonic);
    CHECK(pthread_rwlock_unlock(l) == 0);
    held_by_other(rwlock_write, rwlock_give, l);
    soon = SOON;
    CALL(pthread_rwlock_timedwrlock, ETIMEDOUT, l, &soon);
    CALL_BLOCKED(pthread_rwlock_timedwrlock, 0, l, &later);
    CHECK(pthread_rwlock_unlock(l) == 0);
    held_by_other(rwlock_read, rwlock_give, l);
    soon = SOON_MONOTONIC;
    CALL(pthread_rwlock_clockwrlock, ETIMEDOUT, l, CLOCK_MONOTONIC, &soon);
    CALL_BLOCKED(pthread_rwlock_clockwrlock, 0, l, CLOCK_MONOTONIC, &later_monotonic);
    CHECK(pthread_rwlock_unlock(l) == 0);
}

static void rwlocks(void)
{
    static pthread_rwlock_t l;
    struct timespec later = LATER, later_monotonic = LATER_MONOTONIC;
    CALL(pthread_rwlock_init, 0, &l, NULL);
    CALL(pthread_rwlock_rdlock, 0, &l);
    CALL(pthread_rwlock_trywrlock, EBUSY, &l);
    CALL(pthread_rwlock_tryrdlock, 0, &l);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    CALL(pthread_rwlock_unlock, 0, &l);
    CALL(pthread_rwlock_trywrlock, 0, &l);
    CALL(pthread_rwlock_tryrdlock, EBUSY, &l);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    CALL(pthread_rwlock_wrlock, 0, &l);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    CALL(pthread_rwlock_timedrdlock, 0, &l, &later);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    CALL(pthread_rwlock_timedwrlock, 0, &l, &later);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    CALL(pthread_rwlock_clockrdlock, 0, &l, CLOCK_MONOTONIC, &later_monotonic);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    CALL(pthread_rwlock_clockwrlock, 0, &l, CLOCK_MONOTONIC, &later_monotonic);
    CHECK(pthread_rwlock_unlock(&l) == 0);
    rwlock_blocked(&l);
    CALL(pthread_rwlock_destroy, 0, &l);
}

static int spin_take(void *l)
{
    return pthread_spin_lock(l);
}

static int spin_give(void *l)
{
    return pthread_spin_unlock(l);
}

static void spin_locks(void)
{
    static pthread_spinlock_t l;
    CALL(pthread_spin_init, 0, &l, PTHREAD_PROCESS_PRIVATE);
    CALL(pthread_spin_lock, 0, &l);
    CALL(pthread_spin_trylock, EBUSY, &l);
    CALL(pthread_spin_unlock, 0, &l);
    CALL(pthread_spin_trylock, 0, &l);
    CHECK(pthread_spin_unlock(&l) == 0);
    held_by_other(spin_take, spin_give, (void *)(uintptr_t)&l);
    CALL_BLOCKED(pthread_spin_lock, 0, &l);
    CALL(pthread_spin_unlock, 0, &l);
    CALL(pthread_spin_destroy, 0, &l);
}

/* The last one to arrive does not wait. */
STEP(barrier_pass, pthread_barrier_t, pthread_barrier_wait(o) == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : -1)

static void barriers(void)
{
    pthread_barrier_t b;
    CALL(pthread_barrier_init, 0, &b, NULL, 2);
    held_by_other(NULL, barrier_pass, &b);
    CALL_BLOCKED(pthread_barrier_wait, 0, &b);
    CALL(pthread_barrier_destroy, 0, &b);
}

/* --------------------------------------------------------------------------------------------- once, and futexes */

static pthread_once_t once = PTHREAD_ONCE_INIT, busy_once = PTHREAD_ONCE_INIT;
static once_flag c11_once = ONCE_FLAG_INIT, busy_c11_once = ONCE_FLAG_INIT;

static void do_nothing(void)
{
}

/* Another thread is in the function until the main thread waits for it. */
static void until_waited_for(void)
{
    atomic_store(&other.taken, true);
    while (!atomic_load(&other.armed) || !main_waits())
        usleep(500);
}

static void *run_once(void *arg)
{
    CHECK(pthread_once(&busy_once, until_waited_for) == 0);
    return arg;
}

static void *run_c11_once(void *arg)
{
    call_once(&busy_c11_once, until_waited_for);
    return arg;
}

/* Of the C++ library. */
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
int __cxa_guard_acquire(int64_t *guard);
void __cxa_guard_release(int64_t *guard);
void __cxa_guard_abort(int64_t *guard);
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

static int64_t guard, busy_guard;

static void *run_guard(void *arg)
{
    CHECK(__cxa_guard_acquire(&busy_guard) == 1);
    until_waited_for();
    __cxa_guard_release(&busy_guard);
    return arg;
}

static void run_by_other(void *(*f)(void *))
{
    other.taken = other.armed = false;
    CHECK(pthread_create(&other.thread, NULL, f, NULL) == 0);
    while (!atomic_load(&other.taken))
        usleep(500);
    atomic_store(&other.armed, true);
}

static void onces(void)
{
    CALL(pthread_once, 0, &once, do_nothing);
    CALL(pthread_once, 0, &once, do_nothing);
    run_by_other(run_once);
    CALL(pthread_once, 0, &busy_once, do_nothing);
    other_ended();
    CALL_VOID(call_once, &c11_once, do_nothing);
    run_by_other(run_c11_once);
    CALL_VOID(call_once, &busy_c11_once, do_nothing);
    other_ended();
    CALL(__cxa_guard_acquire, 1, &guard);
    CALL_VOID(__cxa_guard_abort, &guard);
    CHECK(__cxa_guard_acquire(&guard) == 1);
    CALL_VOID(__cxa_guard_release, &guard);
    CHECK(__cxa_guard_acquire(&guard) == 0);
    run_by_other(run_guard);
    CALL(__cxa_guard_acquire, 0, &busy_guard);
    other_ended();
}

static atomic_int word;

static int futex_give(void *w)
{
    atomic_store((atomic_int *)w, 1);
    return syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 1 ? 0 : -1;
}

static atomic_bool asleep;

static void *sleep_on_word(void *w)
{
    atomic_store(&asleep, true);
    while (atomic_load(&word) == 1)
        syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

static void futexes(void)
{
    pthread_t t;
    held_by_other(NULL, futex_give, &word);
    CALL_BLOCKED(syscall, 0, SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    CALL(syscall, -1, SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    CHECK(errno == EAGAIN && syscall(SYS_getpid) == getpid());
    CHECK(pthread_create(&t, NULL, sleep_on_word, &word) == 0);
    while (!atomic_load(&asleep))
        usleep(500);
    long woken = 0;
    while (woken == 0) {
        usleep(1000);
        mark("syscall");
        woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        mark("-");
    }
    atomic_store(&word, 2);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    CHECK(pthread_join(t, NULL) == 0);
}

/* Two words at once: one has changed already, then the other one is woken. What cannot be read is the kernel's to refuse. */
static void several_futexes(void)
{
#ifdef SYS_futex_waitv
    static atomic_int first, second;
    struct futex_waitv w[] = {{.val = 0, .uaddr = (uintptr_t)&first, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG},
                              {.val = 7, .uaddr = (uintptr_t)&second, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG}};
    CALL(syscall, -1, SYS_futex_waitv, w, 2, 0, NULL, 0);
    bool known = errno != ENOSYS;
    CHECK(errno == EAGAIN || !known);
    CHECK(syscall(SYS_futex_waitv, (void *)16, 2, 0, NULL, 0) == -1 && errno == (known ? EFAULT : ENOSYS));
    w[1].val = 0;
    if (!known)
        return;
    held_by_other(NULL, futex_give, &second);
    CALL_BLOCKED(syscall, 1, SYS_futex_waitv, w, 2, 0, NULL, 0);
#endif
}

static int no_mark(const char *text)
{
    (void)text;
    return 0;
}

/* ------------------------------------------------------------------------------------- memory that is freed */

static void use(pthread_mutex_t *m)
{
    *m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    CHECK(pthread_mutex_lock(m) == 0 && pthread_mutex_unlock(m) == 0);
}

static void given_back(const char *plugin)
{
    pthread_mutex_t *m = malloc(sizeof *m), program = PTHREAD_MUTEX_INITIALIZER;
    CHECK(m);
    use(m);
    CALL_VOID(free, m);
    m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(m != MAP_FAILED);
    use(m);
    CALL(munmap, 0, m, 4096);
    void *library = dlopen(plugin, RTLD_NOW), *symbol = library ? dlsym(library, "plugin_work") : NULL;
    int (*work)(pthread_mutex_t *);
    CHECK(symbol);
    memcpy(&work, &symbol, sizeof work);
    CHECK(work(&program) > 0);
    CALL(dlclose, 0, library);
}

int main(int argc, char **argv)
{
    if (UNDER_THREAD_SANITIZER) {
        printf("skipped, because ThreadSanitizer supports neither pthread_clockjoin_np() nor C11 threads\n");
        return 77;
    }
    void *found = dlsym(RTLD_DEFAULT, "upmu_mark_");
    mark = no_mark;
    if (found)
        memcpy(&mark, &found, sizeof mark);
    main_tid = (pid_t)syscall(SYS_gettid);
    CHECK(pthread_getcpuclockid(pthread_self(), &main_clock) == 0);
    threads();
    mutexes();
    c11_mutexes();
    conds();
    c11_conds();
    semaphores();
    rwlocks();
    spin_locks();
    barriers();
    onces();
    futexes();
    several_futexes();
    CHECK(argc == 2);
    given_back(argv[1]);
    printf("coverage: all done\n");
    return 0;
}

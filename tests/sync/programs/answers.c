/* SPDX-License-Identifier: MIT */
/* Return values and errno of all calls, for invalid arguments and locks in every state.
 *
 * The output must be the same with and without the library. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static const char *state;

/* The answer of one call, and that errno is what it was but where the call sets it. */
static void answer(const char *call, long result, bool sets_errno)
{
    int left = errno;
    printf("%s, %s: %ld", call, state, result);
    if (sets_errno && result < 0)
        printf(" %s", strerrorname_np(left));
    else if (left != EXFULL)
        printf(", and errno is %s", strerrorname_np(left));
    printf("\n");
    errno = EXFULL;
}
#define SAY(call) answer(#call, call, false)
#define SAY_ERRNO(call) answer(#call, call, true)

static pthread_mutex_t mutex;
static mtx_t c11_mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static const struct timespec past = {.tv_sec = 1}, wrong = {.tv_sec = 1, .tv_nsec = 1000000000},
                             negative = {.tv_sec = 1, .tv_nsec = -1};

static void *hold_all(void *arg)
{
    pthread_barrier_t *b = arg;
    pthread_mutex_lock(&mutex);
    mtx_lock(&c11_mutex);
    pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_wait(b);
    pthread_barrier_wait(b);
    pthread_rwlock_unlock(&rwlock);
    mtx_unlock(&c11_mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void give_back_mutex(int rc)
{
    if (rc == 0 || rc == EOWNERDEAD)
        pthread_mutex_unlock(&mutex);
    errno = EXFULL;
}

static void timed_mutexes(void)
{
    int rc;
    SAY(rc = pthread_mutex_timedlock(&mutex, &wrong));
    give_back_mutex(rc);
    SAY(rc = pthread_mutex_timedlock(&mutex, &past));
    give_back_mutex(rc);
    SAY(rc = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &negative));
    give_back_mutex(rc);
    SAY(rc = pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
    give_back_mutex(rc);
    SAY(rc = pthread_mutex_trylock(&mutex));
    give_back_mutex(rc);
    SAY(rc = mtx_timedlock(&c11_mutex, &wrong));
    if (rc == thrd_success)
        mtx_unlock(&c11_mutex);
    SAY(rc = mtx_timedlock(&c11_mutex, &past));
    if (rc == thrd_success)
        mtx_unlock(&c11_mutex);
    SAY(rc = mtx_trylock(&c11_mutex));
    if (rc == thrd_success)
        mtx_unlock(&c11_mutex);
}

static void give_back_rwlock(int rc)
{
    if (rc == 0)
        pthread_rwlock_unlock(&rwlock);
    errno = EXFULL;
}

static void timed_rwlocks(void)
{
    int rc;
    SAY(rc = pthread_rwlock_timedrdlock(&rwlock, &wrong));
    give_back_rwlock(rc);
    SAY(rc = pthread_rwlock_timedwrlock(&rwlock, &negative));
    give_back_rwlock(rc);
    SAY(rc = pthread_rwlock_timedrdlock(&rwlock, &past));
    give_back_rwlock(rc);
    SAY(rc = pthread_rwlock_timedwrlock(&rwlock, &past));
    give_back_rwlock(rc);
    SAY(rc = pthread_rwlock_clockrdlock(&rwlock, CLOCK_PROCESS_CPUTIME_ID, &past));
    give_back_rwlock(rc);
    SAY(rc = pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
    give_back_rwlock(rc);
    SAY(rc = pthread_rwlock_tryrdlock(&rwlock));
    give_back_rwlock(rc);
    SAY(rc = pthread_rwlock_trywrlock(&rwlock));
    give_back_rwlock(rc);
}

static void timed_semaphores(void)
{
    int value;
    SAY_ERRNO(sem_timedwait(&sem, &wrong));
    SAY_ERRNO(sem_timedwait(&sem, &past));
    SAY_ERRNO(sem_clockwait(&sem, CLOCK_MONOTONIC, &negative));
    SAY_ERRNO(sem_clockwait(&sem, CLOCK_PROCESS_CPUTIME_ID, &past));
    SAY_ERRNO(sem_clockwait(&sem, CLOCK_MONOTONIC, &past));
    SAY_ERRNO(sem_trywait(&sem));
    sem_getvalue(&sem, &value);
    printf("value %d\n", value);
}

static void held_and_free(void)
{
    pthread_barrier_t b;
    pthread_t t;
    state = "free";
    sem_init(&sem, 0, 9);
    timed_mutexes();
    timed_rwlocks();
    timed_semaphores();
    state = "held by another thread";
    sem_init(&sem, 0, 0);
    pthread_barrier_init(&b, NULL, 2);
    if (pthread_create(&t, NULL, hold_all, &b) != 0)
        return;
    pthread_barrier_wait(&b);
    timed_mutexes();
    timed_rwlocks();
    timed_semaphores();
    pthread_barrier_wait(&b);
    pthread_join(t, NULL);
    state = "held by ourselves, for reading";
    pthread_rwlock_rdlock(&rwlock);
    timed_rwlocks();
    pthread_rwlock_unlock(&rwlock);
    state = "held by ourselves, for writing";
    pthread_rwlock_wrlock(&rwlock);
    SAY(pthread_rwlock_wrlock(&rwlock));
    SAY(pthread_rwlock_rdlock(&rwlock));
    timed_rwlocks();
    pthread_rwlock_unlock(&rwlock);
}

static void odd_calls(void)
{
    sem_t *none;
    pthread_barrier_t b;
    state = "";
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    SAY(pthread_spin_lock(&spin));
    SAY(pthread_spin_trylock(&spin));
    SAY(pthread_spin_unlock(&spin));
    SAY(pthread_barrier_init(&b, NULL, 0));
    SAY(pthread_barrier_init(&b, NULL, 1));
    SAY(pthread_barrier_wait(&b));
    SAY(pthread_barrier_destroy(&b));
    SAY_ERRNO((none = sem_open("/no/such", 0)) == SEM_FAILED ? -1L : 0L);
    SAY_ERRNO(sem_unlink("/no-such-semaphore-of-upmu"));
    SAY_ERRNO(sem_init(&sem, 0, ~0u));
    SAY(pthread_mutex_consistent(&mutex));
    SAY(pthread_cond_timedwait(&cond, &mutex, &wrong));
    SAY(pthread_cond_clockwait(&cond, &mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
    SAY_ERRNO(syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 12345, NULL, NULL, 0));
    SAY_ERRNO(syscall(SYS_futex, 1L, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
    SAY_ERRNO(syscall(SYS_futex, &state, 127, 0, NULL, NULL, 0));
    SAY_ERRNO(syscall(-1L));
    SAY_ERRNO(syscall(SYS_lseek, -1, 0L, SEEK_SET));
}

/* A system call that comes back twice, through the wrapper. */
static void fork_by_number(void)
{
    int status = 0;
    fflush(stdout);
    long pid = syscall(SYS_clone, 17 /* SIGCHLD */, NULL, NULL, NULL, NULL);
    if (pid == 0)
        _exit(pthread_mutex_lock(&mutex) + pthread_mutex_unlock(&mutex) + 7);
    printf("child by number: %d\n", waitpid((pid_t)pid, &status, 0) == pid ? WEXITSTATUS(status) : -1);
}

static void *die_holding(void *m)
{
    pthread_mutex_lock(m);
    return NULL;
}

static void kinds_of_mutexes(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    static char names[4 * 2 * 2 * 2][80];
    pthread_mutexattr_t a;
    pthread_t t;
    for (int i = 0; i < 4 * 2 * 2 * 2; i++) {
        bool robust = i & 4, pi = i & 8, shared = i & 16;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_settype(&a, types[i % 4]);
        pthread_mutexattr_setrobust(&a, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
        pthread_mutexattr_setprotocol(&a, pi ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
        pthread_mutexattr_setpshared(&a, shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
        snprintf(names[i], sizeof names[i], "type %d%s%s%s", types[i % 4], robust ? " robust" : "", pi ? " pi" : "",
                 shared ? " shared" : "");
        state = names[i];
        SAY(pthread_mutex_init(&mutex, &a));
        SAY(pthread_mutex_lock(&mutex));
        SAY(pthread_mutex_trylock(&mutex));
        if (types[i % 4] != PTHREAD_MUTEX_NORMAL && types[i % 4] != PTHREAD_MUTEX_ADAPTIVE_NP)
            SAY(pthread_mutex_lock(&mutex));
        SAY(pthread_mutex_unlock(&mutex));
        while (types[i % 4] == PTHREAD_MUTEX_RECURSIVE && pthread_mutex_unlock(&mutex) == 0)
            ;
        if (robust && pthread_create(&t, NULL, die_holding, &mutex) == 0) {
            pthread_join(t, NULL);
            SAY(pthread_mutex_trylock(&mutex));
            SAY(pthread_mutex_consistent(&mutex));
            SAY(pthread_mutex_unlock(&mutex));
            pthread_create(&t, NULL, die_holding, &mutex);
            pthread_join(t, NULL);
            SAY(pthread_mutex_timedlock(&mutex, &past));
            SAY(pthread_mutex_unlock(&mutex));
            SAY(pthread_mutex_lock(&mutex));
            SAY(pthread_mutex_trylock(&mutex));
        }
        pthread_mutex_destroy(&mutex);
    }
}

int main(void)
{
    errno = EXFULL;
    if (pthread_mutex_init(&mutex, NULL) != 0 || mtx_init(&c11_mutex, mtx_timed) != thrd_success)
        return 1;
    held_and_free();
    fork_by_number();
    kinds_of_mutexes();
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_lock(&mutex);
    odd_calls();
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Cases with long waits and no deadlock: each ends by itself, and none may be reported. */
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"

enum { LONG_MS = 700 }; /* some looks of the watcher */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static int work;
static struct dl_meeting meeting;

static struct timespec in_ms(unsigned ms)
{
    struct timespec t;
    MUST(clock_gettime(CLOCK_REALTIME, &t));
    t.tv_nsec += (long)ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* ------------------------------------------------------------------------------------------------------ idle servers */

static void *serve(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    while (!work)
        MUST(pthread_cond_wait(&c, &m));
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

static void let_go(pthread_t t)
{
    MUST(pthread_mutex_lock(&m));
    work = 1;
    MUST(pthread_cond_broadcast(&c));
    MUST(pthread_mutex_unlock(&m));
    MUST(pthread_join(t, NULL));
}

/* The main thread waits outside of what is traced: a client may come any moment. */
static void idle_main_sleeps(void)
{
    pthread_t t = dl_start(serve, NULL);
    dl_rest(LONG_MS);
    let_go(t);
}

static void idle_main_reads(void)
{
    int ends[2];
    char byte;
    dl_must(pipe(ends), "pipe");
    pthread_t t = dl_start(serve, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dl_rest(LONG_MS);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    dl_must(read(ends[0], &byte, 1) != 1, "read");
    let_go(t);
    dl_must(waitpid(pid, NULL, 0) != pid, "waitpid");
}

static void on_signal(int sig)
{
    (void)sig;
    MUST(sem_post(&sem));
}

/* Every thread waits; a signal handler posts. */
static void idle_until_signal(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pid_t parent = getpid();
    MUST(sem_init(&sem, 0, 0));
    MUST(sigaction(SIGUSR1, &action, NULL));
    pid_t pid = fork();
    if (pid == 0) {
        dl_rest(LONG_MS);
        _exit(kill(parent, SIGUSR1) == 0 ? 0 : 1);
    }
    while (sem_wait(&sem) != 0)
        dl_must(errno != EINTR, "sem_wait");
    dl_must(waitpid(pid, NULL, 0) != pid && errno != EINTR, "waitpid");
}

static void on_timer(union sigval v)
{
    (void)v;
    MUST(sem_post(&sem));
}

/* A timer posts from a thread that the C library makes for it. */
static void idle_until_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD};
    const struct itimerspec when = {.it_value = {.tv_nsec = LONG_MS * 1000000L}};
    event.sigev_notify_function = on_timer;
    MUST(sem_init(&sem, 0, 0));
    MUST(timer_create(CLOCK_MONOTONIC, &event, &timer));
    MUST(timer_settime(timer, 0, &when, NULL));
    MUST(sem_wait(&sem));
    MUST(timer_delete(timer));
}

/* Another process posts. */
static void idle_until_other_process(void)
{
    sem_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    dl_must(shared == MAP_FAILED, "mmap");
    MUST(sem_init(shared, 1, 0));
    pid_t pid = fork();
    if (pid == 0) {
        dl_rest(LONG_MS);
        _exit(sem_post(shared) == 0 ? 0 : 1);
    }
    MUST(sem_wait(shared));
    dl_must(waitpid(pid, NULL, 0) != pid, "waitpid");
}

/* All wait, one of them for a limited time, after which it sets the others going. */
static void idle_with_timeout(void)
{
    pthread_t t = dl_start(serve, NULL);
    const struct timespec until = in_ms(LONG_MS);
    MUST(sem_init(&sem, 0, 0));
    while (sem_timedwait(&sem, &until) != 0 && errno == EINTR)
        ;
    let_go(t);
}

/* ------------------------------------------------------------------------------------------------------- long waits */

static void *hold_long(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 2);
    dl_rest(LONG_MS);
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

static void holder_sleeps(void)
{
    pthread_t t = dl_start(hold_long, NULL);
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_unlock(&m));
    MUST(pthread_join(t, NULL));
}

static void join_of_a_sleeper(void)
{
    pthread_t t = dl_start(hold_long, NULL);
    dl_meet(&meeting, 2);
    MUST(pthread_join(t, NULL));
}

/* A cycle, one side of which gives up in time. */
static void *timed_side(void *arg)
{
    const struct timespec until = in_ms(LONG_MS);
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 2);
    dl_must(pthread_mutex_timedlock(&n, &until) != ETIMEDOUT, "the lock came");
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

static void timed_cross(void)
{
    pthread_t t = dl_start(timed_side, NULL);
    MUST(pthread_mutex_lock(&n));
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_unlock(&m));
    MUST(pthread_mutex_unlock(&n));
    MUST(pthread_join(t, NULL));
}

static void *read_long(void *arg)
{
    MUST(pthread_rwlock_rdlock(&rw));
    dl_meet(&meeting, 3);
    dl_rest(LONG_MS);
    MUST(pthread_rwlock_unlock(&rw));
    return arg;
}

static void writer_behind_readers(void)
{
    pthread_t s = dl_start(read_long, NULL), t = dl_start(read_long, NULL);
    dl_meet(&meeting, 3);
    MUST(pthread_rwlock_wrlock(&rw));
    MUST(pthread_rwlock_unlock(&rw));
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void *arrive_late(void *arg)
{
    dl_rest(LONG_MS);
    (void)pthread_barrier_wait(&barrier);
    return arg;
}

static void barrier_filled_late(void)
{
    MUST(pthread_barrier_init(&barrier, NULL, 2));
    pthread_t t = dl_start(arrive_late, NULL);
    (void)pthread_barrier_wait(&barrier);
    MUST(pthread_join(t, NULL));
}

/* ------------------------------------------------------------------------------------- locks that change their hands */

static void *take_m(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    return arg;
}

/* Released by another thread than the ended one that acquired it; then held by a third for long. */
static void released_by_another(void)
{
    MUST(pthread_join(dl_start(take_m, NULL), NULL));
    MUST(pthread_mutex_unlock(&m));
    holder_sleeps();
}

static void *take_reading(void *arg)
{
    MUST(pthread_rwlock_rdlock(&rw));
    return arg;
}

/* A reader has ended and another thread released its lock; the writer waits for a living one. */
static void reading_ended_by_another(void)
{
    MUST(pthread_join(dl_start(take_reading, NULL), NULL));
    MUST(pthread_rwlock_unlock(&rw));
    writer_behind_readers();
}

/* The next owner of a robust mutex gets EOWNERDEAD and makes it consistent. */
static void *take_robust(void *arg)
{
    MUST(pthread_mutex_lock(arg));
    return NULL;
}

static void *hold_robust_long(void *arg)
{
    dl_must(pthread_mutex_lock(arg) != EOWNERDEAD, "no EOWNERDEAD after the owner's end");
    MUST(pthread_mutex_consistent(arg));
    dl_meet(&meeting, 2);
    dl_rest(LONG_MS);
    MUST(pthread_mutex_unlock(arg));
    return NULL;
}

static void robust_recovered(void)
{
    static pthread_mutex_t robust;
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
    MUST(pthread_mutex_init(&robust, &attr));
    MUST(pthread_join(dl_start(take_robust, &robust), NULL));
    pthread_t t = dl_start(hold_robust_long, &robust);
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&robust));
    MUST(pthread_mutex_unlock(&robust));
    MUST(pthread_join(t, NULL));
}

/* The ended owner's mutex is made anew at the same address. */
static void made_anew(void)
{
    MUST(pthread_join(dl_start(take_m, NULL), NULL));
    memset(&m, 0, sizeof m);
    MUST(pthread_mutex_init(&m, NULL));
    holder_sleeps();
}

static void recursion(void)
{
    static pthread_mutex_t r;
    dl_mutex(&r, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < 3; i++)
        MUST(pthread_mutex_lock(&r));
    dl_rest(LONG_MS / 2);
    for (int i = 0; i < 3; i++)
        MUST(pthread_mutex_unlock(&r));
}

static void own_lock_is_refused(void)
{
    static pthread_mutex_t e;
    dl_mutex(&e, PTHREAD_MUTEX_ERRORCHECK);
    MUST(pthread_mutex_lock(&e));
    dl_must(pthread_mutex_lock(&e) != EDEADLK, "the lock was given twice");
    MUST(pthread_mutex_unlock(&e));
}

/* ---------------------------------------------------------------------------------------------------- much happening */

static int turn;

static void *ping_pong(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < 20000; i++) {
        MUST(pthread_mutex_lock(&m));
        while (turn != me)
            MUST(pthread_cond_wait(&c, &m));
        turn = 1 - me;
        MUST(pthread_cond_broadcast(&c));
        MUST(pthread_mutex_unlock(&m));
    }
    return NULL;
}

/* In nearly every snapshot one thread waits for another. */
static void hand_over(void)
{
    pthread_t t = dl_start(ping_pong, (void *)1);
    ping_pong((void *)0);
    MUST(pthread_join(t, NULL));
}

/* One of the processes beside us that take all the time of our one processor, for some seconds at most: beside other programs
 * an idle thread would wait for minutes. */
static pid_t start_hog(void)
{
    enum { HOG_S = 3 };
    const time_t end = time(NULL) + HOG_S;
    pid_t parent = getpid(), hog = fork();
    dl_must(hog < 0 ? errno : 0, "fork");
    if (hog == 0) {
        dl_must(prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ? errno : 0, "prctl");
        while (getppid() == parent && time(NULL) < end)
            ;
        _exit(0);
    }
    return hog;
}

static void stay_on_one_cpu(void)
{
    cpu_set_t set;
    dl_must(sched_getaffinity(0, sizeof set, &set) != 0 ? errno : 0, "sched_getaffinity");
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    dl_must(sched_setaffinity(0, sizeof set, &set) != 0 ? errno : 0, "sched_setaffinity");
}

static void *answer(void *arg)
{
    const struct sched_param none = {0};
    MUST(pthread_setschedparam(pthread_self(), SCHED_IDLE, &none));
    for (int i = 0; i < 2; i++) {
        MUST(pthread_mutex_lock(&m));
        while (turn != 1)
            MUST(pthread_cond_wait(&c, &m));
        turn = 0;
        MUST(pthread_cond_broadcast(&c));
        MUST(pthread_mutex_unlock(&m));
    }
    return arg;
}

/* A thread that was woken gets no time for long: who woke it waits for its answer, and so all threads wait. */
static void woken_and_starved(void)
{
    stay_on_one_cpu();
    pthread_t t = dl_start(answer, NULL);
    pid_t hogs[4];
    for (size_t i = 0; i < sizeof hogs / sizeof *hogs; i++)
        hogs[i] = start_hog();
    for (int i = 0; i < 2; i++) {
        MUST(pthread_mutex_lock(&m));
        turn = 1;
        MUST(pthread_cond_broadcast(&c));
        while (turn != 0)
            MUST(pthread_cond_wait(&c, &m));
        MUST(pthread_mutex_unlock(&m));
    }
    MUST(pthread_join(t, NULL));
    for (size_t i = 0; i < sizeof hogs / sizeof *hogs; i++)
        dl_must(kill(hogs[i], SIGKILL) != 0 || waitpid(hogs[i], NULL, 0) != hogs[i], "the end of a hog");
}

/* The same; but the thread that was woken has slept again before, waiting for the mutex of the condition variable. */
static void woken_to_the_mutex(void)
{
    stay_on_one_cpu();
    pthread_t t = dl_start(answer, NULL);
    pid_t hogs[4];
    for (int i = 0; i < 2; i++) {
        dl_rest(20);
        MUST(pthread_mutex_lock(&m));
        turn = 1;
        MUST(pthread_cond_broadcast(&c));
        dl_rest(50);
        for (size_t k = 0; k < sizeof hogs / sizeof *hogs; k++)
            hogs[k] = start_hog();
        while (turn != 0)
            MUST(pthread_cond_wait(&c, &m));
        MUST(pthread_mutex_unlock(&m));
        for (size_t k = 0; k < sizeof hogs / sizeof *hogs; k++)
            dl_must(kill(hogs[k], SIGKILL) != 0 || waitpid(hogs[k], NULL, 0) != hogs[k], "the end of a hog");
    }
    MUST(pthread_join(t, NULL));
}

static pid_t late_hogs[4];
static pid_t late_tid;

static void *answer_late(void *arg)
{
    const struct sched_param none = {0};
    MUST(pthread_setschedparam(pthread_self(), SCHED_IDLE, &none));
    late_tid = gettid();
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&m));
    turn = 0;
    MUST(pthread_cond_signal(&c));
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

/* Called in the condition wait, which holds the mutex still. */
static void until_answer_waits(void)
{
    dl_meet(&meeting, 2);
    dl_until_asleep(late_tid);
    for (size_t i = 0; i < sizeof late_hogs / sizeof *late_hogs; i++)
        late_hogs[i] = start_hog();
}

/* The same; and it has begun to wait for the mutex after the begin of the condition wait that was to release it. */
static void woken_by_late_release(void)
{
    stay_on_one_cpu();
    turn = 1;
    pthread_t t = dl_start(answer_late, NULL);
    MUST(pthread_mutex_lock(&m));
    dl_before_release = until_answer_waits;
    while (turn != 0)
        MUST(pthread_cond_wait(&c, &m));
    MUST(pthread_mutex_unlock(&m));
    MUST(pthread_join(t, NULL));
    for (size_t i = 0; i < sizeof late_hogs / sizeof *late_hogs; i++)
        dl_must(kill(late_hogs[i], SIGKILL) != 0 || waitpid(late_hogs[i], NULL, 0) != late_hogs[i], "the end of a hog");
}

static void *fight(void *arg)
{
    for (int i = 0; i < 30000; i++) {
        MUST(pthread_mutex_lock(&m));
        MUST(pthread_mutex_lock(&n));
        MUST(pthread_mutex_unlock(&n));
        MUST(pthread_mutex_unlock(&m));
    }
    return arg;
}

static void fighting_in_order(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = dl_start(fight, NULL);
    for (int i = 0; i < 4; i++)
        MUST(pthread_join(t[i], NULL));
}

static void *back_off(void *arg)
{
    pthread_mutex_t *first = arg, *second = first == &m ? &n : &m;
    for (int i = 0; i < 5000; i++) {
        MUST(pthread_mutex_lock(first));
        if (pthread_mutex_trylock(second) == 0)
            MUST(pthread_mutex_unlock(second));
        MUST(pthread_mutex_unlock(first));
    }
    return NULL;
}

static void trying_and_backing_off(void)
{
    pthread_t s = dl_start(back_off, &m), t = dl_start(back_off, &n);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void *short_life(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

static void many_short_threads(void)
{
    for (int i = 0; i < 500; i++)
        MUST(pthread_join(dl_start(short_life, NULL), NULL));
}

const struct dl_case cases_quiet[] = {
    {"idle_main_sleeps", idle_main_sleeps},
    {"idle_main_reads", idle_main_reads},
    {"idle_until_signal", idle_until_signal},
    {"idle_until_timer", idle_until_timer},
    {"idle_until_other_process", idle_until_other_process},
    {"idle_with_timeout", idle_with_timeout},
    {"holder_sleeps", holder_sleeps},
    {"join_of_a_sleeper", join_of_a_sleeper},
    {"timed_cross", timed_cross},
    {"writer_behind_readers", writer_behind_readers},
    {"barrier_filled_late", barrier_filled_late},
    {"released_by_another", released_by_another},
    {"reading_ended_by_another", reading_ended_by_another},
    {"robust_recovered", robust_recovered},
    {"made_anew", made_anew},
    {"recursion", recursion},
    {"own_lock_is_refused", own_lock_is_refused},
    {"hand_over", hand_over},
    {"woken_and_starved", woken_and_starved},
    {"woken_by_late_release", woken_by_late_release},
    {"woken_to_the_mutex", woken_to_the_mutex},
    {"fighting_in_order", fighting_in_order},
    {"trying_and_backing_off", trying_and_backing_off},
    {"many_short_threads", many_short_threads},
    {NULL, NULL},
};

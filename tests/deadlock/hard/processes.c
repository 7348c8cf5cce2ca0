/* SPDX-License-Identifier: MIT */
/* Hard cases of several processes: shared locks, semaphores and conditions, killed holders, private memory. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hard.h"

static pid_t child(void (*function)(void))
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    function();
    _exit(0);
}

static void cross_in(pthread_mutex_t *x, pthread_mutex_t *y, unsigned n)
{
    MUST(pthread_mutex_lock(x));
    meet(n);
    MUST(pthread_mutex_lock(y));
}
static void mutex_ab(void)
{
    cross_in(&shared->m[0], &shared->m[1], 2);
}
static void mutex_ba(void)
{
    cross_in(&shared->m[1], &shared->m[0], 2);
}
static void px_mutex(void)
{
    child(mutex_ab);
    mutex_ba();
}

static void ring_0(void)
{
    cross_in(&shared->m[0], &shared->m[1], 3);
}
static void ring_1(void)
{
    cross_in(&shared->m[1], &shared->m[2], 3);
}
static void ring_2(void)
{
    cross_in(&shared->m[2], &shared->m[0], 3);
}
static void px_ring(void)
{
    child(ring_0);
    child(ring_1);
    child(ring_2);
    await_children();
}

static void rw_ab(void)
{
    MUST(pthread_rwlock_wrlock(&shared->rw[0]));
    meet(2);
    MUST(pthread_rwlock_rdlock(&shared->rw[1]));
}
static void px_readers_cross(int own, int other)
{
    MUST(pthread_rwlock_rdlock(&shared->rw[own]));
    meet(2);
    MUST(pthread_rwlock_wrlock(&shared->rw[other]));
}
static void rd_ab(void)
{
    px_readers_cross(0, 1);
}
/* The lock itself does not contain its readers: each process has recorded that it is one, with its first lock. */
static void px_readers(void)
{
    child(rd_ab);
    px_readers_cross(1, 0);
}

static void lock_and_end(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
}
static void hold_and_wait(pid_t (*wait_for)(pid_t))
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    pid_t pid = child(lock_and_end);
    MUST(wait_for(pid) != pid);
    MUST(pthread_mutex_unlock(&shared->m[0]));
}
static pid_t for_this(pid_t pid)
{
    return waitpid(pid, NULL, 0);
}
static pid_t for_any(pid_t pid)
{
    (void)pid;
    return wait(NULL);
}
static pid_t for_id(pid_t pid)
{
    siginfo_t info;
    return waitid(P_PID, (id_t)pid, &info, WEXITED) == 0 ? info.si_pid : -1;
}
static void px_waitpid(void)
{
    hold_and_wait(for_this);
}
static void px_wait(void)
{
    hold_and_wait(for_any);
}
static void px_waitid(void)
{
    hold_and_wait(for_id);
}

/* Holds a lock, and waits for the end of a program that wants it: it maps the descriptor, which it inherits. */
static pthread_mutex_t *lock_by_descriptor(int fd)
{
    pthread_mutex_t *lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (lock == MAP_FAILED)
        dl_must(errno, "mmap");
    return lock;
}
static void hold_for_program(char *command, size_t size, const char *how)
{
    char self[4096] = "";
    int fd = memfd_create("lock", 0);
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    if (fd < 0 || ftruncate(fd, sizeof(pthread_mutex_t)) != 0 || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        dl_must(errno, "memfd_create");
    pthread_mutex_t *lock = lock_by_descriptor(fd);
    MUST(pthread_mutex_init(lock, &attr));
    MUST(pthread_mutex_lock(lock));
    snprintf(command, size, how, fd, self);
}
static void px_lock_by_descriptor(void)
{
    const char *fd = getenv("LOCK");
    MUST(pthread_mutex_lock(lock_by_descriptor(fd ? atoi(fd) : -1)));
}
static void popen_by(const char *how)
{
    char command[4200];
    hold_for_program(command, sizeof command, how);
    FILE *f = popen(command, "r");
    if (!f || pclose(f) != 0)
        dl_must(errno, "popen");
}
static void px_popen(void)
{
    popen_by("LOCK=%d exec '%s' px_lock_by_descriptor /dev/null");
}
static void px_shell(void)
{
    popen_by("LOCK=%d '%s' px_lock_by_descriptor /dev/null; exit 0");
}
static void px_system(void)
{
    char command[4200];
    hold_for_program(command, sizeof command, "LOCK=%d '%s' px_lock_by_descriptor /dev/null; exit 0");
    MUST(system(command));
}
static void px_spawn(void)
{
    char command[4200];
    char *const argv[] = {(char *)"sh", (char *)"-c", command, NULL};
    pid_t pid;
    hold_for_program(command, sizeof command, "LOCK=%d exec '%s' px_lock_by_descriptor /dev/null");
    MUST(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ));
    MUST(waitpid(pid, NULL, 0) != pid);
}

static void write_and_end(void)
{
    MUST(pthread_rwlock_wrlock(&shared->rw[0]));
}
/* The lock does not contain its reader, whose wait is none for a lock. */
static void px_reader_waits(void)
{
    MUST(pthread_rwlock_rdlock(&shared->rw[0]));
    pid_t pid = child(write_and_end);
    MUST(waitpid(pid, NULL, 0) != pid);
}

/* The other child ends the wait of wait(), so that the lock is released. */
static void rest_and_end(void)
{
    dl_rest(IDLE_MS);
}
static void px_wait_of_two(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    child(rest_and_end);
    child(lock_and_end);
    MUST(wait(NULL) < 0);
    MUST(pthread_mutex_unlock(&shared->m[0]));
    MUST(wait(NULL) < 0);
}

static void px_wait_of_blocked(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    child(lock_and_end);
    child(lock_and_end);
    MUST(wait(NULL) < 0);
}

static void on_alarm_nothing(int sig)
{
    (void)sig;
}
static void px_wait_with_alarm(void)
{
    struct sigaction on_alarm = {.sa_handler = on_alarm_nothing};
    sigaction(SIGALRM, &on_alarm, NULL);
    alarm(3);
    MUST(pthread_mutex_lock(&shared->m[0]));
    pid_t pid = child(lock_and_end);
    while (waitpid(pid, NULL, 0) != pid)
        MUST(pthread_mutex_unlock(&shared->m[0]));
}

static void px_rwlock(void)
{
    child(rw_ab);
    MUST(pthread_rwlock_wrlock(&shared->rw[1]));
    meet(2);
    MUST(pthread_rwlock_wrlock(&shared->rw[0]));
}

static void sems_in(sem_t *x, sem_t *y)
{
    MUST(sem_wait(x));
    meet(2);
    MUST(sem_wait(y));
    MUST(sem_post(y));
    MUST(sem_post(x));
}
static void sem_ab(void)
{
    sems_in(&shared->sem[0], &shared->sem[1]);
}
static void px_sem(void)
{
    child(sem_ab);
    sems_in(&shared->sem[1], &shared->sem[0]);
}

static void sem_then_mutex(void)
{
    MUST(sem_wait(&shared->sem[0]));
    meet(2);
    MUST(pthread_mutex_lock(&shared->m[0]));
}
static void px_sem_and_mutex(void)
{
    child(sem_then_mutex);
    MUST(pthread_mutex_lock(&shared->m[0]));
    meet(2);
    MUST(sem_wait(&shared->sem[0]));
}

static void wait_shared_cond(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    for (;;)
        MUST(pthread_cond_wait(&shared->cond, &shared->m[0]));
}
static void px_cond_lost(void)
{
    child(wait_shared_cond);
    wait_shared_cond();
}

static void wait_shared_sem(void)
{
    MUST(sem_wait(&shared->zero));
}
/* The parent has the semaphore mapped, but waits for the children. */
static void px_sem_lost_by_children(void)
{
    child(wait_shared_sem);
    child(wait_shared_sem);
    await_children();
}
static void px_sem_lost(void)
{
    child(wait_shared_sem);
    wait_shared_sem();
}

static void wait_in_lock(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    meet(2);
    MUST(sem_wait(&shared->zero));
}
static void post_in_lock(void)
{
    meet(2);
    MUST(pthread_mutex_lock(&shared->m[0]));
    MUST(sem_post(&shared->zero));
}
static void px_post_behind_lock(void)
{
    child(post_in_lock);
    wait_in_lock();
}

static void *take_shared_1(void *arg)
{
    meet(2);
    MUST(pthread_mutex_lock(&shared->m[1]));
    return arg;
}
static void hold_and_join(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    MUST(pthread_join(dl_start(take_shared_1, NULL), NULL));
}
static void px_join(void)
{
    child(hold_and_join);
    mutex_ba();
}

static void take_and_die(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    meet(2);
    raise(SIGKILL);
}
static void px_killed(void)
{
    child(take_and_die);
    meet(2);
    MUST(pthread_mutex_lock(&shared->m[0]));
}

static void take_robust_and_die(void)
{
    MUST(pthread_mutex_lock(&shared->robust));
    meet(2);
    dl_rest(HELD_MS);
    raise(SIGKILL);
}
static void px_robust(void)
{
    child(take_robust_and_die);
    meet(2);
    if (pthread_mutex_lock(&shared->robust) != EOWNERDEAD)
        _exit(1);
    MUST(pthread_mutex_consistent(&shared->robust));
    MUST(pthread_mutex_unlock(&shared->robust));
}

static void hold_long(void)
{
    MUST(pthread_mutex_lock(&shared->m[0]));
    meet(2);
    dl_rest(HELD_MS);
    MUST(pthread_mutex_unlock(&shared->m[0]));
}
static void px_held_long(void)
{
    child(hold_long);
    meet(2);
    pair(&shared->m[0], &shared->m[1]);
    await_children();
}

static void post_late(void)
{
    dl_rest(HELD_MS);
    MUST(sem_post(&shared->zero));
}
static void px_post_late(void)
{
    child(post_late);
    MUST(sem_wait(&shared->zero));
    await_children();
}

static void signal_after_read(void)
{
    struct pollfd none = {.fd = -1};
    (void)poll(&none, 1, HELD_MS);
    MUST(pthread_mutex_lock(&shared->m[0]));
    shared->ready = 1;
    MUST(pthread_cond_signal(&shared->cond));
    MUST(pthread_mutex_unlock(&shared->m[0]));
}
static void px_cond_late(void)
{
    child(signal_after_read);
    MUST(pthread_mutex_lock(&shared->m[0]));
    while (!shared->ready)
        MUST(pthread_cond_wait(&shared->cond, &shared->m[0]));
    MUST(pthread_mutex_unlock(&shared->m[0]));
    await_children();
}

static sem_t *named[2];
static void named_ab(void)
{
    MUST(sem_wait(named[0]));
    meet(2);
    MUST(sem_wait(named[1]));
}
static void named_in_cycle(bool removed)
{
    char name[32];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "/upmu-hard-%d-%u", (int)getpid(), i);
        named[i] = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
        if (named[i] == SEM_FAILED)
            abort();
        if (removed)
            MUST(sem_unlink(name));
    }
    child(named_ab);
    MUST(sem_wait(named[1]));
    meet(2);
    MUST(sem_wait(named[0]));
}
/* Each was made with one permit, and its holder waits: nothing is expected to post them, though any process could. The script
 * removes them. */
static void px_named_sem(void)
{
    named_in_cycle(false);
}
static void px_named_sem_removed(void)
{
    named_in_cycle(true);
}

/* Semaphores of one permit that processes pass to each other: no process holds what it has acquired. */
static void pass_back(void)
{
    for (unsigned i = 0; i < 4; i++) {
        MUST(sem_wait(&shared->zero));
        dl_rest(HELD_MS / 4);
        MUST(sem_post(&shared->sem[0]));
    }
}
static void px_sem_passed(void)
{
    child(pass_back);
    for (unsigned i = 0; i < 4; i++) {
        MUST(sem_wait(&shared->sem[0]));
        dl_rest(HELD_MS / 4);
        MUST(sem_post(&shared->zero));
    }
    await_children();
}

static void post_through_descriptor(int fd)
{
    struct pollfd none = {.fd = -1};
    (void)poll(&none, 1, IDLE_MS);
    sem_t *sem = mmap(NULL, sizeof *sem, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (sem == MAP_FAILED)
        abort();
    MUST(sem_post(sem));
    _exit(0);
}
/* A semaphore without a name, but a process that is not mapped there yet has a descriptor of its memory. */
static void px_sem_by_descriptor(void)
{
    int fd = memfd_create("semaphore", 0);
    if (fd < 0 || ftruncate(fd, sizeof(sem_t)) != 0)
        abort();
    if (fork() == 0)
        post_through_descriptor(fd);
    sem_t *sem = mmap(NULL, sizeof *sem, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (sem == MAP_FAILED)
        abort();
    (void)close(fd);
    MUST(sem_init(sem, 1, 0));
    MUST(sem_wait(sem));
    await_children();
}

/* All that wait are recorded, but the semaphore has a name: a process that comes later may post it. */
static void px_named_sem_idle(void)
{
    char name[64], self[4096] = "";
    snprintf(name, sizeof name, "/upmu-hard-%d", (int)getpid());
    sem_t *s = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    if (s == SEM_FAILED || readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        dl_must(errno, name);
    if (fork() == 0) {
        execl("/bin/sh", "sh", "-c", "sleep 2; POST=\"$1\" exec \"$0\" px_post_by_name /dev/null", self, name,
              (char *)NULL);
        _exit(1);
    }
    while (sem_wait(s) != 0)
        ;
    MUST(sem_unlink(name));
    await_children();
}

static void px_post_by_name(void)
{
    const char *name = getenv("POST");
    sem_t *s = name ? sem_open(name, 0) : SEM_FAILED;
    if (s == SEM_FAILED || sem_post(s) != 0)
        dl_must(errno, "sem_post");
}

static void child_ab(void)
{
    turn(0);
    pair(&shared->m[0], &shared->m[1]);
    next();
    turn(2);
}
static void px_same_order(void)
{
    child(child_ab);
    turn(1);
    pair(&shared->m[0], &shared->m[1]);
    next();
    await_children();
}
static void px_before_fork(void)
{
    pair(&shared->m[1], &shared->m[0]);
    child(child_ab);
    turn(1);
    next();
    await_children();
}
static void px_after_wait(void)
{
    shared->turn = 0;
    pid_t pid = fork();
    if (pid == 0) {
        pair(&shared->m[0], &shared->m[1]);
        _exit(0);
    }
    await_children();
    pair(&shared->m[1], &shared->m[0]);
}

/* The same addresses, but memory of their own. */
static void private_ab(void)
{
    turn(0);
    pair(&m[0], &m[1]);
    next();
    turn(2);
}
static void px_private(void)
{
    child(private_ab);
    turn(1);
    pair(&m[1], &m[0]);
    next();
    await_children();
}

static void *hold_private(void *arg)
{
    MUST(pthread_mutex_lock(&m[0]));
    meet(2);
    pause();
    return arg;
}
static void want_private(void)
{
    MUST(pthread_mutex_lock(&m[0]));
}
/* The child has the mutex, locked, but not the thread that locked it. */
static void px_private_holder_not_forked(void)
{
    pthread_t t;
    MUST(pthread_create(&t, NULL, hold_private, NULL));
    meet(2);
    child(want_private);
    await_children();
}

static void die_with_private(void)
{
    MUST(pthread_mutex_lock(&m[0]));
    meet(2);
    raise(SIGKILL);
}
static void px_private_holder_killed(void)
{
    child(die_with_private);
    meet(2);
    pair(&m[0], &m[1]);
    dl_rest(HELD_MS);
    await_children();
}

const struct dl_case cases_processes[] = {
    {"px_mutex", px_mutex},
    {"px_ring", px_ring},
    {"px_waitpid", px_waitpid},
    {"px_wait", px_wait},
    {"px_waitid", px_waitid},
    {"px_popen", px_popen},
    {"px_shell", px_shell},
    {"px_spawn", px_spawn},
    {"px_system", px_system},
    {"px_reader_waits", px_reader_waits},
    {"px_lock_by_descriptor", px_lock_by_descriptor},
    {"px_wait_of_two", px_wait_of_two},
    {"px_wait_of_blocked", px_wait_of_blocked},
    {"px_wait_with_alarm", px_wait_with_alarm},
    {"px_rwlock", px_rwlock},
    {"px_readers", px_readers},
    {"px_sem", px_sem},
    {"px_sem_and_mutex", px_sem_and_mutex},
    {"px_cond_lost", px_cond_lost},
    {"px_sem_lost", px_sem_lost},
    {"px_sem_lost_by_children", px_sem_lost_by_children},
    {"px_post_behind_lock", px_post_behind_lock},
    {"px_join", px_join},
    {"px_killed", px_killed},
    {"px_robust", px_robust},
    {"px_held_long", px_held_long},
    {"px_post_late", px_post_late},
    {"px_cond_late", px_cond_late},
    {"px_named_sem_removed", px_named_sem_removed},
    {"px_named_sem", px_named_sem},
    {"px_sem_passed", px_sem_passed},
    {"px_sem_by_descriptor", px_sem_by_descriptor},
    {"px_named_sem_idle", px_named_sem_idle},
    {"px_same_order", px_same_order},
    {"px_before_fork", px_before_fork},
    {"px_after_wait", px_after_wait},
    {"px_private", px_private},
    {"px_private_holder_killed", px_private_holder_killed},
    {"px_private_holder_not_forked", px_private_holder_not_forked},
    {"px_post_by_name", px_post_by_name},
    {NULL, NULL},
};

/* SPDX-License-Identifier: MIT */
/*
 * A program that idles in one kind of call: in a thread, for which the main thread waits. Another one waits for a signal of a
 * condition variable that only the idle one would give.
 *
 *     deadlock_idling KIND     exits with 77 if this kernel does not have it
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONG_S = 1000 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static long needed(long rc, const char *what)
{
    if (rc >= 0)
        return rc;
    fprintf(stderr, "skipped, because %s failed: %s\n", what, strerror(errno));
    exit(77);
}
#define NEEDED(call) needed((call), #call)

static void read_from(long fd)
{
    char text[4096];
    (void)!read((int)fd, text, sizeof text);
}

static sigset_t some_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return set;
}

static void idle_sigwait(void)
{
    sigset_t set = some_signals();
    int sig;
    sigwait(&set, &sig);
}
static void idle_signalfd(void)
{
    sigset_t set = some_signals();
    read_from(NEEDED(signalfd(-1, &set, SFD_CLOEXEC)));
}
static void idle_pause(void)
{
    pause();
}
static void idle_nanosleep(void)
{
    const struct timespec time = {.tv_sec = LONG_S};
    nanosleep(&time, NULL);
}
static void idle_epoll(void)
{
    struct epoll_event one;
    epoll_wait((int)NEEDED(epoll_create1(EPOLL_CLOEXEC)), &one, 1, -1);
}
static void idle_accept(void)
{
    int fd = (int)NEEDED(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct sockaddr_un any = {.sun_family = AF_UNIX};
    NEEDED(bind(fd, (struct sockaddr *)&any, sizeof(sa_family_t))); /* a name of the kernel's choice */
    NEEDED(listen(fd, 1));
    accept(fd, NULL, NULL);
}
static void idle_futex_time(void)
{
    static uint32_t word;
    const struct timespec time = {.tv_sec = LONG_S};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}
static void idle_waitpid(void)
{
    pid_t pid = (pid_t)NEEDED(fork());
    if (pid == 0) {
        pause();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}
static void idle_mqueue(void)
{
    char name[64], text[8192];
    snprintf(name, sizeof name, "/upmu-idle-%d", (int)getpid());
    mqd_t q = (mqd_t)NEEDED(mq_open(name, O_RDONLY | O_CREAT | O_EXCL, 0600, NULL));
    mq_unlink(name);
    mq_receive(q, text, sizeof text, NULL);
}
static void idle_inotify(void)
{
    int fd = (int)NEEDED(inotify_init1(IN_CLOEXEC));
    NEEDED(inotify_add_watch(fd, "/", IN_CREATE));
    read_from(fd);
}
static void idle_timerfd(void)
{
    const struct itimerspec time = {.it_value.tv_sec = LONG_S};
    int fd = (int)NEEDED(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    NEEDED(timerfd_settime(fd, 0, &time, NULL));
    read_from(fd);
}
static void idle_eventfd(void)
{
    read_from(NEEDED(eventfd(0, EFD_CLOEXEC)));
}
static void idle_io_uring(void)
{
    struct {
        uint32_t words[30];
    } params = {{0}};
    long fd = NEEDED(syscall(SYS_io_uring_setup, 4, &params));
    syscall(SYS_io_uring_enter, fd, 0, 1, 1 /* IORING_ENTER_GETEVENTS */, NULL, 0);
}
static void idle_msgrcv(void)
{
    struct {
        long type;
        char text[64];
    } one;
    int q = (int)NEEDED(msgget(IPC_PRIVATE, 0600));
    printf("queue %d\n", q); /* it outlives its process: the test removes it */
    (void)fflush(stdout);
    msgrcv(q, &one, sizeof one.text, 0, 0);
}
static void idle_semop(void)
{
    int s = (int)NEEDED(semget(IPC_PRIVATE, 1, 0600));
    struct sembuf down = {.sem_op = -1};
    printf("semaphore %d\n", s); /* as a queue */
    (void)fflush(stdout);
    semop(s, &down, 1);
}
static void idle_flock(void)
{
    char path[] = "/tmp/upmu-idle-XXXXXX";
    int fd = (int)NEEDED(mkstemp(path));
    int again = (int)NEEDED(open(path, O_RDWR | O_CLOEXEC));
    unlink(path);
    NEEDED(flock(fd, LOCK_EX));
    flock(again, LOCK_EX);
}
static void idle_fifo(void)
{
    char path[64];
    snprintf(path, sizeof path, "idle-%d", (int)getpid()); /* in the test's directory */
    NEEDED(mkfifo(path, 0600));
    (void)!open(path, O_RDONLY | O_CLOEXEC);
}
static void idle_tty(void)
{
    int fd = (int)NEEDED(posix_openpt(O_RDWR | O_NOCTTY));
    NEEDED(grantpt(fd));
    NEEDED(unlockpt(fd));
    const char *name = ptsname(fd);
    read_from(NEEDED(open(name ? name : "", O_RDWR | O_NOCTTY | O_CLOEXEC)));
}

/* A process with the same memory, which has the lock of the waiting thread; it could post the semaphore as well. */
static pthread_mutex_t helpers = PTHREAD_MUTEX_INITIALIZER;
static int hold(void *arg)
{
    const struct timespec long_time = {.tv_sec = LONG_S};
    (void)arg;
    pthread_mutex_lock(&helpers);
    nanosleep(&long_time, NULL);
    pthread_mutex_unlock(&helpers);
    return 0;
}
static void begin_helper(void)
{
    static char stack[1 << 16] __attribute__((aligned(16)));
    NEEDED(clone(hold, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL));
    while (pthread_mutex_trylock(&helpers) == 0) {
        pthread_mutex_unlock(&helpers);
        usleep(1000);
    }
}
static void idle_helper_lock(void)
{
    begin_helper();
    pthread_mutex_lock(&helpers);
    pthread_mutex_unlock(&helpers);
}
static void idle_helper_post(void)
{
    static sem_t sem;
    sem_init(&sem, 0, 0);
    begin_helper();
    sem_wait(&sem);
}

static const struct {
    const char *name;
    void (*idle)(void);
} kinds[] = {
    {"sigwait", idle_sigwait},
    {"signalfd", idle_signalfd},
    {"pause", idle_pause},
    {"nanosleep", idle_nanosleep},
    {"epoll", idle_epoll},
    {"accept", idle_accept},
    {"futex_time", idle_futex_time},
    {"waitpid", idle_waitpid},
    {"mqueue", idle_mqueue},
    {"inotify", idle_inotify},
    {"timerfd", idle_timerfd},
    {"eventfd", idle_eventfd},
    {"io_uring", idle_io_uring},
    {"msgrcv", idle_msgrcv},
    {"semop", idle_semop},
    {"flock", idle_flock},
    {"fifo", idle_fifo},
    {"tty", idle_tty},
    {"helper_lock", idle_helper_lock},
    {"helper_post", idle_helper_post},
};

static void *idle(void *arg)
{
    void (*const *function)(void) = arg;
    (*function)();
    pthread_mutex_lock(&m);
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&m);
    return NULL;
}

static void *wait_for_idle(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_cond_wait(&cond, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t, s;
    for (size_t i = 0; argc == 2 && i < sizeof kinds / sizeof *kinds; i++) {
        void (*function)(void) = kinds[i].idle;
        if (strcmp(kinds[i].name, argv[1]) != 0)
            continue;
        (void)some_signals(); /* for all threads */
        if (pthread_create(&s, NULL, wait_for_idle, NULL) != 0 || pthread_create(&t, NULL, idle, &function) != 0)
            return 1;
        return pthread_join(t, NULL) != 0 || pthread_join(s, NULL) != 0;
    }
    return 2;
}

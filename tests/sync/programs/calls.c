/* SPDX-License-Identifier: MIT */
/*
 * Calls of every function of docs/sync-coverage.md that waits for something else than a lock, between marks.
 *
 * The first mark has the function's name. Another thread ends the wait once the main thread is asleep. Then the same
 * functions are called where they need not wait, after the mark "ready". Prints what each call returned.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x)                                               \
    do {                                                       \
        if (!(x)) {                                            \
            fprintf(stderr, "calls.c:%d: %s\n", __LINE__, #x); \
            exit(1);                                           \
        }                                                      \
    } while (0)

#define MS 1000000L

static int (*mark)(const char *);
static pid_t main_tid;
static pthread_t main_thread;

/* Names that _FORTIFY_SOURCE uses. */
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *most, const sigset_t *mask, size_t bytes);
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t size);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t size);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off_t at, size_t size);
ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t bytes, size_t size, int flags, struct sockaddr *from,
                       socklen_t *from_bytes);

/* ------------------------------------------------------------------------------------------ the end of a wait */

static int in[2], out[2], pair[2], event, poller, server;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static int main_sleeps(void)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)main_tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && close(fd) == 0);
    const char *state = strrchr(text, ')');
    return state && state[2] == 'S';
}

static void send_usr1(void)
{
    CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
}

static void send_usr2(void)
{
    CHECK(pthread_kill(main_thread, SIGUSR2) == 0);
}

static void fill_pipe(void)
{
    CHECK(write(in[1], "x", 1) == 1);
}

static void fill_socket(void)
{
    CHECK(write(pair[1], "x", 1) == 1);
}

static void fill_event(void)
{
    const uint64_t one = 1;
    CHECK(write(event, &one, sizeof one) == sizeof one);
}

static void drain(int fd)
{
    char bytes[4096];
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    while (read(fd, bytes, sizeof bytes) > 0)
        continue;
    CHECK(fcntl(fd, F_SETFL, 0) == 0);
}

static void drain_pipe(void)
{
    drain(out[0]);
}

static void drain_socket(void)
{
    drain(pair[1]);
}

static void connect_it(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && close(fd) == 0);
}

static void accept_it(void)
{
    CHECK(close(accept(server, NULL, NULL)) == 0);
}

static void *ender(void *arg)
{
    void (*end)(void);
    memcpy(&end, &arg, sizeof end);
    while (!main_sleeps())
        usleep(300);
    end();
    return NULL;
}

/* Fills a buffer, so that the next write waits. */
static void make_full(int fd)
{
    static const char bytes[4096];
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    while (write(fd, bytes, sizeof bytes) > 0)
        continue;
    CHECK(fcntl(fd, F_SETFL, 0) == 0);
}

/* ------------------------------------------------------------------------------------------------------- calls */

/* The numbers of accepted connections depend on the descriptors that are open. */
static void result_print(const char *name, long result, int err)
{
    if (strncmp(name, "accept", sizeof "accept" - 1) == 0 && result > 0)
        result = 0;
    printf("%s %ld %s\n", name, result, result == -1 ? strerrorname_np(err) : "-");
}

/* A call that waits, until another thread does what `end` does. */
#define CALL(end, name, ...)                                        \
    do {                                                            \
        pthread_t other_;                                           \
        void (*end_)(void) = (end);                                 \
        void *arg_;                                                 \
        memcpy(&arg_, &end_, sizeof arg_);                          \
        if (end_)                                                   \
            CHECK(pthread_create(&other_, NULL, ender, arg_) == 0); \
        errno = 0;                                                  \
        mark(#name);                                                \
        long result_ = (long)name(__VA_ARGS__);                     \
        int err_ = errno;                                           \
        mark("-");                                                  \
        result_print(#name, result_, err_);                         \
        if (end_)                                                   \
            CHECK(pthread_join(other_, NULL) == 0);                 \
    } while (0)

static void handler(int sig)
{
    (void)sig;
}

static void sleeps(void)
{
    const struct timespec some = {.tv_nsec = 3 * MS}, long_time = {.tv_sec = 100};
    struct timespec rest;
    CALL(NULL, usleep, 3000);
    CALL(NULL, nanosleep, &some, &rest);
    CALL(send_usr1, nanosleep, &long_time, &rest);
    CALL(NULL, clock_nanosleep, CLOCK_MONOTONIC, 0, &some, &rest);
    CALL(NULL, thrd_sleep, &some, &rest);
    unsigned left;
    pthread_t other;
    void (*end)(void) = send_usr1;
    void *arg;
    memcpy(&arg, &end, sizeof arg);
    CHECK(pthread_create(&other, NULL, ender, arg) == 0);
    mark("sleep");
    left = sleep(100);
    mark("-");
    CHECK(left > 0 && pthread_join(other, NULL) == 0);
}

static void read_it(void)
{
    char byte;
    CHECK(read(in[0], &byte, 1) == 1);
}

static void polls(void)
{
    struct pollfd one = {.fd = in[0], .events = POLLIN};
    struct epoll_event ready, wanted = {.events = EPOLLIN};
    const struct timespec most = {.tv_sec = 100};
    struct timeval most_us = {.tv_sec = 100};
    fd_set set;
    CHECK(epoll_ctl(poller, EPOLL_CTL_ADD, in[0], &wanted) == 0);
    CALL(fill_pipe, poll, &one, 1, 100000);
    read_it();
    CALL(fill_pipe, __poll_chk, &one, 1, -1, sizeof one);
    read_it();
    CALL(fill_pipe, ppoll, &one, 1, &most, NULL);
    read_it();
    CALL(fill_pipe, __ppoll_chk, &one, 1, NULL, NULL, sizeof one);
    read_it();
    FD_ZERO(&set);
    FD_SET(in[0], &set);
    CALL(fill_pipe, select, in[0] + 1, &set, NULL, NULL, &most_us);
    read_it();
    CALL(fill_pipe, pselect, in[0] + 1, &set, NULL, NULL, &most, NULL);
    read_it();
    CALL(fill_pipe, epoll_wait, poller, &ready, 1, -1);
    read_it();
    CALL(fill_pipe, epoll_pwait, poller, &ready, 1, 100000, NULL);
    read_it();
    CALL(fill_pipe, epoll_pwait2, poller, &ready, 1, &most, NULL);
    read_it();
    CALL(send_usr1, poll, &one, 1, -1);
}

static void signals(void)
{
    sigset_t set, none;
    siginfo_t info;
    int sig;
    const struct timespec most = {.tv_sec = 100}, some = {.tv_nsec = 3 * MS};
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CALL(send_usr2, sigwait, &set, &sig);
    CALL(send_usr2, sigwaitinfo, &set, &info);
    CALL(send_usr2, sigtimedwait, &set, &info, &most);
    CALL(NULL, sigtimedwait, &set, &info, &some);
    CALL(send_usr1, sigsuspend, &none);
    CALL(send_usr1, pause);
    CALL(NULL, pthread_kill, main_thread, 0);
    CALL(NULL, kill, getpid(), 0);
    CALL(NULL, tgkill, getpid(), main_tid, 0);
    const union sigval value = {0};
    CALL(NULL, sigqueue, getpid(), SIGUSR1, value);
    CALL(NULL, pthread_sigqueue, main_thread, SIGUSR1, value);
}

static void reads(void)
{
    char bytes[8];
    uint64_t number;
    struct iovec to = {.iov_base = bytes, .iov_len = 1};
    struct msghdr message = {.msg_iov = &to, .msg_iovlen = 1};
    struct mmsghdr messages = {.msg_hdr = message};
    CALL(fill_pipe, read, in[0], bytes, 1);
    CALL(fill_event, read, event, &number, sizeof number);
    CALL(fill_pipe, __read_chk, in[0], bytes, 1, sizeof bytes);
    CALL(fill_pipe, readv, in[0], &to, 1);
    CALL(send_usr1, read, in[0], bytes, 1);
    CALL(fill_socket, recv, pair[0], bytes, 1, 0);
    CALL(fill_socket, __recv_chk, pair[0], bytes, 1, sizeof bytes, 0);
    CALL(fill_socket, recvfrom, pair[0], bytes, 1, 0, NULL, NULL);
    CALL(fill_socket, __recvfrom_chk, pair[0], bytes, 1, sizeof bytes, 0, NULL, NULL);
    CALL(fill_socket, recvmsg, pair[0], &message, 0);
    CALL(fill_socket, recvmmsg, pair[0], &messages, 1, 0, NULL);
    CALL(connect_it, accept, server, NULL, NULL);
    CALL(connect_it, accept4, server, NULL, NULL, SOCK_CLOEXEC);
}

static void writes(void)
{
    static char bytes[4096];
    struct iovec from = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr message = {.msg_iov = &from, .msg_iovlen = 1};
    struct mmsghdr messages = {.msg_hdr = message};
    make_full(out[1]);
    CALL(drain_pipe, write, out[1], bytes, sizeof bytes);
    make_full(out[1]);
    CALL(drain_pipe, writev, out[1], &from, 1);
    make_full(pair[0]);
    CALL(drain_socket, send, pair[0], bytes, sizeof bytes, 0);
    make_full(pair[0]);
    CALL(drain_socket, sendto, pair[0], bytes, sizeof bytes, 0, NULL, 0);
    make_full(pair[0]);
    CALL(drain_socket, sendmsg, pair[0], &message, 0);
    make_full(pair[0]);
    CALL(drain_socket, sendmmsg, pair[0], &messages, 1, 0);
    /* The queue of connections is full. */
    int first = socket(AF_UNIX, SOCK_STREAM, 0), second = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(connect(first, (struct sockaddr *)&address, sizeof address) == 0);
    CALL(accept_it, connect, second, (struct sockaddr *)&address, sizeof address);
}

/* Whether the thread slept since it had slept `before` times. */
static bool has_slept(long before)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    return usage.ru_nvcsw > before;
}

/* ----------------------------------------------------------------------------------------------------- files */

static int disk, written; /* a file; another one, of which each write waits for the disk */
static char page[4096], *mapped;

static void make_dirty(void)
{
    CHECK(write(disk, page, sizeof page) == sizeof page);
}

static void make_mapping_dirty(void)
{
    mapped[0]++;
}

/* Its first page is on the disk only. */
static void make_cold(void)
{
    CHECK(fsync(disk) == 0 && posix_fadvise(disk, 0, 0, POSIX_FADV_DONTNEED) == 0);
}

/* The disk may finish before the thread sleeps: repeated until it did once. A file system in memory never waits. */
#define CALL_DISK(prepare, function, ...)                              \
    do {                                                               \
        struct rusage usage_before;                                    \
        int tries = 0;                                                 \
        do {                                                           \
            (prepare)();                                               \
            CHECK(getrusage(RUSAGE_THREAD, &usage_before) == 0);       \
            mark(#function);                                           \
            long result = (long)function(__VA_ARGS__);                 \
            mark("-");                                                 \
            CHECK(result >= 0);                                        \
        } while (!has_slept(usage_before.ru_nvcsw) && tries++ < 1000); \
        printf("%s\n", #function);                                     \
    } while (0)

static int open_file(int flags)
{
    char path[] = "calls-XXXXXX";
    int fd = mkostemp(path, flags);
    CHECK(fd >= 0 && unlink(path) == 0 && write(fd, page, sizeof page) == sizeof page);
    return fd;
}

static void no_step(void)
{
}

static void files(void)
{
    struct iovec part = {.iov_base = page, .iov_len = sizeof page};
    off_t from = 0, to = 0;
    disk = open_file(0);
    written = open_file(O_DSYNC);
    mapped = mmap(NULL, sizeof page, PROT_READ | PROT_WRITE, MAP_SHARED, disk, 0);
    CHECK(mapped != MAP_FAILED);
    CALL_DISK(make_dirty, fsync, disk);
    CALL_DISK(make_dirty, fdatasync, disk);
    CALL_DISK(make_dirty, sync_file_range, disk, 0, 0, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    CALL_DISK(make_mapping_dirty, msync, mapped, sizeof page, MS_SYNC);
    CHECK(munmap(mapped, sizeof page) == 0);
    CALL_DISK(make_cold, pread, disk, page, sizeof page, 0);
    CALL_DISK(make_cold, pread64, disk, page, sizeof page, 0);
    CALL_DISK(make_cold, __pread_chk, disk, page, sizeof page, 0, sizeof page);
    CALL_DISK(make_cold, __pread64_chk, disk, page, sizeof page, 0, sizeof page);
    CALL_DISK(make_cold, preadv, disk, &part, 1, 0);
    CALL_DISK(make_cold, preadv64, disk, &part, 1, 0);
    CALL_DISK(make_cold, preadv2, disk, &part, 1, 0, 0);
    CALL_DISK(make_cold, preadv64v2, disk, &part, 1, 0, 0);
    CALL_DISK(no_step, pwrite, written, page, sizeof page, 0);
    CALL_DISK(no_step, pwrite64, written, page, sizeof page, 0);
    CALL_DISK(no_step, pwritev, written, &part, 1, 0);
    CALL_DISK(no_step, pwritev64, written, &part, 1, 0);
    CALL_DISK(no_step, copy_file_range, disk, (from = 0, &from), written, (to = 0, &to), sizeof page, 0);
    make_full(out[1]);
    CALL(drain_pipe, sendfile, out[1], disk, (from = 0, &from), sizeof page);
    make_full(out[1]);
    CALL(drain_pipe, sendfile64, out[1], disk, (from = 0, &from), sizeof page);
    CALL_DISK(no_step, pwritev2, written, &part, 1, 0, 0);
    CALL_DISK(no_step, pwritev64v2, written, &part, 1, 0, 0);
    make_full(out[1]);
    CALL(drain_pipe, splice, disk, (from = 0, &from), out[1], NULL, sizeof page, 0);
    CHECK(write(in[1], page, 1) == 1);
    make_full(out[1]);
    CALL(drain_pipe, tee, in[0], out[1], 1, 0);
    CHECK(read(in[0], page, 1) == 1);
    make_full(out[1]);
    part.iov_len = 1; /* of one page of memory */
    CALL(drain_pipe, vmsplice, out[1], &part, 1, 0);
    CHECK(close(disk) == 0 && close(written) == 0);
}

/* Whether it sleeps; a busy machine may keep it from that for long. */
static bool is_asleep(pid_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    const char *end = n > 0 ? strrchr(text, ')') : NULL;
    return end && end[1] == ' ' && end[2] == 'S';
}

/* A child that ends when its parent waits for it. */
static void child(void)
{
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        do
            usleep(5000);
        while (!is_asleep(getppid()));
        _exit(0);
    }
}

#define CALL_CHILD(name, ...)                \
    do {                                     \
        child();                             \
        mark(#name);                         \
        bool one_ = name(__VA_ARGS__) != -1; \
        mark("-");                           \
        CHECK(one_);                         \
        printf("%s\n", #name);               \
    } while (0)

static void children(void)
{
    int status;
    struct rusage usage;
    siginfo_t info;
    CALL_CHILD(wait, &status);
    CALL_CHILD(waitpid, -1, &status, 0);
    CALL_CHILD(wait3, &status, 0, &usage);
    CALL_CHILD(wait4, -1, &status, 0, &usage);
    CALL_CHILD(waitid, P_ALL, 0, &info, WEXITED);
    unsetenv("LD_PRELOAD"); /* the command is not to be recorded */
    mark("system");
    status = system("sleep 0.01");
    mark("-");
    CHECK(status == 0);
    printf("system\n");
    char *const argv[] = {(char *)"true", NULL};
    mark("posix_spawn");
    CHECK(posix_spawn(NULL, "/bin/true", NULL, NULL, argv, environ) == 0);
    mark("posix_spawnp");
    CHECK(posix_spawnp(NULL, "true", NULL, NULL, argv, environ) == 0);
    mark("-");
    while (wait(&status) > 0)
        CHECK(status == 0);
    mark("popen");
    FILE *f = popen("sleep 0.01", "r");
    mark("pclose");
    status = f ? pclose(f) : -1;
    mark("-");
    CHECK(status == 0);
    printf("pclose\n");
    CALL(NULL, waitpid, -1, &status, WNOHANG);
}

/* Nothing here waits. An unfinished wait before would be counted: a sleep ends all. */
static void ready(void)
{
    char byte;
    struct pollfd one = {.fd = in[0], .events = POLLIN};
    struct timeval none = {0};
    const struct timespec no_time = {0};
    int cached = open_file(0);
    usleep(1000);
    mark("ready");
    for (int i = 0; i < 2000; i++) {
        CHECK(write(in[1], "x", 1) == 1);
        CHECK(poll(&one, 1, -1) == 1 && select(0, NULL, NULL, NULL, &none) == 0);
        CHECK(read(in[0], &byte, 1) == 1);
        CHECK(send(pair[1], "x", 1, 0) == 1 && recv(pair[0], &byte, 1, 0) == 1);
        CHECK(nanosleep(&(struct timespec){.tv_nsec = -1}, NULL) == -1 && errno == EINVAL);
        CHECK(ppoll(&one, 1, &no_time, NULL) == 0);
        CHECK(pread(cached, page, sizeof page, 0) == sizeof page);
    }
    CHECK(read(-1, &byte, 1) == -1 && errno == EBADF);
    struct pollfd *volatile nowhere = NULL;
    CHECK(poll(nowhere, 1, 0) == -1 && errno == EFAULT);
    mark("-");
}

static int no_mark(const char *text)
{
    (void)text;
    return 0;
}

int main(void)
{
    void *found = dlsym(RTLD_DEFAULT, "upmu_mark_");
    struct sigaction act = {.sa_handler = handler};
    mark = no_mark;
    if (found)
        memcpy(&mark, &found, sizeof mark);
    main_tid = (pid_t)syscall(SYS_gettid);
    main_thread = pthread_self();
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "upmu-calls-%d", (int)getpid());
    CHECK(sigaction(SIGUSR1, &act, NULL) == 0);
    CHECK(pipe(in) == 0 && pipe(out) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    event = eventfd(0, 0);
    poller = epoll_create1(0);
    server = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(server, (struct sockaddr *)&address, sizeof address) == 0 && listen(server, 0) == 0);
    sleeps();
    polls();
    signals();
    reads();
    writes();
    files();
    children();
    ready();
    printf("calls: all done\n");
    return 0;
}

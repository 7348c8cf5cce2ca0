/* SPDX-License-Identifier: MIT */
/** @file The C library's functions behind the interposed names. */
#ifndef UPMU_SYNC_RESOLVE_H
#define UPMU_SYNC_RESOLVE_H

#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "base/sanitizer.h"

/** Whether this is a sanitizer build, whose runtime interposes calls itself. */
#define SYNC_UNDER_SANITIZER (UNDER_ASAN || UNDER_TSAN)

struct old_cond; /**< a condition variable of programs before glibc 2.3.2, see cond_old.c */

struct sync_real {
    int (*mutex_init)(pthread_mutex_t *, const pthread_mutexattr_t *);
    int (*mutex_destroy)(pthread_mutex_t *);
    int (*mutex_lock)(pthread_mutex_t *);
    int (*mutex_trylock)(pthread_mutex_t *);
    int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
    int (*mutex_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
    int (*mutex_unlock)(pthread_mutex_t *);
    int (*cond_init)(pthread_cond_t *, const pthread_condattr_t *);
    int (*cond_destroy)(pthread_cond_t *);
    int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    int (*cond_signal)(pthread_cond_t *);
    int (*cond_broadcast)(pthread_cond_t *);
    int (*sem_init)(sem_t *, int, unsigned);
    int (*sem_destroy)(sem_t *);
    int (*sem_wait)(sem_t *);
    int (*sem_trywait)(sem_t *);
    int (*sem_timedwait)(sem_t *, const struct timespec *);
    int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
    int (*sem_post)(sem_t *);
    int (*rwlock_init)(pthread_rwlock_t *, const pthread_rwlockattr_t *);
    int (*rwlock_destroy)(pthread_rwlock_t *);
    int (*rwlock_rdlock)(pthread_rwlock_t *);
    int (*rwlock_tryrdlock)(pthread_rwlock_t *);
    int (*rwlock_timedrdlock)(pthread_rwlock_t *, const struct timespec *);
    int (*rwlock_clockrdlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
    int (*rwlock_wrlock)(pthread_rwlock_t *);
    int (*rwlock_trywrlock)(pthread_rwlock_t *);
    int (*rwlock_timedwrlock)(pthread_rwlock_t *, const struct timespec *);
    int (*rwlock_clockwrlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
    int (*rwlock_unlock)(pthread_rwlock_t *);
    int (*spin_init)(pthread_spinlock_t *, int);
    int (*spin_destroy)(pthread_spinlock_t *);
    int (*spin_lock)(pthread_spinlock_t *);
    int (*spin_trylock)(pthread_spinlock_t *);
    int (*spin_unlock)(pthread_spinlock_t *);
    int (*barrier_init)(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned);
    int (*barrier_destroy)(pthread_barrier_t *);
    int (*barrier_wait)(pthread_barrier_t *);
    int (*mutex_consistent)(pthread_mutex_t *);
    int (*once)(pthread_once_t *, void (*)(void));
    int (*cancel)(pthread_t);
    sem_t *(*sem_open)(const char *, int, ...);
    int (*sem_close)(sem_t *);
    int (*sem_unlink)(const char *);
    int (*sem_getvalue)(sem_t *, int *);
    int (*mtx_init)(mtx_t *, int);
    void (*mtx_destroy)(mtx_t *);
    int (*mtx_lock)(mtx_t *);
    int (*mtx_trylock)(mtx_t *);
    int (*mtx_timedlock)(mtx_t *, const struct timespec *);
    int (*mtx_unlock)(mtx_t *);
    int (*cnd_init)(cnd_t *);
    void (*cnd_destroy)(cnd_t *);
    int (*cnd_wait)(cnd_t *, mtx_t *);
    int (*cnd_timedwait)(cnd_t *, mtx_t *, const struct timespec *);
    int (*cnd_signal)(cnd_t *);
    int (*cnd_broadcast)(cnd_t *);
    void (*call_once)(once_flag *, void (*)(void));
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*thrd_join)(thrd_t, int *);
    int (*thrd_detach)(thrd_t);
    long (*syscall)(long, long, long, long, long, long, long);
    int (*prctl)(int, long, long, long, long);
    int (*cond_old_init)(struct old_cond *, const pthread_condattr_t *);
    int (*cond_old_destroy)(struct old_cond *);
    int (*cond_old_wait)(struct old_cond *, pthread_mutex_t *);
    int (*cond_old_timedwait)(struct old_cond *, pthread_mutex_t *, const struct timespec *);
    int (*cond_old_signal)(struct old_cond *);
    int (*cond_old_broadcast)(struct old_cond *);
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*join)(pthread_t, void **);
    int (*tryjoin)(pthread_t, void **);
    int (*timedjoin)(pthread_t, void **, const struct timespec *);
    int (*clockjoin)(pthread_t, void **, clockid_t, const struct timespec *);
    int (*detach)(pthread_t);
    int (*setname)(pthread_t, const char *);
    int (*pipe2)(int[2], int);
    int (*sigprocmask)(int, const sigset_t *, sigset_t *);
    int (*iterate_phdr)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    void (*free)(void *);
    int (*munmap)(void *, size_t);
    int (*dlclose)(void *);
    unsigned (*sleep)(unsigned);
    int (*usleep)(useconds_t);
    int (*nanosleep)(const struct timespec *, struct timespec *);
    int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
    int (*thrd_sleep)(const struct timespec *, struct timespec *);
    int (*poll)(struct pollfd *, nfds_t, int);
    int (*poll_chk)(struct pollfd *, nfds_t, int, size_t);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
    int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    int (*epoll_wait)(int, struct epoll_event *, int, int);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*(*signal)(int, void (*)(int)))(int);
    int (*sigwait)(const sigset_t *, int *);
    int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
    int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
    int (*sigsuspend)(const sigset_t *);
    int (*pause)(void);
    int (*pthread_kill)(pthread_t, int);
    int (*pthread_sigqueue)(pthread_t, int, const union sigval);
    int (*kill)(pid_t, int);
    int (*sigqueue)(pid_t, int, const union sigval);
    int (*tgkill)(pid_t, pid_t, int);
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*read_chk)(int, void *, size_t, size_t);
    ssize_t (*readv)(int, const struct iovec *, int);
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*recv_chk)(int, void *, size_t, size_t, int);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*recvfrom_chk)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    int (*recvmmsg)(int, struct mmsghdr *, unsigned, int, struct timespec *);
    int (*accept)(int, struct sockaddr *, socklen_t *);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*writev)(int, const struct iovec *, int);
    int (*fsync)(int);
    int (*fdatasync)(int);
    ssize_t (*pread)(int, void *, size_t, off_t);
    ssize_t (*pread_chk)(int, void *, size_t, off_t, size_t);
    ssize_t (*preadv)(int, const struct iovec *, int, off_t);
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    ssize_t (*pwritev)(int, const struct iovec *, int, off_t);
    ssize_t (*preadv2)(int, const struct iovec *, int, off_t, int);
    ssize_t (*pwritev2)(int, const struct iovec *, int, off_t, int);
    ssize_t (*splice)(int, off_t *, int, off_t *, size_t, unsigned);
    ssize_t (*tee)(int, int, size_t, unsigned);
    ssize_t (*vmsplice)(int, const struct iovec *, size_t, unsigned);
    ssize_t (*sendfile)(int, int, off_t *, size_t);
    ssize_t (*copy_file_range)(int, off_t *, int, off_t *, size_t, unsigned);
    int (*sync_file_range)(int, off_t, off_t, unsigned);
    int (*msync)(void *, size_t, int);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    int (*sendmmsg)(int, struct mmsghdr *, unsigned, int);
    int (*connect)(int, const struct sockaddr *, socklen_t);
    pid_t (*wait)(int *);
    pid_t (*waitpid)(pid_t, int *, int);
    pid_t (*wait3)(int *, int, struct rusage *);
    pid_t (*wait4)(pid_t, int *, int, struct rusage *);
    int (*waitid)(idtype_t, id_t, siginfo_t *, int);
    int (*system)(const char *);
    int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                       char *const[], char *const[]);
    int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                        char *const[], char *const[]);
    FILE *(*popen)(const char *, const char *);
    int (*pclose)(FILE *);
};

extern struct sync_real sync_real __attribute__((visibility("hidden")));

/** Find all of them. May be called at any time by any number of threads: all find the same. Keeps errno. */
void sync_resolve(void);

/** Whether the C library comes after this library in symbol lookup, so that the program's calls reach this one. */
bool sync_resolve_is_first(void);

/** The real function. Constructors of other libraries call before ours has run. */
#define SYNC_REAL(name)                                                                        \
    (__extension__({                                                                           \
        __typeof__(sync_real.name) real_ = __atomic_load_n(&sync_real.name, __ATOMIC_RELAXED); \
        if (__builtin_expect(!real_, 0)) {                                                     \
            sync_resolve();                                                                    \
            real_ = __atomic_load_n(&sync_real.name, __ATOMIC_RELAXED);                        \
        }                                                                                      \
        real_;                                                                                 \
    }))

#endif

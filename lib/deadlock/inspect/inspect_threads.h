/* SPDX-License-Identifier: MIT */
/** @file Threads of a live process as the kernel shows them, and the locks of the C library in its memory. */
#ifndef UPMU_DEADLOCK_INSPECT_THREADS_H
#define UPMU_DEADLOCK_INSPECT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel_thread {
    pid_t task; /**< its id in this pid namespace, as in /proc */
    pid_t tid;  /**< its id as the process itself sees it */
    char name[16];
    bool asleep;       /**< in an interruptible sleep */
    bool runs;         /**< on a CPU, or ready to run: also to handle a signal */
    bool killed;       /**< SIGKILL is pending: it runs only to end */
    bool in_call;      /**< in a system call, whose first argument is known */
    bool in_futex;     /**< in a futex wait */
    bool timed;        /**< which has a timeout */
    bool shared_op;    /**< by an operation for words that processes may share */
    bool may_share;    /**< on such a word, unless it is in private memory */
    uint64_t first;    /**< that argument */
    uint64_t word;     /**< address of the futex */
    uint32_t expected; /**< value that the word had when the thread began to wait */
    uint64_t switches; /**< context switches so far: unchanged if the thread has not run */
    pid_t
        child; /**< the process whose end it waits for by wait4() or waitid(); -1: that of any child; 0: it does not */
};

struct kernel_view {
    pid_t pid;        /**< in this pid namespace */
    uint64_t space;   /**< number of its pid namespace; 0: not known */
    bool waits;       /**< the waits are known: the process may be inspected */
    uint32_t holders; /**< that were found in the memory of locks */
    bool killed;      /**< a thread is being killed, or ended meanwhile */
    bool inside;      /**< no word waited for is in memory that another process may map */
    struct kernel_thread *threads;
    size_t n_threads, cap_threads;
};

/** Read the threads of a process, which exiting ones are left out of. @return 0; UPMU_E_GONE, UPMU_E_NOMEM. Free in any
 *  case. */
int kernel_view_read(struct kernel_view *v, pid_t pid);
void kernel_view_free(struct kernel_view *v);
/** The thread with that id in the process; NULL. */
const struct kernel_thread *kernel_view_thread(const struct kernel_view *v, pid_t tid);
/** Whether a thread with that id exists in the pid namespace of the process. */
bool kernel_view_space_has(const struct kernel_view *v, pid_t tid);
enum { KERNEL_CHILDREN = 64 };

/** The processes, in this pid namespace, of which the end of any one ends the wait of `t`. `*all`: the process has no other child.
 *  @return how many; 0: it waits for none, for more than KERNEL_CHILDREN, or that is not known. */
size_t kernel_children(const struct kernel_view *v, const struct kernel_thread *t, pid_t out[KERNEL_CHILDREN],
                       bool *all);
/** Whether the thread sleeps in a wait without timeout that only a thread can end, of its process or of another one. */
bool kernel_thread_waits_only(const struct kernel_thread *t);
/** Whether all do, and the other thread must be of this process. */
bool kernel_view_all_asleep(const struct kernel_view *v);

/** inspect_process.c: the process, in this pid namespace, that writes the directory of a recording; `own` is its id in its own
 *  namespace. @return 0 if it is not found. */
pid_t inspect_process_of(const char *dir, pid_t own);

/** What a thread in a futex wait waits for. */
enum kernel_object {
    KERNEL_FUTEX,  /**< not known */
    KERNEL_MUTEX,  /**< a mutex of the C library */
    KERNEL_RWLOCK, /**< an rwlock of the C library that a writer holds */
    KERNEL_STREAM, /**< the lock of a FILE */
    KERNEL_THREAD, /**< the end of a thread */
};

struct kernel_wait {
    enum kernel_object type;
    uint64_t address; /**< of the object, of a thread's end the futex */
    pid_t holder;     /**< its holder, or the thread waited for; 0: not known */
    bool ended;       /**< the holder has ended, and holds it permanently */
};

/**
 * The object that contains the futex of `t`, by the fields that the C library has there. A kind is only assumed if its
 * fields are plausible and its holder is a thread of the process, or was one.
 */
struct kernel_wait kernel_wait_of(const struct kernel_view *v, const struct kernel_thread *t);
/** The owner of the mutex at `address`, as far as its fields are plausible; 0. */
pid_t kernel_mutex_owner(const struct kernel_view *v, uint64_t address);
/** The owner of the mutex between processes, not robust, that `t` waits for; 0 unless all fields are those of one. */
pid_t kernel_shared_mutex_owner(const struct kernel_view *v, const struct kernel_thread *t);
/** Whether the process is of the pid namespace of `v`. */
bool kernel_view_space_is_of(const struct kernel_view *v, pid_t pid);
/** The thread that holds the rwlock at `address` for writing; 0. */
pid_t kernel_rwlock_writer(const struct kernel_view *v, uint64_t address);
/** The address of an rwlock in which a thread waits at `word`, if it is its i-th word for that. */
enum { KERNEL_RWLOCK_WORDS = 2 };
uint64_t kernel_rwlock_at(uint64_t word, unsigned i);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Locks of the C library in the memory of another process.
 *
 * The kernel reports the address of the futex only. An object is assumed there if the fields that glibc has around that
 * word are plausible, and its holder is a thread of the process.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "deadlock/inspect/inspect_threads.h"

static bool kernel_object_read(const struct kernel_view *v, uint64_t address, void *to, size_t bytes)
{
    struct iovec local = {.iov_base = to, .iov_len = bytes};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = bytes};
    pid_t task = v->n_threads > 0 ? v->threads[0].task : v->pid; /* the first thread may have ended */
    return process_vm_readv(task, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

#ifdef __GLIBC__

enum { MUTEX_KIND_MAX = 0x3ff, STREAM_DEPTH_MAX = 1000, WRITE_LOCKED = 2, THREAD_BYTES = 2304 };
enum { CONTENDED = 2, MUTEX_PLAIN_MAX = 3, THREAD_ID_MAX = 1 << 22 }; /* plain: not robust, with priorities or shared */
enum {
    MUTEX_SHARED = 0x80,
    MUTEX_ELISION = 0x300
}; /* of its kind: allowed, or not, as in a mutex whose type was set */

/* The fields of a FILE's lock. */
struct stream_lock {
    int32_t word, depth;
    uint64_t owner; /* address of its thread's descriptor, which is its pthread_t */
};

pid_t kernel_mutex_owner(const struct kernel_view *v, uint64_t address)
{
    pthread_mutex_t m;
    if (!kernel_object_read(v, address, &m, sizeof m))
        return 0;
    bool plausible = m.__data.__lock != 0 && m.__data.__nusers >= 1 && m.__data.__nusers <= v->n_threads &&
                     m.__data.__kind >= 0 && m.__data.__kind <= MUTEX_KIND_MAX;
    return plausible ? m.__data.__owner : 0;
}

uint64_t kernel_rwlock_at(uint64_t word, unsigned i)
{
    return word - (i == 0 ? offsetof(pthread_rwlock_t, __data.__wrphase_futex)
                          : offsetof(pthread_rwlock_t, __data.__writers_futex));
}

pid_t kernel_rwlock_writer(const struct kernel_view *v, uint64_t address)
{
    pthread_rwlock_t l;
    if (address % _Alignof(pthread_rwlock_t) != 0 || !kernel_object_read(v, address, &l, sizeof l))
        return 0;
    bool plausible = (l.__data.__readers & WRITE_LOCKED) && (l.__data.__wrphase_futex & ~3u) == 0 &&
                     (l.__data.__writers_futex & ~3u) == 0 &&
                     l.__data.__flags <= PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
    return plausible ? l.__data.__cur_writer : 0;
}

/* Whether `t` waits for a mutex of that owner, which is not robust. Without a holder that exists, all fields must be as the C library
 * has them. */
static bool mutex_is_of(const struct kernel_view *v, const struct kernel_thread *t, pid_t owner)
{
    pthread_mutex_t m;
    if (owner <= 1 || owner > THREAD_ID_MAX || t->expected != CONTENDED ||
        !kernel_object_read(v, t->word, &m, sizeof m))
        return false;
    int kind = m.__data.__kind & ~(MUTEX_ELISION | (t->may_share ? MUTEX_SHARED : 0));
    bool recursive = kind == PTHREAD_MUTEX_RECURSIVE;
    return m.__data.__lock == CONTENDED && m.__data.__owner == owner && kind >= 0 && kind <= MUTEX_PLAIN_MAX &&
           m.__data.__nusers == 1 && (m.__data.__count != 0) == recursive &&
           (!t->may_share || (m.__data.__kind & MUTEX_SHARED));
}

pid_t kernel_shared_mutex_owner(const struct kernel_view *v, const struct kernel_thread *t)
{
    pid_t owner = t->in_futex && t->may_share ? kernel_mutex_owner(v, t->word) : 0;
    return mutex_is_of(v, t, owner) ? owner : 0;
}

/* The same of an rwlock that is held by a writer. */
static bool rwlock_writer_has_ended(const struct kernel_view *v, const struct kernel_thread *t, uint64_t address,
                                    pid_t owner)
{
    pthread_rwlock_t l;
    return owner > 1 && owner <= THREAD_ID_MAX && !t->may_share && kernel_object_read(v, address, &l, sizeof l) &&
           l.__data.__cur_writer == owner && l.__data.__shared == 0 && l.__data.__pad3 == 0 && l.__data.__pad4 == 0;
}

/* Where a thread's descriptor has its id, in this process; 0 if it is not found. */
static size_t descriptor_tid_offset(void)
{
    pid_t id = gettid(), found;
    for (size_t at = sizeof(void *); at + sizeof found <= THREAD_BYTES; at += sizeof found) {
        memcpy(&found, (const char *)pthread_self() + at, sizeof found);
        if (found == id)
            return at;
    }
    return 0;
}

/* Whether descriptors begin with their own address. */
static bool descriptor_has_address(void)
{
    uintptr_t own, self = (uintptr_t)pthread_self();
    memcpy(&own, (const void *)self, sizeof own);
    return own == self;
}

/* Whether `address` is that of the id in a descriptor. Where descriptors have their own address, it must be there. */
static bool descriptor_is_at(const struct kernel_view *v, uint64_t address)
{
    size_t at = descriptor_tid_offset();
    uint64_t first = 0;
    return at != 0 && (!descriptor_has_address() ||
                       (kernel_object_read(v, address - at, &first, sizeof first) && first == address - at));
}

/* The thread that holds a FILE's lock; 0: it is none. Once that has ended, it has no id, but its descriptor is kept for the next
 * thread: `*ended`. */
static pid_t stream_lock_holder(const struct kernel_view *v, const struct kernel_thread *t, bool *ended)
{
    struct stream_lock l;
    pid_t tid = 0;
    size_t at = descriptor_tid_offset();
    if (!kernel_object_read(v, t->word, &l, sizeof l) || l.word <= 0 || l.depth < 1 || l.depth > STREAM_DEPTH_MAX ||
        !descriptor_is_at(v, l.owner + at) || !kernel_object_read(v, l.owner + at, &tid, sizeof tid))
        return 0;
    *ended = tid <= 0 && l.word == CONTENDED && t->expected == CONTENDED && descriptor_has_address();
    return tid > 0 ? tid : 0;
}

struct kernel_wait kernel_wait_of(const struct kernel_view *v, const struct kernel_thread *t)
{
    uint32_t now = 0;
    bool ended = false;
    pid_t holder = kernel_mutex_owner(v, t->word);
    if (kernel_view_thread(v, holder))
        return (struct kernel_wait){.type = KERNEL_MUTEX, .address = t->word, .holder = holder};
    if (!t->may_share && mutex_is_of(v, t, holder))
        return (struct kernel_wait){.type = KERNEL_MUTEX, .address = t->word, .holder = holder, .ended = true};
    for (unsigned i = 0; i < KERNEL_RWLOCK_WORDS; i++) {
        uint64_t lock = kernel_rwlock_at(t->word, i);
        holder = kernel_rwlock_writer(v, lock);
        ended = !kernel_view_thread(v, holder) && rwlock_writer_has_ended(v, t, lock, holder);
        if (ended || kernel_view_thread(v, holder))
            return (struct kernel_wait){.type = KERNEL_RWLOCK, .address = lock, .holder = holder, .ended = ended};
    }
    holder = stream_lock_holder(v, t, &ended);
    if (ended || kernel_view_thread(v, holder))
        return (struct kernel_wait){.type = KERNEL_STREAM, .address = t->word, .holder = holder, .ended = ended};
    /* The kernel clears the word with the thread's id when the thread ends. */
    if (t->shared_op && kernel_object_read(v, t->word, &now, sizeof now) && now == t->expected && now != 0 &&
        descriptor_is_at(v, t->word) && kernel_view_thread(v, (pid_t)now))
        return (struct kernel_wait){.type = KERNEL_THREAD, .address = t->word, .holder = (pid_t)now};
    return (struct kernel_wait){.type = KERNEL_FUTEX, .address = t->word};
}

#else

pid_t kernel_shared_mutex_owner(const struct kernel_view *v, const struct kernel_thread *t)
{
    (void)v, (void)t;
    return 0;
}

pid_t kernel_mutex_owner(const struct kernel_view *v, uint64_t address)
{
    (void)v, (void)address;
    return 0;
}

uint64_t kernel_rwlock_at(uint64_t word, unsigned i)
{
    (void)i;
    return word;
}

pid_t kernel_rwlock_writer(const struct kernel_view *v, uint64_t address)
{
    (void)v, (void)address;
    return 0;
}

struct kernel_wait kernel_wait_of(const struct kernel_view *v, const struct kernel_thread *t)
{
    (void)v;
    return (struct kernel_wait){.type = KERNEL_FUTEX, .address = t->word};
}
#endif

/* SPDX-License-Identifier: MIT */
/* Fields of the C library's lock objects, and tests of what they mean. */
#include "sync_trace/libc/layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "sync_trace/libc/resolve.h"

struct sync_layout sync_layout;

#if defined(__x86_64__) && defined(__LP64__)
static bool layout_code_is(int (*function)(pthread_spinlock_t *), const char *code, size_t n)
{
    static const char endbr64[] = "\xf3\x0f\x1e\xfa";
    const char *at;
    memcpy(&at, &function, sizeof at);
    if (memcmp(at, endbr64, sizeof endbr64 - 1) == 0)
        at += sizeof endbr64 - 1;
    return memcmp(at, code, n) == 0;
}

/* Whether the functions are glibc's, not those of a library in between: lock decl (%rdi), jne; movl $1,(%rdi). */
static bool layout_spin_is_inline(void)
{
    static const char lock[] = "\xf0\xff\x0f\x75", unlock[] = "\xc7\x07\x01\0\0\0\x31\xc0\xc3";
    return layout_code_is(SYNC_REAL(spin_lock), lock, sizeof lock - 1) &&
           layout_code_is(SYNC_REAL(spin_unlock), unlock, sizeof unlock - 1);
}
#else
static bool layout_spin_is_inline(void)
{
    return false;
}
#endif

static void layout_spin_start(void)
{
    pthread_spinlock_t l;
    if (SYNC_REAL(spin_init)(&l, PTHREAD_PROCESS_PRIVATE) != 0)
        return;
    int free_value = l;
    bool differs = SYNC_REAL(spin_lock)(&l) == 0 && l != free_value;
    sync_layout.spin_free = free_value;
    sync_layout.spin = SYNC_REAL(spin_unlock)(&l) == 0 && differs && l == free_value;
    sync_layout.spin_inline = sync_layout.spin && layout_spin_is_inline();
    SYNC_REAL(spin_destroy)(&l);
}

static void layout_once_function(void)
{
}

static void layout_once_start(void)
{
    pthread_once_t control = PTHREAD_ONCE_INIT;
    const pthread_once_t fresh = control;
    bool known = SYNC_REAL(once)(&control, layout_once_function) == 0 && control != fresh;
    sync_layout.once_done = control;
    sync_layout.once = known;
}

#ifdef __GLIBC__
_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "in glibc an mtx_t is a pthread_mutex_t");

enum { READER_SHIFT = 3, WRITE_LOCKED = 2 }; /* of __readers */

static const pthread_mutex_t *layout_mtx_mutex(const mtx_t *m)
{
    return (const pthread_mutex_t *)(const void *)m;
}

static pid_t layout_mtx_owner(const mtx_t *m)
{
    return __atomic_load_n(&layout_mtx_mutex(m)->__data.__owner, __ATOMIC_RELAXED);
}

static bool layout_test_mutex(pid_t self)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    if (SYNC_REAL(mutex_lock)(&m) != 0)
        return false;
    bool known = m.__data.__owner == self;
    return SYNC_REAL(mutex_unlock)(&m) == 0 && known && m.__data.__owner == 0;
}

static bool layout_test_mtx(pid_t self)
{
    mtx_t m;
    if (!SYNC_REAL(mtx_init) || SYNC_REAL(mtx_init)(&m, mtx_plain) != thrd_success)
        return false;
    bool known = SYNC_REAL(mtx_lock)(&m) == thrd_success && layout_mtx_owner(&m) == self;
    known = SYNC_REAL(mtx_unlock)(&m) == thrd_success && known && layout_mtx_owner(&m) == 0;
    SYNC_REAL(mtx_destroy)(&m);
    return known;
}

static bool layout_test_rwlock(pid_t self)
{
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    bool known = SYNC_REAL(rwlock_wrlock)(&l) == 0 && l.__data.__cur_writer == self &&
                 (l.__data.__readers & WRITE_LOCKED) && SYNC_REAL(rwlock_unlock)(&l) == 0;
    known = known && SYNC_REAL(rwlock_rdlock)(&l) == 0 && l.__data.__cur_writer == 0 &&
            l.__data.__readers >> READER_SHIFT == 1 && !(l.__data.__readers & WRITE_LOCKED);
    return known && SYNC_REAL(rwlock_unlock)(&l) == 0 && l.__data.__readers >> READER_SHIFT == 0;
}

void sync_layout_start(void)
{
    char *end;
    const char *version = gnu_get_libc_version();
    unsigned long major = strtoul(version, &end, 10), minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    pid_t self = (pid_t)syscall(SYS_gettid);
    sync_layout.mutex_owner = layout_test_mutex(self);
    sync_layout.mtx_owner = layout_test_mtx(self);
    sync_layout.rwlock = layout_test_rwlock(self);
    sync_layout.rwlock_try_by_time = major < 2 || (major == 2 && minor < 30);
    layout_spin_start();
    layout_once_start();
}

uint32_t sync_mutex_flags(const pthread_mutex_t *m)
{
    int kind = sync_mutex_kind(m);
    uint32_t type = (kind & SYNC_KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE_NP    ? UPMU_TRACE_FLAG_RECURSIVE
                    : (kind & SYNC_KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK_NP ? UPMU_TRACE_FLAG_ERRORCHECK
                                                                             : 0;
    /* glibc sets the bit for every robust mutex: for these only the attributes are reliable. */
    bool shared = kind & SYNC_KIND_PSHARED && !(kind & SYNC_KIND_ROBUST);
    return type | (kind & SYNC_KIND_ROBUST ? UPMU_TRACE_FLAG_ROBUST : 0) |
           (kind & SYNC_KIND_PI ? UPMU_TRACE_FLAG_PI : 0) | (shared ? UPMU_TRACE_FLAG_PSHARED : 0);
}

pid_t sync_mtx_owner(const mtx_t *m)
{
    return sync_layout.mtx_owner ? layout_mtx_owner(m) : -1;
}

uint32_t sync_mtx_flags(const mtx_t *m)
{
    return sync_layout.mtx_owner ? sync_mutex_flags(layout_mtx_mutex(m)) : 0;
}

pid_t sync_rwlock_writer(const pthread_rwlock_t *l)
{
    return sync_layout.rwlock ? __atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) : -1;
}

bool sync_rwlock_is_free(const pthread_rwlock_t *l)
{
    unsigned readers = __atomic_load_n(&l->__data.__readers, __ATOMIC_RELAXED);
    return sync_layout.rwlock && readers >> READER_SHIFT == 0 && !(readers & WRITE_LOCKED);
}

bool sync_rwlock_writers_first(const pthread_rwlock_t *l)
{
    return sync_layout.rwlock && l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

uint32_t sync_sem_shared_flag(const sem_t *s)
{
    int32_t shared; /* glibc: the value, as wide as an atomic is, then whether it is shared */
    memcpy(&shared, (const char *)s + (sizeof(void *) == 8 ? 8 : 4), sizeof shared);
    return shared ? UPMU_TRACE_FLAG_PSHARED : 0;
}

uint32_t sync_cond_shared_flag(const pthread_cond_t *cond)
{
    return __atomic_load_n(&cond->__data.__wrefs, __ATOMIC_RELAXED) & 1 ? UPMU_TRACE_FLAG_PSHARED : 0;
}

uint32_t sync_barrier_shared_flag(const pthread_barrier_t *b)
{
    int32_t shared; /* glibc: in, round, count, and whether it is shared */
    memcpy(&shared, (const char *)b + 3 * sizeof(uint32_t), sizeof shared);
    return shared ? UPMU_TRACE_FLAG_PSHARED : 0;
}

bool sync_barrier_is_full(const pthread_barrier_t *b)
{
    /* Arrivals in all rounds, arrivals before this round, and arrivals that complete a round. */
    const uint32_t *in = (const void *)b, *round = in + 1, *count = in + 2;
    return __atomic_load_n(in, __ATOMIC_RELAXED) + 1 - __atomic_load_n(round, __ATOMIC_RELAXED) >= *count;
}

#else

/* Unknown fields: no owner is reported, and every object may be shared, so that no wait is reported as permanent. */

void sync_layout_start(void)
{
    layout_spin_start();
    layout_once_start();
}

uint32_t sync_mutex_flags(const pthread_mutex_t *m)
{
    (void)m;
    return 0;
}

pid_t sync_mtx_owner(const mtx_t *m)
{
    (void)m;
    return -1;
}

uint32_t sync_mtx_flags(const mtx_t *m)
{
    (void)m;
    return 0;
}

pid_t sync_rwlock_writer(const pthread_rwlock_t *l)
{
    (void)l;
    return -1;
}

bool sync_rwlock_is_free(const pthread_rwlock_t *l)
{
    (void)l;
    return false;
}

bool sync_rwlock_writers_first(const pthread_rwlock_t *l)
{
    (void)l;
    return false;
}

uint32_t sync_sem_shared_flag(const sem_t *s)
{
    (void)s;
    return UPMU_TRACE_FLAG_PSHARED;
}

uint32_t sync_cond_shared_flag(const pthread_cond_t *cond)
{
    (void)cond;
    return UPMU_TRACE_FLAG_PSHARED;
}

uint32_t sync_barrier_shared_flag(const pthread_barrier_t *b)
{
    (void)b;
    return UPMU_TRACE_FLAG_PSHARED;
}

bool sync_barrier_is_full(const pthread_barrier_t *b)
{
    (void)b;
    return true;
}
#endif

uint32_t sync_mutex_init_flags(const pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    int shared;
    bool known = attr && pthread_mutexattr_getpshared(attr, &shared) == 0;
    return sync_mutex_flags(m) | (known && shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0);
}

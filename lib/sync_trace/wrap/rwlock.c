/* SPDX-License-Identifier: MIT */
/*
 * Read-write locks. Room: sync_trace; before it the program's calls, after it lockable.h.
 *
 * A thread may hold one for reading several times over, and several threads may: each reading is an entry of its own in
 * the stack of its thread, under the lock's address plus 1, so that readings and writings never are taken for each other.
 *
 * Contention is decided by trying. Before glibc 2.30 the two try functions could leave other threads asleep for ever
 * (its bug 23844) in a program that never calls them itself: there the try is a timed call whose time has passed.
 *
 * A waiting thread names the writer that holds the lock, by glibc's own note of its thread id where a check at the start
 * has shown that it means what we think; else whoever is found to hold it, one of the readers if there are several. All
 * of them are asked to record their release, since the last of them ends the wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "sync_trace/lockable.h"
#include "sync_trace/wrap/resolve.h"

typedef pthread_rwlock_t rwlock;

#ifdef __GLIBC__
enum { READER_SHIFT = 3, WRITE_LOCKED = 2 }; /* of __readers */

static bool fields_are_known(void)
{
    rwlock l = PTHREAD_RWLOCK_INITIALIZER;
    pid_t self = (pid_t)syscall(SYS_gettid);
    bool known = SYNC_REAL(rwlock_wrlock)(&l) == 0 && l.__data.__cur_writer == self &&
                 (l.__data.__readers & WRITE_LOCKED) && SYNC_REAL(rwlock_unlock)(&l) == 0;
    known = known && SYNC_REAL(rwlock_rdlock)(&l) == 0 && l.__data.__cur_writer == 0 &&
            l.__data.__readers >> READER_SHIFT == 1 && !(l.__data.__readers & WRITE_LOCKED);
    return known && SYNC_REAL(rwlock_unlock)(&l) == 0 && l.__data.__readers >> READER_SHIFT == 0;
}

void sync_rwlock_start(void)
{
    char *end;
    const char *version = gnu_get_libc_version();
    unsigned long major = strtoul(version, &end, 10), minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    sync_process.rwlock_try_by_time = major < 2 || (major == 2 && minor < 30);
    sync_process.rwlock_known = fields_are_known();
}

/* The writer's thread id, 0 = no writer, -1 = cannot be known. */
static pid_t writer_of(const rwlock *l)
{
    return sync_process.rwlock_known ? __atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) : -1;
}

static bool is_free(const rwlock *l)
{
    unsigned readers = __atomic_load_n(&l->__data.__readers, __ATOMIC_RELAXED);
    return sync_process.rwlock_known && readers >> READER_SHIFT == 0 && !(readers & WRITE_LOCKED);
}
#else
void sync_rwlock_start(void)
{
}

static pid_t writer_of(const rwlock *l)
{
    (void)l;
    return -1;
}

static bool is_free(const rwlock *l)
{
    (void)l;
    return false;
}
#endif

/* ------------------------------------------------------------------------------------------------ acquiring */

/* How to wait once trying has failed. */
struct way {
    int (*lock)(rwlock *l, const struct way *way);
    clockid_t clock;
    const struct timespec *until; /**< NULL: for ever */
};

static int read_plain(rwlock *l, const struct way *way)
{
    (void)way;
    return SYNC_REAL(rwlock_rdlock)(l);
}

static int read_timed(rwlock *l, const struct way *way)
{
    return SYNC_REAL(rwlock_timedrdlock)(l, way->until);
}

static int read_clock(rwlock *l, const struct way *way)
{
    return SYNC_REAL(rwlock_clockrdlock)(l, way->clock, way->until);
}

static int write_plain(rwlock *l, const struct way *way)
{
    (void)way;
    return SYNC_REAL(rwlock_wrlock)(l);
}

static int write_timed(rwlock *l, const struct way *way)
{
    return SYNC_REAL(rwlock_timedwrlock)(l, way->until);
}

static int write_clock(rwlock *l, const struct way *way)
{
    return SYNC_REAL(rwlock_clockwrlock)(l, way->clock, way->until);
}

static int try_to_read(rwlock *l)
{
    const struct timespec past = {0};
    return LIKELY(!sync_process.rwlock_try_by_time) ? SYNC_REAL(rwlock_tryrdlock)(l)
                                                    : SYNC_REAL(rwlock_timedrdlock)(l, &past);
}

static int try_to_write(rwlock *l)
{
    const struct timespec past = {0};
    return LIKELY(!sync_process.rwlock_try_by_time) ? SYNC_REAL(rwlock_trywrlock)(l)
                                                    : SYNC_REAL(rwlock_timedwrlock)(l, &past);
}

__attribute__((noinline)) static int wait_for(struct sync_thread *t, uint32_t mode, rwlock *l,
                                              const struct lockable *as, const struct way *way)
{
    struct sync_wait w = {.t = t, .lock = as->key, .site = as->site, .type = UPMU_OBJECT_RWLOCK, .asked = as->asked};
    w.flags = way->until ? UPMU_TRACE_FLAG_TIMED : 0;
    pid_t writer = writer_of(l);
    sync_wait_begin(&w, mode, writer > 0 ? writer : -1, false);
    w.result = way->lock(l, way);
    sync_wait_end(&w);
    return w.result;
}

static inline __attribute__((always_inline)) int lock_any(rwlock *l, bool shared, uint32_t mode, const struct way *way,
                                                          uintptr_t site)
{
    bool refused = mode == MODE_OFF || (way->until && !sync_deadline_is_valid(way->clock, way->until));
    struct sync_thread *t = refused ? NULL : sync_thread();
    if (LIKELY(!t))
        return way->lock(l, way);
    const struct lockable as = {.key = (uintptr_t)l + shared,
                                .type = UPMU_OBJECT_RWLOCK,
                                .site = site,
                                .how = way->until ? UPMU_TRACE_FLAG_TIMED : 0,
                                .asked = sync_request(t, mode, UPMU_OBJECT_RWLOCK, (uintptr_t)l + shared, site)};
    if (UNLIKELY((shared ? try_to_read(l) : try_to_write(l)) != 0))
        return wait_for(t, mode, l, &as, way);
    lockable_taken(t, mode, &as, 0);
    return 0;
}

/* Apart from the wrapper, so that the wrapper needs no frame while recording is off. */
__attribute__((noinline)) static int read_on(rwlock *l, uint32_t mode, uintptr_t site)
{
    static const struct way plain = {.lock = read_plain};
    return lock_any(l, true, mode, &plain, site);
}

UPMU_API int pthread_rwlock_rdlock(rwlock *l)
{
    uint32_t mode = sync_mode();
    int (*real)(rwlock *) = __atomic_load_n(&sync_real.rwlock_rdlock, __ATOMIC_RELAXED);
    return LIKELY(mode == MODE_OFF && real) ? real(l) : read_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_rwlock_timedrdlock(rwlock *l, const struct timespec *until)
{
    const struct way timed = {.lock = read_timed, .clock = CLOCK_REALTIME, .until = until};
    return lock_any(l, true, sync_mode(), &timed, CALL_SITE());
}

UPMU_API int pthread_rwlock_clockrdlock(rwlock *l, clockid_t clock, const struct timespec *until)
{
    const struct way clocked = {.lock = read_clock, .clock = clock, .until = until};
    return lock_any(l, true, sync_mode(), &clocked, CALL_SITE());
}

/* Apart from the wrapper, so that the wrapper needs no frame while recording is off. */
__attribute__((noinline)) static int write_on(rwlock *l, uint32_t mode, uintptr_t site)
{
    static const struct way plain = {.lock = write_plain};
    return lock_any(l, false, mode, &plain, site);
}

UPMU_API int pthread_rwlock_wrlock(rwlock *l)
{
    uint32_t mode = sync_mode();
    int (*real)(rwlock *) = __atomic_load_n(&sync_real.rwlock_wrlock, __ATOMIC_RELAXED);
    return LIKELY(mode == MODE_OFF && real) ? real(l) : write_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_rwlock_timedwrlock(rwlock *l, const struct timespec *until)
{
    const struct way timed = {.lock = write_timed, .clock = CLOCK_REALTIME, .until = until};
    return lock_any(l, false, sync_mode(), &timed, CALL_SITE());
}

UPMU_API int pthread_rwlock_clockwrlock(rwlock *l, clockid_t clock, const struct timespec *until)
{
    const struct way clocked = {.lock = write_clock, .clock = clock, .until = until};
    return lock_any(l, false, sync_mode(), &clocked, CALL_SITE());
}

static int try_any(rwlock *l, bool shared, uintptr_t site)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    const struct lockable as = {
        .key = (uintptr_t)l + shared, .type = UPMU_OBJECT_RWLOCK, .site = site, .how = UPMU_TRACE_FLAG_TRIED};
    int rc = shared ? SYNC_REAL(rwlock_tryrdlock)(l) : SYNC_REAL(rwlock_trywrlock)(l);
    if (t && rc == 0)
        lockable_taken(t, mode, &as, 0);
    else if (t)
        lockable_tried(t, mode, &as, rc);
    return rc;
}

UPMU_API int pthread_rwlock_tryrdlock(rwlock *l)
{
    return try_any(l, true, CALL_SITE());
}

UPMU_API int pthread_rwlock_trywrlock(rwlock *l)
{
    return try_any(l, false, CALL_SITE());
}

/* ------------------------------------------------------------------------------------------------ releasing */

/* Not among the locks we know this thread to hold: taken while nothing was recorded, or released by somebody who does not
 * have it. The second is certain if another thread we know is the writer, or nobody has it at all. */
static int unlock_unknown(struct sync_thread *t, uint32_t mode, rwlock *l, uintptr_t site)
{
    pid_t writer = writer_of(l);
    bool misuse = is_free(l) || (writer > 0 && writer != t->tid && sync_thread_by_tid(writer) != NULL);
    int rc = SYNC_REAL(rwlock_unlock)(l);
    /* Taken unseen it is this thread's own, and what other threads have of it stays theirs. A thread that has ended cannot
     * give its own back any more: then it was that. */
    if (rc == 0 && misuse)
        sync_live_taken_away((uintptr_t)l);
    else if (rc == 0)
        sync_live_disown(0, (uintptr_t)l);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_RWLOCK, l, site, rc);
    return rc;
}

__attribute__((noinline)) static int unlock_slow(struct sync_thread *t, rwlock *l, uint32_t mode, uintptr_t site)
{
    struct lockable as = {.key = (uintptr_t)l, .type = UPMU_OBJECT_RWLOCK, .site = site};
    struct lockable_release r;
    if (!lockable_release(t, mode, &as, &r)) {
        as.key++;
        if (!lockable_release(t, mode, &as, &r))
            return unlock_unknown(t, mode, l, site);
    }
    int rc = SYNC_REAL(rwlock_unlock)(l);
    lockable_released(t, &as, &r, rc != 0);
    return rc;
}

__attribute__((noinline, flatten)) static int unlock_on(rwlock *l, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = lockable_holder(mode);
    if (LIKELY(!t || lockable_release_quietly(t, mode, (uintptr_t)l + 1) ||
               lockable_release_quietly(t, mode, (uintptr_t)l)))
        return SYNC_REAL(rwlock_unlock)(l);
    return unlock_slow(t, l, mode, site);
}

UPMU_API int pthread_rwlock_unlock(rwlock *l)
{
    uint32_t mode = sync_mode();
    int (*real)(rwlock *) = __atomic_load_n(&sync_real.rwlock_unlock, __ATOMIC_RELAXED);
    return lockable_is_idle(mode) && real ? real(l) : unlock_on(l, mode, CALL_SITE());
}

/* --------------------------------------------------------------------------------------------- life of a lock */

UPMU_API int pthread_rwlock_init(rwlock *l, const pthread_rwlockattr_t *attr)
{
    int rc = SYNC_REAL(rwlock_init)(l, attr), shared = 0;
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t) {
        bool known = attr && pthread_rwlockattr_getpshared(attr, &shared) == 0;
        uint32_t flags = known && shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0;
        sync_event_flags(t, UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_RWLOCK, l, CALL_SITE(), 0, flags);
    }
    return rc;
}

UPMU_API int pthread_rwlock_destroy(rwlock *l)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(rwlock_destroy)(l);
    if (t && rc == 0)
        sync_event(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_RWLOCK, l, CALL_SITE(), 0);
    return rc;
}

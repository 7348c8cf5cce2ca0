/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of Qt's QMutex, QRecursiveMutex, QReadWriteLock and QWaitCondition::wait(), Qt 5 and Qt 6.
 *
 * They are exported by their C++ names, with the versions of Qt's own symbols: both Qt may be in one process. Qt's functions are
 * looked up in the first such call, so a program without Qt pays for nothing.
 *
 * What a program's compiler made of Qt's headers decides what is seen. Calls of QMutex in Qt 5, of QRecursiveMutex and of
 * QReadWriteLock are calls of functions. A QMutex of Qt 6, and a QBasicMutex, is acquired and released by inlined code unless
 * it is contended: then only lockInternal() and unlockInternal() are calls. A holder that did not wait is unknown until it releases
 * the lock to a waiter.
 */
#include <limits.h>

#include "sync_trace/wrap/library_lock.h"

/* ------------------------------------------------------------------------------------------ Qt's own functions */

enum qt_version { QT_5, QT_6, QT_VERSIONS };

enum qt_function {
    QT_MUTEX_LOCK,
    QT_MUTEX_TRY,
    QT_MUTEX_UNLOCK,
    QT_INTERNAL_LOCK,
    QT_INTERNAL_TIMED,
    QT_INTERNAL_UNLOCK,
    QT_RECURSIVE_TRY,
    QT_RECURSIVE_UNLOCK,
    QT_READ,
    QT_READ_TRY,
    QT_READ_TIMED,
    QT_WRITE,
    QT_WRITE_TRY,
    QT_WRITE_TIMED,
    QT_RW_UNLOCK,
    QT_WAIT_MS,
    QT_WAIT_UNTIL,
    QT_WAIT_RW_MS,
    QT_WAIT_RW_UNTIL,
    QT_WAKE_ONE,
    QT_WAKE_ALL,
    QT_FUNCTIONS,
};

/* Name and value of each wrapped function; the versions of Qt that export it. */
#define QT_N_MUTEX_LOCK "_ZN6QMutex4lockEv"
#define QT_N_MUTEX_TRY "_ZN6QMutex7tryLockEi"
#define QT_N_MUTEX_UNLOCK "_ZN6QMutex6unlockEv"
#define QT_N_INTERNAL_LOCK "_ZN11QBasicMutex12lockInternalEv"
#define QT_N_INTERNAL_TIMED "_ZN11QBasicMutex12lockInternalEi"
#define QT_N_INTERNAL_UNLOCK "_ZN11QBasicMutex14unlockInternalEv"
#define QT_N_RECURSIVE_TRY "_ZN15QRecursiveMutex7tryLockEi"
#define QT_N_RECURSIVE_UNLOCK "_ZN15QRecursiveMutex6unlockEv"
#define QT_N_READ "_ZN14QReadWriteLock11lockForReadEv"
#define QT_N_READ_TRY "_ZN14QReadWriteLock14tryLockForReadEv"
#define QT_N_READ_TIMED "_ZN14QReadWriteLock14tryLockForReadEi"
#define QT_N_WRITE "_ZN14QReadWriteLock12lockForWriteEv"
#define QT_N_WRITE_TRY "_ZN14QReadWriteLock15tryLockForWriteEv"
#define QT_N_WRITE_TIMED "_ZN14QReadWriteLock15tryLockForWriteEi"
#define QT_N_RW_UNLOCK "_ZN14QReadWriteLock6unlockEv"
#define QT_N_WAIT_MS "_ZN14QWaitCondition4waitEP6QMutexm"
#define QT_N_WAIT_UNTIL "_ZN14QWaitCondition4waitEP6QMutex14QDeadlineTimer"
#define QT_N_WAIT_RW_MS "_ZN14QWaitCondition4waitEP14QReadWriteLockm"
#define QT_N_WAIT_RW_UNTIL "_ZN14QWaitCondition4waitEP14QReadWriteLock14QDeadlineTimer"
#define QT_N_WAKE_ONE "_ZN14QWaitCondition7wakeOneEv"
#define QT_N_WAKE_ALL "_ZN14QWaitCondition7wakeAllEv"

static const char *const qt_names[QT_FUNCTIONS] = {
    [QT_MUTEX_LOCK] = QT_N_MUTEX_LOCK,
    [QT_MUTEX_TRY] = QT_N_MUTEX_TRY,
    [QT_MUTEX_UNLOCK] = QT_N_MUTEX_UNLOCK,
    [QT_INTERNAL_LOCK] = QT_N_INTERNAL_LOCK,
    [QT_INTERNAL_TIMED] = QT_N_INTERNAL_TIMED,
    [QT_INTERNAL_UNLOCK] = QT_N_INTERNAL_UNLOCK,
    [QT_RECURSIVE_TRY] = QT_N_RECURSIVE_TRY,
    [QT_RECURSIVE_UNLOCK] = QT_N_RECURSIVE_UNLOCK,
    [QT_READ] = QT_N_READ,
    [QT_READ_TRY] = QT_N_READ_TRY,
    [QT_READ_TIMED] = QT_N_READ_TIMED,
    [QT_WRITE] = QT_N_WRITE,
    [QT_WRITE_TRY] = QT_N_WRITE_TRY,
    [QT_WRITE_TIMED] = QT_N_WRITE_TIMED,
    [QT_RW_UNLOCK] = QT_N_RW_UNLOCK,
    [QT_WAIT_MS] = QT_N_WAIT_MS,
    [QT_WAIT_UNTIL] = QT_N_WAIT_UNTIL,
    [QT_WAIT_RW_MS] = QT_N_WAIT_RW_MS,
    [QT_WAIT_RW_UNTIL] = QT_N_WAIT_RW_UNTIL,
    [QT_WAKE_ONE] = QT_N_WAKE_ONE,
    [QT_WAKE_ALL] = QT_N_WAKE_ALL,
};

static const struct {
    const char *version, *library;
} qt_versions[QT_VERSIONS] = {{"Qt_5", "libQt5Core.so.5"}, {"Qt_6", "libQt6Core.so.6"}};

static void *qt_found[QT_VERSIONS][QT_FUNCTIONS];

/* QDeadlineTimer, passed by value. */
struct qt_deadline {
    int64_t seconds;
    uint32_t ns, type;
};

/* A version that is there has QReadWriteLock; QMutex::lock() is inlined in Qt 6. */
__attribute__((constructor)) static void qt_load(void)
{
    for (int v = 0; v < QT_VERSIONS; v++) {
        bool there = library_find_early(qt_names[QT_RW_UNLOCK], qt_versions[v].version) != NULL;
        for (int f = 0; there && f < QT_FUNCTIONS; f++)
            qt_found[v][f] = library_find_early(qt_names[f], qt_versions[v].version);
    }
}

__attribute__((noinline, cold)) static void *qt_find(enum qt_version version, enum qt_function function, uintptr_t site)
{
    void *found = library_find(qt_names[function], qt_versions[version].version, qt_versions[version].library, site);
    __atomic_store_n(&qt_found[version][function], found, __ATOMIC_RELEASE);
    return found;
}

static inline void *qt_real(enum qt_version version, enum qt_function function, uintptr_t site)
{
    void *found = __atomic_load_n(&qt_found[version][function], __ATOMIC_ACQUIRE);
    return LIKELY(found != NULL) ? found : qt_find(version, function, site);
}

/* ------------------------------------------------------------------------------------------------------- locking */

/* A call for a lock. */
struct qt_call {
    struct library_call call;
    enum qt_version version;
    void *object;
    enum qt_function real;  /**< the function that was called */
    enum qt_function tries; /**< one that takes milliseconds, for a try; QT_FUNCTIONS: the try has failed already */
    bool timed;             /**< `real` takes milliseconds */
    int ms;                 /**< these; negative: no limit */
};

static bool qt_call_real(const struct library_call *call)
{
    const struct qt_call *c = (const struct qt_call *)call;
    void *real = qt_real(c->version, c->real, call->lock.site);
    if (c->timed)
        return ((bool (*)(void *, int))real)(c->object, c->ms);
    if (c->ms == 0)
        return ((bool (*)(void *))real)(c->object);
    ((void (*)(void *))real)(c->object);
    return true;
}

static bool qt_try(const struct library_call *call)
{
    const struct qt_call *c = (const struct qt_call *)call;
    return ((bool (*)(void *, int))qt_real(c->version, c->tries, call->lock.site))(c->object, 0);
}

static inline __attribute__((always_inline)) bool qt_lock(struct qt_call *c)
{
    c->call.lock.flags = c->ms == 0 ? UPMU_TRACE_FLAG_TRIED : c->ms > 0 ? UPMU_TRACE_FLAG_TIMED : 0;
    c->call.real = qt_call_real;
    c->call.attempt = c->tries == QT_FUNCTIONS ? NULL : qt_try;
    return library_lock(&c->call);
}

static bool qt_call_unlock(const struct library_call *call)
{
    const struct qt_call *c = (const struct qt_call *)call;
    ((void (*)(void *))qt_real(c->version, c->real, call->lock.site))(c->object);
    return true;
}

static void qt_unlock(struct qt_call *c)
{
    c->call.real = qt_call_unlock;
    library_unlock(&c->call, c->real == QT_INTERNAL_UNLOCK);
}

/* --------------------------------------------------------------------------------------------- condition variables */

struct qt_wait {
    struct library_wait wait;
    enum qt_version version;
    enum qt_function real;
    void *cond, *mutex;
    unsigned long ms;
    const struct qt_deadline *until; /**< NULL: `ms` */
};

static bool qt_cond_real(const struct library_call *call)
{
    const struct qt_wait *w = (const struct qt_wait *)call;
    void *real = qt_real(w->version, w->real, call->lock.site);
    if (w->until)
        return ((bool (*)(void *, void *, struct qt_deadline))real)(w->cond, w->mutex, *w->until);
    return ((bool (*)(void *, void *, unsigned long))real)(w->cond, w->mutex, w->ms);
}

static bool qt_cond_wait(struct qt_wait *w)
{
    w->wait.cond = w->cond;
    w->wait.lock.real = qt_cond_real;
    return w->mutex ? library_cond_wait(&w->wait) : qt_cond_real(&w->wait.lock);
}

static void qt_wake(enum qt_version version, enum qt_function real, int32_t kind, void *cond, uintptr_t site)
{
    library_signal((void (*)(void *))qt_real(version, real, site), kind, cond, site);
}

/* ------------------------------------------------------------------------------------------------------ the wrappers */

/* A function NAME of C that is exported under the name of Qt's. */
#define QT_EXPORT(name, v, function, result, arguments)                     \
    UPMU_API result sync_qt##v##_##name arguments;                          \
    __asm__(".symver sync_qt" #v "_" #name ", " QT_N_##function "@Qt_" #v); \
    result sync_qt##v##_##name arguments

#define QT_LOCK(name, v, function, tries_, timed_, ms_, type_, reads, result, arguments)                             \
    QT_EXPORT(name, v, function, result, arguments)                                                                  \
    {                                                                                                                \
        struct qt_call c = {.version = QT_##v,                                                                       \
                            .object = object,                                                                        \
                            .call.lock = {.key = (uintptr_t)object + (reads), .type = (type_), .site = CALL_SITE()}, \
                            .real = QT_##function,                                                                   \
                            .tries = (tries_),                                                                       \
                            .timed = (timed_),                                                                       \
                            .ms = (ms_)};                                                                            \
        return (result)qt_lock(&c);                                                                                  \
    }

#define QT_UNLOCK(name, v, function, type_)                                                                \
    QT_EXPORT(name, v, function, void, (void *object))                                                     \
    {                                                                                                      \
        struct qt_call c = {.version = QT_##v,                                                             \
                            .object = object,                                                              \
                            .call.lock = {.key = (uintptr_t)object, .type = (type_), .site = CALL_SITE()}, \
                            .real = QT_##function};                                                        \
        qt_unlock(&c);                                                                                     \
    }

#define QT_WAIT(name, v, function, type_, argument, ms_, until_, timed_)                       \
    QT_EXPORT(name, v, function, bool, (void *cond, void *object, argument))                   \
    {                                                                                          \
        struct qt_wait w = {.version = QT_##v,                                                 \
                            .real = QT_##function,                                             \
                            .cond = cond,                                                      \
                            .mutex = object,                                                   \
                            .wait.lock.lock = {.key = (uintptr_t)object,                       \
                                               .type = (type_),                                \
                                               .site = CALL_SITE(),                            \
                                               .flags = (timed_) ? UPMU_TRACE_FLAG_TIMED : 0}, \
                            .ms = (ms_),                                                       \
                            .until = (until_)};                                                \
        return qt_cond_wait(&w);                                                               \
    }

#define QT_WAKE(name, v, function, kind)                           \
    QT_EXPORT(name, v, function, void, (void *cond))               \
    {                                                              \
        qt_wake(QT_##v, QT_##function, (kind), cond, CALL_SITE()); \
    }

#define QT_BOTH(v)                                                                                                    \
    QT_LOCK(internal_lock, v, INTERNAL_LOCK, QT_FUNCTIONS, false, -1, UPMU_OBJECT_QMUTEX, 0, void, (void *object))    \
    QT_LOCK(internal_timed, v, INTERNAL_TIMED, QT_FUNCTIONS, true, ms, UPMU_OBJECT_QMUTEX, 0, bool,                   \
            (void *object, int ms))                                                                                   \
    QT_UNLOCK(internal_unlock, v, INTERNAL_UNLOCK, UPMU_OBJECT_QMUTEX)                                                \
    QT_LOCK(read, v, READ, QT_READ_TIMED, false, -1, UPMU_OBJECT_QRWLOCK, 1, void, (void *object))                    \
    QT_LOCK(read_try, v, READ_TRY, QT_READ_TIMED, false, 0, UPMU_OBJECT_QRWLOCK, 1, bool, (void *object))             \
    QT_LOCK(read_timed, v, READ_TIMED, QT_READ_TIMED, true, ms, UPMU_OBJECT_QRWLOCK, 1, bool, (void *object, int ms)) \
    QT_LOCK(write, v, WRITE, QT_WRITE_TIMED, false, -1, UPMU_OBJECT_QRWLOCK, 0, void, (void *object))                 \
    QT_LOCK(write_try, v, WRITE_TRY, QT_WRITE_TIMED, false, 0, UPMU_OBJECT_QRWLOCK, 0, bool, (void *object))          \
    QT_LOCK(write_timed, v, WRITE_TIMED, QT_WRITE_TIMED, true, ms, UPMU_OBJECT_QRWLOCK, 0, bool,                      \
            (void *object, int ms))                                                                                   \
    QT_UNLOCK(rw_unlock, v, RW_UNLOCK, UPMU_OBJECT_QRWLOCK)                                                           \
    QT_WAIT(wait_ms, v, WAIT_MS, UPMU_OBJECT_QMUTEX, unsigned long ms, ms, NULL, ms != ULONG_MAX)                     \
    QT_WAIT(wait_until, v, WAIT_UNTIL, UPMU_OBJECT_QMUTEX, struct qt_deadline until, 0, &until,                       \
            until.seconds != INT64_MAX)                                                                               \
    QT_WAIT(wait_rw_ms, v, WAIT_RW_MS, UPMU_OBJECT_QRWLOCK, unsigned long ms, ms, NULL, ms != ULONG_MAX)              \
    QT_WAKE(wake_one, v, WAKE_ONE, UPMU_TRACE_COND_SIGNAL)                                                            \
    QT_WAKE(wake_all, v, WAKE_ALL, UPMU_TRACE_COND_BROADCAST)                                                         \
    QT_WAIT(wait_rw_until, v, WAIT_RW_UNTIL, UPMU_OBJECT_QRWLOCK, struct qt_deadline until, 0, &until,                \
            until.seconds != INT64_MAX)

QT_BOTH(5)
QT_BOTH(6)
QT_LOCK(mutex_lock, 5, MUTEX_LOCK, QT_MUTEX_TRY, false, -1, UPMU_OBJECT_QMUTEX, 0, void, (void *object))
QT_LOCK(mutex_try, 5, MUTEX_TRY, QT_MUTEX_TRY, true, ms, UPMU_OBJECT_QMUTEX, 0, bool, (void *object, int ms))
QT_UNLOCK(mutex_unlock, 5, MUTEX_UNLOCK, UPMU_OBJECT_QMUTEX)
QT_LOCK(recursive_try, 6, RECURSIVE_TRY, QT_RECURSIVE_TRY, true, ms, UPMU_OBJECT_QMUTEX, 0, bool,
        (void *object, int ms))
QT_UNLOCK(recursive_unlock, 6, RECURSIVE_UNLOCK, UPMU_OBJECT_QMUTEX)

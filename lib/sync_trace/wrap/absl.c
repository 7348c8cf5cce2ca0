/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of Abseil's absl::Mutex and absl::CondVar.
 *
 * They are exported by their C++ names, one set for each inline namespace of absl_namespaces.h, as each release and distribution
 * has its own. Abseil's functions are looked up in the first such call, so a program without Abseil pays for nothing.
 *
 * Abseil calls its own functions through the dynamic linker: a wait for a condition variable ends in CondVar::WaitCommon(), a wait
 * for a condition in Mutex::AwaitCommon(), of which later releases have inlined the callers. LockWhen() is Lock() and Await(), by
 * its definition, and is recorded as these two.
 *
 * A wait for a condition releases the mutex, as a wait for a condition variable does. It is recorded as one, with the address of the
 * second half of the mutex. Who releases the mutex while a thread waits so has signaled it.
 */
#include <string.h>
#include <time.h>

#include "absl_namespaces.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/waiters.h"
#include "sync_trace/wrap/library_lock.h"

/* -------------------------------------------------------------------------------------- Abseil's own functions */

/* Mangled names, without the namespaces before them; ABSL_KERNEL_TIMEOUT is a parameter. */
#define ABSL_KERNEL_TIMEOUT "NS0_24synchronization_internal13KernelTimeoutE"
#define ABSL_N_LOCK "5Mutex4LockEv"
#define ABSL_N_UNLOCK "5Mutex6UnlockEv"
#define ABSL_N_TRY "5Mutex7TryLockEv"
#define ABSL_N_READ "5Mutex10ReaderLockEv"
#define ABSL_N_READ_UNLOCK "5Mutex12ReaderUnlockEv"
#define ABSL_N_READ_TRY "5Mutex13ReaderTryLockEv"
#define ABSL_N_WHEN "5Mutex8LockWhenERKNS0_9ConditionE"
#define ABSL_N_WHEN_FOR "5Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE"
#define ABSL_N_WHEN_UNTIL "5Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE"
#define ABSL_N_READ_WHEN "5Mutex14ReaderLockWhenERKNS0_9ConditionE"
#define ABSL_N_READ_WHEN_FOR "5Mutex25ReaderLockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE"
#define ABSL_N_READ_WHEN_UNTIL "5Mutex26ReaderLockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE"
#define ABSL_N_WHEN_COMMON "5Mutex14LockWhenCommonERKNS0_9ConditionE" ABSL_KERNEL_TIMEOUT "b"
#define ABSL_N_AWAIT "5Mutex5AwaitERKNS0_9ConditionE"
#define ABSL_N_AWAIT_FOR "5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE"
#define ABSL_N_AWAIT_UNTIL "5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE"
#define ABSL_N_AWAIT_COMMON "5Mutex11AwaitCommonERKNS0_9ConditionE" ABSL_KERNEL_TIMEOUT
#define ABSL_N_DESTROY "5MutexD1Ev"
#define ABSL_N_COND_WAIT "7CondVar10WaitCommonEPNS0_5MutexE" ABSL_KERNEL_TIMEOUT
#define ABSL_N_COND_SIGNAL "7CondVar6SignalEv"
#define ABSL_N_COND_SIGNAL_ALL "7CondVar9SignalAllEv"
#define ABSL_N_COND_DESTROY "7CondVarD1Ev"

enum absl_function {
    ABSL_LOCK,
    ABSL_UNLOCK,
    ABSL_TRY,
    ABSL_READ,
    ABSL_READ_UNLOCK,
    ABSL_READ_TRY,
    ABSL_WHEN,
    ABSL_WHEN_FOR,
    ABSL_WHEN_UNTIL,
    ABSL_READ_WHEN,
    ABSL_READ_WHEN_FOR,
    ABSL_READ_WHEN_UNTIL,
    ABSL_WHEN_COMMON,
    ABSL_AWAIT,
    ABSL_AWAIT_FOR,
    ABSL_AWAIT_UNTIL,
    ABSL_AWAIT_COMMON,
    ABSL_DESTROY,
    ABSL_COND_WAIT,
    ABSL_COND_SIGNAL,
    ABSL_COND_SIGNAL_ALL,
    ABSL_COND_DESTROY,
    ABSL_FUNCTIONS,
};

static const char *const absl_names[ABSL_FUNCTIONS] = {
    [ABSL_LOCK] = ABSL_N_LOCK,
    [ABSL_UNLOCK] = ABSL_N_UNLOCK,
    [ABSL_TRY] = ABSL_N_TRY,
    [ABSL_READ] = ABSL_N_READ,
    [ABSL_READ_UNLOCK] = ABSL_N_READ_UNLOCK,
    [ABSL_READ_TRY] = ABSL_N_READ_TRY,
    [ABSL_WHEN] = ABSL_N_WHEN,
    [ABSL_WHEN_FOR] = ABSL_N_WHEN_FOR,
    [ABSL_WHEN_UNTIL] = ABSL_N_WHEN_UNTIL,
    [ABSL_READ_WHEN] = ABSL_N_READ_WHEN,
    [ABSL_READ_WHEN_FOR] = ABSL_N_READ_WHEN_FOR,
    [ABSL_READ_WHEN_UNTIL] = ABSL_N_READ_WHEN_UNTIL,
    [ABSL_WHEN_COMMON] = (ABSL_N_WHEN_COMMON),
    [ABSL_AWAIT] = ABSL_N_AWAIT,
    [ABSL_AWAIT_FOR] = ABSL_N_AWAIT_FOR,
    [ABSL_AWAIT_UNTIL] = ABSL_N_AWAIT_UNTIL,
    [ABSL_AWAIT_COMMON] = (ABSL_N_AWAIT_COMMON),
    [ABSL_DESTROY] = ABSL_N_DESTROY,
    [ABSL_COND_WAIT] = (ABSL_N_COND_WAIT),
    [ABSL_COND_SIGNAL] = ABSL_N_COND_SIGNAL,
    [ABSL_COND_SIGNAL_ALL] = ABSL_N_COND_SIGNAL_ALL,
    [ABSL_COND_DESTROY] = ABSL_N_COND_DESTROY,
};

#define ABSL_PREFIX(id, mangled) "_ZN4absl" mangled,
static const char *const absl_prefixes[] = {ABSL_NAMESPACES(ABSL_PREFIX)};

#define ABSL_INDEX(id, mangled) ABSL_IN_##id,
enum { ABSL_NAMESPACES(ABSL_INDEX) ABSL_VERSIONS };

static void *absl_found[ABSL_VERSIONS][ABSL_FUNCTIONS];

/* absl::Duration and absl::Time, passed by value: seconds, and quarters of a nanosecond; all bits set: infinite. */
struct absl_time {
    int64_t seconds;
    uint32_t quarters;
};

enum { ABSL_NAME = 160 };

static const char *absl_name(char name[ABSL_NAME], int version, int function)
{
    size_t n = strlen(absl_prefixes[version]);
    memcpy(name, absl_prefixes[version], n);
    memcpy(name + n, absl_names[function], strlen(absl_names[function]) + 1);
    return name;
}

/* A version that is there has its mutex. */
__attribute__((constructor)) static void absl_load(void)
{
    char name[ABSL_NAME];
    for (int v = 0; v < ABSL_VERSIONS; v++) {
        bool there = library_find_early(absl_name(name, v, ABSL_LOCK), NULL) != NULL;
        for (int f = 0; there && f < ABSL_FUNCTIONS; f++)
            absl_found[v][f] = library_find_early(absl_name(name, v, f), NULL);
    }
}

__attribute__((noinline, cold)) static void *absl_find(int version, enum absl_function function, uintptr_t site)
{
    char name[ABSL_NAME];
    void *found = library_find(absl_name(name, version, (int)function), NULL, NULL, site);
    __atomic_store_n(&absl_found[version][function], found, __ATOMIC_RELEASE);
    return found;
}

static inline void *absl_real(int version, enum absl_function function, uintptr_t site)
{
    void *found = __atomic_load_n(&absl_found[version][function], __ATOMIC_ACQUIRE);
    return LIKELY(found != NULL) ? found : absl_find(version, function, site);
}

/* ------------------------------------------------------------------------------------------------------- locking */

/* A call for a mutex that takes nothing else. */
struct absl_call {
    struct library_call call;
    int version;
    enum absl_function real, tries;
    void *mutex;
};

static bool absl_call_real(const struct library_call *call)
{
    const struct absl_call *c = (const struct absl_call *)call;
    void *real = absl_real(c->version, c->real, call->lock.site);
    if (call->lock.flags & UPMU_TRACE_FLAG_TRIED)
        return ((bool (*)(void *))real)(c->mutex);
    ((void (*)(void *))real)(c->mutex);
    return true;
}

static bool absl_call_try(const struct library_call *call)
{
    const struct absl_call *c = (const struct absl_call *)call;
    return ((bool (*)(void *))absl_real(c->version, c->tries, call->lock.site))(c->mutex);
}

static inline __attribute__((always_inline)) bool absl_lock(int version, enum absl_function real, void *mutex,
                                                            bool reads, bool tries, uintptr_t site)
{
    struct absl_call c = {.call = {.lock = {.key = (uintptr_t)mutex + reads,
                                            .type = UPMU_OBJECT_ABSL_MUTEX,
                                            .site = site,
                                            .flags = tries ? UPMU_TRACE_FLAG_TRIED : 0},
                                   .real = absl_call_real,
                                   .attempt = absl_call_try},
                          .version = version,
                          .real = real,
                          .tries = reads ? ABSL_READ_TRY : ABSL_TRY,
                          .mutex = mutex};
    return library_lock(&c.call);
}

/* What a thread waits for in Await(). */
static const void *absl_condition(void *mutex)
{
    return (const char *)mutex + sizeof(uint32_t);
}

static void absl_unlock(int version, enum absl_function real, void *mutex, bool reads, uintptr_t site)
{
    struct absl_call c = {
        .call = {.lock = {.key = (uintptr_t)mutex + reads, .type = UPMU_OBJECT_ABSL_MUTEX, .site = site},
                 .real = absl_call_real},
        .version = version,
        .real = real,
        .mutex = mutex};
    if (UNLIKELY(waiters_present(waiters_load(absl_condition(mutex)))))
        sync_cond_signal_write(UPMU_TRACE_COND_SIGNAL, absl_condition(mutex), site);
    library_unlock(&c.call, false);
}

/* ------------------------------------------------------------------------------------------------------- waiting */

/* A wait that releases a mutex: for a condition variable or a condition. */
struct absl_wait {
    struct library_wait wait;
    int version;
    enum absl_function real;
    void *object;         /**< CondVar, or Mutex */
    const void *argument; /**< Mutex, or Condition */
    uint64_t limit;       /**< absl::synchronization_internal::KernelTimeout */
};

static bool absl_wait_real(const struct library_call *call)
{
    const struct absl_wait *w = (const struct absl_wait *)call;
    bool (*real)(void *, const void *, uint64_t) =
        (bool (*)(void *, const void *, uint64_t))absl_real(w->version, w->real, call->lock.site);
    bool result = real(w->object, w->argument, w->limit);
    return w->real == ABSL_COND_WAIT ? !result : result; /* one returns whether the time has passed */
}

/* Without a limit it is 0, or all bits are set, by the version. */
static bool absl_cond_wait(int version, enum absl_function real, void *object, const void *argument, uint64_t limit,
                           uintptr_t site)
{
    bool timed = limit != 0 && limit != UINT64_MAX, is_cond = real == ABSL_COND_WAIT;
    struct absl_wait w = {.wait = {.lock = {.lock = {.key = (uintptr_t)(is_cond ? argument : object),
                                                     .type = UPMU_OBJECT_ABSL_MUTEX,
                                                     .site = site,
                                                     .flags = timed ? UPMU_TRACE_FLAG_TIMED : 0},
                                            .real = absl_wait_real},
                                   .cond = is_cond ? object : absl_condition(object)},
                          .version = version,
                          .real = real,
                          .object = object,
                          .argument = argument,
                          .limit = limit};
    bool got = library_cond_wait(&w.wait);
    return is_cond ? !got : got;
}

static void absl_signal(int version, enum absl_function real, int32_t kind, void *cond, uintptr_t site)
{
    library_signal((void (*)(void *))absl_real(version, real, site), kind, cond, site);
}

/* What of a time limit is left since `begin`. */
static struct absl_time absl_time_left(struct absl_time limit, const struct timespec *begin)
{
    enum { QUARTERS = 4, SECOND = 1000000000 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (now.tv_sec - begin->tv_sec) * SECOND + now.tv_nsec - begin->tv_nsec;
    int64_t quarters = (int64_t)limit.quarters - ns % SECOND * QUARTERS;
    if (limit.quarters == UINT32_MAX)
        return limit;
    limit.seconds -= ns / SECOND + (quarters < 0);
    limit.quarters = (uint32_t)(quarters < 0 ? quarters + (int64_t)SECOND * QUARTERS : quarters);
    return limit;
}

/* LockWhenWithTimeout(): waiting for the mutex is a part of the time. */
struct absl_when {
    int version;
    void *mutex;
    const void *condition;
    enum absl_function real, await;
    bool reads;
    uintptr_t site;
};

static inline __attribute__((always_inline)) bool absl_when_locks(const struct absl_when *w)
{
    bool recorded = sync_mode() != MODE_OFF && sync_thread() != NULL;
    if (recorded)
        (void)absl_lock(w->version, w->reads ? ABSL_READ : ABSL_LOCK, w->mutex, w->reads, false, w->site);
    return recorded;
}

static void *absl_when_real(const struct absl_when *w, bool locked)
{
    return absl_real(w->version, locked ? w->await : w->real, w->site);
}

static bool absl_when_for(const struct absl_when *w, bool locked, struct absl_time limit, const struct timespec *begin)
{
    bool (*real)(void *, const void *, struct absl_time) =
        (bool (*)(void *, const void *, struct absl_time))absl_when_real(w, locked);
    return real(w->mutex, w->condition, locked ? absl_time_left(limit, begin) : limit);
}

static void absl_destroy(int version, enum absl_function real, int32_t type, void *object, uintptr_t site)
{
    struct sync_thread *t = sync_recording();
    ((void (*)(void *))absl_real(version, real, site))(object);
    if (t)
        sync_lock_destroy(t, type, object, site, 0);
}

/* ------------------------------------------------------------------------------------------------------ the wrappers */

/* A function of C that is exported under the name of Abseil's. */
#define ABSL_EXPORT(name, id, mangled, function, result, ...)                                           \
    UPMU_API result sync_absl_##id##_##name(__VA_ARGS__) __asm__("_ZN4absl" mangled ABSL_N_##function); \
    result sync_absl_##id##_##name(__VA_ARGS__)

#define ABSL_LOCK_FUNCTION(name, id, mangled, function, reads, tries, result)                          \
    ABSL_EXPORT(name, id, mangled, function, result, void *mutex)                                      \
    {                                                                                                  \
        return (result)absl_lock(ABSL_IN_##id, ABSL_##function, mutex, (reads), (tries), CALL_SITE()); \
    }

#define ABSL_WHEN(id_, function, await_, reads_)                                                                      \
    {                                                                                                                 \
        .version = ABSL_IN_##id_, .mutex = mutex, .condition = condition, .real = ABSL_##function, .await = (await_), \
        .reads = (reads_), .site = CALL_SITE()                                                                        \
    }

#define ABSL_WHEN_FUNCTIONS(id, mangled, kind, name, reads_)                                                           \
    ABSL_EXPORT(name, id, mangled, kind, void, void *mutex, const void *condition)                                     \
    {                                                                                                                  \
        const struct absl_when w = ABSL_WHEN(id, kind, ABSL_AWAIT, reads_);                                            \
        ((void (*)(void *, const void *))absl_when_real(&w, absl_when_locks(&w)))(mutex, condition);                   \
    }                                                                                                                  \
    ABSL_EXPORT(name##_for, id, mangled, kind##_FOR, bool, void *mutex, const void *condition, struct absl_time limit) \
    {                                                                                                                  \
        const struct absl_when w = ABSL_WHEN(id, kind##_FOR, ABSL_AWAIT_FOR, reads_);                                  \
        struct timespec begin;                                                                                         \
        clock_gettime(CLOCK_MONOTONIC, &begin);                                                                        \
        return absl_when_for(&w, absl_when_locks(&w), limit, &begin);                                                  \
    }                                                                                                                  \
    ABSL_EXPORT(name##_until, id, mangled, kind##_UNTIL, bool, void *mutex, const void *condition,                     \
                struct absl_time until)                                                                                \
    {                                                                                                                  \
        const struct absl_when w = ABSL_WHEN(id, kind##_UNTIL, ABSL_AWAIT_UNTIL, reads_);                              \
        return ((bool (*)(void *, const void *, struct absl_time))absl_when_real(&w, absl_when_locks(&w)))(            \
            mutex, condition, until);                                                                                  \
    }

#define ABSL_WRAPPERS(id, mangled)                                                                                  \
    ABSL_LOCK_FUNCTION(lock, id, mangled, LOCK, false, false, void)                                                 \
    ABSL_LOCK_FUNCTION(try_lock, id, mangled, TRY, false, true, bool)                                               \
    ABSL_LOCK_FUNCTION(reader_lock, id, mangled, READ, true, false, void)                                           \
    ABSL_LOCK_FUNCTION(reader_try, id, mangled, READ_TRY, true, true, bool)                                         \
    ABSL_EXPORT(unlock, id, mangled, UNLOCK, void, void *mutex)                                                     \
    {                                                                                                               \
        absl_unlock(ABSL_IN_##id, ABSL_UNLOCK, mutex, false, CALL_SITE());                                          \
    }                                                                                                               \
    ABSL_EXPORT(reader_unlock, id, mangled, READ_UNLOCK, void, void *mutex)                                         \
    {                                                                                                               \
        absl_unlock(ABSL_IN_##id, ABSL_READ_UNLOCK, mutex, true, CALL_SITE());                                      \
    }                                                                                                               \
    ABSL_WHEN_FUNCTIONS(id, mangled, WHEN, lock_when, false)                                                        \
    ABSL_WHEN_FUNCTIONS(id, mangled, READ_WHEN, reader_when, true)                                                  \
    ABSL_EXPORT(await, id, mangled, AWAIT_COMMON, bool, void *mutex, const void *condition, uint64_t limit)         \
    {                                                                                                               \
        return absl_cond_wait(ABSL_IN_##id, ABSL_AWAIT_COMMON, mutex, condition, limit, CALL_SITE());               \
    }                                                                                                               \
    ABSL_EXPORT(when_common, id, mangled, WHEN_COMMON, bool, void *mutex, const void *condition, uint64_t limit,    \
                bool writes)                                                                                        \
    {                                                                                                               \
        const struct absl_when w = ABSL_WHEN(id, WHEN_COMMON, ABSL_AWAIT_COMMON, !writes);                          \
        if (absl_when_locks(&w))                                                                                    \
            return sync_absl_##id##_await(mutex, condition, limit);                                                 \
        return ((bool (*)(void *, const void *, uint64_t, bool))absl_when_real(&w, false))(mutex, condition, limit, \
                                                                                           writes);                 \
    }                                                                                                               \
    ABSL_EXPORT(wait, id, mangled, COND_WAIT, bool, void *cond, void *mutex, uint64_t limit)                        \
    {                                                                                                               \
        return absl_cond_wait(ABSL_IN_##id, ABSL_COND_WAIT, cond, mutex, limit, CALL_SITE());                       \
    }                                                                                                               \
    ABSL_EXPORT(signal, id, mangled, COND_SIGNAL, void, void *cond)                                                 \
    {                                                                                                               \
        absl_signal(ABSL_IN_##id, ABSL_COND_SIGNAL, UPMU_TRACE_COND_SIGNAL, cond, CALL_SITE());                     \
    }                                                                                                               \
    ABSL_EXPORT(signal_all, id, mangled, COND_SIGNAL_ALL, void, void *cond)                                         \
    {                                                                                                               \
        absl_signal(ABSL_IN_##id, ABSL_COND_SIGNAL_ALL, UPMU_TRACE_COND_BROADCAST, cond, CALL_SITE());              \
    }                                                                                                               \
    ABSL_EXPORT(destroy, id, mangled, DESTROY, void, void *mutex)                                                   \
    {                                                                                                               \
        absl_destroy(ABSL_IN_##id, ABSL_DESTROY, UPMU_OBJECT_ABSL_MUTEX, mutex, CALL_SITE());                       \
    }                                                                                                               \
    ABSL_EXPORT(cond_destroy, id, mangled, COND_DESTROY, void, void *cond)                                          \
    {                                                                                                               \
        absl_destroy(ABSL_IN_##id, ABSL_COND_DESTROY, UPMU_OBJECT_COND, cond, CALL_SITE());                         \
    }

ABSL_NAMESPACES(ABSL_WRAPPERS)

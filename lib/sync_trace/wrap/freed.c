/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of free(), munmap() and dlclose(): locks that end implicitly because their memory is freed.
 *
 * A std::mutex has no destructor call, and a C lock with a static initializer is seldom destroyed. The next lock at its
 * address is another one: without this, lock order and counts of both would be mixed.
 *
 * free() is interposed, not operator delete: all forms of delete in the C++ libraries call it. Nor could operator delete
 * be passed on safely: a library loaded with RTLD_LOCAL may have its own operator new, but would find this library's
 * operator delete. The size of a block is queried from the library that has free(); if it has no such function, its
 * blocks are not searched.
 *
 * These functions are called before this library's constructor, by the loader with its lock held, and by allocators with
 * theirs: until a block is found to contain a lock they only search a table, and then do no more than
 * pthread_mutex_destroy().
 */
#include "sync_trace/wrap/freed.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/loaded_module.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/sem_permits.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/stack/modules.h"
#include "sync_trace/stack/unwind.h"
#include "sync_trace/state/held.h"
#include "sync_trace/state/lock_memory.h"
#include "sync_trace/state/shared_memory.h"
#include "sync_trace/thread_life.h"

/* Sanitizers interpose these functions, and delay the reuse of memory. */
#if SYNC_UNDER_SANITIZER

void sync_freed_start(void)
{
}

#else

/* Size of a block of the real free(); NULL: unknown. */
static size_t (*usable_size)(void *);

void sync_freed_start(void)
{
    Dl_info of_free, of_size;
    void *symbol = dlsym(RTLD_NEXT, "malloc_usable_size");
    if (symbol && dladdr(symbol, &of_size) && dladdr((void *)(uintptr_t)SYNC_REAL(free), &of_free) &&
        of_size.dli_fbase == of_free.dli_fbase)
        *(void **)(void *)&usable_size = symbol;
}

/* ---------------------------------------------------------------------------------------------------- the end */

/* A thread that frees the memory of a lock it holds does not hold it any more. */
static void freed_end_lock(struct sync_thread *t, uintptr_t lock, uintptr_t site)
{
    struct sync_held held;
    while (sync_held_remove(t, lock, &held) || sync_held_remove(t, lock + 1, &held))
        ;
    sync_sem_destroyed((const sem_t *)lock);
    sync_lock_destroy(t, UPMU_OBJECT_NONE, (const void *)lock, site, UPMU_TRACE_FLAG_FREED);
}

/* Nothing is done in a thread that cannot record now. */
__attribute__((noinline, cold)) static void freed_end_locks(uintptr_t lock, uintptr_t end, uintptr_t site)
{
    int saved = errno;
    struct sync_thread *t = sync_recording();
    for (; t && lock; lock = lock_memory_next(sync_process.lock_memory, lock + 1, end))
        freed_end_lock(t, lock, site);
    errno = saved;
}

/* The memory is about to be freed. */
static inline void freed_end_locks_in(uintptr_t from, size_t bytes, uintptr_t site)
{
    if (LIKELY(!lock_memory_maybe(sync_process.lock_memory, from, bytes)))
        return;
    uintptr_t lock = lock_memory_next(sync_process.lock_memory, from, from + bytes);
    if (UNLIKELY(lock != 0))
        freed_end_locks(lock, from + bytes, site);
}

/* Whether a lock was ever registered, and its end is recorded as an event. */
static inline bool freed_is_recording(void)
{
    const struct lock_memory *memory = __atomic_load_n(&sync_process.lock_memory, __ATOMIC_ACQUIRE);
    uint32_t mode = sync_mode();
    return memory && __atomic_load_n(&memory->used, __ATOMIC_RELAXED) && mode != MODE_OFF && mode != MODE_COUNTS;
}

/* ----------------------------------------------------------------------------------------------------- free() */

/* dlsym() frees the message of an earlier failure: that one leaks, instead of a recursion without end. */
__attribute__((noinline, cold)) static void free_early(void *p)
{
    if (sync_tls.finding)
        return;
    sync_tls.finding = 1;
    void (*real)(void *) = SYNC_REAL(free);
    sync_tls.finding = 0;
    real(p);
}

__attribute__((noinline)) static void free_on(void *p, uintptr_t site)
{
    size_t bytes = p && usable_size ? usable_size(p) : 0;
    if (LIKELY(bytes != 0))
        freed_end_locks_in((uintptr_t)p, bytes, site);
    sync_real.free(p);
}

UPMU_API void free(void *p)
{
    void (*real)(void *) = __atomic_load_n(&sync_real.free, __ATOMIC_RELAXED);
    if (UNLIKELY(!real))
        free_early(p);
    else if (LIKELY(!freed_is_recording()))
        real(p);
    else
        free_on(p, CALL_SITE());
}

/* --------------------------------------------------------------------------------------------------- munmap() */

/* Whether munmap() accepts the range. */
static bool freed_is_page_range(uintptr_t from, size_t bytes)
{
    return from % (uintptr_t)sysconf(_SC_PAGESIZE) == 0 && from + bytes > from;
}

UPMU_API int munmap(void *at, size_t bytes)
{
    int (*real)(void *, size_t) = __atomic_load_n(&sync_real.munmap, __ATOMIC_RELAXED);
    uintptr_t from = (uintptr_t)at;
    if (UNLIKELY(!real)) /* the caller may be an allocator that the lookup needs */
        return (int)syscall(SYS_munmap, at, bytes);
    if (freed_is_recording() && freed_is_page_range(from, bytes)) {
        freed_end_locks_in(from, bytes, CALL_SITE());
        sync_shared_memory_unmapped(from, bytes);
    }
    return real(at, bytes);
}

/* -------------------------------------------------------------------------------------------------- dlclose() */

enum { MODULES_MAX = 4096 }; /* locks of modules beyond that are kept */

struct extents {
    uint32_t n;
    struct {
        uint64_t start, end; /* both 0: still loaded */
    } module[MODULES_MAX];
};

static int freed_note_extent(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct extents *all = arg;
    (void)size;
    if (all->n == MODULES_MAX)
        return 1;
    all->n += loaded_module_extent(info, &all->module[all->n].start, &all->module[all->n].end);
    return 0;
}

static int freed_extent_remove(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct extents *all = arg;
    uint64_t start, end;
    (void)size;
    if (!loaded_module_extent(info, &start, &end))
        return 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->module[i].start == start && all->module[i].end == end)
            all->module[i].start = all->module[i].end = 0;
    return 0;
}

/* End the locks in modules that dlclose() has unloaded. Which ones is found after the call: others may still use them. */
static void freed_end_unloaded(struct extents *all, uintptr_t site)
{
    SYNC_REAL(iterate_phdr)(freed_extent_remove, all);
    for (uint32_t i = 0; i < all->n; i++)
        if (all->module[i].end != 0)
            freed_end_locks_in((uintptr_t)all->module[i].start, (size_t)(all->module[i].end - all->module[i].start),
                               site);
}

/* The unloading is recorded later. */
static int freed_close_unrecorded(void *handle)
{
    int rc = SYNC_REAL(dlclose)(handle), saved = errno;
    if (rc == 0)
        sync_modules_unloaded(NULL);
    errno = saved;
    return rc;
}

UPMU_API int dlclose(void *handle)
{
    struct extents *all = MAP_FAILED;
    if (freed_is_recording())
        all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return freed_close_unrecorded(handle);
    SYNC_REAL(iterate_phdr)(freed_note_extent, all);
    int rc = SYNC_REAL(dlclose)(handle), saved = errno;
    if (rc == 0) {
        freed_end_unloaded(all, CALL_SITE());
        sync_modules_unloaded(sync_recording());
    }
    (void)SYNC_REAL(munmap)(all, sizeof *all);
    errno = saved;
    return rc;
}
#endif

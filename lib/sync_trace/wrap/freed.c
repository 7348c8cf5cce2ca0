/* SPDX-License-Identifier: MIT */
/*
 * Locks whose memory is given back: they end, though nobody says so. Room: sync_trace; before it the program's free(),
 * munmap() and dlclose(), after it places.h, which knows where locks lie, and record.c.
 *
 * A std::mutex has no destructor to speak of, and one of C's that was begun by an initializer is seldom destroyed. What
 * comes to lie at its address later is another lock: without this, orders and counts of both would be taken for one's.
 *
 * It is free() that is taken over, not operator delete: the C++ libraries' ends there, whichever of its forms was called,
 * and all of C's does, too. Nor could operator delete be passed on safely: a library that was loaded with RTLD_LOCAL has
 * its operator new found among what came with it, where we cannot look, while ours would be the first operator delete that
 * it meets. The C library is there for everybody, so free() and malloc() are always of one make. How large a block is, is
 * asked of the same library that has the free(); if that does not tell, its blocks are passed over.
 *
 * These functions are called before our constructor has run, by the loader with its lock held, and by allocators with
 * theirs: until a block turns out to hold a lock there is nothing but a look at a table; and then no more is done than
 * at pthread_mutex_destroy().
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sync_trace/held.h"
#include "sync_trace/lock_memory.h"
#include "sync_trace/wrap/resolve.h"
#include "sync_trace/wrap/sem_lock.h"

void sync_lock_met(const struct sync_thread *t, uintptr_t key, uint32_t type)
{
    places_put(sync_process.places, sync_key_object(key, type), t ? t->number : PLACES_NOBODY);
}

bool sync_lock_ended(struct sync_thread *t, uintptr_t object, int32_t *type)
{
    bool all = sync_counts_final(t, object, type); /* it asks who has met it */
    (void)places_remove(sync_process.places, object);
    return all;
}

/* Sanitizers have these functions themselves, and their own idea of when memory comes back. */
#if SYNC_UNDER_SANITIZER

int sync_freed_start(void)
{
    sync_process.places = sync_map_wiped(sizeof *sync_process.places);
    return sync_process.places ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory");
}

#else

/* How large a block of the real free() is; NULL: that is not known. */
static size_t (*usable_size)(void *);

static void find_usable_size(void)
{
    Dl_info of_free, of_size;
    void *symbol = dlsym(RTLD_NEXT, "malloc_usable_size");
    if (symbol && dladdr(symbol, &of_size) && dladdr((void *)(uintptr_t)SYNC_REAL(free), &of_free) &&
        of_size.dli_fbase == of_free.dli_fbase)
        *(void **)(void *)&usable_size = symbol;
}

int sync_freed_start(void)
{
    find_usable_size();
    struct places *places = sync_map_wiped(sizeof *places);
    if (!places)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    __atomic_store_n(&sync_process.places, places, __ATOMIC_RELEASE);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- the end */

/* Who has the lock and gives its memory back has it no more. */
static void end_lock(struct sync_thread *t, uintptr_t lock, uintptr_t site)
{
    struct sync_held held;
    while (sync_held_remove(t, lock, &held) || sync_held_remove(t, lock + 1, &held))
        ;
    sync_sem_ended((const sem_t *)lock);
    sync_event_flags(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_NONE, (const void *)lock, site, 0, UPMU_TRACE_FLAG_FREED);
}

/* A thread that cannot record now leaves them as they are. */
__attribute__((noinline, cold)) static void end_locks(uintptr_t lock, uintptr_t end, uintptr_t site)
{
    int saved = errno;
    struct sync_thread *t = sync_recording();
    for (; t && lock; lock = places_next(sync_process.places, lock + 1, end))
        end_lock(t, lock, site);
    errno = saved;
}

/* Memory is about to be given back. */
static inline void look_for_locks(uintptr_t from, size_t bytes, uintptr_t site)
{
    if (LIKELY(!places_maybe(sync_process.places, from, bytes)))
        return;
    uintptr_t lock = places_next(sync_process.places, from, from + bytes);
    if (UNLIKELY(lock != 0))
        end_locks(lock, from + bytes, site);
}

/* Whether a lock was ever met, and its end would be an event. */
static inline bool is_recording(void)
{
    const struct places *places = __atomic_load_n(&sync_process.places, __ATOMIC_ACQUIRE);
    uint32_t mode = sync_mode();
    return places && __atomic_load_n(&places->used, __ATOMIC_RELAXED) && mode != MODE_OFF && mode != MODE_COUNTS;
}

/* ----------------------------------------------------------------------------------------------------- free() */

/* dlsym() frees the message of an earlier failure: that one is lost, rather than looked up for ever. */
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
        look_for_locks((uintptr_t)p, bytes, site);
    sync_real.free(p);
}

UPMU_API void free(void *p)
{
    void (*real)(void *) = __atomic_load_n(&sync_real.free, __ATOMIC_RELAXED);
    if (UNLIKELY(!real))
        free_early(p);
    else if (LIKELY(!is_recording()))
        real(p);
    else
        free_on(p, CALL_SITE());
}

/* --------------------------------------------------------------------------------------------------- munmap() */

/* What the kernel will refuse ends nothing. */
static bool is_mappable(uintptr_t from, size_t bytes)
{
    return from % (uintptr_t)sysconf(_SC_PAGESIZE) == 0 && from + bytes > from;
}

UPMU_API int munmap(void *at, size_t bytes)
{
    int (*real)(void *, size_t) = __atomic_load_n(&sync_real.munmap, __ATOMIC_RELAXED);
    uintptr_t from = (uintptr_t)at;
    if (UNLIKELY(!real)) /* maybe it is an allocator that asks, which the loader needs to find the real one */
        return (int)syscall(SYS_munmap, at, bytes);
    if (is_recording() && is_mappable(from, bytes))
        look_for_locks(from, bytes, CALL_SITE());
    return real(at, bytes);
}

/* -------------------------------------------------------------------------------------------------- dlclose() */

enum { MODULES_MAX = 4096 }; /* of more than that, the last ones' locks are kept */

struct extents {
    uint32_t n;
    struct {
        uint64_t start, end; /* both 0: it is still there */
    } module[MODULES_MAX];
};

static int note_extent(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct extents *all = arg;
    (void)size;
    if (all->n == MODULES_MAX)
        return 1;
    all->n += sync_module_extent(info, &all->module[all->n].start, &all->module[all->n].end);
    return 0;
}

static int cross_out(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct extents *all = arg;
    uint64_t start, end;
    (void)size;
    if (!sync_module_extent(info, &start, &end))
        return 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->module[i].start == start && all->module[i].end == end)
            all->module[i].start = all->module[i].end = 0;
    return 0;
}

/* Only afterwards it is known which modules went: others may need them still. */
static void end_unloaded(struct extents *all, uintptr_t site)
{
    SYNC_REAL(iterate_phdr)(cross_out, all);
    for (uint32_t i = 0; i < all->n; i++)
        if (all->module[i].end != 0)
            look_for_locks((uintptr_t)all->module[i].start, (size_t)(all->module[i].end - all->module[i].start), site);
}

/* What is not recorded now may be later. */
static int close_unrecorded(void *handle)
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
    if (is_recording())
        all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return close_unrecorded(handle);
    SYNC_REAL(iterate_phdr)(note_extent, all);
    int rc = SYNC_REAL(dlclose)(handle), saved = errno;
    if (rc == 0) {
        end_unloaded(all, CALL_SITE());
        sync_modules_unloaded(sync_recording());
    }
    (void)SYNC_REAL(munmap)(all, sizeof *all);
    errno = saved;
    return rc;
}
#endif

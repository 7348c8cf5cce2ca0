/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of malloc(), free() and their relatives.
 *
 * C++'s operators, strdup() and other functions of libraries call malloc(), which is where they are counted. A block that changes its
 * size by realloc() counts as freed and allocated. A free block is taken out of the table before it is freed: another thread may
 * get its address at once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>

#include "heap/heap.h"
#include "upmu/api.h"

#define HEAP_SITE() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

static void *first_malloc(size_t bytes);
static void first_free(void *p);

/* The functions behind the wrappers. The first two are looked up at the first call of any, and so need no test. */
static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    bool found;
} real = {.malloc = first_malloc, .free = first_free};

/* Memory for what dlsym() allocates while the functions are looked up; never freed. */
enum { EARLY_BYTES = 8192, EARLY_ALIGN = 16 };
static struct {
    _Alignas(16) unsigned char bytes[EARLY_BYTES];
    size_t used;
    uint32_t finding;
} early;

static void *early_alloc(size_t bytes)
{
    size_t at =
        __atomic_fetch_add(&early.used, (bytes + EARLY_ALIGN - 1) / EARLY_ALIGN * EARLY_ALIGN, __ATOMIC_RELAXED);
    if (bytes > EARLY_BYTES || at > EARLY_BYTES - bytes) {
        errno = ENOMEM;
        return NULL;
    }
    heap_blocks_suspect(early.bytes + at);
    return early.bytes + at;
}

static bool early_has(const void *p)
{
    return (uintptr_t)p - (uintptr_t)early.bytes < EARLY_BYTES;
}

static void wrap_find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* Threads that do this at once write the same. */
__attribute__((noinline, cold)) static bool wrap_resolve(void)
{
    if (__atomic_exchange_n(&early.finding, 1, __ATOMIC_ACQ_REL))
        return false;
    wrap_find(&real.malloc, "malloc");
    wrap_find(&real.free, "free");
    wrap_find(&real.calloc, "calloc");
    wrap_find(&real.realloc, "realloc");
    wrap_find(&real.memalign, "memalign");
    wrap_find(&real.posix_memalign, "posix_memalign");
    wrap_find(&real.aligned_alloc, "aligned_alloc");
    wrap_find(&real.valloc, "valloc");
    wrap_find(&real.pvalloc, "pvalloc");
    __atomic_store_n(&real.found, true, __ATOMIC_RELEASE);
    return true;
}

static inline bool wrap_is_ready(void)
{
    return LIKELY(__atomic_load_n(&real.found, __ATOMIC_ACQUIRE)) || wrap_resolve();
}

static void *first_malloc(size_t bytes)
{
    return wrap_is_ready() ? real.malloc(bytes) : early_alloc(bytes);
}

static void first_free(void *p)
{
    if (p && wrap_is_ready())
        real.free(p);
}

/* An allocation of `bytes`: whether none of them is sampled. */
static inline bool wrap_passes(size_t bytes)
{
    uint64_t left = heap_tls.left;
    if (UNLIKELY(left < bytes))
        return false;
    heap_tls.left = left - bytes;
    return true;
}

/* `p` has `bytes`. */
static inline void wrap_allocated(void *p, size_t bytes, uintptr_t site)
{
    if (UNLIKELY(!wrap_passes(bytes)))
        heap_sample(p, bytes, site);
}

static __attribute__((noinline)) void *malloc_sampled(size_t bytes, uintptr_t site)
{
    void *p = real.malloc(bytes);
    heap_sample(p, bytes, site);
    return p;
}

/* The count comes before the call, which is a jump then. */
UPMU_API void *malloc(size_t bytes)
{
    return LIKELY(wrap_passes(bytes)) ? real.malloc(bytes) : malloc_sampled(bytes, HEAP_SITE());
}

UPMU_API void *calloc(size_t n, size_t bytes)
{
    if (UNLIKELY(!wrap_is_ready()))
        return bytes && n > EARLY_BYTES / bytes ? NULL : early_alloc(n * bytes);
    void *p = real.calloc(n, bytes);
    if (LIKELY(p != NULL))
        wrap_allocated(p, n * bytes, HEAP_SITE());
    return p;
}

__attribute__((noinline)) static void free_sampled(void *p, uintptr_t site)
{
    if (early_has(p))
        return;
    struct heap_block block = heap_take(p);
    real.free(p);
    if (block.address)
        heap_freed(&block, site);
}

UPMU_API void free(void *p)
{
    if (UNLIKELY(heap_blocks_maybe(p)))
        free_sampled(p, HEAP_SITE());
    else
        real.free(p);
}

__attribute__((noinline, cold)) static void *realloc_early(void *p, size_t bytes)
{
    void *q = real.malloc(bytes);
    size_t most = p ? EARLY_BYTES - (size_t)((unsigned char *)p - early.bytes) : 0;
    return p && q ? memcpy(q, p, bytes < most ? bytes : most) : q;
}

static void *wrap_realloc(void *p, size_t bytes, uintptr_t site)
{
    struct heap_block block = {0};
    if (UNLIKELY(!wrap_is_ready() || early_has(p)))
        return realloc_early(p, bytes);
    if (UNLIKELY(p && heap_blocks_maybe(p)))
        block = heap_take(p);
    void *q = real.realloc(p, bytes);
    if (UNLIKELY(block.address)) {
        if (q || bytes == 0)
            heap_freed(&block, site);
        else
            heap_put_back(&block);
    }
    if (q)
        wrap_allocated(q, bytes, site);
    return q;
}

UPMU_API void *realloc(void *p, size_t bytes)
{
    return wrap_realloc(p, bytes, HEAP_SITE());
}

UPMU_API void *reallocarray(void *p, size_t n, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(n, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return wrap_realloc(p, all, HEAP_SITE());
}

UPMU_API void *memalign(size_t alignment, size_t bytes)
{
    void *p = wrap_is_ready() ? real.memalign(alignment, bytes) : NULL;
    if (p)
        wrap_allocated(p, bytes, HEAP_SITE());
    return p;
}

UPMU_API int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    int rc = wrap_is_ready() ? real.posix_memalign(out, alignment, bytes) : ENOMEM;
    if (rc == 0)
        wrap_allocated(*out, bytes, HEAP_SITE());
    return rc;
}

UPMU_API void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *p = wrap_is_ready() ? real.aligned_alloc(alignment, bytes) : NULL;
    if (p)
        wrap_allocated(p, bytes, HEAP_SITE());
    return p;
}

UPMU_API void *valloc(size_t bytes)
{
    void *p = wrap_is_ready() ? real.valloc(bytes) : NULL;
    if (p)
        wrap_allocated(p, bytes, HEAP_SITE());
    return p;
}

UPMU_API void *pvalloc(size_t bytes)
{
    void *p = wrap_is_ready() ? real.pvalloc(bytes) : NULL;
    if (p)
        wrap_allocated(p, bytes, HEAP_SITE());
    return p;
}

/* SPDX-License-Identifier: MIT */
/*
 * Finding the C library's functions behind our names. Room: sync_trace; before it every wrapper, after it libc.
 *
 * The mutex functions come first and are always there: when a later look-up fails, dlsym() allocates its message, and a
 * malloc of the program's own that locks a mutex then finds its way. A result of dlsym() is always used after the call:
 * as a tail call it would look to RTLD_NEXT as if the loader had asked.
 *
 * Behind us there is nothing when the C library was preloaded before us. The program's calls then reach it at once and
 * nothing can be recorded; what does come here, by dlsym() or from libraries bound to us, is still answered by the C
 * library, found by its name.
 */
#include "sync_trace/resolve.h"

#include <dlfcn.h>
#include <errno.h>
#ifdef __GLIBC__
#include <gnu/lib-names.h>
#endif
#include <stddef.h>
#include <string.h>

struct sync_real sync_real;

/* Condition variables have two layouts under one name in old ABIs; dlsym() gave the wrong one before glibc 2.36. */
#define COND_VERSION "GLIBC_2.3.2"

static int absent_mutex_clocklock(pthread_mutex_t *m, clockid_t c, const struct timespec *ts)
{
    (void)m, (void)c, (void)ts;
    return ENOSYS;
}

static int absent_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts)
{
    (void)c, (void)m, (void)clock, (void)ts;
    return ENOSYS;
}

static int absent_sem_clockwait(sem_t *s, clockid_t c, const struct timespec *ts)
{
    (void)s, (void)c, (void)ts;
    errno = ENOSYS;
    return -1;
}

static int absent_clockjoin(pthread_t t, void **value, clockid_t c, const struct timespec *ts)
{
    (void)t, (void)value, (void)c, (void)ts;
    return ENOSYS;
}

static const struct {
    const char *name;
    const char *version;
    size_t at;
} functions[] = {
    {"pthread_mutex_lock", NULL, offsetof(struct sync_real, mutex_lock)},
    {"pthread_mutex_unlock", NULL, offsetof(struct sync_real, mutex_unlock)},
    {"pthread_mutex_trylock", NULL, offsetof(struct sync_real, mutex_trylock)},
    {"pthread_mutex_init", NULL, offsetof(struct sync_real, mutex_init)},
    {"pthread_mutex_destroy", NULL, offsetof(struct sync_real, mutex_destroy)},
    {"pthread_mutex_timedlock", NULL, offsetof(struct sync_real, mutex_timedlock)},
    {"pthread_cond_init", COND_VERSION, offsetof(struct sync_real, cond_init)},
    {"pthread_cond_destroy", COND_VERSION, offsetof(struct sync_real, cond_destroy)},
    {"pthread_cond_wait", COND_VERSION, offsetof(struct sync_real, cond_wait)},
    {"pthread_cond_timedwait", COND_VERSION, offsetof(struct sync_real, cond_timedwait)},
    {"pthread_cond_signal", COND_VERSION, offsetof(struct sync_real, cond_signal)},
    {"pthread_cond_broadcast", COND_VERSION, offsetof(struct sync_real, cond_broadcast)},
    {"sem_init", NULL, offsetof(struct sync_real, sem_init)},
    {"sem_destroy", NULL, offsetof(struct sync_real, sem_destroy)},
    {"sem_wait", NULL, offsetof(struct sync_real, sem_wait)},
    {"sem_trywait", NULL, offsetof(struct sync_real, sem_trywait)},
    {"sem_timedwait", NULL, offsetof(struct sync_real, sem_timedwait)},
    {"sem_post", NULL, offsetof(struct sync_real, sem_post)},
    {"pthread_create", NULL, offsetof(struct sync_real, create)},
    {"pthread_join", NULL, offsetof(struct sync_real, join)},
    {"pthread_tryjoin_np", NULL, offsetof(struct sync_real, tryjoin)},
    {"pthread_timedjoin_np", NULL, offsetof(struct sync_real, timedjoin)},
    {"pthread_detach", NULL, offsetof(struct sync_real, detach)},
    {"pthread_setname_np", NULL, offsetof(struct sync_real, setname)},
    {"dl_iterate_phdr", NULL, offsetof(struct sync_real, iterate_phdr)},
    /* Younger than the rest (glibc 2.30 and 2.31). */
    {"pthread_mutex_clocklock", NULL, offsetof(struct sync_real, mutex_clocklock)},
    {"pthread_cond_clockwait", NULL, offsetof(struct sync_real, cond_clockwait)},
    {"sem_clockwait", NULL, offsetof(struct sync_real, sem_clockwait)},
    {"pthread_clockjoin_np", NULL, offsetof(struct sync_real, clockjoin)},
};

static void *find_in(void *handle, const char *name, const char *version)
{
    void *found = version ? dlvsym(handle, name, version) : NULL;
    if (!found)
        found = dlsym(handle, name);
    return found;
}

/* In the C library itself, which is loaded, wherever it stands in the order of look-up. */
static void *find_by_library(const char *name, const char *version)
{
#ifdef __GLIBC__
    static const char *const libraries[] = {LIBC_SO, LIBPTHREAD_SO};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *found = library ? find_in(library, name, version) : NULL;
        if (library)
            dlclose(library);
        if (found)
            return found;
    }
#endif
    (void)name, (void)version;
    return NULL;
}

bool sync_resolve_is_first(void)
{
    void *found = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    return found != NULL;
}

static void fill_gaps(struct sync_real *r)
{
    if (!r->mutex_clocklock)
        r->mutex_clocklock = absent_mutex_clocklock;
    if (!r->cond_clockwait)
        r->cond_clockwait = absent_cond_clockwait;
    if (!r->sem_clockwait)
        r->sem_clockwait = absent_sem_clockwait;
    if (!r->clockjoin)
        r->clockjoin = absent_clockjoin;
}

void sync_resolve(void)
{
    int saved = errno;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = find_in(RTLD_NEXT, functions[i].name, functions[i].version);
        if (!found)
            found = find_by_library(functions[i].name, functions[i].version);
        if (found)
            __atomic_store_n((void **)(void *)((char *)&sync_real + functions[i].at), found, __ATOMIC_RELAXED);
    }
    fill_gaps(&sync_real);
    errno = saved;
}

/* SPDX-License-Identifier: MIT */
/* Waits for, and releases of, locks of C++ libraries. */
#include "sync_trace/wrap/library_lock.h"

#include <dlfcn.h>

#include "sync_trace/account/wait.h"
#include "sync_trace/early.h"

static void *library_symbol(void *handle, const char *name, const char *version)
{
    return version ? dlvsym(handle, name, version) : dlsym(handle, name);
}

/* In a library that is loaded already. */
static void *library_find_in(const char *library, const char *name, const char *version)
{
    void *handle = library ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = handle ? library_symbol(handle, name, version) : NULL;
    if (handle)
        dlclose(handle);
    return found;
}

void *library_find_early(const char *name, const char *version)
{
    int saved = errno;
    void *found = library_symbol(RTLD_NEXT, name, version);
    errno = saved;
    return found;
}

void *library_find(const char *name, const char *version, const char *library, uintptr_t site)
{
    int saved = errno;
    Dl_info caller;
    void *found = library_symbol(RTLD_NEXT, name, version);
    if (!found)
        found = library_find_in(library, name, version);
    if (!found && dladdr((void *)site, &caller))
        found = library_find_in(caller.dli_fname, name, version);
    errno = saved;
    return found;
}

bool library_wait(struct sync_thread *t, uint32_t mode, const struct library_call *c)
{
    struct sync_wait w = {.t = t,
                          .lock = c->lock.key,
                          .site = c->lock.site,
                          .type = c->lock.type,
                          .flags = c->lock.flags & UPMU_TRACE_FLAG_TIMED,
                          .request_stack = c->lock.request_stack};
    sync_early_check(t);
    sync_wait_begin(&w, mode, -1, true);
    {
        LIBRARY_INSIDE(t);
        w.result = c->real(c) ? 0 : ETIMEDOUT;
    }
    sync_wait_end(&w);
    return w.result == 0;
}

static bool library_real_inside(struct sync_thread *t, const struct library_call *c)
{
    LIBRARY_INSIDE(t);
    return c->real(c);
}

/* Acquired before the recording; or by inlined code, and a thread waits for it: then the release is all that is known. */
static void library_unlock_unknown(struct sync_thread *t, uint32_t mode, const struct library_call *c, bool inlined)
{
    uint64_t tick = tick_now();
    const struct sync_held nothing = {.lock = c->lock.key, .wanted = c->lock.key};
    (void)library_real_inside(t, c);
    if (!inlined)
        sync_release_before(t, &c->lock, tick);
    else if (mode != MODE_OFF && mode != MODE_COUNTS)
        sync_release_write(t, &c->lock, &nothing, tick);
}

bool library_release_begin(struct sync_thread *t, uint32_t mode, struct lock_call *lock, struct lock_release *r)
{
    if (sync_release_begin(t, mode, lock, r))
        return true;
    if (!sync_type_has_readers(lock->type))
        return false;
    lock->key++; /* held for reading */
    if (sync_release_begin(t, mode, lock, r))
        return true;
    lock->key--;
    return false;
}

void library_unlock(struct library_call *c, bool inlined)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = sync_release_thread(mode);
    struct lock_release r;
    if (!t) {
        (void)c->real(c);
    } else if (library_release_begin(t, mode, &c->lock, &r)) {
        (void)library_real_inside(t, c);
        sync_release_end(t, &c->lock, &r, false);
    } else {
        library_unlock_unknown(t, mode, c, inlined);
    }
}

bool library_cond_wait(struct library_wait *w)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = sync_release_thread(mode);
    struct lock_call *lock = &w->lock.lock;
    struct sync_cond_wait c __attribute__((cleanup(sync_cond_wait_end))) = {
        .cond = w->cond, .site = lock->site, .flags = lock->flags & UPMU_TRACE_FLAG_TIMED};
    struct lock_release r = {0};
    if (!t)
        return w->lock.real(&w->lock);
    bool held = library_release_begin(t, mode, lock, &r);
    if (held && r.tick != 0)
        sync_release_write(t, lock, &r.held, r.tick);
    sync_cond_wait_begin(&c);
    bool got = library_real_inside(t, &w->lock);
    c.result = got ? 0 : ETIMEDOUT;
    sync_cond_wait_end(&c);
    c = (struct sync_cond_wait){0}; /* it has ended */
    mode = sync_mode();
    if (held && mode != MODE_OFF && (t = sync_thread()) != NULL)
        sync_acquired(t, mode, lock, 0);
    return got;
}

void library_signal(void (*real)(void *cond), int32_t kind, void *cond, uintptr_t site)
{
    struct sync_thread *t = sync_recording();
    sync_cond_signal_write(kind, cond, site);
    if (!t) {
        real(cond);
        return;
    }
    LIBRARY_INSIDE(t);
    real(cond);
}

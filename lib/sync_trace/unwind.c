/* SPDX-License-Identifier: MIT */
/*
 * Call stacks. Room: sync_trace; before it record.c, after it stacks.c.
 *
 * libunwind is opened with RTLD_LOCAL and never linked: linked, it would take _Unwind_* and backtrace() away from the
 * program. unw_backtrace() is its fast way; where there is no libunwind, libgcc's unwinder does.
 */
#include <dlfcn.h>
#include <unwind.h>

#include "sync_trace/sync.h"

static struct {
    int (*backtrace)(void **, int);
    uint32_t method;
} unwinder = {.method = UPMU_STACK_LIBGCC};

struct walk {
    void **frames;
    uint32_t n, max;
};

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    uintptr_t ip = (uintptr_t)_Unwind_GetIP(context);
    if (w->n == w->max || ip == 0)
        return _URC_END_OF_STACK;
    w->frames[w->n++] = (void *)ip;
    return _URC_NO_REASON;
}

static uint32_t walk_libgcc(void **frames, uint32_t max)
{
    struct walk w = {.frames = frames, .max = max};
    _Unwind_Backtrace(one_frame, &w);
    return w.n;
}

#if defined(__has_feature)
#define UNDER_THREAD_SANITIZER __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define UNDER_THREAD_SANITIZER 1
#else
#define UNDER_THREAD_SANITIZER 0
#endif

void sync_unwind_start(void)
{
    void *frames[4];
    /* Under ThreadSanitizer libunwind's own end-of-thread work comes after the sanitizer has taken the thread apart. */
    void *library = UNDER_THREAD_SANITIZER ? NULL : dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    int (*found)(void **, int) = NULL;
    void *symbol = library ? dlsym(library, "unw_backtrace") : NULL;
    *(void **)(void *)&found = symbol;
    /* The first walk sets tables up and may allocate: here it may. */
    if (found && found(frames, 4) > 0) {
        unwinder.backtrace = found;
        unwinder.method = UPMU_STACK_LIBUNWIND;
    } else {
        (void)walk_libgcc(frames, 4);
    }
}

uint32_t sync_unwind_method(void)
{
    return unwinder.method;
}

uint32_t sync_unwind(struct sync_thread *t, uintptr_t site, const void ***frames, bool *truncated)
{
    uint32_t want = sync_process.depth, max = want + SYNC_FRAMES_OWN, n, own = 0;
    if (unwinder.backtrace) {
        int got = unwinder.backtrace(t->frames, (int)max);
        n = got > 0 ? (uint32_t)got : 0;
    } else {
        n = walk_libgcc(t->frames, max);
    }
    while (own < n && (uintptr_t)t->frames[own] != site)
        own++;
    /* An unwinder that has not passed through the caller has lost its way: the call site alone is certain. */
    if (own == n) {
        t->frames[0] = (void *)site;
        *frames = (const void **)t->frames;
        *truncated = true;
        return 1;
    }
    *truncated = n == max || n - own > want;
    *frames = (const void **)&t->frames[own];
    return n - own < want ? n - own : want;
}

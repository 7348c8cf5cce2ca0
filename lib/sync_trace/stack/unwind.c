/* SPDX-License-Identifier: MIT */
/*
 * Call stacks. Room: sync_trace; before it record.c, after it stacks.c.
 *
 * libunwind is opened with RTLD_LOCAL and never linked: linked, it would take _Unwind_* and backtrace() away from the
 * program. unw_backtrace() is its fast way; where there is no libunwind, libgcc's unwinder does.
 *
 * libunwind has thread-local memory, and as for every library opened at run time the loader allocates it at a thread's
 * first touch, by the program's own malloc. An allocator that is guarded by mutexes (jemalloc is) would then be entered
 * a second time from inside its own lock. So a thread touches that memory where no allocator is at work, before the
 * program's function begins; a thread that was there before the recorder was is left to libgcc, which has none.
 *
 * Where that allocation fails the loader ends the process. So a thread that begins close to a limit of memory is left to
 * libgcc, too, which unwinds without allocating.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

#include "base/sanitizer.h"
#include "base/spare.h"
#include "base/tick.h"
#include "sync_trace/stack/memo.h"
#include "sync_trace/sync.h"

static int (*backtrace)(void **, int); /* libunwind's; NULL without it */
static uint32_t distrusted;            /* it is not to be used any more */

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

/* Bytes that a limit of memory leaves, of which `used` pages are taken. */
static uint64_t unwind_memory_left(const struct rlimit *limit, uint64_t used)
{
    uint64_t bytes = used * (uint64_t)sysconf(_SC_PAGESIZE);
    if (limit->rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit->rlim_cur > bytes ? (uint64_t)limit->rlim_cur - bytes : 0;
}

/* Whether so much memory is left that nothing else can use it up while the loader allocates a few kilobytes. */
static bool unwind_memory_is_ample(void)
{
    const uint64_t ample = UINT64_C(1) << 30;
    enum { FIELDS = 6, TOTAL = 0, DATA = 5 };
    struct rlimit space, data;
    uint64_t pages[FIELDS];
    char text[256], *at = text, *end;
    if (getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0)
        return false;
    if (space.rlim_cur == RLIM_INFINITY && data.rlim_cur == RLIM_INFINITY)
        return true;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < FIELDS; i++, at = end) {
        pages[i] = strtoull(at, &end, 10);
        if (end == at)
            return false;
    }
    return unwind_memory_left(&space, pages[TOTAL]) >= ample && unwind_memory_left(&data, pages[DATA]) >= ample;
}

void sync_unwind_start(void)
{
    void *frames[4];
    /* Under ThreadSanitizer libunwind's own end-of-thread work comes after the sanitizer has taken the thread apart. It keeps
     * a pipe open, which a program with few descriptors left needs more. */
    bool usable = !UNDER_TSAN && spare_descriptors_left() && unwind_memory_is_ample();
    void *library = usable ? dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*found)(void **, int) = NULL;
    void *symbol = library ? dlsym(library, "unw_backtrace") : NULL;
    *(void **)(void *)&found = symbol;
    /* The first walk sets tables up and may allocate: here it may. */
    (void)walk_libgcc(frames, 4);
    if (found && found(frames, 4) > 0) {
        backtrace = found;
        sync_tls.unwinds = 1;
        sync_memo_start(library);
    }
}

/* libunwind asks the kernel whether memory can be read by writing from it. That is a cancellation point, and the calls that
 * stacks are of are none: a thread that ended there would leave libunwind's lock taken, too. So it unwinds with cancellation
 * disabled. */
void sync_unwind_thread(void)
{
    void *frame;
    int saved = errno, cancel;
    if (!backtrace || sync_tls.unwinds || sync_process.depth == 0)
        return;
    sync_tls.busy = 1; /* its own locks are none of the program's */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    sync_tls.unwinds = unwind_memory_is_ample() && backtrace(&frame, 1) > 0;
    pthread_setcancelstate(cancel, NULL);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sync_tls.busy = 0;
    errno = saved;
}

void sync_unwind_distrust(void)
{
    __atomic_store_n(&distrusted, 1, __ATOMIC_RELAXED);
}

static uint32_t walk(struct sync_thread *t, uint32_t max)
{
    if (LIKELY(sync_tls.unwinds && !__atomic_load_n(&distrusted, __ATOMIC_RELAXED))) {
        int got = backtrace(t->frames, (int)max);
        t->method = UPMU_STACK_LIBUNWIND;
        return got > 0 ? (uint32_t)got : 0;
    }
    t->method = UPMU_STACK_LIBGCC;
    return walk_libgcc(t->frames, max);
}

/* Call stack into t->frames from `site` outward, at most sync_process.depth. */
static uint32_t unwind(struct sync_thread *t, uintptr_t site, const void ***frames, bool *truncated)
{
    uint32_t want = sync_process.depth, max = want + SYNC_FRAMES_OWN, own = 0;
    uint32_t n = walk(t, max);
    /* Out of a module that was not known until now libunwind can only have guessed, and it keeps its guess: this thread
     * goes on with the other one. */
    if (UNLIKELY(sync_modules_meet(t, (const void *const *)t->frames, n))) {
        sync_tls.unwinds = 0;
        n = walk(t, max);
    }
    while (own < n && (uintptr_t)t->frames[own] != site)
        own++;
    /* An unwinder that has not passed through the caller has lost its way: the call site alone is certain. */
    if (own == n) {
        t->frames[0] = (void *)site;
        *frames = (const void **)t->frames;
        *truncated = true;
        t->method = UPMU_STACK_NONE;
        return 1;
    }
    *truncated = n == max || n - own > want;
    *frames = (const void **)&t->frames[own];
    return n - own < want ? n - own : want;
}

/* With a frame pointer, which a memo begins at. */
__attribute__((noinline)) uint32_t sync_stack_here(struct sync_thread *t, uint64_t *tick, uintptr_t site)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    const void **frames;
    bool truncated;
    int cancel;
    uint32_t id = sync_memo_find(t, frame, site);
    if (LIKELY(id != 0)) {
        *tick = *tick ? *tick : tick_now();
        return id;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    uint32_t n = unwind(t, site, &frames, &truncated);
    *tick = *tick ? *tick : tick_now();
    id = sync_stack_id(t, *tick, frames, n, truncated);
    if (id != 0 && t->method == UPMU_STACK_LIBUNWIND)
        sync_memo_learn(t, frame, site, id, frames, n);
    pthread_setcancelstate(cancel, NULL);
    return id;
}

/* SPDX-License-Identifier: MIT */
/*
 * Call stack unwinding, with libunwind or libgcc where the recorder's own walk does not suffice.
 *
 * Most stacks are walked by the tables of their modules (cfi.h). Others have signal frames, or are not those that their threads began
 * with. For these libunwind is opened with RTLD_LOCAL and never linked: linked, it would interpose _Unwind_* and backtrace() for the
 * program. unw_backtrace() is its fast way; without libunwind, the unwinder of libgcc is used.
 *
 * libunwind has thread-local memory, which the loader allocates at a thread's first access, by the program's malloc. An
 * allocator that locks mutexes (jemalloc does) would be entered a second time from inside its own lock. So a thread
 * accesses that memory before the program's function begins; a thread that started before the recorder uses libgcc. So does
 * a thread that starts close to a memory limit: if that allocation fails, the loader ends the process.
 */
#include "sync_trace/stack/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

#include "base/cancel.h"
#include "base/process/loaded_module.h"
#include "base/sanitizer.h"
#include "base/spare.h"
#include "base/tick.h"
#include "sync_trace/stack/cfi.h"
#include "sync_trace/stack/memo.h"
#include "sync_trace/stack/modules.h"
#include "sync_trace/stack/spare_stack.h"
#include "sync_trace/stack/scan_stack.h"
#include "sync_trace/stack/stacks.h"
#include "sync_trace/stack/unwind_mask.h"
#include "sync_trace/stack/unwind_pipe.h"
#include "sync_trace/state/lock_memory.h"

#ifdef SCAN_ISA
enum { SCANS_CODE = 1 }; /* libunwind stops at code without tables and does not return its registers there */
#else
enum { SCANS_CODE = 0 };
#endif

static int (*backtrace)(void **, int); /* libunwind's; NULL without it */

/* libgcc's, and the memory of its variables. */
static struct loaded_module_range unwinder, unwinder_data;

/* The thread-local memory of libunwind. `module` 0: a thread gets it by a first walk only. */
static struct {
    size_t module, offset; /* the argument of __tls_get_addr() */
} unwind_tls;

struct walk {
    void **frames;
    uint32_t n, max;
    bool cut;                   /* it ended where a signal interrupted libgcc's unwinder */
    struct sync_scan_from last; /* registers in the last frame, where code may have to be scanned */
};

static _Unwind_Reason_Code unwind_libgcc_frame(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    int interrupted; /* by a signal */
    uintptr_t ip = (uintptr_t)_Unwind_GetIPInfo(context, &interrupted);
    if (w->n == w->max || ip == 0)
        return _URC_END_OF_STACK;
    w->frames[w->n++] = (void *)ip;
    /* While it enters a handler of exceptions, its frame cannot be unwound, and a wrong address would end the process. */
    w->cut = interrupted && ip >= unwinder.start && ip < unwinder.end;
    if (w->cut)
        return _URC_END_OF_STACK;
#ifdef SCAN_ISA
    w->last = (struct sync_scan_from){.stack = (uintptr_t)_Unwind_GetCFA(context),
                                      .pointer = (uintptr_t)_Unwind_GetGR(context, FRAME_REGISTER)};
#endif
    return _URC_NO_REASON;
}

static int unwinder_find(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)arg;
    if (!loaded_module_has(info, size, &unwinder)) {
        unwinder.start = unwinder.end = 0;
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) {
            unwinder_data.start = info->dlpi_addr + p->p_vaddr;
            unwinder_data.end = unwinder_data.start + p->p_memsz;
        }
    }
    return 1;
}

static uint32_t unwind_libgcc(void **frames, uint32_t max, uint32_t *method, bool *cut)
{
    struct walk w = {.frames = frames, .max = max};
    _Unwind_Backtrace(unwind_libgcc_frame, &w);
    *cut = w.cut;
    uint32_t n = w.cut ? w.n : sync_scan_stack(frames, w.n, max, &w.last);
    *method = n > w.n ? UPMU_STACK_SCANNED : UPMU_STACK_LIBGCC;
    return n;
}

/* Bytes left below a memory limit, of which `used` pages are used. */
static uint64_t unwind_memory_left(const struct rlimit *limit, uint64_t used)
{
    uint64_t bytes = used * (uint64_t)sysconf(_SC_PAGESIZE);
    if (limit->rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit->rlim_cur > bytes ? (uint64_t)limit->rlim_cur - bytes : 0;
}

/* Whether enough memory is left that no other thread can use it up while the loader allocates a few kilobytes. */
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

#if defined(__GLIBC__) && !defined(__i386__) && !defined(__s390__)
/* The loader's, by the ABI of thread-local storage. */
void *__tls_get_addr(void *index) __attribute__((weak)); // NOLINT(clang-diagnostic-reserved-identifier)

/* A first walk also makes a cache of 256 KiB, whose page faults cost several times as much as the creation of a thread. So
 * a new thread gets the thread-local memory alone where that is all that libunwind allocates by the program's malloc:
 * its cache is mapped, and the thread-specific pointer to it is within the thread's own block if its key is a low one.
 * Keys are allocated from the lowest free one up, so libunwind's is below the next key. */
static void unwind_find_tls(void *library)
{
    enum { KEYS_OF_THREAD = 32 };
    pthread_key_t next;
    size_t module;
    if (pthread_key_create(&next, NULL) != 0)
        return;
    pthread_key_delete(next);
    if (__tls_get_addr && next < KEYS_OF_THREAD && dlinfo(library, RTLD_DI_TLS_MODID, &module) == 0)
        unwind_tls.module = module;
}

static bool unwind_touch_tls(void)
{
    return unwind_tls.module != 0 && __tls_get_addr && __tls_get_addr(&unwind_tls) != NULL;
}
#else
static void unwind_find_tls(void *library)
{
    (void)library;
}

static bool unwind_touch_tls(void)
{
    return false;
}
#endif

static int (*backtrace_found)(void **, int);

static bool unwind_first_walk(void)
{
    enum { FEW = 4 };
    void *frames[FEW];
    return sync_memo_walk(frames, FEW) > 0 || backtrace_found(frames, FEW) > 0;
}

void sync_unwind_start(void)
{
    void *frames[4];
    uint32_t method;
    bool cut;
    /* Under ThreadSanitizer, libunwind's cleanup at thread exit runs after the sanitizer's. libunwind keeps a pipe
     * open, whose descriptors a program with few left needs more. */
    bool usable = !UNDER_TSAN && !SCANS_CODE && spare_descriptors_left() && unwind_memory_is_ample();
    void *loaded = dlopen("libunwind.so.8", RTLD_NOW | RTLD_NOLOAD);
    void *library = usable ? dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "unw_backtrace") : NULL;
    *(void **)(void *)&backtrace_found = symbol;
    unwinder.address = (uintptr_t)&_Unwind_Backtrace;
    (void)dl_iterate_phdr(unwinder_find, NULL);
    /* the first walk allocates */
    (void)unwind_libgcc(frames, 4, &method, &cut);
    if (library)
        sync_memo_start(library);
    if (library && backtrace_found && sync_unwind_pipe_learn(unwind_first_walk, symbol)) {
        backtrace = backtrace_found;
        sync_tls.unwinds = SYNC_UNWINDS;
        if (!loaded) /* else the program may have made its key at any time */
            unwind_find_tls(library);
        (void)(unwind_touch_tls() || backtrace(frames, 1)); /* else in a program's malloc() that calls a lock */
    }
    if (loaded)
        dlclose(loaded);
}

/* libunwind tests with write() whether memory is readable. That is a cancellation point, which the traced calls are
 * not: a thread canceled there would leave libunwind's lock locked. So it walks with cancellation disabled. */
void sync_unwind_thread(void)
{
    void *frame;
    int saved = errno;
    struct cancel_hold cancel;
    if (!backtrace || sync_tls.unwinds || sync_option(depth) == 0 || !sync_unwind_pipe_is_intact())
        return;
    cancel_hold(&cancel);
    sync_tls.busy = 1; /* its locks are not the program's */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (unwind_memory_is_ample() && (unwind_touch_tls() || backtrace(&frame, 1) > 0))
        sync_tls.unwinds = SYNC_UNWINDS;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    sync_tls.busy = 0;
    errno = saved;
    cancel_resume(&cancel);
}

static bool unwind_is_possible(enum sync_unwinds how)
{
    return LIKELY(sync_tls.unwinds == how) && !sync_modules_were_replaced() && sync_unwind_pipe_is_intact();
}

/* unw_backtrace() begins with a cache of 256 KiB in each thread, whose page faults cost as much as some ten walks by single steps. */
static uint32_t unwind_libunwind(void **frames, uint32_t max)
{
    enum { FIRST_WALKS = 12 };
    uint32_t n = 0;
    if (sync_tls.walks < FIRST_WALKS) {
        sync_tls.walks++;
        n = sync_memo_walk(frames, max);
    }
    int got = n == 0 ? backtrace(frames, (int)max) : (int)n;
    return got > 0 ? (uint32_t)got : 0;
}

/* Whether a walk by libgcc might be within a signal handler that interrupted the thread while it has a lock of libgcc, by throwing an
 * exception, for example: the walk takes the one of the table of registered code (__register_frame()). The words of the locks decide: a
 * lock is among those held neither in the moments after it is acquired nor before it is released. */
static bool unwind_may_wait_for_itself(const struct sync_thread *t)
{
#ifdef __GLIBC__
    uintptr_t end = unwinder_data.end ? unwinder_data.end - sizeof(pthread_mutex_t) : 0;
    uintptr_t lock = lock_memory_next(sync_process.lock_memory, unwinder_data.start, end);
    for (; lock != 0; lock = lock_memory_next(sync_process.lock_memory, lock + LOCK_MEMORY_ALIGN, end)) {
        const pthread_mutex_t *m = (const pthread_mutex_t *)lock;
        pid_t owner = __atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
        if (__atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED) != 0 && (owner == 0 || owner == t->tid))
            return true;
    }
#else
    (void)t;
#endif
    return false;
}

/* Whether a library's walk would end at this frame, too: in code of a JIT compiler, for example. Where libunwind cannot walk, libgcc does. */
static bool unwind_ends_at(const struct sync_thread *t, void *frame, enum cfi_end end)
{
    struct dwarf_eh_bases bases;
    if (unwind_is_possible(SYNC_UNWINDS))
        return end == CFI_GENERATED;
    return !SCANS_CODE && !unwind_may_wait_for_itself(t) && _Unwind_Find_FDE((char *)frame - 1, &bases) == NULL;
}

/* A stack that was kept from an ended thread may be larger than asked for. */
uintptr_t sync_stack_low(void)
{
    enum { DESCRIPTOR_MAX = 16384 }; /* lies above pthread_self() */
    uintptr_t bytes = (uintptr_t)sync_tls.stack_pages << 12;
    return bytes > DESCRIPTOR_MAX ? (uintptr_t)pthread_self() - bytes + DESCRIPTOR_MAX : 0;
}

/* A walk by a library, and what it gives. */
struct library_walk {
    struct sync_thread *t;
    uint32_t max, n; /* 0 of `n`: only the call site is certain */
    uintptr_t site;
    bool cut;
};

/* A thread that holds the lock, by throwing an exception, would wait for itself. */
static void unwind_walk_here(void *arg)
{
    struct library_walk *w = arg;
    struct sync_thread *t = w->t;
    if (LIKELY(unwind_is_possible(SYNC_UNWINDS))) {
        sync_unwind_mask(t);
        w->n = unwind_libunwind(t->frames, w->max);
        sync_unwind_unmask(t);
        t->method = UPMU_STACK_LIBUNWIND;
    } else if ((w->site < unwinder.start || w->site >= unwinder.end) && !unwind_may_wait_for_itself(t)) {
        w->n = unwind_libgcc(t->frames, w->max, &t->method, &w->cut);
    }
}

/* Whether this is the stack that the thread began with, and has space for a walk by a library. */
static bool unwind_has_space(void)
{
    enum { SPACE = 12 << 10 }; /* libunwind was seen to take 5 KiB */
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = sync_stack_low();
    uintptr_t top = cfi_own_top(here, low);
    return top == (uintptr_t)pthread_self() ? here - low >= SPACE : top != 0;
}

/* Call what needs a library's walk. */
static void unwind_call(struct sync_thread *t, void (*run)(void *), void *arg)
{
    if (LIKELY(unwind_has_space()))
        run(arg);
    else
        (void)sync_on_spare_stack(t, run, arg);
}

static uint32_t unwind_walk(struct sync_thread *t, uint32_t max, uintptr_t site, bool *cut)
{
    struct library_walk w = {.t = t, .max = max, .site = site};
    unwind_call(t, unwind_walk_here, &w);
    *cut = w.cut;
    return w.n;
}

/* Our own frames, at the inner end of a walk. */
static uint32_t unwind_own_frames(const struct sync_thread *t, uint32_t n, uintptr_t site)
{
    uint32_t own = 0;
    while (own < n && (uintptr_t)t->frames[own] != site)
        own++;
    return own;
}

/* Walk the stack into t->frames with libunwind or libgcc. `*frames`: from `site` outward, at most sync_process.depth. */
static uint32_t unwind_by_library(struct sync_thread *t, uintptr_t site, const void ***frames, bool *truncated)
{
    uint32_t want = sync_option(depth), max = want + SYNC_FRAMES_OWN;
    bool cut;
    uint32_t n = unwind_walk(t, max, site, &cut);
    /* For a module that was unknown until now libunwind has guessed, and it caches its guess: this thread walks by libgcc
     * from now on, and by single steps to learn memos. */
    if (UNLIKELY(sync_modules_add_stack(t, (const void *const *)t->frames, n))) {
        sync_tls.unwinds = sync_tls.unwinds ? SYNC_UNWINDS_STEPS : SYNC_UNWINDS_NOT;
        n = unwind_walk(t, max, site, &cut);
    }
    uint32_t own = unwind_own_frames(t, n, site);
    if (UNLIKELY(n == max && n < own + want)) {
        max = want + SYNC_FRAMES_OWN_MAX;
        n = unwind_walk(t, max, site, &cut);
        own = unwind_own_frames(t, n, site);
    }
    /* A walk without the caller has failed: only the call site is certain. */
    if (own == n) {
        t->frames[0] = (void *)site;
        *frames = (const void **)t->frames;
        *truncated = true;
        t->method = UPMU_STACK_NONE;
        return 1;
    }
    *truncated = cut || n == max || n - own > want;
    *frames = (const void **)&t->frames[own];
    return n - own < want ? n - own : want;
}

/* Walk the stack behind `frame` into t->frames. As unwind_by_library(). */
static uint32_t unwind(struct sync_thread *t, uintptr_t frame, uintptr_t site, struct sync_memo *memo,
                       const void ***frames, bool *truncated)
{
    const struct cfi_own_walk w = {
        .frame = frame, .site = site, .low = sync_stack_low(), .depends = memo ? sync_memo_word : NULL, .arg = memo};
    enum cfi_end end;
    uint32_t n = cfi_walk_own(&w, t->frames, sync_option(depth), &end);
    bool ends = n > 0 && (end < CFI_FOREIGN || unwind_ends_at(t, t->frames[n - 1], end));
    if (UNLIKELY(!ends))
        return unwind_by_library(t, site, frames, truncated);
    (void)sync_modules_add_stack(t, (const void *const *)t->frames, n);
    t->method = UPMU_STACK_TABLES;
    *frames = (const void **)t->frames;
    *truncated = end == CFI_CUT;
    return n;
}

static uint32_t unwind_stack_id(struct sync_thread *t, uint64_t tick, const void *const *frames, uint32_t n,
                                bool truncated)
{
    bool is_new;
    uint32_t id = sync_stack_id(t, tick, frames, n, truncated, &is_new);
    if (UNLIKELY(is_new))
        sync_modules_note_unknown(frames, n);
    return id;
}

uint32_t sync_stack_add(struct sync_thread *t, uint64_t tick, uint32_t n, uint32_t method, bool truncated)
{
    const void *const *frames = (const void *const *)t->frames;
    (void)sync_modules_add_stack(t, frames, n);
    t->method = method;
    return unwind_stack_id(t, tick, frames, n, truncated);
}

/* A stack for a memo. */
struct lesson {
    struct sync_memo *memo;
    struct sync_thread *t;
    uintptr_t site;
    uint32_t id, n;
    const void **frames;
};

static void unwind_learn(void *arg)
{
    struct lesson *l = arg;
    sync_memo_learn(l->memo, l->t, l->site, l->id, l->frames, l->n);
}

/* A stack without a memo. */
static __attribute__((noinline, cold)) uint32_t stack_walk_new(struct sync_thread *t, uint64_t *tick, uintptr_t site,
                                                               uintptr_t frame)
{
    const void **frames;
    bool truncated;
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    struct sync_memo *memo = sync_memo_begin(t, frame, site);
    uint32_t n = unwind(t, frame, site, memo, &frames, &truncated);
    *tick = *tick ? *tick : tick_now();
    uint32_t id = unwind_stack_id(t, *tick, frames, n, truncated);
    bool steps =
        t->method == UPMU_STACK_LIBUNWIND || (t->method == UPMU_STACK_LIBGCC && unwind_is_possible(SYNC_UNWINDS_STEPS));
    if (memo && id != 0 && steps)
        unwind_call(t, unwind_learn, &(struct lesson){memo, t, site, id, n, frames});
    else if (memo)
        sync_memo_end(memo, t->method == UPMU_STACK_TABLES ? id : 0);
    errno = saved;
    cancel_resume(&cancel);
    return id;
}

/* `frame` is that of a caller, or of the function that this is inlined in. */
static inline __attribute__((always_inline)) uint32_t stack_walk(struct sync_thread *t, uint64_t *tick, uintptr_t site,
                                                                 uintptr_t frame)
{
    if (UNLIKELY(!sync_is_ready(t))) { /* a signal handler interrupted this */
        *tick = *tick ? *tick : tick_now();
        return 0;
    }
    uint32_t before = sync_guard_as(t, SYNC_WALKS);
    uint32_t id = sync_memo_find(t, frame, site);
    if (UNLIKELY(id == 0))
        id = stack_walk_new(t, tick, site, frame);
    else if (*tick == 0)
        *tick = tick_now();
    sync_unguard(t, before); /* last, so that no call here is a jump that ends the function of `frame` */
    return id;
}

uint32_t sync_site_find(struct sync_thread *t, uint64_t tick, uintptr_t site)
{
    const void *frame = (const void *)site;
    if (UNLIKELY(!sync_is_ready(t)))
        return 0; /* a signal handler interrupted this */
    uint32_t before = sync_guard_as(t, SYNC_WALKS);
    t->method = UPMU_STACK_NONE;
    (void)sync_modules_add_stack(t, &frame, 1);
    uint32_t id = unwind_stack_id(t, tick, &frame, 1, true);
    sync_unguard(t, before);
    uintptr_t key = sync_site_key(site);
    if (id)
        t->sites[(site ^ site >> 6) % SYNC_SITES] = (struct sync_site){.key = key, .id = id};
    return id;
}

uint32_t sync_stack_behind(struct sync_thread *t, uint64_t tick, uintptr_t site, uintptr_t frame)
{
    return sync_option(depth) == 0 ? sync_site_id(t, tick, site) : stack_walk(t, &tick, site, frame);
}

uint32_t sync_stack(struct sync_thread *t, uint64_t tick, uintptr_t site)
{
    return sync_option(depth) == 0 ? sync_site_id(t, tick, site)
                                   : stack_walk(t, &tick, site, (uintptr_t)__builtin_frame_address(0));
}

uint32_t sync_stack_then_tick(struct sync_thread *t, uint64_t *tick, uintptr_t site)
{
    *tick = sync_option(depth) == 0 ? tick_now() : 0;
    return *tick ? sync_site_id(t, *tick, site) : stack_walk(t, tick, site, (uintptr_t)__builtin_frame_address(0));
}

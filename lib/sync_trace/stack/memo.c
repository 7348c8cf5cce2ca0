/* SPDX-License-Identifier: MIT */
/*
 * Recognition of call stacks by the words that a walk read.
 *
 * A call site is learned at its second walk, and less and less often if its memos are not used: libunwind's cursor, which has the
 * address of each word, is some thirty times as slow as unw_backtrace().
 */
#include "sync_trace/stack/memo.h"

#if defined(__x86_64__)
#include <dlfcn.h>
#include <ucontext.h>

#include "sync_trace/stack/unwind_mask.h"

/* libunwind's ABI on x86-64, as in libunwind-x86_64.h, which may not be installed. */
enum { REG_FRAME = 6, REG_STACK = 7, REG_ADDRESS = 16, CURSOR_WORDS = 127, SAVED_IN_MEMORY = 1 };

#define WORD sizeof(uintptr_t)

struct saved {
    int type;
    uint64_t address;
    uint64_t size;
};

static struct {
    int (*context)(void *context);
    int (*init)(void *cursor, void *context);
    int (*step)(void *cursor);
    int (*reg)(void *cursor, int reg, uint64_t *value);
    int (*saved)(void *cursor, int reg, struct saved *saved);
    int (*is_signal)(void *cursor);
} unw;

enum {
    STEPS_MAX = SYNC_FRAMES_MAX + SYNC_FRAMES_OWN_MAX,
    ALIGNED_BYTES = 64, /* below a frame register: a function that aligns its stack saves its caller's there */
    NEAR_BYTES = 64,    /* from a frame register to the end of its frame, at most; compilers have two words there */
    PATIENCE = 2,       /* walks of a call site before it is learned */
    PATIENCE_MAX = 1 << 16,
    WORTH = 256, /* hits after which the next memo is learned as soon */
};

void sync_memo_start(void *libunwind)
{
    void *context = dlsym(libunwind, "_Ux86_64_getcontext"), *init = dlsym(libunwind, "_ULx86_64_init_local"),
         *step = dlsym(libunwind, "_ULx86_64_step"), *reg = dlsym(libunwind, "_ULx86_64_get_reg"),
         *saved = dlsym(libunwind, "_ULx86_64_get_save_loc"),
         *is_signal = dlsym(libunwind, "_ULx86_64_is_signal_frame");
    if (!context || !init || !step || !reg || !saved || !is_signal)
        return;
    *(void **)(void *)&unw.context = context;
    *(void **)(void *)&unw.init = init;
    *(void **)(void *)&unw.step = step;
    *(void **)(void *)&unw.reg = reg;
    *(void **)(void *)&unw.is_signal = is_signal;
    *(void **)(void *)&unw.saved = saved;
}

__attribute__((noinline)) uint32_t sync_memo_walk(void **frames, uint32_t max)
{
    uint64_t context[sizeof(ucontext_t) / sizeof(uint64_t) + 1], cursor[CURSOR_WORDS], address;
    uint32_t n = 0;
    if (!unw.step || unw.context(context) != 0 || unw.init(cursor, context) != 0)
        return 0;
    while (n < max && unw.step(cursor) > 0 && unw.reg(cursor, REG_ADDRESS, &address) == 0)
        frames[n++] = (void *)(uintptr_t)address;
    return n;
}

/* ------------------------------------------------------------------------------------------------------ learning */

struct memo_walk {
    uintptr_t frame;                  /**< words from here on are kept */
    uintptr_t saved;                  /**< address of the current frame's saved frame register; 0: not behind `frame` */
    uint64_t stack, pointer, address; /**< registers of the current frame */
    struct sync_memo *m;
};

static bool memo_keep(struct sync_memo *m, uintptr_t address)
{
    if (m->words >= SYNC_MEMO_WORDS || address - m->frame > UINT32_MAX)
        return false;
    m->word[m->words].at = (uint32_t)(address - m->frame);
    m->word[m->words++].value = sync_memo_word_at(address);
    return true;
}

/* Whether one of these words is `value`. */
static bool memo_words_have(uint64_t from, uint64_t to, uint64_t value)
{
    uint64_t at = from;
    while (at < to && (at % WORD != 0 || sync_memo_word_at(at) != value))
        at += WORD;
    return at < to;
}

/* A frame register that points to the end of its frame is used for unwinding; a function that aligns its stack has the
 * caller's in a word below. One that points elsewhere is used for something else and changes from call to call. */
static bool memo_keep_pointer(struct memo_walk *w, uint64_t pointer, uint64_t low, uint64_t high)
{
    if (pointer < low || pointer >= high)
        return true;
    uint64_t below = pointer - low < ALIGNED_BYTES ? low : pointer - ALIGNED_BYTES;
    bool aligns = memo_words_have(below, pointer, high);
    if (!aligns && high - pointer > NEAR_BYTES)
        return true;
    if (w->saved == 0 || !memo_keep(w->m, w->saved))
        return false;
    for (uint64_t at = below; aligns && at < pointer; at += WORD)
        if (sync_memo_word_at(at) == high && !memo_keep(w->m, at))
            return false;
    return true;
}

/* Keep the words that the step into the current frame read, and find where the next one is. */
static bool memo_keep_step(struct memo_walk *w, void *cursor, uint64_t stack_before, uint64_t pointer_before)
{
    struct saved saved = {0};
    uintptr_t returns = w->stack - WORD;
    if (returns < w->frame + WORD)
        return true;
    if (returns < stack_before || unw.is_signal(cursor) != 0 || sync_memo_word_at(returns) != w->address)
        return false;
    bool first = returns == w->frame + WORD; /* the step out of the recorder's own function */
    if ((!first && !memo_keep_pointer(w, pointer_before, stack_before, w->stack)) || !memo_keep(w->m, returns) ||
        unw.saved(cursor, REG_FRAME, &saved) < 0)
        return false;
    bool behind = saved.type == SAVED_IN_MEMORY && saved.address >= w->frame && saved.address % WORD == 0;
    w->saved = behind ? saved.address : 0;
    return true;
}

static bool memo_walk_read(struct memo_walk *w, void *cursor)
{
    return unw.reg(cursor, REG_STACK, &w->stack) == 0 && unw.reg(cursor, REG_FRAME, &w->pointer) == 0 &&
           unw.reg(cursor, REG_ADDRESS, &w->address) == 0;
}

/* Unwind the stack a second time, step by step, to learn which words of it the frames depend on. @return whether the frames are the same
 * ones, and all those words were stored in the memo. */
static __attribute__((noinline)) bool memo_walk_again(struct memo_walk *w, uintptr_t site, const void *const *frames,
                                                      uint32_t n)
{
    uint64_t context[sizeof(ucontext_t) / sizeof(uint64_t) + 1], cursor[CURSOR_WORDS];
    uint32_t met = 0;
    if (unw.context(context) != 0 || unw.init(cursor, context) != 0 || !memo_walk_read(w, cursor))
        return false;
    for (int i = 0; i < STEPS_MAX && met < n; i++) {
        uint64_t stack = w->stack, pointer = w->pointer;
        if (unw.step(cursor) <= 0 || !memo_walk_read(w, cursor) || !memo_keep_step(w, cursor, stack, pointer))
            return false;
        if (met == 0 && w->address != site)
            continue;
        if (w->address != (uintptr_t)frames[met++])
            return false;
    }
    return met == n;
}

/* The memo to learn now; NULL: none. One with few hits is not replaced at once. */
static struct sync_memo *memo_to_replace(struct sync_thread *t, uintptr_t frame, uintptr_t key)
{
    struct sync_memo *m = sync_memo_set(t, frame, key);
    if (m->patience == 0)
        m->patience = PATIENCE;
    if (++m->missed < m->patience)
        return NULL;
    uint32_t longer = m->patience < PATIENCE_MAX ? m->patience * 2 : PATIENCE_MAX;
    uint32_t patience = m->n == 0 || m->hits >= WORTH ? PATIENCE : longer;
    for (int i = SYNC_MEMO_WAYS - 1; i > 0; i--)
        m[i] = m[i - 1];
    m->n = 0;
    m->hits = m->missed = 0;
    m->patience = patience;
    return m;
}

struct sync_memo *sync_memo_begin(struct sync_thread *t, uintptr_t frame, uintptr_t site)
{
    uintptr_t key = sync_site_key(site);
    struct sync_memo *m = memo_to_replace(t, frame, key);
    if (!m)
        return NULL;
    m->words = 0;
    m->frame = frame;
    m->key = key;
    m->depth = sync_option(depth);
    return m;
}

void sync_memo_word(void *memo, uintptr_t address)
{
    struct sync_memo *m = memo;
    if (!memo_keep(m, address))
        m->words = SYNC_MEMO_WORDS + 1;
}

void sync_memo_end(struct sync_memo *m, uint32_t id)
{
    m->id = id;
    m->n = id != 0 && m->words <= SYNC_MEMO_WORDS ? m->words : 0;
}

void sync_memo_learn(struct sync_memo *m, struct sync_thread *t, uintptr_t site, uint32_t id, const void *const *frames,
                     uint32_t n)
{
    struct memo_walk w = {.frame = m->frame, .m = m};
    m->words = 0;
    if (unw.step) {
        sync_unwind_mask(t);
        id = memo_walk_again(&w, site, frames, n) ? id : 0;
        sync_unwind_unmask(t);
    }
    sync_memo_end(m, unw.step ? id : 0);
}

#else

void sync_memo_start(void *libunwind)
{
    (void)libunwind;
}

uint32_t sync_memo_walk(void **frames, uint32_t max)
{
    (void)frames;
    (void)max;
    return 0;
}

struct sync_memo *sync_memo_begin(struct sync_thread *t, uintptr_t frame, uintptr_t site)
{
    (void)t;
    (void)frame;
    (void)site;
    return NULL;
}

void sync_memo_word(void *memo, uintptr_t address)
{
    (void)memo;
    (void)address;
}

void sync_memo_end(struct sync_memo *m, uint32_t id)
{
    (void)m;
    (void)id;
}

void sync_memo_learn(struct sync_memo *m, struct sync_thread *t, uintptr_t site, uint32_t id, const void *const *frames,
                     uint32_t n)
{
    (void)m;
    (void)t;
    (void)site;
    (void)id;
    (void)frames;
    (void)n;
}

#endif

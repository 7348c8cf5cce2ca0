/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Recognition of call stacks that a thread has walked before.
 *
 * A walk is determined by unwind tables, which do not change, and by words of the stack: return addresses and saved frame
 * registers. A memo has all words that one walk read, in order, and the stack's id. While each word has its value,
 * another walk would give the same result. Fewer words would not be enough: two stacks can share some return addresses. A
 * word is read only if those before it matched, so that it is in an existing frame.
 */
#ifndef UPMU_SYNC_MEMO_H
#define UPMU_SYNC_MEMO_H

#include "sync_trace/state/state.h"
#include "sync_trace/state/thread.h"

/** Look up libunwind's functions. Without them, and on other architectures than x86-64, there are no memos. */
void sync_memo_start(void *libunwind);
/** Walk the stack of the caller by single steps, which needs no memory of the thread. @return frames stored, the caller's first; 0:
 *  not possible here. Under sync_unwind_mask() where signals may come. */
uint32_t sync_memo_walk(void **frames, uint32_t max);
/** A memo to learn in a walk, for stacks behind `frame` that contain `site`; NULL: none, the call site is not frequent enough. Each
 *  word that the walk depends on is given to sync_memo_word(), and the id at last; 0: the walk has failed. Under sync_guard(). */
struct sync_memo *sync_memo_begin(struct sync_thread *t, uintptr_t frame, uintptr_t site);
void sync_memo_word(void *memo, uintptr_t address);
void sync_memo_end(struct sync_memo *m, uint32_t id);
/** As these two, for a stack that libunwind walked in the calling function, by a second walk. `frames`: from `site` on. */
void sync_memo_learn(struct sync_memo *m, struct sync_thread *t, uintptr_t site, uint32_t id, const void *const *frames,
                     uint32_t n);

/* Words of other functions' frames, which a sanitizer would report. */
__attribute__((no_sanitize("address", "thread"))) static inline uintptr_t sync_memo_word_at(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

/** A set of two memos, the newer one first. */
static inline struct sync_memo *sync_memo_set(struct sync_thread *t, uintptr_t frame, uintptr_t key)
{
    return t->memos[(key ^ frame << 7) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SYNC_MEMO_BITS)];
}

static inline bool sync_memo_is_for(const struct sync_memo *m, uintptr_t frame, uintptr_t key)
{
    if (m->n == 0 || m->key != key || m->frame != frame || m->depth != sync_option(depth))
        return false;
    for (uint32_t i = 0; i < m->n; i++)
        if (sync_memo_word_at(frame + m->word[i].at) != m->word[i].value)
            return false;
    return true;
}

/** Id of the stack behind `frame`, a frame pointer, that contains `site`; 0: not recognized. Under sync_guard(). */
static inline uint32_t sync_memo_find(struct sync_thread *t, uintptr_t frame, uintptr_t site)
{
    uintptr_t key = sync_site_key(site);
    struct sync_memo *m = sync_memo_set(t, frame, key);
    for (int i = 0; i < SYNC_MEMO_WAYS; i++) {
        if (sync_memo_is_for(&m[i], frame, key)) {
            m[i].hits++;
            return m[i].id;
        }
    }
    return 0;
}

#endif

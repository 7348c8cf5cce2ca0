/* SPDX-License-Identifier: MIT */
/* Held locks: removal out of order, overflow, and reads by waiters in other threads. */
#include "sync_trace/state/held.h"

enum { ATTEMPTS = 8 /**< attempts to read entries that keep changing */ };

/* The origin of entry `to` + 1 becomes that of `to`. */
static void held_move_origin(struct sync_thread *t, uint32_t to)
{
    if (to >= SYNC_ORIGINS)
        return;
    struct sync_origin *o = &t->origins[to];
    __atomic_store_n(&o->since, 0, __ATOMIC_RELAXED);
    if (to + 1 == SYNC_ORIGINS)
        return;
    const struct sync_origin *from = &t->origins[to + 1];
    memcpy(o->word, from->word, sizeof o->word);
    o->frame = from->frame;
    o->stack = from->stack;
    __atomic_store_n(&o->since, from->since, __ATOMIC_RELEASE);
}

void sync_held_remove_entry(struct sync_thread *t, uint32_t at)
{
    uint32_t version = t->version;
    /* The entry that becomes free is that of a lock that moved, but for the last one. */
    uintptr_t gone = at + 1 == t->depth ? __atomic_load_n(&t->held[at].lock, __ATOMIC_RELAXED) : 0;
    __atomic_store_n(&t->version, version + 1, __ATOMIC_RELAXED);
    for (uint32_t i = at; i + 1 < t->depth; i++) {
        struct sync_held *to = &t->held[i], *from = &t->held[i + 1];
        __atomic_store_n(&to->lock, __atomic_load_n(&from->lock, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
        __atomic_store_n(&to->since, from->since, __ATOMIC_RELEASE);
        __atomic_store_n(&to->site, from->site, __ATOMIC_RELEASE);
        __atomic_store_n(&to->wanted, __atomic_load_n(&from->wanted, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
        to->number = 0;
        held_move_origin(t, i);
    }
    sync_held_pop(t, gone);
    __atomic_store_n(&t->version, version + 2, __ATOMIC_RELEASE);
}

void sync_held_clear(struct sync_thread *t)
{
    while (t->depth > 0)
        sync_held_remove_entry(t, t->depth - 1);
}

/* Entries are used from the first one on, and those that were used are not 0. */
void sync_held_forget(struct sync_thread *t)
{
    for (uint32_t i = 0; i < SYNC_HELD_MAX && __atomic_load_n(&t->held[i].lock, __ATOMIC_RELAXED) != 0; i++)
        __atomic_store_n(&t->held[i].lock, 0, __ATOMIC_RELAXED);
}

void sync_held_shift(struct sync_thread *t)
{
    t->forgotten++;
    sync_held_remove_entry(t, 0);
}

bool sync_held_remove(struct sync_thread *t, uintptr_t lock, struct sync_held *out)
{
    for (uint32_t i = t->depth; i-- > 0;) {
        struct sync_held *h = &t->held[i];
        if (__atomic_load_n(&h->lock, __ATOMIC_RELAXED) != lock)
            continue;
        *out = (struct sync_held){lock, h->site, h->since, __atomic_load_n(&h->wanted, __ATOMIC_RELAXED), 0};
        sync_held_remove_entry(t, i);
        return true;
    }
    return false;
}

bool sync_held_record(struct sync_thread *t, uintptr_t lock)
{
    for (uint32_t i = t->depth; i-- > 0;) {
        uintptr_t quiet = HELD_QUIET;
        if (__atomic_load_n(&t->held[i].lock, __ATOMIC_RELAXED) != lock)
            continue;
        (void)__atomic_compare_exchange_n(&t->held[i].wanted, &quiet, HELD_RECORDED, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
        return true;
    }
    return false;
}

/* @return whether the entry is of this lock; then it is copied. */
static bool held_copy(const struct sync_held *h, uintptr_t lock, struct sync_held *out)
{
    uint64_t since = __atomic_load_n(&h->since, __ATOMIC_ACQUIRE);
    for (int i = 0; i < ATTEMPTS; i++) {
        if (__atomic_load_n(&h->lock, __ATOMIC_ACQUIRE) != lock)
            return false;
        uintptr_t site = __atomic_load_n(&h->site, __ATOMIC_ACQUIRE);
        uint64_t again = __atomic_load_n(&h->since, __ATOMIC_ACQUIRE);
        if (again == since) {
            *out = (struct sync_held){.lock = lock, .site = site, .since = since};
            return true;
        }
        since = again;
    }
    return false;
}

static struct sync_held *held_find(struct sync_thread *holder, uintptr_t lock, bool outermost, struct sync_held *out)
{
    struct sync_held *found = NULL;
    uint32_t depth = __atomic_load_n(&holder->depth, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < depth && i < SYNC_HELD_MAX && !(found && outermost); i++)
        if (held_copy(&holder->held[i], lock, out))
            found = &holder->held[i];
    return found;
}

bool sync_held_ask(struct sync_thread *holder, uintptr_t lock, bool outermost, struct sync_held *out)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint32_t version = __atomic_load_n(&holder->version, __ATOMIC_ACQUIRE);
        struct sync_held *h = version % 2 ? NULL : held_find(holder, lock, outermost, out);
        if (version % 2 || __atomic_load_n(&holder->version, __ATOMIC_RELAXED) != version)
            continue;
        /* If the entry was replaced meanwhile, this address is not that of its lock, and its release is recorded
         * without a waiter. */
        if (h)
            __atomic_store_n(&h->wanted, lock, __ATOMIC_RELAXED);
        return h != NULL;
    }
    return false;
}

/*
 * The next acquisition takes the place of the last one released; what was below it is still held, and older. A new entry raises the
 * depth before it stores `since`, then `site`: old ones of both are read together if the depth, and then `site`, are the same as before.
 */
bool sync_held_last(const struct sync_thread *holder, uintptr_t lock, struct sync_held *out)
{
    uint32_t depth = __atomic_load_n(&holder->depth, __ATOMIC_ACQUIRE);
    if (depth >= SYNC_HELD_MAX)
        return false;
    const struct sync_held *h = &holder->held[depth];
    out->site = __atomic_load_n(&h->site, __ATOMIC_ACQUIRE);
    out->since = __atomic_load_n(&h->since, __ATOMIC_ACQUIRE);
    out->lock = lock;
    uint64_t below = depth ? __atomic_load_n(&h[-1].since, __ATOMIC_ACQUIRE) : 0;
    return __atomic_load_n(&h->lock, __ATOMIC_ACQUIRE) == (lock | HELD_RELEASED) &&
           __atomic_load_n(&holder->depth, __ATOMIC_ACQUIRE) == depth &&
           __atomic_load_n(&h->site, __ATOMIC_ACQUIRE) == out->site &&
           sync_held_since(out->since) > sync_held_since(below);
}

struct sync_thread *sync_held_search(uintptr_t lock, struct sync_held *out)
{
    struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next)
        if (__atomic_load_n(&t->used, __ATOMIC_RELAXED) && sync_held_ask(t, lock, false, out))
            return t;
    return NULL;
}

struct sync_thread *sync_held_search_all(uintptr_t lock, struct sync_held *out)
{
    struct sync_thread *first = NULL;
    struct sync_held held;
    struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next) {
        if (!__atomic_load_n(&t->used, __ATOMIC_RELAXED) || !sync_held_ask(t, lock, true, &held) || first)
            continue;
        first = t;
        *out = held;
    }
    return first;
}

void sync_origin_known(struct sync_thread *t, uint64_t since, uint32_t stack)
{
    uint32_t d = t->depth - 1;
    if (d >= SYNC_ORIGINS)
        return;
    struct sync_origin *o = &t->origins[d];
    __atomic_store_n(&o->since, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&o->frame, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&o->stack, stack, __ATOMIC_RELEASE);
    __atomic_store_n(&o->since, since, __ATOMIC_RELEASE);
}

#if UNDER_TSAN /* it does not support fences, and no stack is copied */
#define HELD_FENCE() ((void)0)
#else
#define HELD_FENCE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

/* By words: the holder may change them meanwhile, which the entry shows then. */
__attribute__((no_sanitize("thread"))) static void origin_copy_words(const struct sync_origin *o,
                                                                     struct sync_origin *out)
{
    const volatile uintptr_t *from = o->word;
    for (uint32_t i = 0; i < SYNC_ORIGIN_WORDS; i++)
        out->word[i] = from[i];
}

bool sync_origin_read(const struct sync_thread *holder, const struct sync_held *entry, struct sync_origin *out)
{
    uint32_t depth = __atomic_load_n(&holder->depth, __ATOMIC_ACQUIRE);
    for (uint32_t d = 0; d < depth && d < SYNC_ORIGINS; d++) {
        const struct sync_held *h = &holder->held[d];
        const struct sync_origin *o = &holder->origins[d];
        if (entry->since == 0 || __atomic_load_n(&h->lock, __ATOMIC_ACQUIRE) != entry->lock ||
            __atomic_load_n(&h->since, __ATOMIC_ACQUIRE) != entry->since ||
            __atomic_load_n(&o->since, __ATOMIC_ACQUIRE) != entry->since)
            continue;
        out->frame = __atomic_load_n(&o->frame, __ATOMIC_RELAXED);
        out->stack = out->frame == 0 ? __atomic_load_n(&o->stack, __ATOMIC_RELAXED) : 0;
        if (out->frame != 0)
            origin_copy_words(o, out);
        out->since = entry->since;
        HELD_FENCE();
        return __atomic_load_n(&h->lock, __ATOMIC_RELAXED) == entry->lock &&
               __atomic_load_n(&o->since, __ATOMIC_RELAXED) == entry->since;
    }
    return false;
}

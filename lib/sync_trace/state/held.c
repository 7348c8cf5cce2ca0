/* SPDX-License-Identifier: MIT */
/* Held locks: removal out of order, overflow, and reads by waiters in other threads. */
#include "sync_trace/state/held.h"

enum { ATTEMPTS = 8 /**< attempts to read entries that keep changing */ };

static void held_remove_entry(struct sync_thread *t, uint32_t at)
{
    uint32_t version = t->version;
    __atomic_store_n(&t->version, version + 1, __ATOMIC_RELAXED);
    for (uint32_t i = at; i + 1 < t->depth; i++) {
        struct sync_held *to = &t->held[i], *from = &t->held[i + 1];
        __atomic_store_n(&to->lock, __atomic_load_n(&from->lock, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
        __atomic_store_n(&to->site, from->site, __ATOMIC_RELEASE);
        __atomic_store_n(&to->since, from->since, __ATOMIC_RELEASE);
        __atomic_store_n(&to->wanted, __atomic_load_n(&from->wanted, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
        to->number = 0;
    }
    __atomic_store_n(&t->depth, t->depth - 1, __ATOMIC_RELEASE);
    __atomic_store_n(&t->version, version + 2, __ATOMIC_RELEASE);
}

void sync_held_shift(struct sync_thread *t)
{
    t->forgotten++;
    held_remove_entry(t, 0);
}

bool sync_held_remove(struct sync_thread *t, uintptr_t lock, struct sync_held *out)
{
    for (uint32_t i = t->depth; i-- > 0;) {
        struct sync_held *h = &t->held[i];
        if (__atomic_load_n(&h->lock, __ATOMIC_RELAXED) != lock)
            continue;
        *out = (struct sync_held){lock, h->site, h->since, __atomic_load_n(&h->wanted, __ATOMIC_RELAXED), 0};
        held_remove_entry(t, i);
        return true;
    }
    return false;
}

static struct sync_held *held_find(struct sync_thread *holder, uintptr_t lock, bool outermost)
{
    struct sync_held *found = NULL;
    uint32_t depth = __atomic_load_n(&holder->depth, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < depth && i < SYNC_HELD_MAX && !(found && outermost); i++)
        if (__atomic_load_n(&holder->held[i].lock, __ATOMIC_ACQUIRE) == lock)
            found = &holder->held[i];
    return found;
}

bool sync_held_ask(struct sync_thread *holder, uintptr_t lock, bool outermost, struct sync_held *out)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint32_t version = __atomic_load_n(&holder->version, __ATOMIC_ACQUIRE);
        struct sync_held *h = version % 2 ? NULL : held_find(holder, lock, outermost);
        if (h) {
            out->lock = lock;
            out->site = __atomic_load_n(&h->site, __ATOMIC_ACQUIRE);
            out->since = __atomic_load_n(&h->since, __ATOMIC_ACQUIRE);
        }
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

/* SPDX-License-Identifier: MIT */
/* Thread id and thread handle to block. */
#include "sync_trace/state/lock_memory.h"
#include "base/own_memory.h"
#include "sync_trace/state/thread.h"

enum {
    TID_SLOTS = 8192, /* power of two */
    TID_PROBES = 16,
};

static struct sync_thread **tid_slot(pid_t tid, uint32_t probe)
{
    uint32_t first = (uint32_t)tid * 2654435761u % TID_SLOTS;
    return &sync_process.by_tid[(first + probe) % TID_SLOTS];
}

bool sync_thread_table_start(void)
{
    sync_process.by_tid = own_memory_map_wiped(TID_SLOTS * sizeof(struct sync_thread *));
    sync_process.by_number = own_memory_map_wiped(LOCK_MEMORY_MANY * sizeof(struct sync_thread *));
    return sync_process.by_tid && sync_process.by_number;
}

/* A thread whose slots are all used cannot be found: its locks have no known holder. */
void sync_thread_table_add(struct sync_thread *t)
{
    for (uint32_t i = 0; i < TID_PROBES; i++) {
        struct sync_thread *expected = NULL;
        if (__atomic_compare_exchange_n(tid_slot(t->tid, i), &expected, t, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
}

void sync_thread_table_remove(struct sync_thread *t)
{
    for (uint32_t i = 0; i < TID_PROBES; i++) {
        struct sync_thread *expected = t;
        if (__atomic_compare_exchange_n(tid_slot(t->tid, i), &expected, NULL, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
    }
}

struct sync_thread *sync_thread_by_tid(pid_t tid)
{
    for (uint32_t i = 0; i < TID_PROBES; i++) {
        struct sync_thread *t = __atomic_load_n(tid_slot(tid, i), __ATOMIC_ACQUIRE);
        if (t && __atomic_load_n(&t->tid, __ATOMIC_RELAXED) == tid)
            return t;
    }
    return NULL;
}

struct sync_thread *sync_thread_by_handle(pthread_t self)
{
    struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    while (t && !(__atomic_load_n(&t->used, __ATOMIC_ACQUIRE) && __atomic_load_n(&t->self, __ATOMIC_RELAXED) == self))
        t = t->next;
    return t;
}

/* SPDX-License-Identifier: MIT */
/* Events with the acquisition counts per thread and lock. */
#include "sync_trace/account/count_records.h"

#include "base/tick.h"
#include "sync_trace/state/lock_memory.h"
#include "trace/write/writer.h"

/* Record a slot unless it is recorded already; `peer` is its thread if another one writes on its behalf. @return
 * whether it is in the trace. One that could not be recorded is counted as lost, and tried again the next time. */
static bool count_record_slot(struct sync_counts *c, uint32_t i, struct trace_stream *stream, uint64_t now, pid_t peer)
{
    const struct sync_count *s = &c->slot[i];
    uintptr_t key = sync_count_key(s);
    uint16_t type =
        __atomic_load_n(&s->type, __ATOMIC_ACQUIRE); /* none: the slot is being set up, and has counted nothing */
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_COUNTS,
        .peer = peer,
        .count = __atomic_load_n(&s->acquired, __ATOMIC_RELAXED),
        .contended = __atomic_load_n(&s->contended, __ATOMIC_RELAXED),
    };
    if (!key || !type || e.count == __atomic_load_n(&c->recorded[i], __ATOMIC_RELAXED))
        return true;
    e.object_type = (int32_t)type;
    e.flags = sync_key_flags(key, type);
    e.object = sync_key_object(key, type);
    if (!upmu_trace_sync_(stream, now, &e))
        return false;
    __atomic_store_n(&c->recorded[i], e.count, __ATOMIC_RELAXED);
    return true;
}

void sync_counts_write(struct sync_thread *t, struct trace_stream *stream)
{
    struct sync_counts *c = __atomic_load_n(&t->counts, __ATOMIC_ACQUIRE);
    uint64_t now = tick_now();
    for (uint32_t i = 0; c && i <= c->mask; i++)
        (void)count_record_slot(c, i, stream, now, 0);
}

/* What thread `of` has counted at the address, as a reader, too. An unknown type is set from there. */
static bool count_record_object(struct sync_thread *t, const struct sync_thread *of, uintptr_t object, int32_t *type)
{
    struct sync_counts *c = __atomic_load_n(&of->counts, __ATOMIC_ACQUIRE);
    uint64_t now = tick_now();
    bool all = true;
    for (uintptr_t key = object; c && key <= object + 1; key++) {
        for (uint32_t i = 0; i < SYNC_COUNT_PROBES; i++) {
            uint32_t slot = sync_count_place(key, i) & c->mask;
            uintptr_t found = __atomic_load_n(&c->slot[slot].lock, __ATOMIC_ACQUIRE);
            if (found == 0)
                break;
            if (found != key || (key != object && !sync_type_has_readers(c->slot[slot].type)))
                continue;
            if (*type == UPMU_OBJECT_NONE)
                *type = c->slot[slot].type;
            all &=
                count_record_slot(c, slot, t->stream, now, of == t ? 0 : __atomic_load_n(&of->tid, __ATOMIC_RELAXED));
            sync_count_make_dormant(&c->slot[slot], key);
        }
    }
    return all;
}

/* All threads that may have counted it. */
static bool count_record_all_threads(struct sync_thread *t, uintptr_t object, int32_t *type)
{
    bool all = true;
    for (struct sync_thread *of = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE); of; of = of->next) {
        if (!__atomic_load_n(&of->used, __ATOMIC_ACQUIRE))
            continue;
        all &= count_record_object(t, of, object, type);
        all &= __atomic_load_n(&of->uncounted.acquired, __ATOMIC_RELAXED) == 0;
    }
    return all;
}

bool sync_counts_final(struct sync_thread *t, uintptr_t object, int32_t *type)
{
    /* Without dormant slots, the threads that use the next lock at the address do not register again. */
    bool known = sync_counts_can_be_dormant() && !__atomic_load_n(&sync_gate.counts_lost, __ATOMIC_RELAXED);
    unsigned user = known ? lock_memory_thread(sync_process.lock_memory, object) : LOCK_MEMORY_MANY;
    bool all = true;
    if (user == LOCK_MEMORY_NO_THREAD)
        return true;
    uint32_t before = sync_guard(t); /* a signal handler that destroys a lock must not take this lock again */
    tiny_lock_take(&sync_gate.lock);
    if (user == LOCK_MEMORY_MANY)
        all = count_record_all_threads(t, object, type);
    else if (__atomic_load_n(&sync_process.by_number[user]->used, __ATOMIC_ACQUIRE))
        all = count_record_object(t, sync_process.by_number[user], object, type);
    tiny_lock_give(&sync_gate.lock);
    sync_unguard(t, before);
    return all;
}

void sync_counts_write_due(struct sync_thread *t, uint64_t now)
{
    if (now - t->flushed < sync_process.write_every)
        return;
    t->flushed = now;
    sync_counts_write(t, t->stream);
}

/* SPDX-License-Identifier: MIT */
/* Beginning and end of locks and other objects. */
#include "sync_trace/account/lock_life.h"

#include <errno.h>

#include "base/error.h"
#include "base/own_memory.h"
#include "base/tick.h"
#include "sync_trace/account/count_records.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/state/lock_memory.h"
#include "sync_trace/state/notes.h"

int sync_lock_life_start(void)
{
    if (sync_process.lock_memory)
        return 0;
    struct lock_memory *memory = own_memory_map_wiped(sizeof *memory);
    if (!memory)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    __atomic_store_n(&sync_process.lock_memory, memory, __ATOMIC_RELEASE);
    return 0;
}

void sync_lock_life_release(void)
{
    struct lock_memory *memory = __atomic_exchange_n(&sync_process.lock_memory, NULL, __ATOMIC_ACQ_REL);
    if (memory)
        own_memory_unmap(memory, sizeof *memory);
}

void sync_lock_register(uintptr_t key, uint32_t type)
{
    lock_memory_put(sync_process.lock_memory, sync_key_object(key, type), LOCK_MEMORY_NO_THREAD);
}

uint32_t sync_lock_unregister(struct sync_thread *t, uintptr_t object, int32_t *type)
{
    bool all = sync_counts_final(t, object, type); /* it needs the registration */
    (void)lock_memory_remove(sync_process.lock_memory, object);
    return all ? UPMU_TRACE_FLAG_FINAL : 0;
}

void sync_lock_forget(uintptr_t object)
{
    sync_generation_next(object);
    sync_note_end(object);
}

void sync_lock_init(struct sync_thread *t, int32_t type, const void *object, uintptr_t site, uint32_t flags)
{
    int saved = errno;
    sync_lock_forget((uintptr_t)object);
    sync_wait_state_disown(0, (uintptr_t)object); /* what an ended thread held there is gone */
    sync_lock_register((uintptr_t)object, (uint32_t)type);
    sync_event_flags(t, UPMU_TRACE_LOCK_INIT, type, object, site, 0, flags);
    errno = saved;
}

void sync_lock_destroy(struct sync_thread *t, int32_t type, const void *object, uintptr_t site, uint32_t flags)
{
    int saved = errno;
    sync_lock_forget((uintptr_t)object);
    sync_wait_state_disown(0, (uintptr_t)object);
    if (type == UPMU_OBJECT_COND) /* maybe never waited for: then its end concerns no thread's counts */
        sync_lock_register((uintptr_t)object, (uint32_t)type);
    flags |= sync_lock_unregister(t, (uintptr_t)object, &type);
    sync_event_flags(t, UPMU_TRACE_LOCK_DESTROY, type, object, site, 0, flags);
    errno = saved;
}

/* SPDX-License-Identifier: MIT */
/*
 * Names that the program gives to objects before there is a trace.
 *
 * A table of fixed size without a lock: a slot is claimed, filled and published, and never reused. Names that do not fit
 * are counted as lost when tracing begins. A forked child that records has its parent's names.
 */
#include "sync_trace/names.h"

#include <string.h>

#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/state/notes.h"
#include "upmu/region.h"

enum { NAMES = 256 };

enum { NAME_FREE, NAME_KEPT, NAME_REMOVED };

struct kept_name {
    uint32_t state;
    int32_t type;
    uintptr_t object;
    char name[UPMU_REGION_NAME_MAX + 1];
};

static struct {
    uint32_t claimed;
    struct kept_name slot[NAMES];
} names;

static uint32_t names_claimed(void)
{
    uint32_t n = __atomic_load_n(&names.claimed, __ATOMIC_ACQUIRE);
    return n < NAMES ? n : NAMES;
}

void sync_names_keep(const void *object, int32_t type, const char *name)
{
    uint32_t at = __atomic_fetch_add(&names.claimed, 1, __ATOMIC_RELAXED);
    if (at >= NAMES)
        return;
    struct kept_name *n = &names.slot[at];
    n->type = type;
    n->object = (uintptr_t)object;
    memcpy(n->name, name, strnlen(name, UPMU_REGION_NAME_MAX)); /* the rest is zeros */
    __atomic_store_n(&n->state, NAME_KEPT, __ATOMIC_RELEASE);
}

void sync_names_forget(const void *object)
{
    for (uint32_t i = 0; i < names_claimed(); i++) {
        struct kept_name *n = &names.slot[i];
        if (__atomic_load_n(&n->state, __ATOMIC_ACQUIRE) == NAME_KEPT && n->object == (uintptr_t)object)
            __atomic_store_n(&n->state, NAME_REMOVED, __ATOMIC_RELEASE);
    }
}

void sync_names_write(struct sync_thread *t)
{
    for (uint32_t i = 0; i < names_claimed(); i++) {
        const struct kept_name *n = &names.slot[i];
        if (__atomic_load_n(&n->state, __ATOMIC_ACQUIRE) != NAME_KEPT)
            continue;
        const struct trace_sync e = {
            .kind = UPMU_TRACE_LOCK_NAME, .object_type = n->type, .object = n->object, .name = n->name};
        sync_note_name(e.object, n->type, n->name);
        sync_write(t, tick_now(), &e);
    }
    uint32_t claimed = __atomic_load_n(&names.claimed, __ATOMIC_RELAXED);
    if (claimed > NAMES)
        upmu_recorder_lost_(LOSS_NAMES, claimed - NAMES);
}

/* SPDX-License-Identifier: MIT */
/*
 * Locks that the program implements itself and announces (upmu_lock_*).
 *
 * The owner of such a lock is unknown: a waiter searches the locks that all threads hold.
 */
#include <errno.h>
#include <string.h>

#include "base/tick.h"
#include "sync_trace/account/acquire.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/early.h"
#include "sync_trace/names.h"
#include "sync_trace/state/notes.h"
#include "sync_trace/thread_life.h"
#include "upmu/region.h"

static struct sync_thread *custom_thread(uint32_t *mode)
{
    *mode = sync_mode();
    return *mode == MODE_OFF ? NULL : sync_thread();
}

static void custom_write_named(int32_t kind, int32_t type, const void *object, const char *name, uintptr_t site)
{
    uint32_t mode = sync_mode();
    bool named = name && name[0], open = __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) != NULL;
    if (!open && named)
        sync_names_keep(object, type, name);
    if (!open && kind == UPMU_TRACE_LOCK_DESTROY)
        sync_names_forget(object);
    /* Names are recorded in every mode, and while tracing is paused. */
    struct sync_thread *t = open && (named || (mode != MODE_OFF && mode != MODE_COUNTS)) ? sync_thread() : NULL;
    if (!t)
        return;
    if (kind == UPMU_TRACE_LOCK_INIT || kind == UPMU_TRACE_LOCK_DESTROY)
        sync_lock_forget((uintptr_t)object);
    struct trace_sync e = {
        .kind = kind, .object_type = type, .object = (uintptr_t)object, .site = site, .name = name ? name : ""};
    if (kind != UPMU_TRACE_LOCK_DESTROY)
        sync_lock_register((uintptr_t)object, (uint32_t)type);
    else
        e.flags = sync_lock_unregister(t, (uintptr_t)object, &type);
    sync_note_name(e.object, type, name);
    sync_write(t, tick_now(), &e);
}

void upmu_lock_announce(const void *lock, const char *name)
{
    custom_write_named(UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_CUSTOM, lock, name, CALL_SITE());
}

void upmu_lock_name(const void *object, const char *name)
{
    custom_write_named(UPMU_TRACE_LOCK_NAME, UPMU_OBJECT_NONE, object, name, CALL_SITE());
}

void upmu_lock_retired(const void *lock)
{
    custom_write_named(UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_CUSTOM, lock, NULL, CALL_SITE());
}

void upmu_lock_will_acquire(const void *lock)
{
    uint32_t mode;
    struct sync_thread *t = custom_thread(&mode);
    if (!t)
        return;
    struct sync_wait w = {.t = t, .lock = (uintptr_t)lock, .site = CALL_SITE(), .type = UPMU_OBJECT_CUSTOM};
    sync_wait_begin(&w, mode, -1, false);
    t->announced = w.lock;
}

/* Acquired without an announced wait. `flags`: UPMU_TRACE_FLAG_TRIED. */
static void custom_acquired(struct sync_thread *t, uint32_t mode, uintptr_t lock, uintptr_t site, uint32_t flags)
{
    const struct lock_call call = {.key = lock, .type = UPMU_OBJECT_CUSTOM, .site = site, .flags = flags};
    sync_acquired(t, mode, &call, 0);
}

void upmu_lock_tried(const void *lock)
{
    uint32_t mode;
    struct sync_thread *t = custom_thread(&mode);
    if (t)
        custom_acquired(t, mode, (uintptr_t)lock, CALL_SITE(), UPMU_TRACE_FLAG_TRIED);
}

/* Also without an announced wait. */
void upmu_lock_acquired(const void *lock)
{
    uint32_t mode;
    struct sync_thread *t = custom_thread(&mode);
    if (!t)
        return;
    if (t->announced == (uintptr_t)lock) {
        t->announced = 0;
        struct sync_wait w = {.t = t,
                              .lock = (uintptr_t)lock,
                              .site = CALL_SITE(),
                              .type = UPMU_OBJECT_CUSTOM,
                              .recorded = mode != MODE_COUNTS};
        sync_wait_end(&w);
        return;
    }
    custom_acquired(t, mode, (uintptr_t)lock, CALL_SITE(), 0);
}

void upmu_lock_released(const void *lock)
{
    uint32_t mode = sync_mode();
    const struct lock_call call = {.key = (uintptr_t)lock, .type = UPMU_OBJECT_CUSTOM, .site = CALL_SITE()};
    struct sync_thread *t = mode == MODE_OFF ? sync_release_thread(mode) : sync_thread();
    struct lock_release r;
    if (t && sync_release_begin(t, mode, &call, &r))
        sync_release_end(t, &call, &r, false);
    else if (t && !sync_held_search(call.key, &r.held)) /* acquired before the recording */
        sync_release_before(t, &call, tick_now());
}

/* SPDX-License-Identifier: MIT */
/* Calls of libraries whose own locks and threads are not recorded. */
#include "sync_trace/leave_out.h"

#include "sync_trace/fork.h"
#include "sync_trace/stack/unwind.h"
#include "sync_trace/thread_life.h"

const struct sync_leave_out_process upmu_sync_process_ = {
    .mode = &sync_gate.mode, .depth = &sync_process.depth, .unloads = &sync_process.unloads};
_Static_assert(SYNC_INSIDE_READY == SYNC_INSIDE + (int)SYNC_READY && (int)SYNC_NOT_READY == 0 && (int)MODE_OFF == 0,
               "as leave_out.h assumes");

struct sync_leave_out *upmu_sync_state_(void)
{
    return &sync_tls.leave_out;
}

uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site, const void *frame)
{
    struct sync_thread *t = sync_recording();
    return t ? sync_stack_behind(t, tick, site, (uintptr_t)frame) : 0;
}

bool upmu_sync_child_begin_(void)
{
    sync_child_check();
    return __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) != NULL;
}

bool upmu_sync_withhold_(uint64_t tick, uintptr_t site, uint32_t *stack)
{
    struct sync_thread *t = sync_recording();
    *stack = 0;
    if (!t)
        return false;
    sync_tls.leave_out.inside =
        SYNC_INSIDE; /* first: libraries below MPI replace mmap(), which the recorder calls, with functions that lock */
    if (site)
        *stack = sync_stack(t, tick, site);
    sync_tls.leave_out.inside = SYNC_INSIDE + sync_guard(t);
    return true;
}

void upmu_sync_resume_(void)
{
    struct sync_thread *t = sync_tls.thread;
    uint32_t before = sync_tls.leave_out.inside - SYNC_INSIDE;
    sync_tls.leave_out.inside = 0;
    if (t && t->used)
        sync_unguard(t, before);
}

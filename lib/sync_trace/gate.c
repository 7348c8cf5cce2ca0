/* SPDX-License-Identifier: MIT */
/* Opening of the gate: from here on lock calls are recorded. */
#include "sync_trace/gate.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/names.h"
#include "sync_trace/stack/modules.h"
#include "sync_trace/stack/unwind.h"
#include "sync_trace/state/notes.h"
#include "sync_trace/state/shared_memory.h"
#include "sync_trace/thread_life.h"
#include "trace/format/control.h"
#include "trace/write/writer.h"

_Static_assert((int)CONTROL_OFF == (int)MODE_OFF && (int)CONTROL_COUNTS == (int)MODE_COUNTS,
               "the control file has the mode word");

static uint64_t ticks_to_picoseconds(double ticks)
{
    return (uint64_t)(ticks * 1e12 / (double)sync_process.hz + 0.5);
}

static void event_cost_measure(struct sync_thread *t)
{
    enum { STACKS = 64 };
    struct sync_process *p = &sync_process;
    double full, compact;
    if (!upmu_trace_cost_measure_(&full, &compact))
        return;
    p->cost.full_ps = ticks_to_picoseconds(full);
    p->cost.compact_ps = ticks_to_picoseconds(compact);
    if (p->depth == 0)
        return;
    uint64_t begin = tick_now();
    for (int i = 0; i < STACKS; i++)
        (void)sync_stack(t, begin, CALL_SITE());
    p->cost.stack_ps = ticks_to_picoseconds((double)(tick_now() - begin) / (double)STACKS);
}

/* Cost of an event, which the report adds up: measured once, written into each trace. */
static void event_cost_write(struct sync_thread *t)
{
    const struct sync_process *p = &sync_process;
    if (p->cost.full_ps == 0)
        event_cost_measure(t);
    if (p->cost.full_ps != 0) /* if lost, it is counted as lost */
        (void)upmu_trace_own_cost_(t->stream, tick_now(), p->cost.full_ps, p->cost.compact_ps, p->cost.stack_ps);
}

/* The time before the first event about locks is as one in which recording was stopped. */
static void gate_note_pause(struct control_header *control, uint32_t mode, bool late)
{
    bool first = __atomic_load_n(&control->pauses, __ATOMIC_RELAXED) == 0, before = late && first;
    if (before && mode != MODE_OFF)
        control_pause(control, 1, false);
    uint64_t now_ns = tick_portable();
    __atomic_store_n(&sync_gate.since_raw_ns, now_ns, __ATOMIC_RELAXED);
    control_resume(control, now_ns);
    __atomic_fetch_or(&control->modes, 1U << mode, __ATOMIC_RELAXED);
    if (mode == MODE_OFF)
        control_pause(control, before ? 1 : now_ns, false);
    else if (mode == MODE_COUNTS && (before || !first))
        control_pause(control, now_ns, true);
}

int sync_gate_open(uint32_t mode, bool late)
{
    struct control_header *control = upmu_recorder_control_();
    if (!control)
        return upmu_fail(UPMU_E_IO, "the trace could not be made");
    __atomic_store_n(&control->chosen, sync_option(chosen), __ATOMIC_RELAXED);
    gate_note_pause(control, mode, late);
    __atomic_store_n(&sync_gate.since, tick_now(), __ATOMIC_RELAXED);
    sync_limits_start(control);
    __atomic_store_n(&control->mode, mode, __ATOMIC_RELEASE);
    sync_wait_state_start();
    sync_shared_memory_start();
    pid_t parent = getppid();
    __atomic_store_n(&control->parent, (uint32_t)parent, __ATOMIC_RELAXED);
    sync_note_self((pid_t)getpid(), sync_gate.since, parent);
    __atomic_store_n(&sync_gate.held, GATE_RECORDS | (sync_option(depth) != 0 ? GATE_STACKS : 0), __ATOMIC_RELAXED);
    __atomic_store_n(&sync_gate.mode, &control->mode, __ATOMIC_RELEASE);
    __atomic_store_n(&sync_gate.word, &control->mode, __ATOMIC_RELEASE);
    struct sync_thread *t = sync_thread();
    if (t) {
        sync_modules_scan(t);
        event_cost_write(t);
        sync_names_write(t);
        sync_early_publish(t);
    }
    return 0;
}

/* Make every thread's stores from before visible, and let none of its loads from after precede them. A filter may end the process for
 * the call. */
static bool gate_barrier(void)
{
#ifdef SYS_membarrier
    enum { EXPEDITED = 1 << 3, REGISTER_EXPEDITED = 1 << 4 }; /* Linux 4.14 */
    return upmu_recorder_filters_() == 0 &&
           (syscall(SYS_membarrier, EXPEDITED, 0, 0) == 0 ||
            (syscall(SYS_membarrier, REGISTER_EXPEDITED, 0, 0) == 0 && syscall(SYS_membarrier, EXPEDITED, 0, 0) == 0));
#else
    return false;
#endif
}

static bool gate_locks_are_held(void)
{
    const struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    while (t && !(__atomic_load_n(&t->used, __ATOMIC_RELAXED) == 1 && __atomic_load_n(&t->depth, __ATOMIC_RELAXED)))
        t = t->next;
    return t != NULL;
}

void sync_gate_close(void)
{
    uint32_t closes = GATE_CLOSES;
    int saved = errno;
    __atomic_store_n(&sync_gate.word, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&sync_gate.held, closes, __ATOMIC_SEQ_CST);
    if (gate_barrier() && !gate_locks_are_held())
        (void)__atomic_compare_exchange_n(&sync_gate.held, &closes, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    errno = saved;
}

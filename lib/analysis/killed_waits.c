/* SPDX-License-Identifier: MIT */
/*
 * Threads of a killed process, and their waits, extended beyond its last event.
 *
 * A process that observed the recording noted in the wait-state file when the killed process was last alive. A thread whose
 * slot still has the same wait had not resumed by then. The time is on two clocks: one may have been set, the other may
 * differ by the time namespace of a container, so the shorter duration is used.
 */
#include <fcntl.h>
#include <unistd.h>

#include "analysis/pass/handlers.h"
#include "analysis/public.h"
#include "analysis/wait_state_file.h"
#include "analysis/window_pass.h"
#include "trace/format/control.h"
#include "trace/read/bare.h"

static bool killed_waits_process_ended(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ended = fd >= 0 && control_is_running(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ended;
}

/* In a window, as far as it is in there. */
static int add_call(struct overview *o, uint32_t thread, struct upmu_trace_event *e)
{
    uint32_t object = MAP_NONE;
    int rc = 0;
    if (o->window.whole && e->time_ns > o->window.to_ns)
        return 0;
    if (o->window.whole) {
        e->time_ns = window_time(&o->window, e->time_ns);
        rc = window_object(o, e, &object);
    }
    if (object == MAP_NONE)
        object = call_object(o, e);
    return rc != 0 || object == MAP_NONE ? UPMU_E_NOMEM : wait_begin_unrecorded(o, thread, object, e);
}

/* Calls that the killed process was in: their events are written when they return. */
static int add_calls(struct upmu_overview *o, uint32_t process, const struct wait_state_file *f)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < f->n_threads; i++) {
        const struct wait_file_slot *h = &f->threads[i].head;
        uint32_t thread = map_find(&o->pass.by_tid, process, (uint32_t)h->tid);
        struct upmu_trace_event e;
        if (!wait_state_is_call(h) || thread == MAP_NONE)
            continue;
        const struct overview *whole = o->pass.window.whole;
        const struct ov_thread *t = &o->pass.threads[thread], *all = whole ? &whole->threads[thread] : t;
        if (all->ended || t->n_pending > 0)
            continue;
        wait_state_call_event(h, process, &e);
        e.pid = t->pid;
        e.time_ns = e.time_ns < all->last_ns ? all->last_ns : e.time_ns; /* of two clocks */
        rc = add_call(&o->pass, thread, &e);
    }
    return rc;
}

/* When the program that the process became began: exec() ends all threads. UINT64_MAX: it did not. */
static uint64_t next_image_start(const struct upmu_overview *o, uint32_t process)
{
    size_t next = trace_process_next_image(o->trace, process);
    return next < o->pass.n_processes ? o->pass.processes[next].start_ns : UINT64_MAX;
}

static void extend_waits(struct upmu_overview *o, uint32_t process, const struct wait_state_file *f, uint64_t until)
{
    for (size_t i = 0; i < f->n_threads; i++) {
        const struct wait_file_slot *h = &f->threads[i].head;
        bool waits = (h->state == WAIT_FILE_BLOCKED && !wait_file_is_left(h)) || wait_state_is_call(h);
        if (waits && h->since_ns < f->header.alive_ns)
            overview_extend_wait(&o->pass, process, h->tid, h->object, until, f->header.alive_ns - h->since_ns);
    }
}

int killed_waits_extend(struct upmu_overview *o)
{
    int rc = 0;
    for (size_t i = 0; rc != UPMU_E_NOMEM && i < o->pass.n_processes; i++) {
        const char *dir = trace_process_dir(o->trace, i);
        struct wait_state_file f;
        if (!o->pass.processes[i].killed || !killed_waits_process_ended(dir))
            continue;
        /* Without a readable file, the waits end with the last event. */
        rc = wait_state_file_read(&f, dir);
        if (rc > 0)
            rc = add_calls(o, (uint32_t)i, &f);
        uint64_t alive = rc == 0 && f.header.alive_raw_ns ? trace_time_of_raw(o->trace, i, f.header.alive_raw_ns) : 0;
        uint64_t next = next_image_start(o, (uint32_t)i);
        if (rc == 0 && alive != 0)
            extend_waits(o, (uint32_t)i, &f, alive < next ? alive : next);
        o->pass.processes[i].alive_ns = next != UINT64_MAX ? next : alive;
        wait_state_file_free(&f);
    }
    return rc == UPMU_E_NOMEM ? rc : 0;
}

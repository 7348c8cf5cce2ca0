/* SPDX-License-Identifier: MIT */
/*
 * Overview of a process from its wait-state file alone.
 *
 * A report on a deadlock must not depend on the length of the trace. The notes of the file have the modules, the
 * names, and the types of the objects waited for and held.
 */
#include "deadlock/wait_state_only.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/locations.h"
#include "analysis/public.h"
#include "base/error.h"
#include "deadlock/notes_file.h"
#include "trace/read/bare.h"

/* ------------------------------------------------------------------------------------------------- the overview */

/* Passes an event to the overview as if it came from the trace. */
static int overview_add_event(struct upmu_overview *o, const struct wait_state *s, int kind, int type, uint64_t object,
                              const char *name)
{
    const struct upmu_trace_event e = {
        .kind = kind,
        .pid = (pid_t)s->file.header.pid,
        .tid = (pid_t)s->file.header.pid,
        .object_type = type,
        .object = object,
        .name = name,
    };
    return overview_add(&o->pass, &e);
}

static int overview_add_note(struct upmu_overview *o, const struct wait_state *s, const struct wait_file_note *note,
                             const char *second, bool *whole)
{
    const struct upmu_trace_module m = {
        .base = note->value[0],
        .start = note->value[1],
        .end = note->value[2],
        .build_id = note->texts,
        .path = second,
    };
    switch (note->kind) {
    case WAIT_FILE_NOTE_MODULE:
        return trace_bare_module(o->trace, &m);
    case WAIT_FILE_NOTE_NAME:
        return overview_add_event(o, s, UPMU_TRACE_LOCK_NAME, (int)note->value[1], note->value[0], second);
    case WAIT_FILE_NOTE_END:
        return overview_add_event(o, s, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_NONE, note->value[0], "");
    case WAIT_FILE_NOTE_SHARED:
    case WAIT_FILE_NOTE_SELF:
    case WAIT_FILE_NOTE_PARENT:
    case WAIT_FILE_NOTE_REAPED:
    case WAIT_FILE_NOTE_SPAWNED:
        return 0;
    default: /* being written, or of a kind of a later version */
        *whole = false;
        return 0;
    }
}

/* Add what the notes of the process have: names and other facts that were written beside its wait states. */
static int overview_add_notes(struct upmu_overview *o, const struct wait_state *s, bool *whole)
{
    struct notes_file n;
    const struct wait_file_note *note;
    const char *second;
    int rc = notes_file_read(&n, o->dir, &s->file.header);
    for (uint32_t at = 0; rc == 0 && (note = notes_file_at(&n, at, &second)) != NULL; at += note->bytes)
        rc = overview_add_note(o, s, note, second, whole);
    *whole = *whole && n.whole;
    notes_file_free(&n);
    return rc;
}

/* Adds an object, whose type may not be known. */
static int overview_add_untyped(struct upmu_overview *o, int type, uint64_t address)
{
    const struct upmu_trace_event e = {.object_type = type, .object = address};
    return address == 0 || object_of(&o->pass, &e, LOOKUP_LIVE) != MAP_NONE ? 0 : overview_no_memory();
}

/* The stack at which the lock was acquired that the thread waits for. */
static int overview_add_holder_stack(struct upmu_overview *o, const struct wait_state_thread *t, bool *whole)
{
    const struct wait_file_holder_stack *k = &t->holder_stack;
    const struct upmu_trace_stack stack = {
        .frames = k->frames, .n_frames = k->n, .method = k->method, .truncated = k->truncated};
    if (t->head.holder_stack == 0 || t->inspected)
        return 0;
    if (k->id == t->head.holder_stack && k->n <= WAIT_FILE_HOLDER_FRAMES_MAX)
        return trace_bare_stack(o->trace, 0, k->id, &stack);
    *whole = false;
    return 0;
}

static int overview_add_stack(struct upmu_overview *o, const struct wait_state_thread *t, bool *whole)
{
    const struct wait_file_stack *k = &t->stack;
    const struct upmu_trace_stack stack = {
        .frames = k->frames, .n_frames = k->n, .method = k->method, .truncated = k->truncated};
    if (t->head.stack == 0)
        return 0;
    if (k->id == t->head.stack && k->n <= WAIT_FILE_FRAMES_MAX)
        return trace_bare_stack(o->trace, 0, k->id, &stack);
    *whole = false;
    return 0;
}

/* Adds the thread with its name, and its wait's stack, which may show the function it was started with. */
static int overview_add_name(struct upmu_overview *o, const struct wait_state *s, const struct wait_state_thread *t)
{
    uint32_t thread = thread_of(&o->pass, 0, (pid_t)s->file.header.pid, t->head.tid, t->head.since_ns);
    if (thread == MAP_NONE)
        return overview_no_memory();
    o->pass.threads[thread].stack = t->head.stack;
    o->pass.threads[thread].stack_shows_start = t->head.stack != 0 && !t->stack.truncated;
    return t->head.name[0] ? overview_rename(&o->pass.threads[thread].name, t->head.name) : 0;
}

static int overview_add_thread(struct upmu_overview *o, const struct wait_state *s, const struct wait_state_thread *t,
                               bool *whole)
{
    const struct wait_file_slot *h = &t->head;
    int rc = h->tid != 0 ? overview_add_name(o, s, t) : 0;
    for (uint32_t i = 0; rc == 0 && i < t->n_held; i++)
        rc = overview_add_untyped(o, (int)s->file.held[t->first_held + i].type, s->file.held[t->first_held + i].lock);
    if (h->state != WAIT_FILE_BLOCKED)
        return rc;
    if (rc == 0)
        rc = overview_add_untyped(o, h->type, h->object);
    if (rc == 0 && h->kind == UPMU_TRACE_COND_WAIT && h->object2 != 0)
        rc = overview_add_untyped(o, UPMU_OBJECT_MUTEX, h->object2);
    if (rc == 0)
        rc = overview_add_stack(o, t, whole);
    return rc == 0 ? overview_add_holder_stack(o, t, whole) : rc;
}

static int overview_from_wait_state(struct upmu_overview *o, const char *dir, const struct wait_state *s, bool *whole)
{
    o->dir = strdup(dir);
    int rc = o->dir ? trace_bare_open(&o->trace, dir) : overview_no_memory();
    if (rc == 0)
        rc = lookup_open(o, NULL);
    if (rc == 0)
        rc = overview_process(&o->pass, &(struct ov_process){.switches = SIZE_MAX});
    if (rc == 0)
        rc = overview_add_notes(o, s, whole);
    for (size_t i = 0; rc == 0 && *whole && i < s->file.n_threads; i++)
        rc = overview_add_thread(o, s, &s->file.threads[i], whole);
    return rc;
}

int wait_state_overview(struct upmu_overview **overview, const char *dir, const struct wait_state *s)
{
    bool whole = true;
    struct upmu_overview *o = calloc(1, sizeof *o);
    *overview = NULL;
    if (!o)
        return overview_no_memory();
    int rc = overview_from_wait_state(o, dir, s, &whole);
    if (rc == 0 && whole) {
        *overview = o;
        return 1;
    }
    upmu_overview_close(o);
    return rc;
}

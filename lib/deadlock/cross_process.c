/* SPDX-License-Identifier: MIT */
/*
 * Deadlocks of threads in several processes, over objects in shared memory.
 *
 * The snapshots of all processes that share the memory in which a thread waits become one, in which an object has one number
 * whatever its address, and the same search runs on it. What other processes hold is recorded by them; a mutex whose owner did
 * not record it has the owner in its memory. Each process gets its part of what is found.
 *
 * The processes are read one after the other. All waits are read again after the search: threads that have not run between
 * slept at one moment.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process/same_memory.h"
#include "deadlock/deadlocks.h"
#include "deadlock/inspect/inspect.h"
#include "deadlock/shared_memory.h"
#include "upmu/control.h"
#include "upmu/trace.h"

struct cross {
    struct upmu_deadlocks *d;
    struct shared_memory memory;
    bool *taken; /* by process: it is part of `all` */
    struct wg_snapshot all;
    struct wg_hold *holds;
    struct cross_thread {
        uint32_t process, thread; /* `thread` of the process's snapshot */
        bool same;                /* it has not run until the second reading */
    } * threads;                  /* by thread of `all` */
};

static struct wait_state *cross_state(const struct cross *c, uint32_t process)
{
    return &c->d->processes[process].wait_state;
}

static bool cross_is_comparable(const struct dl_process *p)
{
    return p->alive && p->wait_state.kernel.waits && p->outer_pid != 0;
}

bool deadlocks_thread_waits_for_shared(const struct wait_state *s, const struct wait_state_thread *t)
{
    const struct kernel_thread *k = kernel_view_thread(&s->kernel, t->head.tid);
    return t->head.state == WAIT_FILE_BLOCKED &&
           ((t->head.flags & (UPMU_TRACE_FLAG_PSHARED | UPMU_TRACE_FLAG_ROBUST)) || (k && k->in_futex && k->may_share));
}

bool deadlocks_wait_for_shared(const struct wait_state *s)
{
    for (size_t i = 0; i < s->file.n_threads; i++)
        if (deadlocks_thread_waits_for_shared(s, &s->file.threads[i]))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------ one snapshot */

/* The processes of which a thread waits for the end of any one. @return how many; 0: none, or not all are comparable. */
static size_t cross_children(const struct cross *c, const struct wait_state *s, const struct kernel_thread *k,
                             uint32_t out[KERNEL_CHILDREN], bool *all)
{
    pid_t children[KERNEL_CHILDREN];
    size_t n = k->asleep ? kernel_children(&s->kernel, k, children, all) : 0, found = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t p = 0; found == i && p < c->d->n_processes; p++)
            if (cross_is_comparable(&c->d->processes[p]) && c->d->processes[p].outer_pid == children[i])
                out[found++] = p;
    return found == n ? n : 0;
}

/* Takes the processes that threads of those taken wait for the end of, as a shell between a program and its command. */
static void cross_take_children(struct cross *c)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t p = 0; p < c->d->n_processes; p++) {
            const struct wait_state *s = cross_state(c, p);
            for (size_t i = 0; c->taken[p] && i < s->kernel.n_threads; i++) {
                uint32_t children[KERNEL_CHILDREN];
                bool all;
                size_t n = cross_children(c, s, &s->kernel.threads[i], children, &all);
                for (size_t k = 0; k < n; k++)
                    if (!c->taken[children[k]])
                        c->taken[children[k]] = more = true;
            }
        }
    }
}

/* Takes the processes that share memory in which a thread waits. @return how many. */
static size_t cross_take_processes(struct cross *c)
{
    size_t n = 0;
    for (uint32_t p = 0; p < c->d->n_processes; p++) {
        const struct wait_state *s = cross_state(c, p);
        for (size_t i = 0; cross_is_comparable(&c->d->processes[p]) && i < s->file.n_threads; i++) {
            const struct shared_mapping *in = deadlocks_thread_waits_for_shared(s, &s->file.threads[i])
                                                  ? shared_memory_at(&c->memory, p, s->file.threads[i].head.object)
                                                  : NULL;
            for (uint32_t k = 0; in && k < c->d->n_processes; k++)
                if (!c->taken[k] && cross_is_comparable(&c->d->processes[k]) && shared_memory_has(&c->memory, k, in))
                    c->taken[k] = ++n > 0;
        }
    }
    cross_take_children(c);
    return n;
}

static void cross_add_holds(struct cross *c, uint32_t process, struct wg_thread *to, const struct wg_thread *from)
{
    const struct wait_state *s = cross_state(c, process);
    to->first_hold = (uint32_t)c->all.n_holds;
    for (uint32_t i = 0; i < from->n_holds; i++) {
        const struct wg_hold *h = &s->snapshot.holds[from->first_hold + i];
        c->holds[c->all.n_holds++] =
            (struct wg_hold){.lock = shared_memory_object(&c->memory, process, h->lock), .shared = h->shared};
    }
}

/* The thread that has that id for those of process `of`; WG_NONE. */
static uint32_t cross_find_thread(const struct cross *c, uint32_t of, pid_t tid)
{
    for (uint32_t i = 0; i < c->all.n_threads; i++) {
        const struct cross_thread *t = &c->threads[i];
        const struct wait_state *s = cross_state(c, t->process);
        if (s->kernel.space == cross_state(c, of)->kernel.space && t->thread < s->file.n_threads &&
            s->file.threads[t->thread].head.tid == tid && s->file.threads[t->thread].head.state != WAIT_FILE_ENDED)
            return i;
    }
    return WG_NONE;
}

/* The owner of the lock that thread `t` waits for, by the lock itself; 0. */
static pid_t cross_owner(const struct cross *c, const struct cross_thread *t)
{
    const struct wait_state *s = cross_state(c, t->process);
    if (t->thread >= s->file.n_threads)
        return 0;
    const struct wait_file_slot *h = &s->file.threads[t->thread].head;
    if (h->state != WAIT_FILE_BLOCKED || h->kind != UPMU_TRACE_LOCK_BLOCK)
        return 0;
    return h->type == UPMU_OBJECT_MUTEX    ? kernel_mutex_owner(&s->kernel, h->object)
           : h->type == UPMU_OBJECT_RWLOCK ? kernel_rwlock_writer(&s->kernel, h->object)
                                           : 0;
}

static bool cross_is_held(const struct cross *c, uint64_t lock)
{
    for (size_t i = 0; i < c->all.n_holds; i++)
        if (c->holds[i].lock == lock)
            return true;
    return false;
}

/* Add a lock that `thread` holds. Its holds must be contiguous, so they move to the end of `holds` first. */
static void cross_add_hold(struct cross *c, uint32_t thread, uint64_t lock)
{
    struct wg_thread *t = &c->all.threads[thread];
    memmove(&c->holds[c->all.n_holds], &c->holds[t->first_hold], t->n_holds * sizeof *c->holds);
    t->first_hold = (uint32_t)c->all.n_holds;
    c->all.n_holds += t->n_holds++;
    c->holds[c->all.n_holds++] = (struct wg_hold){.lock = lock};
}

/* Whether a thread of another process has that id. */
static bool cross_is_of_another(const struct cross *c, uint32_t process, pid_t tid)
{
    uint32_t holder = tid > 0 ? cross_find_thread(c, process, tid) : WG_NONE;
    return holder != WG_NONE && c->threads[holder].process != process;
}

/* The lock that contains the futex word of process `process`, and is held by another one; `*type` becomes its type. @return its address;
 * 0: there is none. */
static uint64_t cross_lock_at(const struct cross *c, uint32_t process, uint64_t word, int32_t *type)
{
    const struct kernel_view *v = &cross_state(c, process)->kernel;
    *type = UPMU_OBJECT_MUTEX;
    if (cross_is_of_another(c, process, kernel_mutex_owner(v, word)))
        return word;
    *type = UPMU_OBJECT_RWLOCK;
    for (unsigned i = 0; i < KERNEL_RWLOCK_WORDS; i++)
        if (cross_is_of_another(c, process, kernel_rwlock_writer(v, kernel_rwlock_at(word, i))))
            return kernel_rwlock_at(word, i);
    return 0;
}

/* A wait that is not recorded is one for a futex as long as no thread of the process holds a lock there: one of another process
 * may. */
static void cross_find_locks(struct cross *c)
{
    for (uint32_t i = 0; i < c->all.n_threads; i++) {
        const struct cross_thread *t = &c->threads[i];
        struct wait_state *s = cross_state(c, t->process);
        struct wait_state_thread *w = t->thread < s->file.n_threads ? &s->file.threads[t->thread] : NULL;
        if (!w || !w->inspected || w->head.state != WAIT_FILE_BLOCKED || w->head.kind != UPMU_TRACE_FUTEX_WAIT)
            continue;
        int32_t type;
        uint64_t lock = cross_lock_at(c, t->process, w->head.object, &type);
        if (lock == 0)
            continue;
        w->head.kind = UPMU_TRACE_LOCK_BLOCK;
        w->head.type = type;
        w->head.object = s->snapshot.threads[t->thread].object = lock;
        c->all.threads[i].object = shared_memory_object(&c->memory, t->process, lock);
        s->snapshot.threads[t->thread].wait = c->all.threads[i].wait = WG_LOCK;
    }
}

/* An owner is added once only, so that the space of cross_allocate() suffices. */
static void cross_add_owners(struct cross *c)
{
    for (uint32_t i = 0; i < c->all.n_threads; i++) {
        const struct wg_thread *w = &c->all.threads[i];
        pid_t tid = w->wait == WG_LOCK || w->wait == WG_READ_LOCK ? cross_owner(c, &c->threads[i]) : 0;
        uint32_t owner =
            tid > 0 && !cross_is_held(c, w->object) ? cross_find_thread(c, c->threads[i].process, tid) : WG_NONE;
        if (owner != WG_NONE && c->all.threads[owner].wait != WG_RUNNING)
            cross_add_hold(c, owner, w->object);
    }
}

static void cross_add_process(struct cross *c, uint32_t process)
{
    const struct wait_state *s = cross_state(c, process);
    uint32_t base = (uint32_t)c->all.n_threads;
    for (uint32_t i = 0; i < s->snapshot.n_threads; i++) {
        const struct wg_thread *from = &s->snapshot.threads[i];
        struct wg_thread *to = &c->all.threads[c->all.n_threads];
        *to = *from;
        to->object = shared_memory_object(&c->memory, process, from->object);
        to->mutex = shared_memory_object(&c->memory, process, from->mutex);
        to->target = from->target == WG_NONE ? WG_NONE : base + from->target;
        to->outside = false;
        cross_add_holds(c, process, to, from);
        c->threads[c->all.n_threads++] = (struct cross_thread){.process = process, .thread = i};
    }
    c->all.woken_from_outside |= s->snapshot.woken_from_outside;
    c->all.all_asleep &=
        s->wakers.known && !s->snapshot.woken_from_outside && s->kernel.waits && s->kernel.n_threads > 0;
}

/* The first thread of the process, and how many it has; WG_NONE. */
static uint32_t cross_threads_of(const struct cross *c, uint32_t process, uint32_t *n)
{
    uint32_t first = WG_NONE;
    *n = 0;
    for (uint32_t i = 0; i < c->all.n_threads; i++) {
        if (c->threads[i].process != process)
            continue;
        first = first == WG_NONE ? i : first;
        ++*n;
    }
    return first;
}

/* Whether all of the threads have ended, so that their process is about to. */
static bool cross_have_ended(const struct cross *c, uint32_t first, uint32_t n)
{
    bool ended = true;
    for (uint32_t t = first; ended && t < first + n; t++)
        ended = c->all.threads[t].wait == WG_ENDED;
    return ended;
}

/* Thread `i` waits for the end of any of `n` processes. @return false: of one no thread is known, or all have ended. */
static bool cross_set_targets(struct cross *c, uint32_t i, const uint32_t *children, size_t n)
{
    struct wg_thread *w = &c->all.threads[i];
    uint32_t group = n > 1 ? 1 + c->threads[i].process : 0, begin = WG_NONE, end = 0;
    for (size_t k = 0; k < n; k++) {
        uint32_t threads, first = cross_threads_of(c, children[k], &threads);
        if (first == WG_NONE || cross_have_ended(c, first, threads))
            return false;
        begin = first < begin ? first : begin;
        end = first + threads > end ? first + threads : end;
        for (uint32_t t = first; t < first + threads; t++)
            c->all.threads[t].group = group != 0 ? group : c->all.threads[t].group;
    }
    w->target = begin;
    w->n_targets = end - begin;
    w->target_group = group;
    return true;
}

/* Threads that wait for the end of processes of the search; a signal handler can end such a wait, other than that of the end of
 * one of them, as a shell has. */
static void cross_find_parents(struct cross *c)
{
    for (uint32_t i = 0; i < c->all.n_threads; i++) {
        const struct cross_thread *t = &c->threads[i];
        const struct wait_state *s = cross_state(c, t->process);
        struct wg_thread *w = &c->all.threads[i];
        const struct kernel_thread *k =
            t->thread < s->file.n_threads ? kernel_view_thread(&s->kernel, s->file.threads[t->thread].head.tid) : NULL;
        uint32_t children[KERNEL_CHILDREN];
        bool all = false;
        c->d->unconfirmed |= k && k->child != 0 && !k->asleep; /* stopped for a moment */
        size_t n = w->wait == WG_RUNNING && k ? cross_children(c, s, k, children, &all) : 0;
        uint64_t child_ends = all ? (uint64_t)1 << (SIGCHLD - 1) : 0;
        if (n == 0 || (s->wakers.caught & ~child_ends) != 0 || s->wakers.timers != 0)
            continue;
        if (cross_set_targets(c, i, children, n))
            w->wait = WG_CHILD;
    }
}

/* Whether each thread waits for what only a thread of the search can end. */
static bool cross_all_asleep(const struct cross *c)
{
    bool asleep = c->all.all_asleep;
    for (uint32_t i = 0; asleep && i < c->all.n_threads; i++) {
        const struct cross_thread *t = &c->threads[i];
        const struct wait_state *s = cross_state(c, t->process);
        const struct kernel_thread *k =
            t->thread < s->file.n_threads ? kernel_view_thread(&s->kernel, s->file.threads[t->thread].head.tid) : NULL;
        asleep = !k || kernel_thread_waits_only(k) || (k->asleep && c->all.threads[i].wait == WG_CHILD);
    }
    return asleep;
}

static int cross_allocate(struct cross *c)
{
    size_t threads = 1, holds = 1;
    for (uint32_t p = 0; p < c->d->n_processes; p++) {
        const struct wait_state *s = cross_state(c, p);
        threads += c->taken[p] ? s->snapshot.n_threads : 0;
        holds += c->taken[p] ? s->snapshot.n_holds : 0;
    }
    holds += threads * (holds + threads); /* each owner moves what it holds once per lock */
    c->all.threads = calloc(threads, sizeof *c->all.threads);
    c->threads = calloc(threads, sizeof *c->threads);
    c->all.members = calloc(threads, sizeof *c->all.members);
    c->all.deadlocks = calloc(threads, sizeof *c->all.deadlocks);
    c->all.holds = c->holds = calloc(holds, sizeof *c->holds);
    c->all.holders = calloc(holds, sizeof *c->all.holders);
    bool all = c->all.threads && c->threads && c->all.members && c->all.deadlocks && c->holds && c->all.holders;
    return all ? 0 : deadlocks_no_memory();
}

static void cross_free(struct cross *c)
{
    shared_memory_free(&c->memory);
    free(c->all.threads);
    free(c->threads);
    free(c->all.members);
    free(c->all.deadlocks);
    free(c->holds);
    free(c->all.holders);
    free(c->taken);
}

/* --------------------------------------------------------------------------------------------- the second reading */

/* Marks the threads of a process that have not run since the first one. */
static void cross_read_again(struct cross *c, uint32_t process)
{
    struct wait_state *s = cross_state(c, process);
    struct wait_state_file file = {0};
    struct kernel_view now;
    const char *dir = c->d->processes[process].dir;
    bool read = (!dir || wait_state_file_read(&file, dir) >= 0) && kernel_view_read(&now, s->kernel.pid) == 0;
    for (size_t i = 0; i < c->all.n_threads; i++) {
        struct cross_thread *t = &c->threads[i];
        if (t->process != process)
            continue;
        t->same = false;
        if (!read || t->thread >= s->file.n_threads)
            continue;
        const struct wait_state_thread *was = &s->file.threads[t->thread];
        const struct kernel_thread *before = kernel_view_thread(&s->kernel, was->head.tid),
                                   *after = kernel_view_thread(&now, was->head.tid);
        bool slot = was->inspected;
        for (size_t k = 0; !slot && k < file.n_threads; k++)
            slot = file.threads[k].head.tid == was->head.tid && file.threads[k].head.version == was->head.version;
        t->same = slot && before && after && before->asleep && after->asleep && before->switches == after->switches;
    }
    wait_state_file_free(&file);
    if (read)
        kernel_view_free(&now);
}

static void cross_read_all_again(struct cross *c)
{
    for (uint32_t p = 0; p < c->d->n_processes; p++)
        if (c->taken[p])
            cross_read_again(c, p);
}

/* ------------------------------------------------------------------------------------------------------- findings */

static bool cross_spans_processes(const struct cross *c, const struct wg_deadlock *f)
{
    for (uint32_t i = 1; i < f->n; i++)
        if (c->threads[c->all.members[f->first + i]].process != c->threads[c->all.members[f->first]].process)
            return true;
    return false;
}

/* Whether all threads that it depends on slept at one moment: its own, and all of them if none may post. */
static bool cross_is_confirmed(const struct cross *c, const struct wg_deadlock *f)
{
    bool same = true;
    for (uint32_t i = 0; i < f->n; i++)
        same &= c->threads[c->all.members[f->first + i]].same;
    for (size_t i = 0; f->no_waker && i < c->all.n_threads; i++)
        same &= c->threads[i].same || c->all.threads[i].wait == WG_ENDED;
    return same;
}

/* Whether a process that is not part of the search uses the memory. */
static bool cross_is_used_elsewhere(const struct cross *c, const struct shared_mapping *in)
{
    pid_t pid = 0;
    while ((pid = shared_memory_next_user(in, pid)) != 0) {
        bool part = false;
        for (uint32_t p = 0; p < c->d->n_processes; p++)
            part |= c->taken[p] && c->d->processes[p].outer_pid == pid;
        if (!part)
            return true;
    }
    return false;
}

/* Whether another process could end a wait that only a post, a signal or an arrival ends: one that uses the memory, or may
 * come to, because it has a name. A semaphore that a thread holds is a lock: its holder is expected to post it. */
static bool cross_could_be_ended(const struct cross *c, const struct wg_deadlock *f)
{
    for (uint32_t i = 0; f->no_waker && i < f->n; i++) {
        uint32_t member = c->all.members[f->first + i];
        const struct cross_thread *t = &c->threads[member];
        uint64_t object = cross_state(c, t->process)->snapshot.threads[t->thread].object;
        const struct shared_mapping *in = shared_memory_at(&c->memory, t->process, object);
        bool is_lock = c->all.threads[member].wait == WG_SEM && cross_is_held(c, c->all.threads[member].object);
        if ((c->all.threads[member].wait < WG_SEM && f->kind != WG_ALL_ASLEEP) || !in)
            continue;
        pid_t user = c->d->processes[t->process].outer_pid;
        if (cross_is_used_elsewhere(c, in) || (!is_lock && !shared_memory_is_closed(in, user)))
            return true;
    }
    return false;
}

/* Whether a process that is not part of the search has the memory of one that is. */
static bool cross_has_same_memory(const struct cross *c)
{
    bool found = false;
    for (uint32_t p = 0; !found && p < c->d->n_processes; p++) {
        const struct dl_process *of = &c->d->processes[p];
        bool *same = &cross_state(c, p)->wakers.same_memory;
        if (!c->taken[p])
            continue;
        *same = *same || (of->alive && same_memory_has(of->outer_pid)); /* else the number may be another process's */
        found = *same;
    }
    return found;
}

/* Whether the process's own search has found it; of all threads asleep: whether one of them is part of a deadlock. */
static bool cross_is_known(const struct cross *c, const struct wg_deadlock *f)
{
    bool known = false;
    for (uint32_t i = 0; !known && i < (f->kind == WG_ALL_ASLEEP ? f->n : 1); i++) {
        const struct cross_thread *t = &c->threads[c->all.members[f->first + i]];
        const struct wg_snapshot *p = &cross_state(c, t->process)->snapshot;
        uint32_t own = p->threads[t->thread].deadlock;
        known = own != WG_NONE && p->deadlocks[own].certainty == WG_CERTAIN;
    }
    return known;
}

/* One more deadlock of a process, with up to `members` threads. @return its index; WG_NONE without memory. */
static uint32_t cross_new_deadlock(struct wait_state *s, const struct wg_deadlock *like, size_t members)
{
    struct wg_snapshot *p = &s->snapshot;
    struct wg_deadlock *deadlocks = realloc(p->deadlocks, (p->n_deadlocks + 1) * sizeof *deadlocks);
    p->deadlocks = deadlocks ? deadlocks : p->deadlocks;
    uint32_t *all = realloc(p->members, (p->n_members + members) * sizeof *all);
    p->members = all ? all : p->members;
    if (!deadlocks || !all)
        return WG_NONE;
    p->deadlocks[p->n_deadlocks] =
        (struct wg_deadlock){.kind = like->kind,
                             .certainty = like->kind == WG_ALL_ASLEEP ? WG_STALLED : WG_CERTAIN,
                             .other = WG_NONE,
                             .no_waker = like->no_waker,
                             .several = true,
                             .first = (uint32_t)p->n_members};
    return (uint32_t)p->n_deadlocks++;
}

static void cross_join(struct wait_state *s, uint32_t deadlock, uint32_t thread)
{
    struct wg_snapshot *p = &s->snapshot;
    struct wg_deadlock *f = &p->deadlocks[deadlock];
    uint32_t own = p->threads[thread].deadlock;
    if (own != WG_NONE)
        p->deadlocks[own].n = 0; /* what the process's own search found is less certain */
    if (f->n++ == 0)
        f->object = p->threads[thread].object;
    p->members[p->n_members++] = thread;
    p->threads[thread].deadlock = deadlock;
    p->threads[thread].behind = false;
}

/* The threads of a process that wait behind the deadlock `found` of all. */
static void cross_join_behind(const struct cross *c, uint32_t process, uint32_t deadlock, uint32_t found)
{
    for (size_t i = 0; i < c->all.n_threads; i++) {
        const struct cross_thread *t = &c->threads[i];
        struct wg_thread *own = &cross_state(c, process)->snapshot.threads[t->thread];
        if (t->process != process || !c->all.threads[i].behind || c->all.threads[i].deadlock != found ||
            own->deadlock != WG_NONE)
            continue;
        own->deadlock = deadlock;
        own->behind = true;
    }
}

/* The part of a process. @return 0; UPMU_E_NOMEM. */
static int cross_report_part(struct cross *c, uint32_t process, uint32_t found, bool several)
{
    struct wait_state *s = cross_state(c, process);
    const struct wg_deadlock *f = &c->all.deadlocks[found];
    struct wg_deadlock like = *f;
    uint32_t own = WG_NONE;
    bool cycle = f->kind == WG_CYCLE || f->kind == WG_JOIN_CYCLE;
    like.kind = cycle && several ? WG_CROSS_PROCESS : f->kind;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct cross_thread *t = &c->threads[c->all.members[f->first + i]],
                                  *next = &c->threads[c->all.members[f->first + (i + 1) % f->n]];
        if (t->process != process)
            continue;
        own = own == WG_NONE ? cross_new_deadlock(s, &like, f->n) : own;
        if (own == WG_NONE)
            return deadlocks_no_memory();
        cross_join(s, own, t->thread);
        struct wait_file_slot *h = &s->file.threads[t->thread].head;
        if (c->all.threads[c->all.members[f->first + i]].wait == WG_CHILD) { /* no slot shows such a wait */
            h->state = WAIT_FILE_BLOCKED;
            h->kind = UPMU_TRACE_CALL_BLOCK;
            h->type = UPMU_OBJECT_CALL;
        }
        if (cycle)
            h->peer = cross_state(c, next->process)->file.threads[next->thread].head.tid;
    }
    if (own != WG_NONE)
        cross_join_behind(c, process, own, found);
    return 0;
}

static int cross_report(struct cross *c, uint32_t found)
{
    const struct wg_deadlock *f = &c->all.deadlocks[found];
    int rc = 0;
    if (f->n == 0 || f->kind == WG_OWNER_ENDED || cross_is_known(c, f) || cross_could_be_ended(c, f) ||
        cross_has_same_memory(c))
        return 0;
    bool confirmed = cross_is_confirmed(c, f);
    if (confirmed && f->no_waker) /* who used the memory until a moment ago may have ended the wait as its last act */
        cross_read_all_again(c);
    if (!confirmed || !cross_is_confirmed(c, f)) {
        c->d->unconfirmed = true;
        return 0;
    }
    bool several = cross_spans_processes(c, f);
    for (uint32_t p = 0; rc == 0 && p < c->d->n_processes; p++)
        if (c->taken[p])
            rc = cross_report_part(c, p, found, several);
    return rc;
}

static bool cross_directory_has(const char *dir, pid_t tid)
{
    struct wait_state_file file = {0};
    bool found = false;
    if (wait_state_file_read(&file, dir) > 0)
        for (size_t i = 0; i < file.n_threads; i++)
            found |= file.threads[i].head.tid == tid;
    wait_state_file_free(&file);
    return found;
}

/* The same of the whole recording, if the process `of` alone is analyzed. */
static bool cross_was_recorded_beside(const struct dl_process *of, pid_t tid)
{
    struct upmu_control *control = NULL;
    char *dir = of->dir ? strdup(of->dir) : NULL, *name = dir ? strrchr(dir, '/') : NULL;
    bool found = false;
    if (name && name != dir) {
        *name = '\0';
        size_t n = upmu_control_open(&control, dir) == 0 ? upmu_control_process_count(control) : 0;
        for (size_t i = 0; i < n && !found; i++) {
            struct upmu_control_status status = {.size = sizeof status};
            found = upmu_control_status_read(control, i, &status) == 0 && !status.running &&
                    cross_directory_has(status.dir, tid);
        }
        upmu_control_close(control);
    }
    free(dir);
    return found;
}

/* Whether a process of the recording that has ended had the thread, for which a thread of process `of` waits. */
static bool cross_was_recorded(const struct cross *c, uint32_t of, pid_t tid)
{
    for (size_t i = 0; i < c->d->n_processes; i++) {
        const struct dl_process *p = &c->d->processes[i];
        bool ended = !p->alive || p->wait_state.kernel.n_threads == 0; /* not yet waited for by its parent */
        for (size_t k = 0; ended && k < p->wait_state.file.n_threads; k++)
            if (p->wait_state.file.threads[k].head.tid == tid)
                return true;
    }
    return cross_was_recorded_beside(&c->d->processes[of], tid);
}

/* The owner of a mutex that a thread without a recorder waits for. All processes that have it must be of the pid namespace in which the
 * owner's id is searched. */
static pid_t cross_owner_unrecorded(const struct cross *c, const struct cross_thread *t)
{
    const struct wait_state *s = cross_state(c, t->process);
    const struct wait_state_thread *w = &s->file.threads[t->thread];
    const struct kernel_thread *k = w->inspected ? kernel_view_thread(&s->kernel, w->head.tid) : NULL;
    const struct shared_mapping *in = k ? shared_memory_at(&c->memory, t->process, w->head.object) : NULL;
    pid_t owner = in ? kernel_shared_mutex_owner(&s->kernel, k) : 0;
    for (pid_t pid = 0; owner != 0 && (pid = shared_memory_next_user(in, pid)) != 0;)
        owner = kernel_view_space_is_of(&s->kernel, pid) ? owner : 0;
    return owner;
}

/* The owner of the shared mutex that a thread waits for, if it was a thread of a process that has ended; 0. */
static pid_t cross_killed_owner(const struct cross *c, const struct cross_thread *t)
{
    const struct wait_state *s = cross_state(c, t->process);
    pid_t owner = cross_owner(c, t);
    if (t->thread >= s->file.n_threads || !t->same || s->snapshot.threads[t->thread].deadlock != WG_NONE ||
        (s->file.threads[t->thread].head.flags & (UPMU_TRACE_FLAG_ROBUST | UPMU_TRACE_FLAG_TIMED)))
        return 0;
    bool recorded = owner > 0 && s->file.threads[t->thread].head.type == UPMU_OBJECT_MUTEX;
    if (!recorded)
        owner = cross_owner_unrecorded(c, t);
    if (owner <= 0 || kernel_view_space_has(&s->kernel, owner) ||
        (recorded && !cross_was_recorded(c, t->process, owner)))
        return 0;
    return owner;
}

/* A shared mutex that is not robust stays locked when its owner's process is killed. */
static int cross_find_killed(struct cross *c)
{
    for (uint32_t i = 0; i < c->all.n_threads; i++) {
        const struct cross_thread *t = &c->threads[i];
        struct wait_state *s = cross_state(c, t->process);
        pid_t owner = cross_killed_owner(c, t);
        if (owner == 0 || cross_has_same_memory(c))
            continue;
        uint32_t own = cross_new_deadlock(s, &(struct wg_deadlock){.kind = WG_OWNER_ENDED}, 1);
        if (own == WG_NONE)
            return deadlocks_no_memory();
        cross_join(s, own, t->thread);
        s->file.threads[t->thread].head.peer = owner;
        s->file.threads[t->thread].head.type = UPMU_OBJECT_MUTEX;
    }
    return 0;
}

/* For reports after the end of the processes. */
static void cross_save(struct cross *c)
{
    for (uint32_t p = 0; p < c->d->n_processes; p++) {
        struct wait_state *s = cross_state(c, p);
        bool found = false;
        for (size_t i = 0; c->taken[p] && i < s->snapshot.n_deadlocks; i++)
            found |= s->snapshot.deadlocks[i].several;
        if (!found || !c->d->processes[p].dir)
            continue;
        inspect_stacks_add(s);
        wait_state_save_inspected(s, c->d->processes[p].dir);
    }
}

static int cross_search(struct cross *c)
{
    int rc = cross_allocate(c);
    if (rc != 0)
        return rc;
    c->all.all_asleep = true;
    for (uint32_t p = 0; p < c->d->n_processes; p++)
        if (c->taken[p])
            cross_add_process(c, p);
    cross_find_locks(c);
    cross_find_parents(c);
    cross_add_owners(c);
    c->all.all_asleep = cross_all_asleep(c);
    wg_find_blocked(&c->all);
    cross_read_all_again(c);
    for (uint32_t i = 0; rc == 0 && i < c->all.n_deadlocks; i++)
        if (c->all.deadlocks[i].certainty == WG_CERTAIN)
            rc = cross_report(c, i);
    if (rc == 0)
        rc = cross_find_killed(c);
    for (uint32_t i = 0; rc == 0 && i < c->all.n_deadlocks; i++)
        if (c->all.deadlocks[i].certainty == WG_STALLED)
            rc = cross_report(c, i);
    if (rc == 0)
        cross_save(c);
    return rc;
}

/* ------------------------------------------------------------------------------------------------ ended processes */

int deadlocks_restore_across(struct wait_state *s)
{
    for (size_t i = 0; i < s->file.n_threads; i++) {
        const struct wait_state_thread *t = &s->file.threads[i];
        uint32_t n = 0, own = WG_NONE;
        for (size_t k = 0; t->several != 0 && k < s->file.n_threads; k++)
            n += s->file.threads[k].several == t->several && (k >= i || n > 0);
        if (t->several == 0 || n != t->several_threads)
            continue; /* not its first thread, or one of them has run since */
        const struct wg_deadlock like = {.kind = (enum wg_deadlock_kind)t->several_kind};
        for (size_t k = i; k < s->file.n_threads; k++) {
            if (s->file.threads[k].several != t->several)
                continue;
            own = own == WG_NONE ? cross_new_deadlock(s, &like, n) : own;
            if (own == WG_NONE)
                return deadlocks_no_memory();
            cross_join(s, own, (uint32_t)k);
        }
    }
    return 0;
}

int deadlocks_find_across(struct upmu_deadlocks *d)
{
    struct cross c = {.d = d, .taken = calloc(d->n_processes + 1, sizeof *c.taken)};
    bool shared = false;
    int rc = c.taken ? 0 : deadlocks_no_memory();
    for (uint32_t p = 0; rc == 0 && p < d->n_processes; p++) {
        shared |= cross_is_comparable(&d->processes[p]) && deadlocks_wait_for_shared(cross_state(&c, p));
        if (d->processes[p].wait_state.kernel.n_threads == 0)
            rc = deadlocks_restore_across(cross_state(&c, p));
    }
    for (uint32_t p = 0; rc == 0 && shared && p < d->n_processes; p++)
        if (cross_is_comparable(&d->processes[p]))
            rc = shared_memory_read(&c.memory, p, d->processes[p].outer_pid);
    if (rc == 0 && shared && cross_take_processes(&c) > 0)
        rc = cross_search(&c);
    cross_free(&c);
    return rc;
}

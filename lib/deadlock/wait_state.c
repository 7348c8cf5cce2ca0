/* SPDX-License-Identifier: MIT */
/*
 * Wait state of a process as a snapshot for the graph.
 *
 * A slot that is malformed or being written counts as a running thread, which is part of no deadlock.
 */
#include "deadlock/wait_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/process/host_clock.h"
#include "base/process/same_memory.h"
#include "base/error.h"
#include "upmu/trace.h"

/* ----------------------------------------------------------------------------------------------------- signals */

enum { SIGNAL_CANCEL = 32, SIGNAL_SETXID = 33 }; /* reserved by glibc */

static uint64_t signal_bit(int sig)
{
    return (uint64_t)1 << (sig - 1);
}

static uint64_t signals_ignored(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGNAL_CANCEL, SIGNAL_SETXID};
    uint64_t mask = 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        mask |= signal_bit(signals[i]);
    return mask;
}

/* Handlers of faults do not count: only a running thread has faults, and language runtimes install such handlers. Nor do the
 * two signals reserved by the C library. */
uint64_t wait_state_waking_signals(uint64_t caught)
{
    return caught & ~signals_ignored();
}

/* ------------------------------------------------------------------------------------------- owners of mutexes */

struct wait_state_thread *wait_state_thread_with(struct wait_state *s, int tid)
{
    for (size_t i = 0; i < s->file.n_threads; i++)
        if (s->file.threads[i].head.tid == tid && s->file.threads[i].head.state != WAIT_FILE_ENDED)
            return &s->file.threads[i];
    return NULL;
}

bool wait_state_is_held(const struct wait_state *s, uint64_t lock)
{
    for (size_t i = 0; i < s->file.n_held; i++)
        if (s->file.held[i].lock == lock)
            return true;
    return false;
}

static bool wait_state_push_held(struct wait_state *s, struct wait_file_held h)
{
    struct wait_file_held *all = array_reserve(s->file.held, s->file.n_held, &s->file.cap_held, sizeof *all);
    if (!all)
        return false;
    s->file.held = all;
    all[s->file.n_held++] = h;
    return true;
}

/* Adds a held lock to the thread. Its locks are contiguous, so they move to the end. */
int wait_state_add_held(struct wait_state *s, struct wait_state_thread *t, uint64_t lock)
{
    uint32_t first = (uint32_t)s->file.n_held;
    for (uint32_t i = 0; i < t->n_held; i++)
        if (!wait_state_push_held(s, s->file.held[t->first_held + i]))
            return wait_state_no_memory();
    if (!wait_state_push_held(s, (struct wait_file_held){.lock = lock}))
        return wait_state_no_memory();
    t->first_held = first;
    t->n_held++;
    return 1;
}

struct wait_state_thread *wait_state_add_thread(struct wait_state *s, const struct wait_file_slot *head)
{
    struct wait_state_thread *all =
        array_reserve(s->file.threads, s->file.n_threads, &s->file.cap_threads, sizeof *all);
    if (!all)
        return NULL;
    s->file.threads = all;
    all[s->file.n_threads] = (struct wait_state_thread){.head = *head};
    return &all[s->file.n_threads++];
}

/* Whether the wait itself releases the mutex: its owner may be read between the begin of the wait and the release. */
static bool slot_releases(const struct wait_file_slot *h, uint64_t mutex)
{
    return h->kind == UPMU_TRACE_COND_WAIT && h->object2 == mutex;
}

bool wait_state_slot_acquires(const struct wait_file_slot *h, uint64_t lock)
{
    return slot_releases(h, lock) || (h->kind == UPMU_TRACE_LOCK_BLOCK && h->object == lock);
}

/* Adds the owner of a mutex that no thread has recorded as held: acquired before the recording, or by a parent's
 * thread. The waiter read the owner after writing its slot. The owner still holds the mutex if it had begun to wait
 * before that, and its wait does not end by acquiring the mutex: else it may have acquired it and not run yet. A waiter that is the
 * owner holds it, too; an owner that is not a thread of the process holds it permanently. @return 1; UPMU_E_NOMEM. */
static int wait_state_add_mutex_owner(struct wait_state *s, size_t i)
{
    const struct wait_file_slot h = s->file.threads[i].head;
    bool has_peer = h.state == WAIT_FILE_BLOCKED && h.kind == UPMU_TRACE_LOCK_BLOCK && h.type == UPMU_OBJECT_MUTEX &&
                    h.peer > 0 && h.owner != WAIT_FILE_OWNER_UNKNOWN;
    struct wait_state_thread *owner = has_peer ? wait_state_thread_with(s, h.peer) : NULL;
    bool owner_waits =
        owner && owner->head.state == WAIT_FILE_BLOCKED &&
        ((owner->head.since_ns < h.since_ns && !wait_state_slot_acquires(&owner->head, h.object)) || h.peer == h.tid);
    bool gone = has_peer && h.owner == WAIT_FILE_OWNER_GONE && !owner;
    if (!(owner_waits || gone) || wait_state_is_held(s, h.object))
        return 1;
    if (gone)
        owner = wait_state_add_thread(s, &(struct wait_file_slot){.state = WAIT_FILE_ENDED, .tid = h.peer});
    if (!owner)
        return wait_state_no_memory();
    return wait_state_add_held(s, owner, h.object);
}

/* Uses the saved wakers if no thread has begun to wait since. */
static void wait_state_restore_wakers(struct wait_state *s)
{
    const struct wait_file_header *h = &s->file.header;
    bool later = false;
    for (size_t i = 0; i < s->file.n_threads; i++)
        later = later || s->file.threads[i].head.state == WAIT_FILE_RUNNING ||
                s->file.threads[i].head.since_ns > h->seen_ns;
    if (h->seen_ns != 0 && !later)
        s->wakers = (struct wait_state_wakers){.known = true,
                                               .asleep = true,
                                               .asked_ns = h->seen_ns,
                                               .caught = wait_state_waking_signals(h->caught),
                                               .timers = h->timers,
                                               .unknown = h->unknown,
                                               .inside = h->outside == 1,
                                               .same_memory = h->outside == WAIT_FILE_SAME_MEMORY};
    else
        s->wakers.unknown = h->created > h->begun ? h->created - h->begun : 0;
}

int wait_state_read(struct wait_state *s, const char *dir)
{
    memset(s, 0, sizeof *s);
    int rc = wait_state_file_read(&s->file, dir);
    for (size_t i = 0, n = s->file.n_threads; rc > 0 && i < n; i++)
        rc = wait_state_add_mutex_owner(s, i);
    if (rc > 0)
        wait_state_restore_wakers(s);
    return rc;
}

/* Writes the bytes of `h` from `from` to `to` into the file. */
static int wait_file_write_part(const char *dir, const struct wait_file_header *h, size_t from, size_t to)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, dir) >= (int)sizeof path)
        return upmu_fail(UPMU_E_IO, "the path of \"%s\" is too long", dir);
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pwrite(fd, (const char *)h + from, to - from, (off_t)from);
    int err = n < 0 ? errno : EIO;
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)(to - from) ? 0 : wait_state_io_failed(path, err);
}

int wait_state_save_wakers(const struct wait_state *s, const char *dir)
{
    struct wait_file_header h = s->file.header;
    size_t from = offsetof(struct wait_file_header, seen_ns),
           to = offsetof(struct wait_file_header, outside) + sizeof h.outside;
    h.seen_ns = s->wakers.asked_ns;
    h.caught = s->wakers.caught;
    h.timers = s->wakers.timers;
    h.unknown = s->wakers.unknown + s->wakers.inspected;
    h.outside = s->wakers.same_memory ? WAIT_FILE_SAME_MEMORY : 1 + !s->wakers.inside;
    return wait_file_write_part(dir, &h, from, to);
}

struct alive_time alive_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct alive_time){.raw_ns = host_clock_raw_ns(),
                               .real_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec};
}

int wait_state_save_alive(const char *dir, const struct alive_time *at)
{
    const struct wait_file_header h = {.alive_raw_ns = at->raw_ns, .alive_ns = at->real_ns};
    return wait_file_write_part(dir, &h, offsetof(struct wait_file_header, alive_raw_ns),
                                offsetof(struct wait_file_header, alive_ns) + sizeof h.alive_ns);
}

/* What the file is to have in `left`. A process that is being killed leaves its waits, too, for a moment: a second inspection must have found
 * the same, and the first one leaves an odd number, which is no version of a wait. */
static uint64_t wait_state_left(const struct wait_state_thread *t)
{
    uint64_t version = t->head.version, once = version + 1;
    if (!t->left)
        return 0;
    return t->head.left == once || t->head.left == version ? version : once;
}

/* Without the permission to write, a report after the end of the process shows the wait. */
void wait_state_save_left(const struct wait_state *s, const char *dir)
{
    char path[PATH_MAX];
    int fd = -1;
    for (size_t i = 0; i < s->file.n_threads; i++) {
        const struct wait_state_thread *t = &s->file.threads[i];
        uint64_t left = wait_state_left(t);
        if (t->at == 0 || !(t->left || t->waits) || t->head.left == left)
            continue;
        if (fd < 0 && snprintf(path, sizeof path, "%s/" WAIT_FILE_NAME, dir) < (int)sizeof path)
            fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || pwrite(fd, &left, sizeof left, t->at + (off_t)offsetof(struct wait_file_slot, left)) < 0)
            break;
    }
    if (fd >= 0)
        close(fd);
}

/* ------------------------------------------------------------------------------------------------- snapshot */

static enum wg_wait wait_of(const struct wait_state_thread *t)
{
    const struct wait_file_slot *h = &t->head;
    if (t->inspected && h->kind == UPMU_TRACE_FUTEX_WAIT)
        return WG_UNKNOWN;
    switch (h->kind) {
    case UPMU_TRACE_COND_WAIT:
        return WG_COND;
    case UPMU_TRACE_THREAD_JOIN:
        return WG_JOIN;
    case UPMU_TRACE_BARRIER_ARRIVE:
        return WG_BARRIER;
    case UPMU_TRACE_FUTEX_WAIT:
        return WG_FUTEX;
    case UPMU_TRACE_LOCK_BLOCK:
        if (h->type == UPMU_OBJECT_SEM)
            return WG_SEM;
        return h->flags & UPMU_TRACE_FLAG_SHARED ? WG_READ_LOCK : WG_LOCK;
    default:
        return WG_RUNNING;
    }
}

static uint32_t wait_state_joined_thread(const struct wait_state *s, const struct wait_state_thread *t)
{
    const struct wait_file_slot *h = &t->head;
    for (size_t i = 0; i < s->file.n_threads; i++) {
        const struct wait_file_slot *o = &s->file.threads[i].head;
        if (o->state != WAIT_FILE_ENDED && o->handle != 0 && o->handle == h->object)
            return (uint32_t)i;
    }
    for (size_t i = 0; h->peer > 0 && i < s->file.n_threads; i++)
        if (s->file.threads[i].head.state != WAIT_FILE_ENDED && s->file.threads[i].head.tid == h->peer)
            return (uint32_t)i;
    return WG_NONE;
}

/* Whether a thread waiting for a condition variable shows that an ended thread holds the mutex permanently: the
 * waiter held it at the begin of its wait, so the other acquired it later. Only a robust mutex passes to the next
 * owner. */
static bool slot_released_to(const struct wait_file_slot *h, const struct wait_file_slot *ended, uint64_t lock)
{
    return slot_releases(h, lock) && !(h->flags & UPMU_TRACE_FLAG_ROBUST) && h->since_ns < ended->since_ns;
}

/* Whether an ended thread still holds the lock. A waiter for a mutex has recorded its owner; another lock cannot
 * have a new holder before the ended thread releases it. */
static bool slot_still_holds(const struct wait_state *s, const struct wait_file_slot *ended, uint64_t lock)
{
    for (size_t i = 0; i < s->file.n_threads; i++) {
        const struct wait_file_slot *h = &s->file.threads[i].head;
        bool wants = h->kind == UPMU_TRACE_LOCK_BLOCK && h->object == lock;
        bool found = wants && (h->type != UPMU_OBJECT_MUTEX || h->peer == ended->tid);
        if (h->state == WAIT_FILE_BLOCKED && (found || slot_released_to(h, ended, lock)))
            return true;
    }
    return false;
}

static void snapshot_thread(struct wait_state *s, size_t i, struct wg_hold *holds)
{
    const struct wait_state_thread *t = &s->file.threads[i];
    const struct wait_file_slot *h = &t->head;
    struct wg_thread *w = &s->snapshot.threads[i];
    *w = (struct wg_thread){.target = WG_NONE, .first_hold = (uint32_t)s->snapshot.n_holds, .object = h->object};
    w->wait = h->state == WAIT_FILE_ENDED ? WG_ENDED : h->state == WAIT_FILE_BLOCKED ? wait_of(t) : WG_RUNNING;
    w->timed = (h->flags & UPMU_TRACE_FLAG_TIMED) != 0;
    w->outside = (h->flags & UPMU_TRACE_FLAG_PSHARED) != 0 && (t->inspected || !s->wakers.inside);
    w->writers_first = true; /* a blocked reader without an active writer is behind a waiting one */
    if (w->wait == WG_JOIN)
        w->target = wait_state_joined_thread(s, t);
    if (w->wait == WG_COND)
        w->mutex = h->object2;
    for (uint32_t k = 0; k < t->n_held; k++) {
        const struct wait_file_held *held = &s->file.held[t->first_held + k];
        if (held->lock == 0 || (h->state == WAIT_FILE_ENDED && !slot_still_holds(s, h, held->lock)))
            continue;
        holds[s->snapshot.n_holds++] = (struct wg_hold){.lock = held->lock, .shared = held->shared != 0};
        w->n_holds++;
    }
}

/* freed by wait_state_free() */
static int snapshot_allocate(struct wait_state *s, struct wg_hold **holds)
{
    struct wg_snapshot *p = &s->snapshot;
    size_t n = s->file.n_threads + 1, held = s->file.n_held + 1;
    p->threads = calloc(n, sizeof *p->threads);
    p->holds = *holds = calloc(held, sizeof **holds);
    p->holders = calloc(held, sizeof *p->holders);
    p->members = calloc(n, sizeof *p->members);
    p->deadlocks = calloc(n, sizeof *p->deadlocks);
    return p->threads && p->holds && p->holders && p->members && p->deadlocks ? 0 : wait_state_no_memory();
}

/* Whether one of the deadlocks is to be reported as such. */
static bool snapshot_has_reportable(const struct wg_snapshot *p)
{
    for (size_t i = 0; i < p->n_deadlocks; i++)
        if (p->deadlocks[i].certainty <= WG_STALLED)
            return true;
    return false;
}

/* Another process with the same memory could end each of them, those over locks as well: it acquires locks as the thread
 * whose thread-local storage it has. All processes are searched for it only where there is something to report. */
static void snapshot_doubt_same_memory(struct wait_state *s, pid_t pid)
{
    struct wg_snapshot *p = &s->snapshot;
    if (!snapshot_has_reportable(p))
        return;
    s->wakers.same_memory = s->wakers.same_memory || (pid != 0 && same_memory_has(pid));
    if (!s->wakers.same_memory)
        return;
    p->woken_from_outside = true;
    p->all_asleep = s->all_asleep = false;
    wg_find_blocked(p);
    for (size_t i = 0; i < p->n_deadlocks; i++)
        if (p->deadlocks[i].certainty == WG_CERTAIN)
            p->deadlocks[i].certainty = WG_WAKEABLE;
}

int wait_state_find_blocked(struct wait_state *s, pid_t pid)
{
    struct wg_hold *holds;
    int rc = snapshot_allocate(s, &holds);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < s->file.n_threads; i++)
        snapshot_thread(s, i, holds);
    s->snapshot.n_threads = s->file.n_threads;
    /* A thread that was just posted, signaled or woken has not updated its slot yet. */
    if (!s->all_asleep && (s->wakers.unknown > 0 || !s->wakers.asleep))
        s->snapshot.threads[s->snapshot.n_threads++] = (struct wg_thread){.wait = WG_RUNNING, .target = WG_NONE};
    s->snapshot.woken_from_outside = s->wakers.caught != 0 || s->wakers.timers != 0;
    s->snapshot.all_asleep =
        s->all_asleep || (s->wakers.known && !s->snapshot.woken_from_outside && kernel_view_all_asleep(&s->kernel));
    wg_find_blocked(&s->snapshot);
    snapshot_doubt_same_memory(s, pid);
    return 0;
}

static uint64_t slot_hash(const struct wait_file_slot *h)
{
    uint64_t one = ((uint64_t)(uint32_t)h->tid << 32 ^ h->version) * 0x9e3779b97f4a7c15u;
    return (one ^ one >> 31) * 0xbf58476d1ce4e5b9u;
}

uint64_t wait_state_identity(const struct wait_state *s, const struct wg_deadlock *f)
{
    uint64_t sum = (uint64_t)f->kind + f->n;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct wait_state_thread *t = &s->file.threads[s->snapshot.members[f->first + i]];
        struct wait_file_slot h = {.tid = t->head.tid};
        h.version = t->inspected ? (uint32_t)(t->head.object >> 2) : (uint32_t)t->head.wait_no;
        sum += slot_hash(&h);
    }
    return sum;
}

uint64_t wait_state_signature(const struct wait_state *s, const struct wg_deadlock *f)
{
    uint64_t sum = (uint64_t)f->kind + f->n;
    for (uint32_t i = 0; i < f->n; i++)
        sum += slot_hash(&s->file.threads[s->snapshot.members[f->first + i]].head);
    for (size_t i = 0; f->no_waker && i < s->file.n_threads; i++)
        sum += slot_hash(&s->file.threads[i].head) * 3;
    return sum;
}

void wait_state_free(struct wait_state *s)
{
    struct wg_snapshot *p = &s->snapshot;
    free(p->threads);
    free((void *)(uintptr_t)p->holds);
    free(p->holders);
    free(p->members);
    free(p->deadlocks);
    wait_state_file_free(&s->file);
    kernel_view_free(&s->kernel);
    memset(s, 0, sizeof *s);
}

/* SPDX-License-Identifier: MIT */
/*
 * The file .live as a picture for the waitgraph. Room: analysis. Before it: trace/format/wait_state.h; after it: deadlocks.c, watch.c.
 *
 * The file is read with read(), not mapped: its process may be writing, or cut it short, at any moment. Nothing in it is
 * believed: a slot that makes no sense is a thread that runs, and a thread that runs makes no deadlock.
 */
#include "deadlock/wait_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/error.h"
#include "upmu/trace.h"

enum { TRIES = 8 /* to read a slot that is being written */ };

static int no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory for what the threads of a process stand at");
}

static int io_failed(const char *path, int err)
{
    const char *text = strerrordesc_np(err);
    return upmu_fail(UPMU_E_IO, "\"%s\": %s", path, text ? text : "unknown error");
}

/* ------------------------------------------------------------------------------------------------------- reading */

/* @return true if all of it is there. */
static bool read_all(int fd, void *to, size_t bytes, off_t at)
{
    size_t got = 0;
    while (got < bytes) {
        ssize_t n = pread(fd, (char *)to + got, bytes - got, at + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static bool sensible(const struct live_slot *h)
{
    return h->version % 2 == 0 && h->state <= LIVE_ENDED && h->n_held <= LIVE_HELD_MAX;
}

/* One slot, whole or not at all. @return 1, 0 if it never stood still, UPMU_E_NOMEM. */
static int read_slot(struct wait_state *s, int fd, off_t at, struct stand_thread *t)
{
    for (int i = 0; i < TRIES; i++) {
        struct live_slot again;
        if (!read_all(fd, &t->head, LIVE_HEAD_BYTES, at))
            return 0;
        if (!sensible(&t->head))
            continue;
        t->first_held = (uint32_t)s->n_held;
        t->n_held = 0;
        bool holds = t->head.state == LIVE_WAITS || t->head.state == LIVE_ENDED;
        for (uint32_t k = 0; holds && k < t->head.n_held; k++) {
            struct live_held *all = array_room(s->held, s->n_held + k, &s->cap_held, sizeof *all);
            if (!all)
                return no_memory();
            s->held = all;
        }
        uint32_t n = holds ? t->head.n_held : 0;
        if (n > 0 && !read_all(fd, &s->held[s->n_held], n * sizeof *s->held, at + LIVE_HELD_AT))
            return 0;
        t->stack = (struct live_stack){0};
        if (t->head.state == LIVE_WAITS && !read_all(fd, &t->stack, sizeof t->stack, at + LIVE_HEAD_BYTES))
            return 0;
        if (!read_all(fd, &again, LIVE_HEAD_BYTES, at) || again.version != t->head.version)
            continue;
        t->n_held = n;
        s->n_held += n;
        t->head.name[sizeof t->head.name - 1] = '\0';
        return 1;
    }
    return 0;
}

static int read_slots(struct wait_state *s, int fd)
{
    for (uint32_t i = 0; i < s->header.slots && i < LIVE_SLOTS_MAX; i++) {
        struct stand_thread *all = array_room(s->threads, s->n_threads, &s->cap_threads, sizeof *all);
        if (!all)
            return no_memory();
        s->threads = all;
        struct stand_thread *t = &all[s->n_threads];
        int rc = read_slot(s, fd, live_slot_at(i), t);
        if (rc < 0)
            return rc;
        if (rc == 0) /* it is at work */
            *t = (struct stand_thread){.head = {.state = LIVE_RUNS}};
        s->n_threads += t->head.state != LIVE_FREE;
    }
    return 1;
}

/* ------------------------------------------------------------------------------------------- owners of mutexes */

static struct stand_thread *thread_with(struct wait_state *s, int tid)
{
    for (size_t i = 0; i < s->n_threads; i++)
        if (s->threads[i].head.tid == tid)
            return &s->threads[i];
    return NULL;
}

static bool is_held(const struct wait_state *s, uint64_t lock)
{
    for (size_t i = 0; i < s->n_held; i++)
        if (s->held[i].lock == lock)
            return true;
    return false;
}

static bool push_held(struct wait_state *s, struct live_held h)
{
    struct live_held *all = array_room(s->held, s->n_held, &s->cap_held, sizeof *all);
    if (!all)
        return false;
    s->held = all;
    all[s->n_held++] = h;
    return true;
}

/* The thread holds that lock, too. What it holds lies in one piece: it moves to the end. */
static int hold_too(struct wait_state *s, struct stand_thread *t, uint64_t lock)
{
    uint32_t first = (uint32_t)s->n_held;
    for (uint32_t i = 0; i < t->n_held; i++)
        if (!push_held(s, s->held[t->first_held + i]))
            return no_memory();
    if (!push_held(s, (struct live_held){.lock = lock}))
        return no_memory();
    t->first_held = first;
    t->n_held++;
    return 1;
}

/* What a waiter saw of a mutex that is in nobody's books: it was taken before recording began, or by a parent's thread.
 * Its owner had it when the waiter had already written its slot: if the owner had begun to wait before that, or waits
 * itself for it, it has it still; and if it is no thread of the process, it has it for ever. @return 1; UPMU_E_NOMEM. */
static int add_owner(struct wait_state *s, size_t i)
{
    const struct live_slot h = s->threads[i].head;
    bool asks = h.state == LIVE_WAITS && h.kind == UPMU_TRACE_LOCK_BLOCK && h.type == UPMU_OBJECT_MUTEX && h.peer > 0 &&
                h.owner != LIVE_OWNER_UNKNOWN;
    struct stand_thread *owner = asks ? thread_with(s, h.peer) : NULL;
    bool stood = owner && owner->head.state == LIVE_WAITS && (owner->head.since_ns < h.since_ns || h.peer == h.tid);
    bool gone = asks && h.owner == LIVE_OWNER_GONE && !owner;
    if (!(stood || gone) || is_held(s, h.object))
        return 1;
    if (gone) {
        struct stand_thread *all = array_room(s->threads, s->n_threads, &s->cap_threads, sizeof *all);
        if (!all)
            return no_memory();
        s->threads = all;
        owner = &all[s->n_threads++];
        *owner = (struct stand_thread){.head = {.state = LIVE_ENDED, .tid = h.peer}};
    }
    return hold_too(s, owner, h.object);
}

static int check_header(const struct live_header *h, const char *path)
{
    if (memcmp(h->magic, LIVE_MAGIC, sizeof h->magic) != 0)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" does not tell what threads stand at", path);
    if (h->version != LIVE_VERSION || h->slot_bytes != LIVE_SLOT_BYTES)
        return upmu_fail(UPMU_E_VERSION,
                         "\"%s\" is of version %u, this libupmu reads version %d: use the upmu that "
                         "recorded it",
                         path, h->version, LIVE_VERSION);
    return 0;
}

/* Whether what somebody saw of the process is still true of it: nobody has begun to wait since. */
static void take_kept_wakers(struct wait_state *s)
{
    const struct live_header *h = &s->header;
    bool later = false;
    for (size_t i = 0; i < s->n_threads; i++)
        later = later || s->threads[i].head.state == LIVE_RUNS || s->threads[i].head.since_ns > h->seen_ns;
    if (h->seen_ns != 0 && !later)
        s->wakers = (struct stand_wakers){.known = true,
                                          .asleep = true,
                                          .asked_ns = h->seen_ns,
                                          .caught = wait_state_signals(h->caught),
                                          .timers = h->timers,
                                          .unknown = h->unknown,
                                          .inside = h->outside == 1};
    else
        s->wakers.unknown = h->created > h->begun ? h->created - h->begun : 0;
}

int wait_state_read(struct wait_state *s, const char *dir)
{
    char path[PATH_MAX];
    memset(s, 0, sizeof *s);
    if (snprintf(path, sizeof path, "%s/" LIVE_FILE, dir) >= (int)sizeof path)
        return upmu_fail(UPMU_E_IO, "the path of \"%s\" is too long", dir);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : io_failed(path, errno);
    int rc = read_all(fd, &s->header, sizeof s->header, 0) ? check_header(&s->header, path)
                                                           : upmu_fail(UPMU_E_FORMAT, "\"%s\" is cut short", path);
    if (rc == 0)
        rc = read_slots(s, fd);
    close(fd);
    for (size_t i = 0, n = s->n_threads; rc > 0 && i < n; i++)
        rc = add_owner(s, i);
    if (rc > 0)
        take_kept_wakers(s);
    return rc;
}

/* Write the bytes of `h` from `from` to `to` into the file. */
static int write_part(const char *dir, const struct live_header *h, size_t from, size_t to)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" LIVE_FILE, dir) >= (int)sizeof path)
        return upmu_fail(UPMU_E_IO, "the path of \"%s\" is too long", dir);
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pwrite(fd, (const char *)h + from, to - from, (off_t)from);
    int err = n < 0 ? errno : EIO;
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)(to - from) ? 0 : io_failed(path, err);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int wait_state_keep(const struct wait_state *s, const char *dir)
{
    struct live_header h = s->header;
    size_t from = offsetof(struct live_header, seen_ns), to = offsetof(struct live_header, outside) + sizeof h.outside;
    h.seen_ns = s->wakers.asked_ns;
    h.caught = s->wakers.caught;
    h.timers = s->wakers.timers;
    h.unknown = s->wakers.unknown;
    h.outside = 1 + !s->wakers.inside;
    return write_part(dir, &h, from, to);
}

struct stand_moment wait_state_moment(void)
{
    return (struct stand_moment){.raw_ns = clock_ns(CLOCK_MONOTONIC_RAW), .real_ns = clock_ns(CLOCK_REALTIME)};
}

int wait_state_keep_alive(const char *dir, const struct stand_moment *at)
{
    const struct live_header h = {.alive_raw_ns = at->raw_ns, .alive_ns = at->real_ns};
    return write_part(dir, &h, offsetof(struct live_header, alive_raw_ns),
                      offsetof(struct live_header, alive_ns) + sizeof h.alive_ns);
}

/* ------------------------------------------------------------------------------------------------- the picture */

static enum wg_wait wait_of(const struct live_slot *h)
{
    switch (h->kind) {
    case UPMU_TRACE_COND_WAIT:
        return WG_SIGNAL;
    case UPMU_TRACE_THREAD_JOIN:
        return WG_JOINS;
    case UPMU_TRACE_BARRIER_ARRIVE:
        return WG_ARRIVAL;
    case UPMU_TRACE_FUTEX_WAIT:
        return WG_WAKE;
    case UPMU_TRACE_LOCK_BLOCK:
        if (h->type == UPMU_OBJECT_SEM)
            return WG_POST;
        return h->flags & UPMU_TRACE_FLAG_SHARED ? WG_READS : WG_TAKES;
    default:
        return WG_RUNS;
    }
}

static uint32_t joined(const struct wait_state *s, const struct live_slot *h)
{
    for (size_t i = 0; i < s->n_threads; i++) {
        const struct live_slot *o = &s->threads[i].head;
        if (o->state != LIVE_ENDED && o->handle != 0 && o->handle == h->object)
            return (uint32_t)i;
    }
    return WG_NONE;
}

/* Whether a thread that waits for a condition variable shows that the ended one has the mutex for ever: it had it itself
 * when it began, so the other one came later; only a robust mutex goes on to the next. */
static bool given_up_to(const struct live_slot *h, const struct live_slot *ended, uint64_t lock)
{
    return h->kind == UPMU_TRACE_COND_WAIT && h->object2 == lock && !(h->flags & UPMU_TRACE_FLAG_ROBUST) &&
           h->since_ns < ended->since_ns;
}

/* What an ended thread held may be somebody else's by now. A waiter for a mutex knows whom it found as its owner; of
 * other locks nobody can have become the holder as long as the ended one did not give it back. */
static bool still_held(const struct wait_state *s, const struct live_slot *ended, uint64_t lock)
{
    for (size_t i = 0; i < s->n_threads; i++) {
        const struct live_slot *h = &s->threads[i].head;
        bool wants = h->kind == UPMU_TRACE_LOCK_BLOCK && h->object == lock;
        bool found = wants && (h->type != UPMU_OBJECT_MUTEX || h->peer == ended->tid);
        if (h->state == LIVE_WAITS && (found || given_up_to(h, ended, lock)))
            return true;
    }
    return false;
}

static void picture_thread(struct wait_state *s, size_t i, struct wg_hold *holds)
{
    const struct stand_thread *t = &s->threads[i];
    const struct live_slot *h = &t->head;
    struct wg_thread *w = &s->picture.threads[i];
    *w = (struct wg_thread){.target = WG_NONE, .first_hold = (uint32_t)s->picture.n_holds, .object = h->object};
    w->wait = h->state == LIVE_ENDED ? WG_ENDED : h->state == LIVE_WAITS ? wait_of(h) : WG_RUNS;
    w->timed = (h->flags & UPMU_TRACE_FLAG_TIMED) != 0;
    w->outside = (h->flags & UPMU_TRACE_FLAG_PSHARED) != 0 && !s->wakers.inside;
    w->writers_first = true; /* a reader that stands where no writer is inside stands behind one who waits */
    if (w->wait == WG_JOINS)
        w->target = joined(s, h);
    if (w->wait == WG_SIGNAL)
        w->mutex = h->object2;
    for (uint32_t k = 0; k < t->n_held; k++) {
        const struct live_held *held = &s->held[t->first_held + k];
        if (held->lock == 0 || (h->state == LIVE_ENDED && !still_held(s, h, held->lock)))
            continue;
        holds[s->picture.n_holds++] = (struct wg_hold){.lock = held->lock, .shared = held->shared != 0};
        w->n_holds++;
    }
}

/* The memory of a picture: freed piece by piece in wait_state_free(). */
static int picture_room(struct wait_state *s, struct wg_hold **holds)
{
    struct wg_picture *p = &s->picture;
    size_t n = s->n_threads + 1, held = s->n_held + 1;
    p->threads = calloc(n, sizeof *p->threads);
    p->holds = *holds = calloc(held, sizeof **holds);
    p->holders = calloc(held, sizeof *p->holders);
    p->members = calloc(n, sizeof *p->members);
    p->found = calloc(n, sizeof *p->found);
    return p->threads && p->holds && p->holders && p->members && p->found ? 0 : no_memory();
}

int wait_state_solve(struct wait_state *s)
{
    struct wg_hold *holds;
    int rc = picture_room(s, &holds);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < s->n_threads; i++)
        picture_thread(s, i, holds);
    s->picture.n_threads = s->n_threads;
    /* Who was just posted, signalled or woken still has a slot that says he waits. */
    if (s->wakers.unknown > 0 || !s->wakers.asleep)
        s->picture.threads[s->picture.n_threads++] = (struct wg_thread){.wait = WG_RUNS, .target = WG_NONE};
    s->picture.woken_from_outside = s->wakers.caught != 0 || s->wakers.timers != 0;
    wg_stand(&s->picture);
    return 0;
}

static uint64_t mixed(const struct live_slot *h)
{
    uint64_t one = ((uint64_t)(uint32_t)h->tid << 32 ^ h->version) * 0x9e3779b97f4a7c15u;
    return (one ^ one >> 31) * 0xbf58476d1ce4e5b9u;
}

uint64_t wait_state_signature(const struct wait_state *s, const struct wg_trouble_found *f)
{
    uint64_t sum = (uint64_t)f->kind + f->n;
    for (uint32_t i = 0; i < f->n; i++)
        sum += mixed(&s->threads[s->picture.members[f->first + i]].head);
    for (size_t i = 0; f->silent && i < s->n_threads; i++)
        sum += mixed(&s->threads[i].head) * 3;
    return sum;
}

void wait_state_free(struct wait_state *s)
{
    struct wg_picture *p = &s->picture;
    free(p->threads);
    free((void *)(uintptr_t)p->holds);
    free(p->holders);
    free(p->members);
    free(p->found);
    free(s->threads);
    free(s->held);
    memset(s, 0, sizeof *s);
}

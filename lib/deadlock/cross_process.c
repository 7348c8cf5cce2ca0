/* SPDX-License-Identifier: MIT */
/*
 * Deadlocks of threads in several processes of a recording, over locks in shared memory.
 *
 * The lock itself has its owner's thread id, which is unique in a pid namespace: the memory need not be identified. Each
 * process gets its part of the cycle. The owners are read after all processes; threads that have not run until afterwards
 * slept at one moment.
 */
#include <stdlib.h>

#include "base/error.h"
#include "deadlock/deadlocks.h"
#include "upmu/trace.h"

/* A blocked thread. */
struct cross_thread {
    uint32_t process, thread;
    pid_t holder;  /* 0: not known */
    uint32_t next; /* the blocked thread that it waits for; WG_NONE */
    uint32_t mark;
};

struct cross {
    struct upmu_deadlocks *d;
    struct cross_thread *threads;
    uint32_t n;
};

static struct wait_state *cross_state(const struct cross *c, const struct cross_thread *t)
{
    return &c->d->processes[t->process].wait_state;
}

/* Whether its thread ids are those of this pid namespace. */
static bool cross_is_comparable(const struct dl_process *p)
{
    return p->alive && p->wait_state.kernel.waits && p->outer_pid == p->pid;
}

static pid_t cross_holder(const struct wait_state *s, uint32_t thread)
{
    const struct wait_file_slot *h = &s->file.threads[thread].head;
    const struct wg_thread *w = &s->snapshot.threads[thread];
    if (h->kind == UPMU_TRACE_THREAD_JOIN)
        return w->target == WG_NONE ? 0 : s->file.threads[w->target].head.tid;
    if (h->kind != UPMU_TRACE_LOCK_BLOCK)
        return 0;
    pid_t owner = h->type == UPMU_OBJECT_MUTEX    ? kernel_mutex_owner(&s->kernel, h->object)
                  : h->type == UPMU_OBJECT_RWLOCK ? kernel_rwlock_writer(&s->kernel, h->object)
                                                  : 0;
    size_t n;
    const struct wg_holder *holder = wg_holders_of(&s->snapshot, h->object, &n);
    return owner ? owner : n > 0 && holder->thread != thread ? s->file.threads[holder->thread].head.tid : 0;
}

static void cross_add(struct cross *c, uint32_t process)
{
    const struct wait_state *s = &c->d->processes[process].wait_state;
    for (uint32_t i = 0; i < s->file.n_threads; i++) {
        const struct wg_thread *w = &s->snapshot.threads[i];
        const struct kernel_thread *k = kernel_view_thread(&s->kernel, s->file.threads[i].head.tid);
        if (s->file.threads[i].head.state != WAIT_FILE_BLOCKED || w->timed || w->deadlock != WG_NONE || !k ||
            !k->asleep)
            continue;
        c->threads[c->n++] = (struct cross_thread){.process = process, .thread = i, .next = WG_NONE};
    }
}

static void cross_link(struct cross *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct cross_thread *t = &c->threads[i];
        t->holder = cross_holder(cross_state(c, t), t->thread);
        for (uint32_t k = 0; t->holder != 0 && k < c->n && t->next == WG_NONE; k++)
            if (cross_state(c, &c->threads[k])->file.threads[c->threads[k].thread].head.tid == t->holder)
                t->next = k;
    }
}

/* Whether the thread has not run since its process was read. */
static bool cross_has_slept(const struct cross *c, const struct cross_thread *t)
{
    const struct wait_state *s = cross_state(c, t);
    pid_t tid = s->file.threads[t->thread].head.tid;
    const struct kernel_thread *before = kernel_view_thread(&s->kernel, tid);
    struct kernel_view now;
    int rc = kernel_view_read(&now, s->kernel.pid);
    const struct kernel_thread *k = rc == 0 ? kernel_view_thread(&now, tid) : NULL;
    bool same = before && k && k->asleep && k->switches == before->switches;
    kernel_view_free(&now);
    return same;
}

static struct wg_deadlock *cross_new_deadlock(struct wait_state *s, enum wg_deadlock_kind kind)
{
    struct wg_snapshot *p = &s->snapshot;
    struct wg_deadlock *f = &p->deadlocks[p->n_deadlocks++];
    *f = (struct wg_deadlock){.kind = kind, .certainty = WG_CERTAIN, .other = WG_NONE, .first = (uint32_t)p->n_members};
    return f;
}

static void cross_join(struct cross *c, struct cross_thread *t, struct wg_deadlock *f)
{
    struct wait_state *s = cross_state(c, t);
    s->snapshot.members[s->snapshot.n_members++] = t->thread;
    s->snapshot.threads[t->thread].deadlock = (uint32_t)(f - s->snapshot.deadlocks);
    s->file.threads[t->thread].head.peer = t->holder;
    f->n++;
}

static void cross_report(struct cross *c, uint32_t start)
{
    bool several = false, slept = true;
    for (uint32_t i = start, first = 1; first || i != start; i = c->threads[i].next, first = 0) {
        several |= c->threads[i].process != c->threads[start].process;
        slept = slept && cross_has_slept(c, &c->threads[i]);
    }
    for (uint32_t p = 0; several && slept && p < c->d->n_processes; p++) {
        struct wg_deadlock *f = NULL;
        for (uint32_t i = start, first = 1; first || i != start; i = c->threads[i].next, first = 0) {
            if (c->threads[i].process != p)
                continue;
            f = f ? f : cross_new_deadlock(&c->d->processes[p].wait_state, WG_CROSS_PROCESS);
            cross_join(c, &c->threads[i], f);
        }
    }
}

static void cross_find_cycles(struct cross *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t at = i;
        while (at != WG_NONE && c->threads[at].mark == 0) {
            c->threads[at].mark = i + 1;
            at = c->threads[at].next;
        }
        if (at != WG_NONE && c->threads[at].mark == i + 1)
            cross_report(c, at);
    }
}

/* Whether a process of the recording that has ended had the thread. */
static bool cross_was_recorded(const struct cross *c, pid_t tid)
{
    for (size_t i = 0; i < c->d->n_processes; i++) {
        const struct dl_process *p = &c->d->processes[i];
        bool ended = !p->alive || p->wait_state.kernel.n_threads == 0; /* not yet waited for by its parent */
        for (size_t k = 0; ended && k < p->wait_state.file.n_threads; k++)
            if (p->wait_state.file.threads[k].head.tid == tid)
                return true;
    }
    return false;
}

/* A shared mutex that is not robust stays locked when its owner's process is killed. */
static void cross_find_killed(struct cross *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct cross_thread *t = &c->threads[i];
        struct wait_state *s = cross_state(c, t);
        const struct wait_file_slot *h = &s->file.threads[t->thread].head;
        if (s->snapshot.threads[t->thread].deadlock != WG_NONE || h->type != UPMU_OBJECT_MUTEX || t->holder <= 0 ||
            (h->flags & UPMU_TRACE_FLAG_ROBUST) || kernel_has_thread(t->holder) || !cross_was_recorded(c, t->holder) ||
            !cross_has_slept(c, t))
            continue;
        struct wg_deadlock *f = cross_new_deadlock(s, WG_OWNER_ENDED);
        f->object = h->object;
        cross_join(c, t, f);
    }
}

int deadlocks_find_across(struct upmu_deadlocks *d)
{
    struct cross c = {.d = d};
    size_t n = 1, comparable = 0;
    for (size_t i = 0; i < d->n_processes; i++) {
        n += d->processes[i].wait_state.file.n_threads;
        comparable += cross_is_comparable(&d->processes[i]);
    }
    if (comparable == 0 || d->n_processes < 2)
        return 0;
    c.threads = calloc(n, sizeof *c.threads);
    if (!c.threads)
        return deadlocks_no_memory();
    for (size_t i = 0; i < d->n_processes; i++)
        if (cross_is_comparable(&d->processes[i]))
            cross_add(&c, (uint32_t)i);
    cross_link(&c);
    cross_find_cycles(&c);
    cross_find_killed(&c);
    free(c.threads);
    return 0;
}

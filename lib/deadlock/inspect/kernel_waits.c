/* SPDX-License-Identifier: MIT */
/*
 * What the slots of a live process lack, from the kernel and from the locks themselves.
 *
 * A thread that was blocked before the recording began, or that waits inside the C library or the loader, has no recorded
 * wait; a lock acquired before has no recorded holder. Both are added to the snapshot as if they were recorded. The version
 * of such a thread is its number of context switches: two snapshots with the same versions show threads that have not run
 * between them, so that the owners read meanwhile are those of one moment.
 */
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "deadlock/wait_state.h"
#include "upmu/trace.h"

static bool kernel_waits_is_in(uint64_t address, uint64_t object, size_t bytes)
{
    return object != 0 && address - object < bytes;
}

/* Whether `address` may be the futex of the recorded wait, by the C library's object; `*known`: it is known which are. */
static bool kernel_waits_is_futex_of(const struct wait_file_slot *h, uint64_t address, bool *known)
{
    enum { DESCRIPTOR_MAX = 4096 };
    *known = true;
    if (h->kind == UPMU_TRACE_THREAD_JOIN)
        return kernel_waits_is_in(address, h->object, DESCRIPTOR_MAX);
    if (h->kind == UPMU_TRACE_COND_WAIT && h->type == UPMU_OBJECT_COND)
        return kernel_waits_is_in(address, h->object, sizeof(pthread_cond_t)) ||
               kernel_waits_is_in(address, h->object2, sizeof(pthread_mutex_t));
    if (h->kind == UPMU_TRACE_LOCK_BLOCK && h->type == UPMU_OBJECT_MUTEX)
        return kernel_waits_is_in(address, h->object, sizeof(pthread_mutex_t));
    if (h->kind == UPMU_TRACE_LOCK_BLOCK && h->type == UPMU_OBJECT_RWLOCK)
        return kernel_waits_is_in(address, h->object, sizeof(pthread_rwlock_t));
    *known = false;
    return false;
}

/* The C library lets a thread wait for a zero of its own, permanently, where the kernel has refused to wait for a mutex with priority
 * inheritance, since that would be a deadlock. */
static bool kernel_waits_is_delayed(const struct wait_file_slot *h, const struct kernel_thread *k)
{
    return h->kind == UPMU_TRACE_LOCK_BLOCK && h->type == UPMU_OBJECT_MUTEX && k->in_futex && !k->timed &&
           k->expected == 0;
}

/* Whether the thread is not in its recorded wait: a signal handler has left that by a jump, or interrupts it now. The address of
 * the futex is compared, not the number of the system call, which another ABI has, too. A stopped thread is still in its call. */
static bool kernel_waits_has_left(const struct wait_state *s, const struct wait_file_slot *h,
                                  const struct kernel_thread *k)
{
    bool known, in_wait = kernel_waits_is_futex_of(h, k->first, &known) || kernel_waits_is_delayed(h, k);
    return known && (s->kernel.waits ? !k->in_call || !in_wait : k->runs);
}

/* Threads that do not wait any more as their slots show: what they do is up to the kernel. Those of a process that is being
 * killed waited until then. */
static void kernel_waits_drop_left(struct wait_state *s)
{
    for (size_t i = 0; i < s->file.n_threads; i++) {
        struct wait_state_thread *t = &s->file.threads[i];
        const struct kernel_thread *k = kernel_view_thread(&s->kernel, t->head.tid);
        if (t->head.state != WAIT_FILE_BLOCKED || !k || s->kernel.killed)
            continue;
        t->left = kernel_waits_has_left(s, &t->head, k);
        t->waits = !t->left;
        if (t->left)
            wait_state_thread_runs(t);
    }
}

/* A thread without a slot. NULL without memory. */
static struct wait_state_thread *kernel_waits_add_thread(struct wait_state *s, const struct kernel_thread *k)
{
    struct wait_file_slot head = {.state = WAIT_FILE_RUNNING, .tid = k->tid};
    memcpy(head.name, k->name, sizeof head.name);
    return wait_state_add_thread(s, &head);
}

static void kernel_waits_set(struct wait_file_slot *h, const struct kernel_thread *k, const struct kernel_wait *w)
{
    static const struct {
        int32_t kind, type;
    } of_object[] = {
        [KERNEL_FUTEX] = {UPMU_TRACE_FUTEX_WAIT, UPMU_OBJECT_FUTEX},
        [KERNEL_MUTEX] = {UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_MUTEX},
        [KERNEL_RWLOCK] = {UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_RWLOCK},
        [KERNEL_STREAM] = {UPMU_TRACE_LOCK_BLOCK, UPMU_OBJECT_FUTEX},
        [KERNEL_THREAD] = {UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD},
    };
    h->state = WAIT_FILE_BLOCKED;
    h->version = (uint32_t)k->switches * 2;
    h->kind = of_object[w->type].kind;
    h->type = of_object[w->type].type;
    h->flags = (k->timed ? UPMU_TRACE_FLAG_TIMED : 0) | (k->may_share ? UPMU_TRACE_FLAG_PSHARED : 0);
    h->peer = w->holder;
    h->object = w->address;
    h->object2 = h->site = h->since_ns = h->handle = 0;
    h->stack = h->holder_stack = h->forgotten = 0;
    h->owner = w->ended ? WAIT_FILE_OWNER_GONE : 0;
}

/* The thread whose end a recorded wait is for, if it has no slot: its handle is not known then. */
static void kernel_waits_add_joined(const struct wait_state *s, struct wait_state_thread *t,
                                    const struct kernel_thread *k)
{
    if (t->head.kind != UPMU_TRACE_THREAD_JOIN || t->head.peer != 0 || !k->in_futex)
        return;
    const struct kernel_wait w = kernel_wait_of(&s->kernel, k);
    t->head.peer = w.type == KERNEL_THREAD ? w.holder : 0;
}

/* The wait of a thread whose slot shows none. @return 0; UPMU_E_NOMEM. */
static int kernel_waits_add(struct wait_state *s, const struct kernel_thread *k)
{
    struct wait_state_thread *t = wait_state_thread_with(s, k->tid);
    if (t && t->head.state == WAIT_FILE_BLOCKED) {
        kernel_waits_add_joined(s, t, k);
        return 0;
    }
    if (!t)
        t = kernel_waits_add_thread(s, k);
    if (!t)
        return wait_state_no_memory();
    t->inspected = true;
    if (k->asleep && k->in_futex) {
        const struct kernel_wait w = kernel_wait_of(&s->kernel, k);
        kernel_waits_set(&t->head, k, &w);
    }
    return 0;
}

/* The holder that the lock itself has; 0. */
static pid_t kernel_waits_holder(const struct wait_state *s, const struct wait_state_thread *t)
{
    const struct wait_file_slot *h = &t->head;
    if (h->state != WAIT_FILE_BLOCKED || h->kind != UPMU_TRACE_LOCK_BLOCK)
        return 0;
    if (h->type == UPMU_OBJECT_MUTEX)
        return kernel_mutex_owner(&s->kernel, h->object);
    if (h->type == UPMU_OBJECT_RWLOCK)
        return kernel_rwlock_writer(&s->kernel, h->object);
    return t->inspected ? h->peer : 0;
}

/* The ended holder of the lock that a thread waits for. @return 0; UPMU_E_NOMEM. */
static int kernel_waits_add_ended(struct wait_state *s, size_t i)
{
    const struct wait_file_slot h = s->file.threads[i].head;
    if (wait_state_is_held(s, h.object))
        return 0;
    struct wait_state_thread *owner =
        wait_state_add_thread(s, &(struct wait_file_slot){.state = WAIT_FILE_ENDED, .tid = h.peer});
    if (!owner)
        return wait_state_no_memory();
    owner->inspected = true;
    return wait_state_add_held(s, owner, h.object) < 0 ? UPMU_E_NOMEM : 0;
}

/* The holder of the lock that a thread waits for, if no thread is known to hold it. @return 0; UPMU_E_NOMEM. */
static int kernel_waits_add_holder(struct wait_state *s, size_t i)
{
    struct wait_state_thread *t = &s->file.threads[i];
    const struct kernel_thread *k = kernel_view_thread(&s->kernel, t->head.tid);
    if (k && k->asleep && t->inspected && t->head.state == WAIT_FILE_BLOCKED && t->head.owner == WAIT_FILE_OWNER_GONE)
        return kernel_waits_add_ended(s, i);
    pid_t holder = k && k->asleep ? kernel_waits_holder(s, t) : 0;
    struct wait_state_thread *owner = holder > 0 ? wait_state_thread_with(s, holder) : NULL;
    if (!owner || owner->head.state != WAIT_FILE_BLOCKED || wait_state_is_held(s, t->head.object) ||
        (owner != t && wait_state_slot_acquires(&owner->head, t->head.object)))
        return 0;
    t->head.peer = holder;
    s->kernel.holders++;
    return wait_state_add_held(s, owner, t->head.object) < 0 ? UPMU_E_NOMEM : 0;
}

int wait_state_inspect(struct wait_state *s, pid_t pid)
{
    kernel_view_free(&s->kernel);
    int rc = kernel_view_read(&s->kernel, pid);
    if (rc == 0)
        kernel_waits_drop_left(s);
    if (rc != 0 || !s->kernel.waits)
        return rc;
    for (size_t i = 0; rc == 0 && i < s->kernel.n_threads; i++)
        rc = kernel_waits_add(s, &s->kernel.threads[i]);
    for (size_t i = 0, n = s->file.n_threads; rc == 0 && i < n; i++)
        rc = kernel_waits_add_holder(s, i);
    return rc;
}

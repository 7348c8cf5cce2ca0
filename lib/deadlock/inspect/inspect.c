/* SPDX-License-Identifier: MIT */
/*
 * Inspection of a process that is not recorded.
 *
 * Its wait state has no slots, only what the kernel and the locks themselves have: the rest is as for a recorded process.
 */
#include "deadlock/inspect/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/map.h"
#include "base/opts.h"
#include "deadlock/deadlocks.h"
#include "trace/format/control.h"

enum { INTERVAL_NS = 100 * 1000 * 1000 };

static int inspect_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while inspecting a process");
}

static int inspect_read_state(struct wait_state *s, pid_t pid)
{
    *s = (struct wait_state){0};
    int rc = wait_state_read_wakers(s, pid);
    if (rc == 0 && s->kernel.n_threads == 0)
        return upmu_fail(UPMU_E_GONE, "there is no process %d", (int)pid);
    if (rc == 0 && !s->kernel.waits)
        return upmu_fail(UPMU_E_PERM,
                         "cannot inspect process %d: it is another user's, or kernel.yama.ptrace_scope forbids "
                         "it. Inspect it as root, or record it with upmu record.",
                         (int)pid);
    return rc == 0 ? wait_state_find_blocked(s, pid) : rc;
}

static void inspect_read_wait_channel(pid_t pid, struct inspect_thread *t)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/wchan", (int)pid, (int)t->tid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(t->wait_channel, 1, sizeof t->wait_channel - 1, f) : 0;
    if (f)
        (void)fclose(f);
    t->wait_channel[n] = '\0';
    if (strcmp(t->wait_channel, "0") == 0)
        t->wait_channel[0] = '\0';
}

/* The thread of a snapshot, if it has not run between the two. Its futex may be known as that of a lock by now. */
static const struct wait_state_thread *inspect_same_wait(struct wait_state *s, const struct wait_state_thread *before)
{
    const struct wait_state_thread *now = wait_state_thread_with(s, before->head.tid);
    const struct kernel_thread *k = kernel_view_thread(&s->kernel, before->head.tid);
    bool same = now && now->head.state == WAIT_FILE_BLOCKED && before->head.state == WAIT_FILE_BLOCKED &&
                now->head.version == before->head.version &&
                (now->head.object == before->head.object || (k && k->word == before->head.object));
    return same ? now : NULL;
}

static int inspect_add_thread(struct upmu_deadlock_inspect *inspect, struct wait_state *s,
                              const struct wait_state_thread *before)
{
    struct inspect_thread *all =
        array_reserve(inspect->threads, inspect->n_threads, &inspect->cap_threads, sizeof *all);
    const struct kernel_thread *k = kernel_view_thread(&s->kernel, before->head.tid), *owner;
    const struct wait_state_thread *now = inspect_same_wait(s, before);
    if (!all)
        return inspect_no_memory();
    inspect->threads = all;
    if (!k)
        return 0; /* it has just ended */
    struct inspect_thread *t = &all[inspect->n_threads++];
    *t = (struct inspect_thread){.tid = k->task, .in_futex = now != NULL};
    memcpy(t->name, k->name, sizeof t->name);
    if (!now)
        return 0;
    owner = kernel_view_thread(&s->kernel, now->head.peer);
    t->timed = k->timed;
    t->word = k->word;
    t->object = now->head.object;
    t->type = now->head.type;
    t->owner = owner && now->head.peer == before->head.peer ? owner->task : 0;
    return 0;
}

/* Adds to the wait state of the process what it has in common with others that use its memory. `*again`: a thread of a deadlock has run
 * meanwhile, as one that another inspector has stopped. */
static int inspect_across(const struct upmu_deadlock_inspect *inspect, struct wait_state *now, bool *again)
{
    struct upmu_deadlocks d = {.n_processes = 1, .processes = calloc(1, sizeof *d.processes)};
    if (!d.processes)
        return inspect_no_memory();
    d.processes[0] = (struct dl_process){
        .pid = control_inner_pid(inspect->pid), .outer_pid = inspect->pid, .alive = true, .wait_state = *now};
    int rc = deadlocks_add_users(&d);
    if (rc == 0)
        rc = deadlocks_find_across(&d);
    *now = d.processes[0].wait_state;
    *again = d.unconfirmed;
    for (size_t i = 1; i < d.n_processes; i++)
        deadlocks_process_free(&d.processes[i]);
    free(d.processes);
    return rc;
}

static struct inspect_thread *inspect_member(struct upmu_deadlock_inspect *inspect, const struct wait_state *s,
                                             uint32_t member)
{
    const struct kernel_thread *k = kernel_view_thread(&s->kernel, s->file.threads[member].head.tid);
    for (size_t i = 0; k && i < inspect->n_threads; i++)
        if (inspect->threads[i].tid == k->task)
            return &inspect->threads[i];
    return NULL;
}

static bool inspect_was_found(const struct wait_state *before, uint64_t signature)
{
    for (size_t i = 0; i < before->snapshot.n_deadlocks; i++)
        if (wait_state_signature(before, &before->snapshot.deadlocks[i]) == signature)
            return true;
    return false;
}

/* Numbers the deadlocks that both snapshots show. */
static void inspect_add_deadlocks(struct upmu_deadlock_inspect *inspect, const struct wait_state *before,
                                  const struct wait_state *now)
{
    uint32_t cycles = 0;
    for (size_t i = 0; i < now->snapshot.n_deadlocks; i++) {
        const struct wg_deadlock *f = &now->snapshot.deadlocks[i];
        if (f->n == 0 || (!f->several && !inspect_was_found(before, wait_state_signature(now, f))))
            continue; /* what several processes are part of is confirmed already */
        inspect->stalled |= f->certainty == WG_STALLED;
        if (f->certainty != WG_CERTAIN)
            continue;
        cycles++;
        for (uint32_t k = 0; k < f->n; k++) {
            struct inspect_thread *t = inspect_member(inspect, now, now->snapshot.members[f->first + k]);
            if (!t)
                continue;
            t->cycle = cycles;
            t->kind = (int32_t)f->kind;
            const struct wait_file_slot *h = &now->file.threads[now->snapshot.members[f->first + k]].head;
            t->owner = f->several ? h->peer : t->owner;
            t->type = f->several ? h->type : t->type;
        }
    }
}

static int inspect_process(struct upmu_deadlock_inspect *inspect)
{
    const struct timespec pause = {.tv_nsec = INTERVAL_NS};
    enum { TRIES = 3 };
    struct wait_state before, now = {0};
    bool again = true;
    int rc = inspect_read_state(&before, inspect->pid);
    for (int i = 0; rc == 0 && again && i < TRIES; i++) {
        wait_state_free(&now);
        nanosleep(&pause, NULL);
        rc = inspect_read_state(&now, inspect->pid);
        if (rc == 0)
            rc = inspect_across(inspect, &now, &again);
    }
    for (size_t i = 0; rc == 0 && i < before.file.n_threads; i++)
        rc = inspect_add_thread(inspect, &now, &before.file.threads[i]);
    if (rc == 0)
        inspect_add_deadlocks(inspect, &before, &now);
    wait_state_free(&before);
    wait_state_free(&now);
    if (rc == 0)
        rc = symbols_open(&inspect->symbols, NULL);
    if (rc != 0)
        return rc;
    inspect_stacks_begin(inspect);
    for (size_t i = 0; i < inspect->n_threads; i++) {
        inspect_read_wait_channel(inspect->pid, &inspect->threads[i]);
        if (inspect->threads[i].in_futex)
            inspect_stack_read(inspect, &inspect->threads[i]);
        if (rc == 0 && inspect->threads[i].in_futex)
            rc = inspect_object_name(inspect, &inspect->threads[i]);
    }
    return rc;
}

int upmu_deadlock_inspect_open(struct upmu_deadlock_inspect **inspect, pid_t pid)
{
    if (!inspect)
        return argument_null(__func__, "inspect");
    *inspect = NULL;
    if (pid <= 0)
        return upmu_fail(UPMU_E_INVAL, "%s: `pid` is %d, not a process id", __func__, (int)pid);
    struct upmu_deadlock_inspect *n = calloc(1, sizeof *n);
    if (!n)
        return inspect_no_memory();
    n->pid = pid;
    int rc = inspect_process(n);
    if (rc == 0)
        *inspect = n;
    else
        upmu_deadlock_inspect_close(n);
    return rc;
}

void upmu_deadlock_inspect_close(struct upmu_deadlock_inspect *inspect)
{
    if (!inspect)
        return;
    if (inspect->dwfl)
        dwfl_end(inspect->dwfl);
    symbols_close(inspect->symbols);
    for (size_t i = 0; i < inspect->n_threads; i++)
        free(inspect->threads[i].object_name);
    free(inspect->threads);
    free(inspect);
}

int upmu_deadlock_inspect_thread_at(const struct upmu_deadlock_inspect *inspect, size_t i,
                                    struct upmu_deadlock_inspect_thread *out)
{
    if (!inspect || !out)
        return ARGUMENT_NULL(inspect, out);
    if (i >= inspect->n_threads)
        return UPMU_E_END;
    const struct inspect_thread *t = &inspect->threads[i];
    const struct upmu_deadlock_inspect_thread ours = {
        .tid = t->tid,
        .name = t->name,
        .in_futex = t->in_futex,
        .timed = t->in_futex && t->timed,
        .futex = t->in_futex ? t->word : 0,
        .owner = t->owner,
        .cycle = t->cycle,
        .n_frames = t->n_frames,
        .wait_channel = t->wait_channel,
        .object_type = t->type,
        .object_name = t->object_name ? t->object_name : "",
        .deadlock_kind = t->cycle ? t->kind : -1,
    };
    return OPTS_GIVE(out, ours, UPMU_DEADLOCK_INSPECT_THREAD_SIZE_V1);
}

int upmu_deadlock_inspect_stalled(const struct upmu_deadlock_inspect *inspect)
{
    return inspect && inspect->stalled;
}

size_t upmu_deadlock_inspect_thread_count(const struct upmu_deadlock_inspect *inspect)
{
    return inspect ? inspect->n_threads : 0;
}

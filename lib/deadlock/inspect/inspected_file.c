/* SPDX-License-Identifier: MIT */
/*
 * What an inspection found, in a file beside the wait-state file, for reports after the end of the process.
 *
 * It is written for deadlocks that two inspections have confirmed. The threads follow the header, each with its call stack
 * and its held locks. A wait that was recorded is valid as long as its slot has the same version; one that was not recorded
 * was part of a deadlock, so it lasted until the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "deadlock/wait_state.h"

#define INSPECTED_NAME ".inspected"
#define INSPECTED_MAGIC "upmuins"

enum { INSPECTED_VERSION = 2, THREADS_MAX = 1 << 20 };

struct inspected_header {
    char magic[8];
    uint32_t version;
    uint32_t threads;
    uint32_t all_asleep; /* 1: every thread slept, and nothing was known that could wake one */
    uint32_t unused;
};

struct inspected_thread {
    struct wait_file_slot head;
    struct wait_file_stack stack;
    uint32_t inspected, n_held;
    uint32_t several, several_kind, several_threads; /* as in struct wait_state_thread */
};

static FILE *inspected_open(const char *dir, const char *how)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" INSPECTED_NAME, dir) >= (int)sizeof path)
        return NULL;
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (*how == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY);
    int fd = open(path, flags, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, how) : NULL;
    if (fd >= 0 && !f)
        close(fd);
    return f;
}

/* The deadlock that a thread is part of, if it was found in several processes; NULL. */
static const struct wg_deadlock *inspected_several(const struct wait_state *s, const struct wait_state_thread *t)
{
    const struct wg_thread *w = &s->snapshot.threads[t - s->file.threads];
    const struct wg_deadlock *f = w->deadlock != WG_NONE && !w->behind ? &s->snapshot.deadlocks[w->deadlock] : NULL;
    return f && f->several ? f : NULL;
}

static bool inspected_write_thread(FILE *f, const struct wait_state *s, const struct wait_state_thread *t)
{
    struct inspected_thread one = {.head = t->head, .stack = t->stack, .inspected = t->inspected, .n_held = t->n_held};
    const struct wg_deadlock *d = inspected_several(s, t);
    if (d) {
        one.several = (uint32_t)(d - s->snapshot.deadlocks) + 1;
        one.several_kind = (uint32_t)d->kind;
        one.several_threads = d->n;
    }
    if (fwrite(&one, sizeof one, 1, f) != 1)
        return false;
    return t->n_held == 0 || fwrite(&s->file.held[t->first_held], sizeof *s->file.held, t->n_held, f) == t->n_held;
}

/* Whether the wait-state file alone does not show what was found. */
static bool inspected_is_needed(const struct wait_state *s)
{
    bool needed = s->kernel.holders > 0;
    for (size_t i = 0; i < s->file.n_threads; i++)
        needed |= s->file.threads[i].inspected;
    for (size_t i = 0; i < s->snapshot.n_deadlocks; i++)
        needed |= s->snapshot.deadlocks[i].certainty == WG_STALLED || s->snapshot.deadlocks[i].several;
    return needed;
}

void wait_state_save_inspected(const struct wait_state *s, const char *dir)
{
    struct inspected_header h = {.magic = INSPECTED_MAGIC,
                                 .version = INSPECTED_VERSION,
                                 .threads = (uint32_t)s->file.n_threads,
                                 .all_asleep = s->snapshot.all_asleep};
    FILE *f = inspected_is_needed(s) ? inspected_open(dir, "w") : NULL;
    if (!f)
        return;
    bool fine = fwrite(&h, sizeof h, 1, f) == 1;
    for (size_t i = 0; fine && i < s->file.n_threads; i++)
        fine = inspected_write_thread(f, s, &s->file.threads[i]);
    (void)fclose(f); /* a file that is cut short is not used */
}

bool wait_state_was_inspected(const char *dir)
{
    FILE *f = inspected_open(dir, "r");
    if (f)
        (void)fclose(f);
    return f != NULL;
}

/* The thread in the snapshot that a saved one belongs to; NULL if it has run since, or without memory. */
static struct wait_state_thread *inspected_slot(struct wait_state *s, const struct inspected_thread *one)
{
    struct wait_state_thread *t = wait_state_thread_with(s, one->head.tid);
    if (t && t->head.state == WAIT_FILE_BLOCKED)
        return t->head.version == one->head.version ? t : NULL;
    if (!one->inspected)
        return NULL;
    if (!t)
        t = wait_state_add_thread(s, &one->head);
    if (!t)
        return NULL;
    *t = (struct wait_state_thread){.head = one->head, .stack = one->stack, .inspected = true};
    t->head.name[sizeof t->head.name - 1] = '\0';
    return t;
}

static bool inspected_holds(const struct wait_state *s, const struct wait_state_thread *t, uint64_t lock)
{
    for (uint32_t i = 0; i < t->n_held; i++)
        if (s->file.held[t->first_held + i].lock == lock)
            return true;
    return false;
}

/* @return false at the end of what is whole. */
static bool inspected_read_thread(struct wait_state *s, FILE *f, bool *same)
{
    struct inspected_thread one;
    struct wait_file_held held;
    if (fread(&one, sizeof one, 1, f) != 1 || one.n_held > WAIT_FILE_HELD_MAX || one.head.state > WAIT_FILE_CHILD)
        return false;
    bool blocked = one.head.state == WAIT_FILE_BLOCKED, ended = one.head.state == WAIT_FILE_ENDED && one.inspected;
    struct wait_state_thread *t = blocked ? inspected_slot(s, &one)
                                  : ended ? wait_state_add_thread(s, &one.head)
                                          : NULL;
    *same = *same && (t || ended);
    if (t && blocked) {
        t->head.peer = one.head.peer;
        t->several = one.several_kind < WG_DEADLOCK_KINDS ? one.several : 0;
        t->several_kind = one.several_kind;
        t->several_threads = one.several_threads;
    }
    for (uint32_t i = 0; i < one.n_held; i++) {
        if (fread(&held, sizeof held, 1, f) != 1)
            return false;
        if (t && held.lock != 0 && !inspected_holds(s, t, held.lock) && wait_state_add_held(s, t, held.lock) < 0)
            return false;
    }
    return true;
}

void wait_state_restore_inspected(struct wait_state *s, const char *dir)
{
    struct inspected_header h;
    FILE *f = inspected_open(dir, "r");
    bool same = true;
    if (!f)
        return;
    bool fine = fread(&h, sizeof h, 1, f) == 1 && memcmp(h.magic, INSPECTED_MAGIC, sizeof h.magic) == 0 &&
                h.version == INSPECTED_VERSION && h.threads <= THREADS_MAX;
    for (uint32_t i = 0; fine && i < h.threads; i++)
        fine = inspected_read_thread(s, f, &same);
    (void)fclose(f);
    s->all_asleep = fine && same && h.all_asleep;
}

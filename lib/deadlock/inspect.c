/* SPDX-License-Identifier: MIT */
/*
 * Threads of a process that does not record: which futexes they wait for, and whose mutexes those seem to be. Room:
 * analysis. Before it: /proc, the process's memory; inside: look_stack.c; after it: upmu deadlock PID.
 *
 * The kernel tells the address of the futex, not what lies there. A mutex is believed where glibc's fields of one make
 * sense: an owner that is a thread of the process, a plausible count and kind; and all of it the same at a second look.
 */
#include "deadlock/inspect.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "base/map.h"
#include "base/error.h"
#include "base/opts.h"

enum { BETWEEN_LOOKS_NS = 100 * 1000 * 1000, KIND_MOST = 0x1ff };

static int no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory for a look at a process");
}

/* @return false if the file cannot be read, with errno. */
static bool read_task(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(text, 1, size - 1, f);
    bool fine = !ferror(f);
    int err = errno;
    (void)fclose(f);
    errno = err;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return fine;
}

/* ---------------------------------------------------------------------------------------------------- the futex */

static bool waits_by(long op)
{
    switch (op & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
        return true;
    default:
        return false;
    }
}

/* "202 0xWORD 0xOP 0xVALUE 0xTIMEOUT ...", or "running". @return 0; UPMU_E_PERM, UPMU_E_GONE. */
static int read_futex(pid_t pid, struct look_thread *t)
{
    char line[256];
    long number;
    uint64_t word, op, value, timeout;
    t->in_futex = false;
    if (!read_task(pid, t->tid, "syscall", line, sizeof line)) {
        if (errno == EPERM || errno == EACCES)
            return upmu_fail(
                UPMU_E_PERM,
                "process %d may not be looked at: it is another user's, or kernel.yama.ptrace_scope forbids "
                "it; try as root, or record it with upmu record",
                (int)pid);
        return 0; /* the thread has ended */
    }
    int n = sscanf(line, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, &word, &op, &value, &timeout);
    if (n < 5 || number != SYS_futex || !waits_by((long)op))
        return 0;
    t->in_futex = true;
    t->timed = timeout != 0;
    t->word = word;
    return 0;
}

static bool is_thread(const struct upmu_deadlock_inspect *look, pid_t tid)
{
    for (size_t i = 0; i < look->n_threads; i++)
        if (look->threads[i].tid == tid)
            return true;
    return false;
}

/* The owner of the mutex that seems to lie at a futex; 0. */
static pid_t owner_at(const struct upmu_deadlock_inspect *look, uint64_t word)
{
#ifdef __GLIBC__
    pthread_mutex_t m;
    struct iovec here = {.iov_base = &m, .iov_len = sizeof m};
    struct iovec there = {.iov_base = (void *)(uintptr_t)word, .iov_len = sizeof m};
    if (process_vm_readv(look->pid, &here, 1, &there, 1, 0) != (ssize_t)sizeof m)
        return 0;
    bool makes_sense = m.__data.__lock != 0 && m.__data.__nusers >= 1 && m.__data.__nusers <= look->n_threads &&
                       m.__data.__kind >= 0 && m.__data.__kind <= KIND_MOST;
    return makes_sense && is_thread(look, m.__data.__owner) ? m.__data.__owner : 0;
#else
    (void)look;
    (void)word;
    return 0;
#endif
}

/* -------------------------------------------------------------------------------------------------- two looks */

static int add_thread(struct upmu_deadlock_inspect *look, pid_t tid)
{
    struct look_thread *all = array_room(look->threads, look->n_threads, &look->cap_threads, sizeof *all);
    if (!all)
        return no_memory();
    look->threads = all;
    struct look_thread *t = &all[look->n_threads];
    *t = (struct look_thread){.tid = tid};
    char name[32] = "";
    if (!read_task(look->pid, tid, "comm", name, sizeof name))
        return 0; /* it has just ended */
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    if (!read_task(look->pid, tid, "wchan", t->where, sizeof t->where) || strcmp(t->where, "0") == 0)
        t->where[0] = '\0';
    look->n_threads++;
    return read_futex(look->pid, t);
}

static int add_threads(struct upmu_deadlock_inspect *look)
{
    char path[64];
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", (int)look->pid);
    DIR *dir = opendir(path);
    int rc = 0;
    if (!dir)
        return upmu_fail(UPMU_E_GONE, "there is no process %d", (int)look->pid);
    while (rc == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            rc = add_thread(look, (pid_t)strtol(entry->d_name, NULL, 10));
    closedir(dir);
    return rc;
}

static void find_owners(struct upmu_deadlock_inspect *look)
{
    for (size_t i = 0; i < look->n_threads; i++)
        if (look->threads[i].in_futex)
            look->threads[i].owner = owner_at(look, look->threads[i].word);
}

/* What is not the same any more was a wait like any other. */
static int look_again(struct upmu_deadlock_inspect *look)
{
    const struct timespec pause = {.tv_nsec = BETWEEN_LOOKS_NS};
    int rc = 0;
    nanosleep(&pause, NULL);
    for (size_t i = 0; rc == 0 && i < look->n_threads; i++) {
        struct look_thread *t = &look->threads[i], now = *t;
        if (!t->in_futex)
            continue;
        rc = read_futex(look->pid, &now);
        t->in_futex = now.in_futex && now.word == t->word;
        if (!t->in_futex || owner_at(look, t->word) != t->owner)
            t->owner = 0;
    }
    return rc;
}

/* A cycle of owners, by following them: whoever is met again on one way is in it. */
static void find_cycles(struct upmu_deadlock_inspect *look)
{
    uint32_t cycles = 0;
    for (size_t i = 0; i < look->n_threads; i++) {
        size_t at = i, steps = 0;
        do {
            const struct look_thread *t = &look->threads[at];
            size_t next = 0;
            while (t->owner != 0 && next < look->n_threads && look->threads[next].tid != t->owner)
                next++;
            at = t->owner != 0 && t->in_futex && !t->timed ? next : look->n_threads;
        } while (at < look->n_threads && at != i && ++steps <= look->n_threads);
        if (at != i || look->threads[i].cycle != 0)
            continue;
        cycles++;
        do {
            look->threads[at].cycle = cycles;
            for (size_t next = 0; next < look->n_threads; next++)
                if (look->threads[next].tid == look->threads[at].owner) {
                    at = next;
                    break;
                }
        } while (at != i);
    }
}

static int look_into(struct upmu_deadlock_inspect *look)
{
    int rc = add_threads(look);
    if (rc == 0 && look->n_threads == 0)
        rc = upmu_fail(UPMU_E_GONE, "there is no process %d", (int)look->pid);
    if (rc == 0)
        rc = symbols_open(&look->symbols, SYMBOLS_DEBUG_DIR);
    if (rc != 0)
        return rc;
    find_owners(look);
    rc = look_again(look);
    if (rc != 0)
        return rc;
    find_cycles(look);
    look_stacks_begin(look);
    for (size_t i = 0; i < look->n_threads; i++)
        if (look->threads[i].in_futex)
            look_stack_read(look, &look->threads[i]);
    return 0;
}

int upmu_deadlock_inspect_open(struct upmu_deadlock_inspect **look, pid_t pid)
{
    if (!look || pid <= 0)
        return upmu_fail(UPMU_E_INVAL, "no process, or no place for a look at it");
    *look = NULL;
    struct upmu_deadlock_inspect *l = calloc(1, sizeof *l);
    if (!l)
        return no_memory();
    l->pid = pid;
    int rc = look_into(l);
    if (rc == 0)
        *look = l;
    else
        upmu_deadlock_inspect_close(l);
    return rc;
}

void upmu_deadlock_inspect_close(struct upmu_deadlock_inspect *look)
{
    if (!look)
        return;
    if (look->dwfl)
        dwfl_end(look->dwfl);
    symbols_close(look->symbols);
    free(look->threads);
    free(look);
}

int upmu_deadlock_inspect_thread_at(const struct upmu_deadlock_inspect *look, size_t i,
                                    struct upmu_deadlock_inspect_thread *out)
{
    if (!look || !out)
        return upmu_fail(UPMU_E_INVAL, "no look, or no place for a thread");
    if (i >= look->n_threads)
        return UPMU_E_NAME;
    const struct look_thread *t = &look->threads[i];
    const struct upmu_deadlock_inspect_thread ours = {
        .tid = t->tid,
        .name = t->name,
        .in_futex = t->in_futex,
        .timed = t->in_futex && t->timed,
        .futex = t->in_futex ? t->word : 0,
        .owner = t->owner,
        .cycle = t->cycle,
        .n_frames = t->n_frames,
        .wait_channel = t->where,
    };
    if (opts_give(out, out->size, sizeof ours, &ours, sizeof ours))
        return 0;
    return upmu_fail(UPMU_E_INVAL, "the struct to be filled has at least %zu bytes, not %zu", sizeof ours, out->size);
}

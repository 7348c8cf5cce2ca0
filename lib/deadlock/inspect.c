/* SPDX-License-Identifier: MIT */
/*
 * Inspection of a process that is not recorded: futex waits and mutex owners.
 *
 * The kernel reports the address of the futex only. A mutex is assumed there if the fields of glibc's pthread_mutex_t
 * are plausible (the owner is a thread of the process, count and kind are in range) and unchanged at a second
 * reading.
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

enum { INTERVAL_NS = 100 * 1000 * 1000, MUTEX_KIND_MAX = 0x1ff };

static int inspect_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while inspecting a process");
}

/* @return false if the file cannot be read, with errno. */
static bool inspect_read_task(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
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

/* ---------------------------------------------------------------------------------------------------- futexes */

static bool inspect_is_futex_wait(long op)
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

/* Parses "202 0xWORD 0xOP 0xVALUE 0xTIMEOUT ...", or "running". @return 0; UPMU_E_PERM, UPMU_E_GONE. */
static int inspect_read_futex(pid_t pid, struct inspect_thread *t)
{
    char line[256];
    long number;
    uint64_t word, op, value, timeout;
    t->in_futex = false;
    if (!inspect_read_task(pid, t->tid, "syscall", line, sizeof line)) {
        if (errno == EPERM || errno == EACCES)
            return upmu_fail(UPMU_E_PERM,
                             "cannot inspect process %d: it is another user's, or kernel.yama.ptrace_scope forbids "
                             "it. Inspect it as root, or record it with upmu record.",
                             (int)pid);
        return 0; /* the thread has ended */
    }
    int n = sscanf(line, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, &word, &op, &value, &timeout);
    if (n < 5 || number != SYS_futex || !inspect_is_futex_wait((long)op))
        return 0;
    t->in_futex = true;
    t->timed = timeout != 0;
    t->word = word;
    return 0;
}

static bool inspect_has_thread(const struct upmu_deadlock_inspect *inspect, pid_t tid)
{
    for (size_t i = 0; i < inspect->n_threads; i++)
        if (inspect->threads[i].tid == tid)
            return true;
    return false;
}

/* The owner of the mutex that contains the futex; 0 if it is no mutex. */
static pid_t inspect_mutex_owner(const struct upmu_deadlock_inspect *inspect, uint64_t word)
{
#ifdef __GLIBC__
    pthread_mutex_t m;
    struct iovec local = {.iov_base = &m, .iov_len = sizeof m};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)word, .iov_len = sizeof m};
    if (process_vm_readv(inspect->pid, &local, 1, &remote, 1, 0) != (ssize_t)sizeof m)
        return 0;
    bool plausible = m.__data.__lock != 0 && m.__data.__nusers >= 1 && m.__data.__nusers <= inspect->n_threads &&
                     m.__data.__kind >= 0 && m.__data.__kind <= MUTEX_KIND_MAX;
    return plausible && inspect_has_thread(inspect, m.__data.__owner) ? m.__data.__owner : 0;
#else
    (void)inspect;
    (void)word;
    return 0;
#endif
}

/* -------------------------------------------------------------------------------------------------- two readings */

static int inspect_add_thread(struct upmu_deadlock_inspect *inspect, pid_t tid)
{
    struct inspect_thread *all =
        array_reserve(inspect->threads, inspect->n_threads, &inspect->cap_threads, sizeof *all);
    if (!all)
        return inspect_no_memory();
    inspect->threads = all;
    struct inspect_thread *t = &all[inspect->n_threads];
    *t = (struct inspect_thread){.tid = tid};
    char name[32] = "";
    if (!inspect_read_task(inspect->pid, tid, "comm", name, sizeof name))
        return 0; /* it has just ended */
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    if (!inspect_read_task(inspect->pid, tid, "wchan", t->wait_channel, sizeof t->wait_channel) ||
        strcmp(t->wait_channel, "0") == 0)
        t->wait_channel[0] = '\0';
    inspect->n_threads++;
    return inspect_read_futex(inspect->pid, t);
}

static int inspect_add_threads(struct upmu_deadlock_inspect *inspect)
{
    char path[64];
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", (int)inspect->pid);
    DIR *dir = opendir(path);
    int rc = 0;
    if (!dir)
        return upmu_fail(UPMU_E_GONE, "there is no process %d", (int)inspect->pid);
    while (rc == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            rc = inspect_add_thread(inspect, (pid_t)strtol(entry->d_name, NULL, 10));
    closedir(dir);
    return rc;
}

static void inspect_find_owners(struct upmu_deadlock_inspect *inspect)
{
    for (size_t i = 0; i < inspect->n_threads; i++)
        if (inspect->threads[i].in_futex)
            inspect->threads[i].owner = inspect_mutex_owner(inspect, inspect->threads[i].word);
}

/* Reads again after an interval: what changed is an ordinary wait. */
static int inspect_again(struct upmu_deadlock_inspect *inspect)
{
    const struct timespec pause = {.tv_nsec = INTERVAL_NS};
    int rc = 0;
    nanosleep(&pause, NULL);
    for (size_t i = 0; rc == 0 && i < inspect->n_threads; i++) {
        struct inspect_thread *t = &inspect->threads[i], now = *t;
        if (!t->in_futex)
            continue;
        rc = inspect_read_futex(inspect->pid, &now);
        t->in_futex = now.in_futex && now.word == t->word;
        if (!t->in_futex || inspect_mutex_owner(inspect, t->word) != t->owner)
            t->owner = 0;
    }
    return rc;
}

/* Follows the owners: a thread reached from itself is part of a cycle. */
static void inspect_find_cycles(struct upmu_deadlock_inspect *inspect)
{
    uint32_t cycles = 0;
    for (size_t i = 0; i < inspect->n_threads; i++) {
        size_t at = i, steps = 0;
        do {
            const struct inspect_thread *t = &inspect->threads[at];
            size_t next = 0;
            while (t->owner != 0 && next < inspect->n_threads && inspect->threads[next].tid != t->owner)
                next++;
            at = t->owner != 0 && t->in_futex && !t->timed ? next : inspect->n_threads;
        } while (at < inspect->n_threads && at != i && ++steps <= inspect->n_threads);
        if (at != i || inspect->threads[i].cycle != 0)
            continue;
        cycles++;
        do {
            inspect->threads[at].cycle = cycles;
            for (size_t next = 0; next < inspect->n_threads; next++)
                if (inspect->threads[next].tid == inspect->threads[at].owner) {
                    at = next;
                    break;
                }
        } while (at != i);
    }
}

static int inspect_process(struct upmu_deadlock_inspect *inspect)
{
    int rc = inspect_add_threads(inspect);
    if (rc == 0 && inspect->n_threads == 0)
        rc = upmu_fail(UPMU_E_GONE, "there is no process %d", (int)inspect->pid);
    if (rc == 0)
        rc = symbols_open(&inspect->symbols, SYMBOLS_DEBUG_DIR);
    if (rc != 0)
        return rc;
    inspect_find_owners(inspect);
    rc = inspect_again(inspect);
    if (rc != 0)
        return rc;
    inspect_find_cycles(inspect);
    inspect_stacks_begin(inspect);
    for (size_t i = 0; i < inspect->n_threads; i++)
        if (inspect->threads[i].in_futex)
            inspect_stack_read(inspect, &inspect->threads[i]);
    return 0;
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
    };
    return OPTS_GIVE(out, ours, UPMU_DEADLOCK_INSPECT_THREAD_SIZE_V1);
}

size_t upmu_deadlock_inspect_thread_count(const struct upmu_deadlock_inspect *inspect)
{
    return inspect ? inspect->n_threads : 0;
}

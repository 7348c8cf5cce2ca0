/* SPDX-License-Identifier: MIT */
/*
 * What a process is like while all of its threads wait: written down by the last one, for those who come when it has been
 * killed and nobody watched it. Room: sync_trace; before it live.c, after it the file .live.
 *
 * Only what the kernel says is asked: signals with a handler, timers, how many threads there are, and whether what is
 * called shared lies in memory that is. The files are read by system calls alone: an allocator may be below us, and
 * open() would be a point at which a thread can be cancelled. One page of the thread's stack has to do for all of them.
 * Programs in which it is always all threads that wait for a moment pay at most a hundredth of their time.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/tick.h"
#include "sync_trace/wrap/resolve.h"
#include "sync_trace/sync.h"
#include "trace/format/wait_state.h"

enum { NS_PER_S = 1000000000, SHARE = 100, FREE_SHARE = 200 /* of a second */, TEXT_MAX = 4096, TRIES = 4 };

/* When it was asked first, and what all asking has taken, in ticks; a child goes on with it. */
static uint64_t first, spent;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* @return false if the file cannot be read, or is longer than all that is wanted of it. */
static bool read_file(const char *path, char text[TEXT_MAX])
{
    size_t got = 0;
    long n = 0, fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    while (got < TEXT_MAX - 1 && (n = syscall(SYS_read, fd, text + got, TEXT_MAX - 1 - got)) > 0)
        got += (size_t)n;
    syscall(SYS_close, fd);
    text[got] = '\0';
    return n == 0;
}

/* Waits that somebody in another process could end, as far as the calls say. A thread may go on while it is looked at:
 * then what is written down is older than its next wait, and not believed. */
__attribute__((no_sanitize("thread"))) static size_t count_shared(uint64_t address_low, uint64_t address_high)
{
    size_t n = 0;
    const struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next) {
        const struct live_slot *s = t->live;
        n += s && s->state == LIVE_WAITS && (s->flags & UPMU_TRACE_FLAG_PSHARED) && s->object >= address_low &&
             s->object < address_high;
    }
    return n;
}

/* How many of them lie in the private memory that a line of the map tells of: "low-high rwxp ...". */
static size_t count_private(const char *line)
{
    enum { PRIVATE = 4 }; /* behind the blank and three letters */
    char *at;
    uint64_t low = strtoull(line, &at, 16);
    uint64_t high = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    bool is_private = strnlen(at, PRIVATE + 1) > PRIVATE && at[PRIVATE] == 'p';
    return is_private ? count_shared(low, high) : 0;
}

/* Waits of which the map says that they are for something private. Of lines longer than the text the rest is passed over:
 * what is wanted stands at the beginning. @return false if the map cannot be read. */
static bool read_map(char text[TEXT_MAX], size_t *found)
{
    size_t got = 0;
    long n, fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    *found = 0;
    if (fd < 0)
        return false;
    while ((n = syscall(SYS_read, fd, text + got, TEXT_MAX - 1 - got)) > 0) {
        char *line = text, *end;
        got += (size_t)n;
        text[got] = '\0';
        for (; (end = strchr(line, '\n')); line = end + 1)
            *found += count_private(line);
        got -= (size_t)(line - text);
        if (got == TEXT_MAX - 1)
            got = 0;
        memmove(text, line, got);
    }
    syscall(SYS_close, fd);
    return n == 0;
}

/* Two threads that begin to wait at once may both be here: who finds another one's wait come up in between looks again.
 * @return 1: all waits are for something of this process alone; 2: not all; 0: it cannot be known. */
static uint32_t ask_memory(char text[TEXT_MAX])
{
    for (int i = 0; i < TRIES; i++) {
        size_t wanted = count_shared(0, UINT64_MAX), found = 0;
        if (wanted > 0 && !read_map(text, &found))
            return 0;
        if (count_shared(0, UINT64_MAX) == wanted && found <= wanted)
            return found == wanted ? 1 : 2;
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------- who really sleeps */

/* Whether the kernel has the thread asleep: one that was woken and did not get to run yet is not. */
static bool is_asleep(pid_t tid, char text[TEXT_MAX])
{
    char path[sizeof "/proc/self/task//stat" + 3 * sizeof tid] = "/proc/self/task/", digits[3 * sizeof tid];
    size_t n = sizeof digits;
    digits[--n] = '\0';
    for (uint32_t rest = (uint32_t)tid; rest > 0 && n > 0; rest /= 10)
        digits[--n] = (char)('0' + rest % 10);
    strcat(strcat(path, digits + n), "/stat");
    const char *name_end = read_file(path, text) ? strrchr(text, ')') : NULL; /* the name may hold anything */
    return name_end && strncmp(name_end, ") S", 3) == 0;
}

/* Another thread's slot, which may be changing: what comes of it is looked at once more. */
__attribute__((no_sanitize("thread"))) static bool waits_to_be_woken(const struct live_slot *s)
{
    return s->kind == UPMU_TRACE_COND_WAIT || s->kind == UPMU_TRACE_BARRIER_ARRIVE ||
           s->kind == UPMU_TRACE_FUTEX_WAIT || s->type == UPMU_OBJECT_SEM;
}

enum sleepers { ALL_SLEEP, SOME_STIR, SOME_RUN };

__attribute__((no_sanitize("thread"))) static enum sleepers look_at_others(const struct sync_thread *self,
                                                                           char text[TEXT_MAX])
{
    const struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    enum sleepers found = ALL_SLEEP;
    for (; t; t = t->next) {
        const struct live_slot *s = t->live;
        if (t == self || !s || s->state == LIVE_FREE || s->state == LIVE_ENDED)
            continue;
        if (s->state != LIVE_WAITS)
            return SOME_RUN;
        if (found == ALL_SLEEP && waits_to_be_woken(s) && !is_asleep(s->tid, text))
            found = SOME_STIR;
    }
    return found;
}

/* Who has written down that he will wait may need a moment to fall asleep; who was woken goes on in that time. */
static bool others_sleep(const struct sync_thread *self, char text[TEXT_MAX])
{
    enum { LOOKS = 64 };
    enum sleepers found = look_at_others(self, text);
    for (int i = 1; i < LOOKS && found == SOME_STIR; i++) {
        sched_yield();
        found = look_at_others(self, text);
    }
    return found == ALL_SLEEP;
}

/* The word that the thread is about to wait on has another value by now, or that is not known. Read by the kernel: the
 * program may have given any address. */
static bool futex_has_changed(const struct sync_thread *t)
{
    uint32_t now = 0;
    struct iovec here = {&now, sizeof now}, there = {(void *)(uintptr_t)t->live->object, sizeof now};
    long n = syscall(SYS_process_vm_readv, (long)t->tid, &here, 1L, &there, 1L, 0L);
    return !t->futex_one || n != (long)sizeof now || now != t->futex_value;
}

/* The wait that `t` is about to begin would end at once: it was posted, or came, after that had been decided. Of a condition
 * variable it still has the mutex, and no signal before its wait is for it. */
static bool goes_on_at_once(const struct sync_thread *t)
{
    const struct live_slot *s = t->live;
    int value = 0;
    if (s->kind == UPMU_TRACE_FUTEX_WAIT)
        return futex_has_changed(t);
    if (s->kind == UPMU_TRACE_BARRIER_ARRIVE)
        return sync_barrier_is_full((const pthread_barrier_t *)(uintptr_t)s->object);
    return s->type == UPMU_OBJECT_SEM &&
           (SYNC_REAL(sem_getvalue)((sem_t *)(uintptr_t)s->object, &value) != 0 || value > 0);
}

/* The number behind a name of the status file. @return false if it is not there. */
static bool number_behind(const char *text, const char *name, int base, uint64_t *out)
{
    const char *found = strstr(text, name), *from = found ? found + strlen(name) : NULL;
    char *end = NULL;
    if (from)
        *out = strtoull(from, &end, base);
    return from && end != from;
}

static bool ask(struct live_header *h, const struct sync_thread *t)
{
    char text[TEXT_MAX];
    uint32_t recording = __atomic_load_n(&sync_gate.recording, __ATOMIC_SEQ_CST);
    uint64_t caught, count;
    uint32_t threads, timers = 0;
    if (!read_file("/proc/self/status", text) || !number_behind(text, "\nSigCgt:", 16, &caught) ||
        !number_behind(text, "\nThreads:", 10, &count) || !read_file("/proc/self/timers", text))
        return false;
    threads = (uint32_t)count;
    for (const char *at = text; (at = strstr(at, "ID:")); at++)
        timers++;
    __atomic_store_n(&h->caught, caught, __ATOMIC_RELAXED);
    __atomic_store_n(&h->timers, timers, __ATOMIC_RELAXED);
    __atomic_store_n(&h->unknown, threads > recording ? threads - recording : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&h->outside, ask_memory(text), __ATOMIC_RELAXED);
    return others_sleep(t, text) && !goes_on_at_once(t);
}

static bool may_ask(uint64_t now)
{
    uint64_t begin = __atomic_load_n(&first, __ATOMIC_RELAXED);
    if (begin == 0 && __atomic_compare_exchange_n(&first, &begin, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        begin = now;
    uint64_t allowed = sync_process.hz / FREE_SHARE + (now > begin ? now - begin : 0) / SHARE;
    return __atomic_load_n(&spent, __ATOMIC_RELAXED) <= allowed;
}

/* What is true of all threads at once is true since before the first was looked at. */
void sync_standstill(struct live_header *h, const struct sync_thread *t, uint64_t tick)
{
    if (!may_ask(tick))
        return;
    int saved = errno;
    uint64_t begin = tick_now();
    /* One at a time, or an earlier answer could come to stand over a later one. Who comes meanwhile leaves word. */
    __atomic_store_n(&sync_gate.ask_again, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&sync_gate.ask_again, __ATOMIC_SEQ_CST) &&
           !__atomic_exchange_n(&sync_gate.asking, 1, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&sync_gate.ask_again, 0, __ATOMIC_SEQ_CST);
        uint64_t now = now_ns();
        if (ask(h, t))
            __atomic_store_n(&h->seen_ns, now, __ATOMIC_RELEASE);
        __atomic_store_n(&sync_gate.asking, 0, __ATOMIC_SEQ_CST);
    }
    __atomic_fetch_add(&spent, tick_now() - begin, __ATOMIC_RELAXED);
    errno = saved;
}

/* SPDX-License-Identifier: MIT */
/*
 * Snapshot of a process whose threads are all blocked.
 *
 * The last thread to block writes it, for a report after the process was killed: signals with a handler, timers, number
 * of threads, and whether objects marked as shared are in shared memory. Files are read by system calls alone: an
 * allocator may be active below, and open() is a cancellation point. One page of stack has to be enough. A program whose
 * threads often all wait briefly pays at most a hundredth of its time. On a loaded machine a thread may take long from
 * writing its slot to falling asleep: the snapshot is repeated, in growing intervals, so that a wait that ends meanwhile is
 * late by a fraction of its length.
 */
#include "sync_trace/emit/all_blocked.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/private_table.h"
#include "base/tick.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "trace/format/wait_state.h"

enum { NS_PER_S = 1000000000, TEXT_MAX = 4096, TRIES = 4 };
static const double free_ns = 5e6, share = 0.01; /* of the process: at once, and of the time since the first snapshot */

/* Intervals between snapshots: a quarter of the time since the first one, and their sum at most. */
enum { PAUSE_FIRST_NS = 50 * 1000, PAUSE_MAX_NS = 20 * 1000 * 1000, PAUSE_SHARE = 4 };
static const uint64_t pauses_max_ns = 2ull * NS_PER_S;

/* Tick of the first snapshot, and nanoseconds that all of them cost; inherited by a child. */
static uint64_t first, spent;

/* @return false if the file cannot be read, or does not fit. */
static bool all_blocked_read_file(const char *path, char text[TEXT_MAX])
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

/* Number of waits that another process could end, according to their flags. A thread may continue meanwhile: then its
 * next wait is later than the snapshot, which is not used. */
__attribute__((no_sanitize("thread"))) static size_t shared_futexes_count(uint64_t address_low, uint64_t address_high)
{
    size_t n = 0;
    const struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next) {
        const struct wait_file_slot *s = t->wait_slot;
        n += s && s->state == WAIT_FILE_BLOCKED && (s->flags & UPMU_TRACE_FLAG_PSHARED) && s->object >= address_low &&
             s->object < address_high;
    }
    return n;
}

/* Number of them in the private memory of a line of the map: "low-high rwxp ...". */
static size_t private_futexes_on_line(const char *line)
{
    enum { PRIVATE = 4 }; /* after the blank and three letters */
    char *at;
    uint64_t low = strtoull(line, &at, 16);
    uint64_t high = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
    bool is_private = strnlen(at, PRIVATE + 1) > PRIVATE && at[PRIVATE] == 'p';
    return is_private ? shared_futexes_count(low, high) : 0;
}

/* Number of them in private memory. The rest of a line longer than the buffer is skipped: its beginning is enough.
 * @return false if the map cannot be read. */
static bool private_futexes_count(char text[TEXT_MAX], size_t *found)
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
            *found += private_futexes_on_line(line);
        got -= (size_t)(line - text);
        if (got == TEXT_MAX - 1)
            got = 0;
        memmove(text, line, got);
    }
    syscall(SYS_close, fd);
    return n == 0;
}

/* Two threads that block at once may both be here: if another wait began meanwhile, count again. @return 1: all waits
 * are for objects of this process alone; 2: not all; 0: unknown. */
static uint32_t futexes_are_private(char text[TEXT_MAX])
{
    for (int i = 0; i < TRIES; i++) {
        size_t wanted = shared_futexes_count(0, UINT64_MAX), found = 0;
        if (wanted > 0 && !private_futexes_count(text, &found))
            return 0;
        if (shared_futexes_count(0, UINT64_MAX) == wanted && found <= wanted)
            return found == wanted ? 1 : 2;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------- tasks asleep in the kernel */

/* Reads a file of a thread in /proc. @return false if it cannot be read. */
static bool task_read(pid_t tid, const char *file, char text[TEXT_MAX])
{
    char path[sizeof "/proc/self/task//syscall" + 3 * sizeof tid] = "/proc/self/task/", digits[3 * sizeof tid];
    size_t n = sizeof digits;
    digits[--n] = '\0';
    for (uint32_t rest = (uint32_t)tid; rest > 0 && n > 0; rest /= 10)
        digits[--n] = (char)('0' + rest % 10);
    return all_blocked_read_file(strcat(strcat(path, digits + n), file), text);
}

/* Whether the thread is in that state, by its letter in /proc: S is asleep, and one that was woken and has not run yet is not. */
static bool task_is(char state, pid_t tid, char text[TEXT_MAX])
{
    const char *name_end =
        task_read(tid, "/stat", text) ? strrchr(text, ')') : NULL; /* the name may contain anything */
    return name_end && strncmp(name_end, ") ", 2) == 0 && name_end[2] == state;
}

/* Whether the thread sleeps for the mutex of its condition variable: it was woken, and will return from its wait. The file has
 * the number of the system call and its arguments. */
__attribute__((no_sanitize("thread"))) static bool task_was_signaled(const struct wait_file_slot *s,
                                                                     char text[TEXT_MAX])
{
    char *at;
    if (s->kind != UPMU_TRACE_COND_WAIT || !task_read(s->tid, "/syscall", text))
        return false;
    long call = strtol(text, &at, 10);
    return at != text && call == SYS_futex && strtoull(at, NULL, 16) - s->object2 < sizeof(pthread_mutex_t);
}

/* Reads another thread's slot, which may be changing: the result is checked again. */
__attribute__((no_sanitize("thread"))) static bool wait_needs_waker(const struct wait_file_slot *s)
{
    return s->kind == UPMU_TRACE_COND_WAIT || s->kind == UPMU_TRACE_BARRIER_ARRIVE ||
           s->kind == UPMU_TRACE_FUTEX_WAIT || s->type == UPMU_OBJECT_SEM;
}

enum sleep_state { SOME_RUNNING, SOME_AWAKE, ALL_ASLEEP };

/* Whether the calling thread is not about to wait, but ends. */
static bool thread_is_ending(const struct sync_thread *self)
{
    return self->wait_slot->state == WAIT_FILE_FREE || self->wait_slot->state == WAIT_FILE_ENDED;
}

__attribute__((no_sanitize("thread"))) static bool wait_is_for_end_of(const struct wait_file_slot *s,
                                                                      const struct sync_thread *ending)
{
    return s->kind == UPMU_TRACE_THREAD_JOIN && s->object == (uint64_t)ending->self;
}

/* Whether the wait that `self` is about to begin, for a condition variable, releases the mutex that the other thread waits for. */
__attribute__((no_sanitize("thread"))) static bool wait_is_for_mutex_of(const struct wait_file_slot *s,
                                                                        const struct sync_thread *self)
{
    const struct wait_file_slot *own = self->wait_slot;
    return own->kind == UPMU_TRACE_COND_WAIT && own->object2 != 0 && s->object == own->object2;
}

__attribute__((no_sanitize("thread"))) static enum sleep_state other_slots_inspect(const struct sync_thread *self,
                                                                                   char text[TEXT_MAX])
{
    const struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    enum sleep_state found = ALL_ASLEEP;
    bool ending = thread_is_ending(self);
    for (; t; t = t->next) {
        const struct wait_file_slot *s = t->wait_slot;
        if (t == self || !s || s->state == WAIT_FILE_FREE || s->state == WAIT_FILE_ENDED)
            continue;
        if (s->state != WAIT_FILE_BLOCKED || (ending ? wait_is_for_end_of(s, self) : wait_is_for_mutex_of(s, self)))
            return SOME_RUNNING;
        if (!wait_needs_waker(s))
            continue;
        if (!task_is('S', s->tid, text))
            found = SOME_AWAKE;
        else if (task_was_signaled(s, text))
            return SOME_RUNNING; /* `self` may have the mutex: to pause would keep that thread from running */
    }
    return found;
}

/* A thread that has written its slot may need time to fall asleep; one that was woken runs in that time. */
static enum sleep_state other_tasks_inspect(const struct sync_thread *self, char text[TEXT_MAX])
{
    enum { ATTEMPTS = 8 };
    enum sleep_state found = other_slots_inspect(self, text);
    for (int i = 1; i < ATTEMPTS && found == SOME_AWAKE; i++) {
        sched_yield();
        found = other_slots_inspect(self, text);
    }
    return found;
}

/* Whether the futex word that the thread is about to wait on has changed, or is unknown. Read by the kernel: the
 * program may have passed any address. */
static bool all_blocked_futex_has_changed(const struct sync_thread *t)
{
    uint32_t now = 0;
    struct iovec here = {&now, sizeof now}, there = {(void *)(uintptr_t)t->wait_slot->object, sizeof now};
    long n = syscall(SYS_process_vm_readv, (long)t->tid, &here, 1L, &there, 1L, 0L);
    return !t->futex_one || n != (long)sizeof now || now != t->futex_value;
}

/* Whether the wait that `t` is about to begin would end at once, because of a post or arrival after the wait was
 * decided. A waiter for a condition variable still has the mutex, and no earlier signal wakes it. */
static bool all_blocked_wait_ends_at_once(const struct sync_thread *t)
{
    const struct wait_file_slot *s = t->wait_slot;
    int value = 0;
    if (s->kind == UPMU_TRACE_FUTEX_WAIT)
        return all_blocked_futex_has_changed(t);
    if (s->kind == UPMU_TRACE_BARRIER_ARRIVE)
        return sync_barrier_is_full((const pthread_barrier_t *)(uintptr_t)s->object);
    return s->type == UPMU_OBJECT_SEM &&
           (SYNC_REAL(sem_getvalue)((sem_t *)(uintptr_t)s->object, &value) != 0 || value > 0);
}

/* The number after a name in the status file. @return false if it is not there. */
static bool status_number(const char *text, const char *name, int base, uint64_t *out)
{
    const char *found = strstr(text, name), *from = found ? found + strlen(name) : NULL;
    char *end = NULL;
    if (from)
        *out = strtoull(from, &end, base);
    return from && end != from;
}

struct snapshot_request {
    struct wait_file_header *header;
    const struct sync_thread *thread;
    uint64_t helper_ns; /* CPU time of the thread of private_table_run() */
};

static bool all_threads_have_begun(const struct wait_file_header *h)
{
    return __atomic_load_n(&h->created, __ATOMIC_RELAXED) <= __atomic_load_n(&h->begun, __ATOMIC_RELAXED);
}

/* @return enum sleep_state; SOME_RUNNING also if it is unknown, or if the wait of the thread would end at once. */
static enum sleep_state all_blocked_inspect(struct wait_file_header *h, const struct sync_thread *t, bool helper)
{
    char text[TEXT_MAX];
    uint32_t recording = __atomic_load_n(&sync_gate.threads_recorded, __ATOMIC_SEQ_CST);
    uint64_t caught, count;
    uint32_t gone = (uint32_t)helper, timers = 0;
    bool ending = thread_is_ending(t);
    if (!all_blocked_read_file("/proc/self/status", text) || !status_number(text, "\nSigCgt:", 16, &caught) ||
        !status_number(text, "\nThreads:", 10, &count) || !all_blocked_read_file("/proc/self/timers", text))
        return SOME_RUNNING;
    for (const char *at = text; (at = strstr(at, "ID:")); at++)
        timers++;
    __atomic_store_n(&h->caught, caught, __ATOMIC_RELAXED);
    __atomic_store_n(&h->timers, timers, __ATOMIC_RELAXED);
    gone += ending + task_is('Z', getpid(), text); /* a first thread that has ended is still counted */
    __atomic_store_n(&h->unknown, count > recording + gone ? (uint32_t)count - recording - gone : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&h->outside, futexes_are_private(text), __ATOMIC_RELAXED);
    enum sleep_state found = other_tasks_inspect(t, text);
    if (found == ALL_ASLEEP && count > recording + gone && all_threads_have_begun(h))
        found = SOME_AWAKE; /* one that does not record any more has not ended yet */
    return found != SOME_RUNNING && !ending && all_blocked_wait_ends_at_once(t) ? SOME_RUNNING : found;
}

static int all_blocked_snapshot(void *request)
{
    struct snapshot_request *r = request;
    bool helper = syscall(SYS_gettid) != r->thread->tid;
    enum sleep_state found = all_blocked_inspect(r->header, r->thread, helper);
    r->helper_ns = helper ? tick_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    return (int)found;
}

/* Not by nanosleep(), which is a cancellation point and may be the program's. An observer must not take the thread for one
 * that sleeps in its wait: its slot shows that it pauses. */
static void all_blocked_pause(const struct sync_thread *t, uint64_t ns)
{
    struct wait_file_slot *s = t->wait_slot;
    const struct timespec pause = {.tv_nsec = (long)ns};
    bool waits = !thread_is_ending(t);
    if (waits) {
        __atomic_store_n(&s->state, WAIT_FILE_PAUSED, __ATOMIC_RELAXED);
        __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 2, __ATOMIC_RELEASE);
    }
    syscall(SYS_clock_nanosleep, (long)CLOCK_MONOTONIC, 0L, &pause, NULL);
    if (waits) {
        __atomic_store_n(&s->state, WAIT_FILE_BLOCKED, __ATOMIC_RELAXED);
        __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 2, __ATOMIC_RELEASE);
    }
}

/* Repeats the snapshot until all threads sleep, or one runs; a wait with a time limit must not become longer. @return its cost
 * in nanoseconds: CPU time, and the pauses, but not of a process whose threads all sleep, which has lost no time by them. Not
 * the time from its begin to its end: on a loaded machine a snapshot waits long for a CPU, and the last one of a process must
 * not be left out for that. */
static uint64_t all_blocked_take(struct wait_file_header *h, const struct sync_thread *t)
{
    bool patient = thread_is_ending(t) || !(t->wait_slot->flags & UPMU_TRACE_FLAG_TIMED);
    uint64_t cpu_begin = tick_clock_ns(CLOCK_THREAD_CPUTIME_ID), helpers = 0, pause = 0, paused = 0;
    int found;
    for (;;) {
        uint64_t now = tick_clock_ns(CLOCK_REALTIME);
        struct snapshot_request request = {h, t, 0};
        found = private_table_run(all_blocked_snapshot, &request);
        helpers += request.helper_ns;
        if (found == ALL_ASLEEP)
            __atomic_store_n(&h->seen_ns, now, __ATOMIC_RELEASE);
        if (found != SOME_AWAKE || !patient || paused >= pauses_max_ns)
            break;
        pause = PAUSE_FIRST_NS + paused / PAUSE_SHARE;
        pause = pause < PAUSE_MAX_NS ? pause : PAUSE_MAX_NS;
        all_blocked_pause(t, pause);
        paused += pause;
    }
    return tick_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin + helpers + (found == ALL_ASLEEP ? 0 : paused);
}

static bool all_blocked_is_due(uint64_t now)
{
    uint64_t begin = __atomic_load_n(&first, __ATOMIC_RELAXED);
    if (begin == 0 && __atomic_compare_exchange_n(&first, &begin, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        begin = now;
    double elapsed = now > begin ? (double)(now - begin) * sync_process.ns_per_tick : 0;
    return (double)__atomic_load_n(&spent, __ATOMIC_RELAXED) <= free_ns + elapsed * share;
}

/* What is true of all threads now has been true since before the first was read. */
void sync_all_blocked(struct wait_file_header *h, const struct sync_thread *t, uint64_t tick)
{
    if (!all_blocked_is_due(tick))
        return;
    int saved = errno;
    /* One snapshot at a time, or an earlier one could overwrite a later one. A thread that comes meanwhile requests
     * another. */
    __atomic_store_n(&sync_gate.inspect_again, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&sync_gate.inspect_again, __ATOMIC_SEQ_CST) &&
           !__atomic_exchange_n(&sync_gate.inspecting, 1, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&sync_gate.inspect_again, 0, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&spent, all_blocked_take(h, t), __ATOMIC_RELAXED);
        __atomic_store_n(&sync_gate.inspecting, 0, __ATOMIC_SEQ_CST);
    }
    errno = saved;
}

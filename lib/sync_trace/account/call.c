/* SPDX-License-Identifier: MIT */
/*
 * Waits of calls, found after the call has returned.
 *
 * Duration alone does not decide: an interrupt or another thread on the CPU makes any call long. A thread that slept has a
 * voluntary context switch more. The switches are read here only, so those of recorded waits for locks since the last reading
 * are not distinguished: then a call that was switched out counts as a wait.
 */
#include "sync_trace/account/call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/private_table.h"
#include "region/recorder.h"
#include "sync_trace/early.h"
#include "sync_trace/stack/unwind.h"
#include "trace/write/stream.h"
#include "trace/write/writer.h"

/* --------------------------------------------------------------------------------------------------- descriptors */

static int descriptor_of_name(const char *name)
{
    static const struct {
        const char *name;
        int type;
    } types[] = {
        {"anon_inode:[eventpoll]", UPMU_DESCRIPTOR_EPOLL}, {"anon_inode:[eventfd]", UPMU_DESCRIPTOR_EVENT},
        {"anon_inode:[timerfd]", UPMU_DESCRIPTOR_TIMER},   {"anon_inode:[signalfd]", UPMU_DESCRIPTOR_SIGNAL},
        {"anon_inode:inotify", UPMU_DESCRIPTOR_OTHER},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0)
            return types[i].type;
    return UPMU_DESCRIPTOR_OTHER;
}

/* The name of the file is the kernel's, from /proc/self/fd. */
static int descriptor_without_type(int fd)
{
    static const char dir[] = "/proc/self/fd/";
    char path[sizeof dir + 3 * sizeof fd], digits[3 * sizeof fd], name[64];
    size_t n = sizeof digits;
    digits[--n] = '\0';
    for (unsigned rest = (unsigned)fd; n > 0 && (rest > 0 || n == sizeof digits - 1); rest /= 10)
        digits[--n] = (char)('0' + rest % 10);
    strcat(strcpy(path, dir), digits + n);
    long got = syscall(SYS_readlinkat, AT_FDCWD, path, name, sizeof name - 1);
    if (got <= 0)
        return UPMU_DESCRIPTOR_UNKNOWN;
    name[got] = '\0';
    return descriptor_of_name(name);
}

static int descriptor_type(int fd, const struct stat *st)
{
    if (S_ISFIFO(st->st_mode))
        return UPMU_DESCRIPTOR_PIPE;
    if (S_ISSOCK(st->st_mode))
        return UPMU_DESCRIPTOR_SOCKET;
    if (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || S_ISBLK(st->st_mode))
        return UPMU_DESCRIPTOR_FILE;
    if (S_ISCHR(st->st_mode))
        return UPMU_DESCRIPTOR_DEVICE;
    return descriptor_without_type(fd);
}

/* What a descriptor is. Asking the kernel costs as much as a short wait: the answer is kept for a tenth of a second, in which the
 * number may be used for another file. A signal handler that comes in between finds no answer, or replaces it. */
static struct sync_descriptor descriptor_find(struct sync_thread *t, int fd, uint64_t tick)
{
    enum { PER_SECOND = 10 };
    struct stat st;
    struct sync_descriptor *kept = &t->calls.descriptors[(unsigned)fd % SYNC_CALL_DESCRIPTORS], d = *kept;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (d.fd == fd && d.tick != 0 && d.tick == kept->tick && tick - d.tick < sync_process.hz / PER_SECOND)
        return d;
    d = (struct sync_descriptor){.tick = tick, .fd = fd};
    if (private_fstat(fd, &st) == 0) {
        d.type = descriptor_type(fd, &st);
        d.device = (uint64_t)st.st_dev;
        d.inode = (uint64_t)st.st_ino;
    }
    kept->tick = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    kept->fd = fd;
    kept->type = d.type;
    kept->device = d.device;
    kept->inode = d.inode;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    kept->tick = tick;
    return d;
}

/* --------------------------------------------------------------------------------------------- the thread that woke */

/* What the call waited for, as far as another thread of the process can have ended the wait. */
struct call_wanted {
    const struct sync_call *c;
    uint64_t until;
    struct sync_descriptor what; /**< of a pipe: both its descriptors have the same inode */
};

static bool call_is_ended_by(const struct call_wanted *w, int64_t target)
{
    if (w->c->call == UPMU_CALL_SIGNAL || target < 0)
        return w->c->call == UPMU_CALL_SIGNAL && target < 0;
    if (w->what.type != UPMU_DESCRIPTOR_PIPE)
        return w->what.type == UPMU_DESCRIPTOR_EVENT && target == w->c->fd;
    const struct sync_descriptor d = descriptor_find(w->c->t, (int)target, w->until);
    return d.type == w->what.type && d.inode == w->what.inode && d.device == w->what.device;
}

/* The last write to the pipe or event, or signal sent, that another thread began during the wait. ThreadSanitizer does not see
 * atomic operations within calls that block. */
__attribute__((no_sanitize("thread"))) static pid_t call_waker(const struct call_wanted *w)
{
    uint64_t last = 0;
    pid_t waker = 0;
    const struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next) {
        for (uint32_t i = 0; t != w->c->t && i < SYNC_CALL_WRITES; i++) {
            const struct sync_call_write *of = &t->calls.writes[i];
            uint64_t tick = __atomic_load_n(&of->tick, __ATOMIC_ACQUIRE);
            if (tick <= w->c->tick || tick >= w->until || tick <= last ||
                !call_is_ended_by(w, __atomic_load_n(&of->target, __ATOMIC_RELAXED)))
                continue;
            pid_t tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);
            if (__atomic_load_n(&of->tick, __ATOMIC_RELAXED) != tick)
                continue; /* a later call, or another thread has the block by now */
            last = tick;
            waker = tid;
        }
    }
    return waker;
}

/* --------------------------------------------------------------------------------------------------------- events */

static int32_t call_result(const struct sync_call *c, int err)
{
    if (c->rc == SYNC_CALL_CANCELED)
        return ECANCELED;
    return c->error ? c->error : c->rc == -1 ? err : 0;
}

/* Both events of a wait that lasted from c->tick to `tick`. Events of signal handlers meanwhile stay in order: the wait begins
 * after them. */
static void call_write(const struct sync_call *c, struct trace_stream *stream, uint64_t tick, int err)
{
    struct sync_thread *t = c->t;
    struct call_wanted w = {.c = c, .until = tick};
    int32_t result = call_result(c, err);
    uint32_t before =
        sync_guard_as(t, SYNC_WALKS); /* no function of files is called, which may be the program's, and lock */
    if (c->fd >= 0)
        w.what = descriptor_find(t, c->fd, tick);
    pid_t waker = result == ETIMEDOUT ? 0 : call_waker(&w);
    sync_unguard(t, before);
    if (UNLIKELY(sync_option(sched)))
        upmu_recorder_switches_(tick);
    uint64_t begin = stream->last_tick > c->tick ? stream->last_tick : c->tick;
    struct trace_sync e = {
        .kind = UPMU_TRACE_CALL_BLOCK,
        .object_type = UPMU_OBJECT_CALL,
        .object = SCHEMA_CALL_OBJECT(c->call, w.what.type, c->fd),
        .flags = c->flags,
        .site = c->site,
    };
    e.stack = sync_stack(t, begin, c->site);
    (void)upmu_trace_sync_(stream, begin, &e); /* what does not fit is counted as lost by the writer */
    e.kind = UPMU_TRACE_CALL_RETURN;
    e.result = result;
    e.peer = waker;
    (void)upmu_trace_sync_(stream, tick, &e);
}

/* Whether the thread slept. */
static bool call_slept(const struct sync_call *c)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return true;
    bool slept = usage.ru_nvcsw != c->t->calls.switches;
    c->t->calls.switches = usage.ru_nvcsw;
    return slept;
}

/* Whether a call is written that returns now. While recording is stopped, only what began before is; the reader subtracts the stop. */
static bool call_is_written(void)
{
    uint32_t mode = sync_mode();
    if (mode != MODE_OFF)
        return mode != MODE_COUNTS;
    const struct control_header *control = upmu_recorder_control_();
    return control && __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) &&
           __atomic_load_n(&control->stopped, __ATOMIC_RELAXED) == CONTROL_STOPPED_NOT;
}

void sync_call_was_switched(struct sync_call c)
{
    int saved = errno;
    uint64_t tick = tick_now();
    struct sync_thread *t = c.t;
    bool slept = tick - c.tick >= sync_process.call_ticks && call_slept(&c);
    /* A signal handler may have ended the thread's recording meanwhile. */
    if (slept && sync_is_ready(t) && call_is_written())
        call_write(&c, t->stream, tick, saved);
    sync_early_check(t);
    errno = saved;
}

/* The thread was not recorded when the wait began: its stream begins later, the wait gets another one. */
static void call_write_aside(const struct sync_call *c, uint64_t tick, int err)
{
    char name[SYNC_THREAD_NAME];
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    sigset_t signals = sync_signals_block();
    uint32_t ready = sync_guard(c->t);
    sync_wait_state_name_read(c->t, name);
    struct trace_stream *stream = upmu_recorder_stream_of_(c->t->tid, name, c->tick);
    sync_unguard(c->t, ready);
    if (stream) {
        call_write(c, stream, tick, err);
        upmu_recorder_stream_release_(stream);
    } else {
        upmu_recorder_lost_(LOSS_THREAD, 1);
    }
    sync_signals_restore(&signals);
    cancel_resume(&cancel);
}

void sync_call_was_stopped(struct sync_call c)
{
    int saved = errno;
    uint64_t since = sync_recording_started((uint32_t)c.tick), tick = tick_now();
    if (since != 0 && tick > since && tick - since >= sync_process.call_ticks && call_is_written()) {
        struct sync_thread *known = sync_tls.thread;
        bool has_block = known && __atomic_load_n(&known->used, __ATOMIC_RELAXED);
        c.tick = since;
        c.flags |= UPMU_TRACE_FLAG_BEFORE;
        c.t = has_block ? (sync_is_ready(known) ? known : NULL) : sync_call_thread();
        if (c.t && !has_block)
            call_write_aside(&c, tick, saved);
        else if (c.t && call_slept(&c))
            call_write(&c, c.t->stream, tick, saved);
        if (c.t)
            sync_early_check(c.t);
    }
    errno = saved;
}

uint64_t sync_call_open_since(const struct sync_thread *t)
{
    return sync_call_is_shown(t->wait_slot) ? t->calls.tick : UINT64_MAX;
}

/* The other thread may return at this moment: recording has ended, it writes nothing any more. */
void sync_call_write_open(const struct sync_thread *t, struct trace_stream *stream)
{
    const struct wait_file_slot *s = t->wait_slot;
    if (!sync_call_is_shown(s))
        return;
    const struct trace_sync e = {
        .kind = UPMU_TRACE_CALL_BLOCK,
        .object_type = UPMU_OBJECT_CALL,
        .object = s->object,
        .flags = s->flags,
        .site = s->site,
    };
    (void)upmu_trace_sync_(stream, t->calls.tick, &e);
}

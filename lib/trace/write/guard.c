/* SPDX-License-Identifier: MIT */
/* Mapped files of a recording that another program truncates. */
#include "trace/write/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/format/wait_state.h"
#include "trace/write/stream.h"

static struct stream_home *guard_home; /* atomic */

static struct guard_file {
    uintptr_t at; /* stored last; 0: free */
    size_t bytes;
} guard_files[WAIT_FILE_SLOTS_MAX + 8];
static uint32_t guard_n_files; /* atomic, may exceed the table */

static bool guard_covers(uintptr_t begin, size_t bytes, uintptr_t address)
{
    return begin != 0 && address >= begin && address - begin < bytes;
}

/* The content is lost; stores into it succeed from now on. */
static bool guard_replace(uintptr_t begin, size_t bytes)
{
    return mmap((void *)begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

/* Only the calling thread stores into its packets, and only its own streams do not change meanwhile. */
static bool guard_replace_packet(uintptr_t address)
{
    struct stream_home *home = __atomic_load_n(&guard_home, __ATOMIC_ACQUIRE);
    struct trace_stream *s = home ? __atomic_load_n(&home->streams, __ATOMIC_ACQUIRE) : NULL;
    pid_t self = (pid_t)syscall(SYS_gettid);
    for (; s; s = s->next) {
        if (__atomic_load_n(&s->tid, __ATOMIC_RELAXED) != self)
            continue;
        const struct ctf_packet *p = s->packet ? s->packet : s->ended;
        uintptr_t begin = s->slots ? (uintptr_t)s->ring : stream_page_of(s, p);
        size_t bytes = s->slots ? s->slots * home->ring_bytes : s->mapped_bytes + (size_t)((uintptr_t)p - begin);
        if (!guard_covers(begin, bytes, address))
            continue;
        __atomic_store_n(&s->torn, true, __ATOMIC_RELAXED);
        return guard_replace(begin, bytes);
    }
    return false;
}

static bool guard_replace_file(uintptr_t address)
{
    uint32_t n = __atomic_load_n(&guard_n_files, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n && i < sizeof guard_files / sizeof *guard_files; i++) {
        const struct guard_file *f = &guard_files[i];
        uintptr_t begin = __atomic_load_n(&f->at, __ATOMIC_ACQUIRE);
        if (guard_covers(begin, f->bytes, address))
            return guard_replace(begin, f->bytes);
    }
    return false;
}

/* As if there were no handler: the store faults again after the return, with the default action. A signal that was sent is
 * sent again, with the same origin. */
static void guard_resume_default(int signal, siginfo_t *info)
{
    const struct sigaction before = {.sa_handler = SIG_DFL};
    (void)sigaction(signal, &before, NULL); /* cannot fail with these arguments */
    bool faulted = info->si_code == BUS_ADRERR || info->si_code == BUS_ADRALN || info->si_code == BUS_OBJERR ||
                   info->si_code == BUS_MCEERR_AR;
    if (!faulted)
        (void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signal, info);
}

static void guard_handler(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    (void)context;
    if (info->si_code != BUS_ADRERR || (!guard_replace_packet(address) && !guard_replace_file(address)))
        guard_resume_default(signal, info);
    errno = saved;
}

/* SA_ONSTACK: runtimes with small stacks require it of every handler. */
void trace_guard_start(struct stream_home *home)
{
    struct sigaction now, ours = {.sa_sigaction = guard_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    __atomic_store_n(&guard_home, home, __ATOMIC_RELEASE);
    sigfillset(&ours.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        (void)sigaction(SIGBUS, &ours, NULL); /* cannot fail with these arguments */
}

void trace_guard_stop(void)
{
    __atomic_store_n(&guard_home, NULL, __ATOMIC_RELEASE);
    for (uint32_t i = __atomic_exchange_n(&guard_n_files, 0, __ATOMIC_RELAXED); i-- > 0;)
        if (i < sizeof guard_files / sizeof *guard_files)
            __atomic_store_n(&guard_files[i].at, 0, __ATOMIC_RELAXED);
}

void trace_guard_add(void *at, size_t bytes)
{
    uint32_t i = __atomic_fetch_add(&guard_n_files, 1, __ATOMIC_RELAXED);
    if (i >= sizeof guard_files / sizeof *guard_files)
        return;
    guard_files[i].bytes = bytes;
    __atomic_store_n(&guard_files[i].at, (uintptr_t)at, __ATOMIC_RELEASE);
}

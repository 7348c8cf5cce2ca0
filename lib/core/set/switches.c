/* SPDX-License-Identifier: MIT */
/*
 * Context switches of the calling thread, without a system call or privileges in most cases.
 *
 * The kernel rewrites the mmap page of a self-monitoring event, and its sequence word, each time the thread is
 * scheduled in. While the word of a dummy event (user mode only, which any user may open) is unchanged, the thread
 * was not switched and the last answer of RUSAGE_THREAD holds. The word itself is not the count: the kernel also
 * rewrites the page when another event of the thread or of the CPU is enabled. That each switch changes the word is
 * observed, not documented, so it is checked at start-up. The event context-switches would read 0 without an error
 * for a user who may not count kernel mode.
 */
#include <errno.h>
#include <time.h>

#include "base/cancel.h"
#include "base/own_once.h"
#include "base/tiny_lock.h"
#include "core/set/counters.h"

static struct own_once switches_check_once;
static bool switches_page_ok;

static int switches_map_dummy(struct counters *c)
{
    const struct kernel_ops *k = core_kernel();
    struct kernel_open req = {
        .type = KERNEL_TYPE_SOFTWARE,
        .config = KERNEL_SW_DUMMY,
        .exclude = UPMU_EXCLUDE_KERNEL,
        .cpu = -1,
        .group_fd = -1,
    };
    int fd = k->open(&req);
    if (fd < 0)
        return fd;
    int rc = k->map(fd, &c->switch_page);
    k->close(fd); /* the mapping keeps the event alive and leaves the program its descriptors */
    if (rc < 0) {
        c->switch_page = NULL;
        return rc;
    }
    c->sequence = k->page_sequence(c->switch_page);
    c->switch_sequence = *c->sequence - 1; /* stale on purpose: the first reading makes a system call */
    return 0;
}

/* Read both counts at one moment: repeat if a switch came in between. Under strace every system call is a switch,
 * and no attempt succeeds. */
static bool switches_read_both(const struct counters *c, uint32_t *word, uint64_t *switches)
{
    enum { TRIES = 50 };
    for (int i = 0; i < TRIES; i++) {
        *word = *c->sequence;
        if (core_kernel()->thread_switches(switches) < 0)
            return false;
        if (*word == *c->sequence)
            return true;
    }
    return false;
}

/* On a slow machine a 1 ns sleep may end before the thread is switched out: then try 1 ms. */
static bool switches_sequence_agrees(const struct counters *c)
{
    enum { SLEEPS = 4 };
    static const struct timespec lengths[] = {{.tv_nsec = 1}, {.tv_nsec = 1000000}};
    uint32_t word_first, word_last, never = 0;
    uint64_t first, last;
    if (!switches_read_both(c, &word_first, &first))
        return false;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (int i = 0; i < SLEEPS; i++)
            tiny_lock_sleep(&never, 0, &lengths[k]); /* no recorder takes it for the program's */
        if (!switches_read_both(c, &word_last, &last))
            return false;
        if (last - first >= SLEEPS / 2)
            return (word_last - word_first) / 2 >= last - first;
    }
    return false;
}

static void switches_check_page(void)
{
    struct counters c = {0};
    struct cancel_hold cancel;
    cancel_hold(&cancel); /* nanosleep() is a cancellation point, and the caller's function is not */
    if (switches_map_dummy(&c) == 0) {
        switches_page_ok = switches_sequence_agrees(&c);
        core_kernel()->unmap(c.switch_page);
    }
    cancel_resume(&cancel);
}

bool switches_page_works(void)
{
    own_once(&switches_check_once, switches_check_page);
    return switches_page_ok;
}

int switches_open(struct counters *c)
{
    return switches_page_works() ? switches_map_dummy(c) : -EOPNOTSUPP;
}

int switches_ask(struct counters *c, uint64_t *switches)
{
    uint32_t word = c->sequence ? *c->sequence : 0;
    int rc = core_kernel()->thread_switches(switches);
    if (rc < 0)
        return rc;
    /* A switch in the meantime has changed the word again, so the next reading makes a system call. */
    c->switch_sequence = word;
    c->switch_count = *switches;
    return 0;
}

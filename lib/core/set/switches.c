/* SPDX-License-Identifier: MIT */
/*
 * Context switches of the calling thread, mostly without a system call and without rights.
 *
 * The kernel rewrites the mmap page of a self-monitoring event each time its thread is scheduled in, and every rewrite moves the
 * page's sequence word. While the word of a dummy event with kernel mode left out, which any user may open, stays as it was, the
 * thread was not switched and RUSAGE_THREAD's last answer still holds. The word cannot be the count itself: the kernel also
 * rewrites the page when another event of the thread, or one of the CPU, is enabled. That a switch always moves the word is an
 * observation about the kernel, so it is relied upon only after a check at start-up. The event context-switches itself would
 * read 0 without an error for a user who may not count kernel mode.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "core/set/counters.h"

static pthread_once_t check_once = PTHREAD_ONCE_INIT;
static bool page_works;

static int map_dummy(struct counters *c)
{
    const struct kernel_ops *k = core_kernel();
    struct kernel_open req = {
        .type = KERNEL_TYPE_SOFTWARE,
        .config = KERNEL_SW_DUMMY,
        .exclude = KERNEL_EXCLUDE_KERNEL,
        .cpu = -1,
        .group_fd = -1,
    };
    int fd = k->open(&req);
    if (fd < 0)
        return fd;
    int rc = k->map(fd, &c->switch_page);
    k->close(fd); /* the mapping keeps the event alive, and the program its descriptors */
    if (rc < 0) {
        c->switch_page = NULL;
        return rc;
    }
    c->sequence = k->page_sequence(c->switch_page);
    c->switch_sequence = *c->sequence - 1; /* of an answer that does not exist: the first reading asks */
    return 0;
}

/* Both counts at one moment: read again if a switch came in between. Under a tracer (strace) every system call is a
 * switch, and there is no such moment. */
static bool read_both(const struct counters *c, uint32_t *word, uint64_t *switches)
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

/* A sleep this short may end before the thread has left its CPU, on a slow machine nearly always: then longer ones. */
static bool sequence_agrees(const struct counters *c)
{
    enum { SLEEPS = 4 };
    static const struct timespec lengths[] = {{.tv_nsec = 1}, {.tv_nsec = 1000000}};
    uint32_t word_first, word_last;
    uint64_t first, last;
    if (!read_both(c, &word_first, &first))
        return false;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (int i = 0; i < SLEEPS; i++)
            nanosleep(&lengths[k], NULL);
        if (!read_both(c, &word_last, &last))
            return false;
        if (last - first >= SLEEPS / 2)
            return (word_last - word_first) / 2 >= last - first;
    }
    return false;
}

static void check_page(void)
{
    struct counters c = {0};
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the sleeps are cancellation points, the caller is not */
    if (map_dummy(&c) == 0) {
        page_works = sequence_agrees(&c);
        core_kernel()->unmap(c.switch_page);
    }
    pthread_setcancelstate(cancel, NULL);
}

bool switches_page_works(void)
{
    pthread_once(&check_once, check_page);
    return page_works;
}

int switches_open(struct counters *c)
{
    return switches_page_works() ? map_dummy(c) : -EOPNOTSUPP;
}

int switches_ask(struct counters *c, uint64_t *switches)
{
    uint32_t word = c->sequence ? *c->sequence : 0;
    int rc = core_kernel()->thread_switches(switches);
    if (rc < 0)
        return rc;
    /* A switch meanwhile leaves a word that has changed since, and the next reading asks again. */
    c->switch_sequence = word;
    c->switch_count = *switches;
    return 0;
}

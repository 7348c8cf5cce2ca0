/* SPDX-License-Identifier: MIT */
/*
 * Self-check of a virtual PMU: number of counters that work at the same time.
 *
 * A hypervisor backs each counter of a guest with an event of its own. If the host has fewer free counters than it
 * shows to the guest, one of them stops while its event is reported as running, so that its count looks exact.
 * Copies of one event in a group must agree; the planner uses as many counters as do.
 */
#include "core/check/self_check_counters.h"

#include <stddef.h>
#include <stdint.h>

#include "base/own_once.h"
#include "core/kernel_ops.h"

enum { COPIES_MAX = 16, TRIES = 3, LOOP = 300000, HARDWARE_BRANCHES = 4 };

static struct own_once counters_once;
static unsigned wanted, working;

static unsigned copies_open(int *fd, unsigned n)
{
    unsigned opened = 0;
    for (; opened < n; opened++) {
        const struct kernel_open req = {.type = KERNEL_TYPE_HARDWARE,
                                        .config = HARDWARE_BRANCHES,
                                        .exclude = UPMU_EXCLUDE_KERNEL,
                                        .cpu = -1,
                                        .group_fd = opened ? fd[0] : -1,
                                        .disabled = opened == 0,
                                        .group_read = opened == 0};
        fd[opened] = core_kernel()->open(&req);
        if (fd[opened] < 0)
            break;
    }
    return opened;
}

/* @return the copies that counted at least half of the best one's count; n if the group did not run all the time,
 * or one copy jumped. */
static unsigned copies_agree(const int *fd, unsigned n)
{
    uint64_t words[KERNEL_READ_GROUP_HEAD + 2 * COPIES_MAX], most = 0;
    size_t bytes = (KERNEL_READ_GROUP_HEAD + 2u * n) * sizeof *words;
    unsigned agree = 0;
    if (core_kernel()->control(fd[0], KERNEL_ENABLE) < 0)
        return n;
    for (volatile unsigned i = 0; i < LOOP; i++)
        ;
    (void)core_kernel()->control(fd[0], KERNEL_DISABLE);
    if (core_kernel()->read(fd[0], words, bytes) != (ssize_t)bytes || words[0] != n || words[2] == 0 ||
        words[1] != words[2])
        return n;
    for (unsigned i = 0; i < n; i++)
        most = words[KERNEL_READ_GROUP_HEAD + 2 * i] > most ? words[KERNEL_READ_GROUP_HEAD + 2 * i] : most;
    for (unsigned i = 0; i < n; i++)
        agree += words[KERNEL_READ_GROUP_HEAD + 2 * i] >= most / 2;
    return most > LOOP / 2 && most < UINT64_C(1) << 40 ? agree : n;
}

static void counters_try(void)
{
    struct kernel_work unused = {0};
    int fd[COPIES_MAX] = {0};
    working = wanted;
    if (wanted > COPIES_MAX || core_kernel()->work(&unused, false) < 0)
        return;
    for (int i = 0; i < TRIES; i++) {
        unsigned n = copies_open(fd, wanted);
        unsigned agree = n == wanted ? copies_agree(fd, n) : wanted;
        working = agree < working ? agree : working;
        while (n-- > 0)
            core_kernel()->close(fd[n]);
    }
    working = working > 0 ? working : 1;
}

unsigned self_check_counters(unsigned claimed)
{
    if (claimed < 2)
        return claimed;
    if (__atomic_load_n(&wanted, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(&wanted, claimed, __ATOMIC_RELAXED);
    own_once(&counters_once, counters_try);
    return working < claimed ? working : claimed;
}

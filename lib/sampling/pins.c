/* SPDX-License-Identifier: MIT */
/*
 * Threads that create threads keep their own periods.
 *
 * Between two threads that inherited the same events Linux exchanges their contexts instead of switching the events. A thread that waits
 * for one it has just created, as the recorder does for each piece of a file, thus continues with the other one's period from its start:
 * at thousands of pieces a second half of its samples were missing. With an event of its own, that counts nothing and is
 * not inherited, its context differs from all others.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/sampling.h"

enum { PINS_MAX = 500 }; /* half of the usual limit of descriptors: this process needs others */

void sampling_pin(struct upmu_sampler *s, pid_t tid)
{
    struct perf_event_attr attr = {
        .size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1};
    uint32_t known = map_find(&s->pins, (uint64_t)tid, 0);
    if ((known != MAP_NONE && known != 0) || s->n_pins == PINS_MAX)
        return;
    long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) /* it has ended, or a limit was reached: fewer samples, which the event's count shows */
        return;
    if (!map_put(&s->pins, (uint64_t)tid, 0, (uint32_t)fd + 1)) {
        close((int)fd);
        return;
    }
    s->n_pins++;
}

void sampling_unpin(struct upmu_sampler *s, pid_t tid)
{
    uint32_t known = map_find(&s->pins, (uint64_t)tid, 0);
    if (known == MAP_NONE || known == 0)
        return;
    close((int)known - 1);
    (void)map_put(&s->pins, (uint64_t)tid, 0, 0); /* replaces: needs no memory */
    s->n_pins--;
}

void sampling_unpin_all(struct upmu_sampler *s)
{
    for (size_t i = 0; i < s->pins.cap; i++)
        if (s->pins.entries[i].value != MAP_NONE)
            sampling_unpin(s, (pid_t)s->pins.entries[i].a);
    map_free(&s->pins);
}

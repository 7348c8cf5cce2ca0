/* SPDX-License-Identifier: MIT */
/*
 * Self-check of the fixed counters: they count the instructions of known work.
 *
 * Since Linux 6.11 the registers of fixed counters have a base address that the Zhaoxin driver does not set, so
 * that instructions read 0 with plausible times. Only families with `fixed_doubt` are tested.
 */
#include "core/check/self_check_fixed.h"

#include <stdint.h>

#include "base/error.h"
#include "base/own_once.h"
#include "core/backend.h"
#include "core/machine/machine.h"

/* Plausible range: one instruction per FIXED_MIN nanoseconds to FIXED_MAX per nanosecond. */
enum { FIXED_MIN = 256, FIXED_MAX = 64, FIXED_INSTRUCTIONS = 1 };

static struct self_check_fixed result;
static struct own_once fixed_once;

static int fixed_measure(int fd, uint64_t words[KERNEL_READ_ONE_WORDS], struct kernel_work *work)
{
    const struct kernel_ops *k = core_kernel();
    int rc = k->control(fd, KERNEL_ENABLE);
    if (rc == 0)
        rc = k->work(work, false);
    if (rc == 0)
        rc = k->control(fd, KERNEL_DISABLE);
    ssize_t bytes = KERNEL_READ_ONE_WORDS * (ssize_t)sizeof words[0];
    return rc == 0 && k->read(fd, words, (size_t)bytes) == bytes ? 0 : -1;
}

static void fixed_try(void)
{
    const struct machine *m = machine_get();
    uint32_t doubt = m->family->counters.fixed_doubt;
    uint64_t words[KERNEL_READ_ONE_WORDS];
    struct kernel_work work = {0};
    const struct kernel_open req = {.type = KERNEL_TYPE_HARDWARE,
                                    .config = FIXED_INSTRUCTIONS,
                                    .exclude = UPMU_EXCLUDE_KERNEL,
                                    .cpu = -1,
                                    .group_fd = -1,
                                    .disabled = true};
    if (doubt == 0 || m->kernel < doubt)
        return;
    int fd = core_kernel()->open(&req);
    if (fd < 0)
        return;
    /* value, enabled, running: no conclusion unless it ran all the time */
    if (fixed_measure(fd, words, &work) == 0 && words[2] > 0 && words[2] == words[1] && work.cpu_ns >= FIXED_MIN) {
        result.counted = words[0];
        result.cpu_ns = work.cpu_ns;
        result.failed = words[0] < work.cpu_ns / FIXED_MIN || words[0] > work.cpu_ns * FIXED_MAX;
    }
    core_kernel()->close(fd);
}

const struct self_check_fixed *self_check_fixed_result(void)
{
    own_once(&fixed_once, fixed_try);
    return &result;
}

/* Another name of the event has the same encoding or the same perf generic event. */
static bool fixed_is_row(const struct event *e, const struct arch_event *row)
{
    if (e->type == KERNEL_TYPE_RAW)
        return row->raw_encoding == e->config;
    return e->type == KERNEL_TYPE_HARDWARE && row->kind == ARCH_CODE_HARDWARE && row->config == e->config;
}

static bool fixed_may_count(const struct event *e)
{
    const struct arch_event *row;
    if (e->class != EVENT_CORE || machine_get()->family->counters.fixed_doubt == 0)
        return false;
    if (e->counters >> ARCH_FIXED)
        return true;
    for (size_t i = 0; (row = arch_family_event_at(machine_get()->family, i)) != NULL; i++)
        if (row->counters >> ARCH_FIXED && fixed_is_row(e, row))
            return true;
    return false;
}

int self_check_fixed_list(struct counter_list *list)
{
    if (list->backend != KERNEL_BACKEND_PERF)
        return 0;
    for (size_t i = 0; i < list->n_parts; i++) {
        const struct event *e = &list->events[i];
        size_t owner = list->link[i].owner; /* of a part: the sum it belongs to */
        if (list->absent[owner] || !fixed_may_count(e) || !self_check_fixed_result()->failed)
            continue;
        (void)upmu_fail(UPMU_E_SYSTEM,
                        "'%s': this kernel does not count it correctly on this CPU: %llu instructions in %llu ns of a "
                        "self-check (kernels since 6.11 lack the address of the fixed counters)",
                        e->name, (unsigned long long)result.counted, (unsigned long long)result.cpu_ns);
        if (counter_list_leave_out(list, owner, UPMU_E_SYSTEM) < 0)
            return UPMU_E_NOMEM;
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* What a counter set counts: names, reasons, instances, and who may use it. */
#include "base/error.h"
#include "core/machine/machine.h"
#include "core/set/set.h"

/* A thread's counters are read through its own pages and RUSAGE_THREAD; a forked child has only copies of the
 * descriptors. */
int set_foreign(const struct upmu_set *set, const char *call)
{
    if (set->process != caller_process())
        return upmu_fail(UPMU_E_STATE, "%s: the set was opened before fork(). Open a set in the child process", call);
    return upmu_fail(UPMU_E_STATE, "%s: the set counts another thread, and only that thread may use it", call);
}

size_t upmu_set_event_count(const struct upmu_set *set)
{
    return set ? set->list.n : 0;
}

const char *upmu_set_name(const struct upmu_set *set, size_t i)
{
    return set && i < set->list.n ? set->names[i] : NULL;
}

static bool set_lacks_descriptor(const struct upmu_set *set, size_t i)
{
    for (size_t k = 0; k < set->n_instances; k++)
        if (counters_cause(&set->instances[k]->counters, i) == UPMU_E_NFILES)
            return true;
    return false;
}

/* Whether the program closed the descriptor of a counter of event `i`, or opened another file in its place. */
static bool set_has_lost_descriptor(const struct upmu_set *set, size_t i)
{
    for (size_t k = 0; k < set->n_instances; k++) {
        const struct counters *c = &set->instances[k]->counters;
        for (size_t part = i; part < set->list.n_parts; part = c->counter[part].also) {
            const struct counter *counter = &c->counter[part];
            if (counter->counted && !counter->switches && !counter->usage && c->group[counter->group].lost)
                return true;
            if (counter->also == 0)
                break;
        }
    }
    return false;
}

const char *upmu_set_reason(const struct upmu_set *set, size_t i)
{
    if (!set || i >= set->list.n)
        return "";
    const char *reason = set->list.reason[i];
    /* A sufficient limit is known when all sets of the program are open. The gate of a command is closed by now. */
    if (!reason && set_lacks_descriptor(set, i))
        reason = counters_descriptors_reason(set->list.events[i].name, set->spawned && set->gate < 0);
    if (!reason)
        reason = set->reasons[i];
    for (size_t k = 0; !reason && k < set->n_instances; k++)
        if (counters_cause(&set->instances[k]->counters, i) == UPMU_E_PARTIAL)
            reason = upmu_strerror(UPMU_E_PARTIAL);
    if (!reason && set_has_lost_descriptor(set, i))
        return "its file descriptor was closed by the program, or belongs to another file now";
    if (!reason && set->jumped >> i & 1)
        return upmu_strerror(UPMU_E_JUMP);
    if (!reason && set->out_of_range >> i & 1)
        return "the difference of its events is below 0, or their sum exceeds 64 bits";
    if (!reason && set->doubted >> i & 1 && set->list.link[i].weight)
        return "an event of its formula read 0, which may mean that it was not counted";
    if (!reason && set->doubted >> i & 1 && !set->list.events[i].zero_unsure)
        return "it hardly changed although code was executed: another user of the PMU counts the event at the same "
               "time";
    if (!reason && set->doubted >> i & 1 && machine_get()->cpu.hypervisor)
        return "it read 0, which may mean that the hypervisor of this virtual machine does not pass the event on, or "
               "that another user of the PMU has the counter";
    if (!reason && set->doubted >> i & 1)
        return "it read 0, which may mean that this CPU lacks it: no list of the CPU's events confirms the encoding";
    return reason ? reason : "";
}

size_t upmu_set_group_count(const struct upmu_set *set)
{
    return set ? set->instances[0]->counters.n_groups : 0;
}

size_t upmu_set_instance_count(const struct upmu_set *set)
{
    return set ? set->n_instances : 0;
}

int upmu_set_user_read(const struct upmu_set *set, size_t i)
{
    struct kernel_page_count now;
    if (!set || i >= set->list.n || set->opts.target != UPMU_TARGET_THREAD || !set_is_callers(set))
        return 0;
    const struct counters *c = &set->instances[0]->counters;
    const struct counter *counter = &c->counter[i];
    if (counter->switches)
        return c->sequence != NULL;
    for (bool granted = true; granted; counter = &c->counter[counter->also]) {
        granted = counter->page && counter->next == 0 && c->group[counter->group].pages &&
                  core_kernel()->page_read(counter->page, upmu_arch_counter_read, &now) == 0 && !now.stale_times;
        if (granted && counter->also == 0)
            return 1;
    }
    return 0;
}

pid_t upmu_set_pid(const struct upmu_set *set)
{
    if (!set)
        return 0;
    return set_counts_others(set->opts.target) ? set->opts.pid : set->command;
}

/* SPDX-License-Identifier: MIT */
/*
 * Group members that the kernel ran for less time than their leader.
 *
 * A group read returns only the leader's times, so a member that was scheduled late would look exact and be too
 * low. Its own times are read through its own descriptor, after the leader's, so that a healthy member is never
 * behind.
 */
#include "core/set/counters.h"

#include "core/kernel_ops.h"

/* The leader's running time; false if the descriptor is no longer the group's. */
static bool late_leader_time(const struct counters *c, const struct counter_group *group, uint64_t *running)
{
    uint64_t section[KERNEL_READ_GROUP_HEAD + 2 * (PLAN_EVENTS_MAX + ARCH_FIXED)]; /* including fillers */
    size_t bytes = (KERNEL_READ_GROUP_HEAD + 2u * group->n) * sizeof *section;
    if (group->lost || bytes > sizeof section || core_kernel()->read(group->leader, section, bytes) != (ssize_t)bytes)
        return false;
    *running = section[2];
    return counters_is_group(c, group, section);
}

static bool late_member_time(const struct counter *member, uint64_t *running)
{
    uint64_t words[KERNEL_READ_ONE_WORDS];
    if (core_kernel()->read(member->fd, words, sizeof words) != (ssize_t)sizeof words)
        return false;
    *running = words[2];
    return member->id == 0 || words[3] == member->id;
}

/* A readable page means that the event is on a counter now; older times in it are no evidence of lateness. */
static bool late_page_fine(const struct counter *member, uint64_t leader)
{
    struct kernel_page_count now;
    return member->page && core_kernel()->page_read(member->page, upmu_arch_counter_read, &now) == 0 &&
           (now.stale_times || now.running >= leader);
}

/* Members of group g behind its leader, as bits of the listed events. */
static uint64_t late_in_group(const struct counters *c, size_t g, const uint64_t *words)
{
    const struct counter_group *group = &c->group[g];
    uint64_t late = 0, leader = 0, own;
    if (group->n < 2)
        return 0;
    if (words ? words[group->word] == 0 : !late_leader_time(c, group, &leader))
        return 0; /* its members have no reading */
    if (words)
        leader = words[group->word + 2];
    for (size_t i = 0; i < c->list->n_all; i++) {
        const struct counter *member = &c->counter[i];
        if (member->fd < 0 || member->group != g || member->position == 0 || !member->counted)
            continue;
        if (words && late_page_fine(member, leader))
            continue;
        if (late_member_time(member, &own) && own < leader)
            late |= UINT64_C(1) << c->list->link[i].owner;
    }
    return late;
}

uint64_t counters_late(const struct counters *c, const uint64_t *words)
{
    uint64_t late = 0;
    if (c->list->backend != KERNEL_BACKEND_PERF)
        return 0; /* PAPI's groups have one time */
    for (size_t g = 0; g < c->n_groups; g++)
        late |= late_in_group(c, g, words);
    for (size_t i = 0; late && i < c->list->n_parts; i++)
        if (late >> c->list->link[c->list->plan.entry[i].same_as].owner & 1)
            late |= UINT64_C(1) << c->list->link[i].owner;
    return late;
}

void counters_leave_late(struct counters *c, uint64_t late)
{
    for (size_t i = 0; late && i < c->list->n_parts; i++) {
        if (!(late >> c->list->link[i].owner & 1))
            continue;
        c->counter[i].counted = false;
        c->counter[i].cause = UPMU_E_PARTIAL;
    }
}

/* SPDX-License-Identifier: MIT */
/* Suppressions applied to deadlocks and lock-order cycles, frame by frame. */
#include "deadlock/deadlocks.h"

/* A report to be matched. */
struct candidate {
    struct upmu_deadlocks *d;
    const char *group, *kind;
    uint32_t process;
};

static bool candidate_text_matches(const struct candidate *t, const char *text)
{
    return text && suppressions_match(&t->d->suppressions, t->group, t->kind, text);
}

static bool candidate_address_matches(const struct candidate *t, uint64_t address)
{
    struct upmu_symbol s = {.size = sizeof s};
    for (size_t depth = 0; upmu_overview_symbol_at(t->d->overview, t->process, address, depth, &s) == 0; depth++)
        if (candidate_text_matches(t, s.function) || candidate_text_matches(t, s.file) ||
            candidate_text_matches(t, s.module))
            return true;
    return false;
}

static bool candidate_stack_matches(const struct candidate *t, uint32_t id)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    if (id == 0 || upmu_overview_stack_find(t->d->overview, t->process, id, &stack) != 0)
        return false;
    for (uint32_t i = 0; i < stack.n_frames; i++)
        if (candidate_address_matches(t, stack.frames[i]))
            return true;
    return false;
}

/* By what a lock is called: one of a group without its number, too. */
static bool candidate_lock_matches(const struct candidate *t, int type, uint64_t lock)
{
    struct upmu_overview_object o = {.size = sizeof o};
    return lock != 0 && upmu_overview_object_find(t->d->overview, t->process, type, lock, &o) == 0 && o.name[0] &&
           (candidate_text_matches(t, o.name) || candidate_text_matches(t, o.group));
}

static bool candidate_thread_matches(const struct candidate *t, size_t i, size_t k,
                                     const struct upmu_deadlock_thread *thread)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    if (candidate_stack_matches(t, thread->stack) || candidate_address_matches(t, thread->site) ||
        candidate_lock_matches(t, thread->object_type, thread->object))
        return true;
    for (size_t n = 0; upmu_deadlocks_held_at(t->d, i, k, n, &h) == 0; n++)
        if (h.wanted && (candidate_address_matches(t, h.site) || candidate_lock_matches(t, UPMU_OBJECT_NONE, h.lock)))
            return true;
    return false;
}

static bool deadlock_is_suppressed(struct upmu_deadlocks *d, size_t i)
{
    struct upmu_deadlock item = {.size = sizeof item};
    struct upmu_deadlock_thread thread = {.size = sizeof thread};
    if (upmu_deadlocks_at(d, i, &item) != 0)
        return false;
    const struct candidate t = {
        .d = d, .group = "blocked", .kind = upmu_deadlock_kind_name(item.kind), .process = item.process};
    for (size_t k = 0; k < item.n_threads && upmu_deadlocks_thread_at(d, i, k, &thread) == 0; k++)
        if (candidate_thread_matches(&t, i, k, &thread))
            return true;
    return false;
}

static bool lock_cycle_is_suppressed(struct upmu_deadlocks *d, size_t i)
{
    struct upmu_lock_cycle cycle = {.size = sizeof cycle};
    struct upmu_lock_acquisition acquisition = {.size = sizeof acquisition};
    if (upmu_deadlocks_cycle_at(d, i, &cycle) != 0)
        return false;
    struct candidate t = {.d = d, .group = "order", .kind = upmu_lock_cycle_class_name(cycle.class_number)};
    for (size_t k = 0; upmu_deadlocks_acquisition_at(d, i, k, &acquisition) == 0; k++) {
        t.process = acquisition.process;
        if (candidate_stack_matches(&t, acquisition.stack) || candidate_address_matches(&t, acquisition.held_site) ||
            candidate_lock_matches(&t, acquisition.lock_type, acquisition.lock))
            return true;
    }
    return false;
}

void deadlocks_suppress(struct upmu_deadlocks *d)
{
    for (size_t i = 0; d->suppressions.n > 0 && i < d->n_items; i++)
        d->items[i].suppressed = deadlock_is_suppressed(d, i);
    for (size_t i = 0; d->suppressions.n > 0 && i < d->n_cycles; i++)
        d->cycles[i].suppressed = lock_cycle_is_suppressed(d, i);
}

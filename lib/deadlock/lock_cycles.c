/* SPDX-License-Identifier: MIT */
/* Lock-order cycles, grouped by call sites and by lock classes. */
#include <string.h>

#include "deadlock/deadlocks.h"
#include "analysis/identity.h"
#include "analysis/public.h"
#include "base/map.h"
#include "base/error.h"
#include "base/opts.h"
#include "trace/read/bare.h"

static const struct wg_order_cycle *lock_cycle_found(const struct upmu_deadlocks *d, const struct dl_cycle *c)
{
    return &d->order.cycles[c->found];
}

static uint32_t lock_cycle_member(const struct upmu_deadlocks *d, const struct wg_order_cycle *f, size_t k)
{
    return d->order.members[f->first + k % f->n];
}

/* The held lock of acquisition `k` that the preceding one waits for; of several entries the first. */
static uint32_t lock_cycle_wanted_entry(const struct upmu_deadlocks *d, const struct wg_order_cycle *f, size_t k)
{
    const struct wg_acquisition *t = &d->log.acquisitions[lock_cycle_member(d, f, k)];
    uint32_t lock = d->log.acquisitions[lock_cycle_member(d, f, k + f->n - 1)].lock, i = 0;
    while (i + 1 < t->n_held && d->log.held[t->first_held + i].lock != lock)
        i++;
    return t->first_held + i;
}

/* -------------------------------------------------------------------------------------------------- grouping */

static uint64_t hash_mix(uint64_t h)
{
    h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t acquisition_site_hash(const struct upmu_deadlocks *d, uint32_t acquisition)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    const struct acq_details *f = &d->log.details[acquisition];
    bool known = upmu_overview_stack_find(d->overview, f->process, f->stack, &stack) == 0 && stack.n_frames > 0;
    return known ? stack.frames[0] : 0;
}

/* Hash of the call sites of a cycle, independent of its first acquisition. */
static uint64_t lock_cycle_sites_hash(const struct upmu_deadlocks *d, const struct wg_order_cycle *f)
{
    uint64_t sum = hash_mix((uint64_t)f->class * 64 + f->n);
    for (size_t k = 0; k < f->n; k++) {
        uint64_t site = acquisition_site_hash(d, lock_cycle_member(d, f, k)),
                 held = d->log.sites[lock_cycle_wanted_entry(d, f, k)].site;
        sum += hash_mix(hash_mix(site) + held) + d->log.details[lock_cycle_member(d, f, k)].process;
    }
    return sum;
}

/* Hash of the lock class: the stack of its initialization if known, else the lock itself. */
static uint64_t lock_class_of(const struct upmu_deadlocks *d, uint32_t lock)
{
    const struct acq_lock *l = &d->log.locks[lock];
    return hash_mix(hash_mix(l->init_stack ? l->init_stack : l->address) + 2 * (uint64_t)l->process +
                    (l->init_stack != 0));
}

/* Hash of the lock classes of a cycle, each once, in any order. */
static uint64_t lock_classes_of(const struct upmu_deadlocks *d, const struct wg_order_cycle *f)
{
    uint64_t sum = hash_mix(f->class);
    for (size_t k = 0; k < f->n; k++) {
        uint64_t kind = lock_class_of(d, d->log.acquisitions[lock_cycle_member(d, f, k)].lock);
        bool seen = false;
        for (size_t i = 0; i < k && !seen; i++)
            seen = lock_class_of(d, d->log.acquisitions[lock_cycle_member(d, f, i)].lock) == kind;
        sum += seen ? 0 : hash_mix(kind);
    }
    return sum;
}

static int add_cycle(struct upmu_deadlocks *d, uint32_t found)
{
    uint64_t sites = lock_cycle_sites_hash(d, &d->order.cycles[found]),
             lock_classes = lock_classes_of(d, &d->order.cycles[found]);
    for (size_t i = 0; i < d->n_cycles; i++) {
        if (d->cycles[i].sites != sites && d->cycles[i].lock_classes != lock_classes)
            continue;
        d->cycles[i].n_similar++;
        return 0;
    }
    struct dl_cycle *all = array_reserve(d->cycles, d->n_cycles, &d->cap_cycles, sizeof *all);
    if (!all)
        return deadlocks_no_memory();
    d->cycles = all;
    all[d->n_cycles++] = (struct dl_cycle){.found = found, .sites = sites, .lock_classes = lock_classes};
    return 0;
}

static uint64_t stack_site(void *arg, uint32_t process, uint32_t id)
{
    const struct upmu_deadlocks *d = arg;
    struct upmu_trace_stack stack = {.size = sizeof stack};
    bool known = upmu_overview_stack_find(d->overview, process, id, &stack) == 0 && stack.n_frames > 0;
    return known ? stack.frames[0] : 0;
}

/* The function at an address, not one inlined there. */
static bool function_at(struct upmu_deadlocks *d, uint32_t process, uint64_t address, struct upmu_symbol *out)
{
    struct upmu_symbol s = {.size = sizeof s};
    *out = s;
    for (size_t depth = 0; upmu_overview_symbol_at(d->overview, process, address, depth, &s) == 0; depth++)
        *out = s;
    return out->module != NULL;
}

/* Whether two call sites are in one function; without symbols, close to each other. */
static bool in_one_function(struct upmu_deadlocks *d, uint32_t process, uint64_t a, uint64_t b)
{
    enum { CLOSE = 1024 };
    struct upmu_symbol x, y;
    if (a == 0 || b == 0 || !function_at(d, process, a, &x) || !function_at(d, process, b, &y) ||
        strcmp(x.module, y.module) != 0)
        return false;
    if (x.function && y.function)
        return strcmp(x.function, y.function) == 0;
    return !x.function && !y.function && (a > b ? a - b : b - a) < CLOSE;
}

/* Whether the wait after a try is in the function that tried, or in one that it calls: compilers inline a part of a function, as
 * the try of CPython's locks. */
static bool try_leads_to_wait(struct upmu_deadlocks *d, const struct acq_try *t)
{
    enum { NEAREST = 2 };
    struct upmu_trace_stack stack = {.size = sizeof stack};
    if (t->wait_stack == 0 || upmu_overview_stack_find(d->overview, t->process, t->wait_stack, &stack) != 0)
        return false;
    for (size_t i = 0; i < stack.n_frames && i < NEAREST; i++)
        if (in_one_function(d, t->process, t->tried, stack.frames[i]))
            return true;
    return false;
}

/* A trylock that such a wait follows counts as an acquisition that can wait. */
static void lock_cycles_add_tries(struct upmu_deadlocks *d)
{
    for (size_t i = 0; i < d->log.n_tries; i++) {
        const struct acq_try t = d->log.tries[i];
        if (try_leads_to_wait(d, &t))
            acquisition_log_tries_wait(&d->log, &t, stack_site, d);
    }
}

int deadlocks_find_cycles(struct upmu_deadlocks *d)
{
    lock_cycles_add_tries(d);
    int rc = acquisition_log_find_cycles(&d->log, &d->order);
    for (size_t i = 0; rc == 0 && i < d->order.n_cycles; i++)
        rc = add_cycle(d, (uint32_t)i);
    return rc;
}

/* --------------------------------------------------------------------------------------------------------- facts */

int upmu_deadlocks_cycle_at(const struct upmu_deadlocks *d, size_t i, struct upmu_lock_cycle *out)
{
    if (!d || !out)
        return argument_null(__func__, d ? "out" : "deadlocks");
    if (i >= d->n_cycles)
        return UPMU_E_END;
    const struct dl_cycle *c = &d->cycles[i];
    const struct wg_order_cycle *f = lock_cycle_found(d, c);
    const struct acq_details *t = &d->log.details[lock_cycle_member(d, f, 0)];
    const struct upmu_lock_cycle ours = {
        .process = t->process,
        .pid = t->pid,
        .class_number = (int32_t)f->class,
        .suppressed = c->suppressed,
        .n_acquisitions = f->n,
        .n_similar = c->n_similar,
    };
    return OPTS_GIVE(out, ours, UPMU_LOCK_CYCLE_SIZE_V1);
}

/* Whether its address may have been several locks. */
static bool lock_is_reusable(const struct upmu_deadlocks *d, uint32_t process, const struct acq_lock *lock,
                             uint64_t address)
{
    return !lock->initialized && identity_memory_is_reusable(d->overview, process, lock->type, address);
}

int upmu_deadlocks_acquisition_at(const struct upmu_deadlocks *d, size_t i, size_t k, struct upmu_lock_acquisition *out)
{
    if (!d || !out)
        return argument_null(__func__, d ? "out" : "deadlocks");
    if (i >= d->n_cycles || k >= lock_cycle_found(d, &d->cycles[i])->n)
        return UPMU_E_END;
    const struct wg_order_cycle *c = lock_cycle_found(d, &d->cycles[i]);
    uint32_t number = lock_cycle_member(d, c, k), entry = lock_cycle_wanted_entry(d, c, k);
    const struct wg_acquisition *t = &d->log.acquisitions[number];
    const struct acq_details *f = &d->log.details[number];
    const struct acq_lock *lock = &d->log.locks[t->lock], *held = &d->log.locks[d->log.held[entry].lock];
    const struct upmu_lock_acquisition ours = {
        .tid = f->tid,
        .time_ns = f->time_ns,
        .lock = f->address,
        .lock_type = lock->type,
        .shared = t->shared,
        .tried = (f->flags & UPMU_TRACE_FLAG_TRIED) != 0,
        .timed = (f->flags & UPMU_TRACE_FLAG_TIMED) != 0,
        .stack = f->stack,
        .held = d->log.sites[entry].address,
        .held_type = held->type,
        .held_shared = d->log.held[entry].shared,
        .held_site = d->log.sites[entry].site,
        .held_stack = d->log.sites[entry].stack,
        .n_held = t->n_held,
        .reusable = lock_is_reusable(d, f->process, lock, f->address) ||
                    lock_is_reusable(d, f->process, held, d->log.sites[entry].address),
        .process = f->process,
        .pid = f->pid,
    };
    return OPTS_GIVE(out, ours, UPMU_LOCK_ACQUISITION_SIZE_V1);
}

/* Whether another acquisition of the cycle holds it, too, so that the two exclude each other, or all permits are
 * held. */
static bool lock_cycle_is_gate(const struct upmu_deadlocks *d, const struct wg_order_cycle *c, size_t k,
                               const struct wg_order_held *h)
{
    uint32_t in = 1;
    for (size_t other = 0; other < c->n; other++) {
        const struct wg_acquisition *t = &d->log.acquisitions[lock_cycle_member(d, c, other)];
        for (uint32_t i = 0; other != k && i < t->n_held; i++) {
            const struct wg_order_held *o = &d->log.held[t->first_held + i];
            if (o->lock == h->lock && !(o->shared && h->shared))
                return true;
            in += o->lock == h->lock;
        }
    }
    return h->permits > 0 && in > h->permits;
}

int upmu_deadlocks_acquisition_held_at(const struct upmu_deadlocks *d, size_t i, size_t k, size_t h,
                                       struct upmu_deadlock_held *out)
{
    if (!d || !out)
        return argument_null(__func__, d ? "out" : "deadlocks");
    if (i >= d->n_cycles || k >= lock_cycle_found(d, &d->cycles[i])->n)
        return UPMU_E_END;
    const struct wg_order_cycle *c = lock_cycle_found(d, &d->cycles[i]);
    const struct wg_acquisition *t = &d->log.acquisitions[lock_cycle_member(d, c, k)];
    if (h >= t->n_held)
        return UPMU_E_END;
    const struct wg_order_held *held = &d->log.held[t->first_held + h];
    const struct upmu_deadlock_held ours = {
        .lock = d->log.sites[t->first_held + h].address,
        .shared = held->shared,
        .wanted = lock_cycle_is_gate(d, c, k, held),
        .site = d->log.sites[t->first_held + h].site,
    };
    return OPTS_GIVE(out, ours, UPMU_DEADLOCK_HELD_SIZE_V1);
}

int upmu_deadlocks_totals_read(const struct upmu_deadlocks *d, struct upmu_deadlocks_totals *out)
{
    if (!d || !out)
        return argument_null(__func__, d ? "out" : "deadlocks");
    uint32_t without = 0, counted = 0;
    for (size_t i = 0; i < d->n_processes; i++) {
        const struct dl_process *p = &d->processes[i];
        without += !p->recorded;
        counted += p->dir && trace_process_counted(d->overview->trace, p->index);
    }
    const struct upmu_deadlocks_totals ours = {.acquisitions = d->log.n_acquisitions,
                                               .incomplete = d->log.incomplete,
                                               .truncated = d->order.truncated,
                                               .without_wait_state = without,
                                               .mpi = d->has_ranks,
                                               .counted = counted};
    return OPTS_GIVE(out, ours, UPMU_DEADLOCKS_TOTALS_SIZE_V1);
}

size_t upmu_deadlocks_cycle_count(const struct upmu_deadlocks *d)
{
    return d ? d->n_cycles : 0;
}

size_t upmu_deadlocks_acquisition_count(const struct upmu_deadlocks *d, size_t i)
{
    return d && i < d->n_cycles ? lock_cycle_found(d, &d->cycles[i])->n : 0;
}

size_t upmu_deadlocks_acquisition_held_count(const struct upmu_deadlocks *d, size_t i, size_t k)
{
    if (k >= upmu_deadlocks_acquisition_count(d, i))
        return 0;
    return d->log.acquisitions[lock_cycle_member(d, lock_cycle_found(d, &d->cycles[i]), k)].n_held;
}

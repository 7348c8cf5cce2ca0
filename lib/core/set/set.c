/* SPDX-License-Identifier: MIT */
/*
 * Counter sets: the life of a list of counters, for the caller. Room: core; before it the public API, after it
 * counters.c (one instance) and set_target.c (which instances).
 *
 * Counters are never reset in the kernel, which would leave their times status: the set remembers where its zero is.
 */
#include "core/set/set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/backend.h"
#include "core/formula/derived.h"
#include "core/check/refusal.h"
#include "core/formula/formula.h"
#include "core/machine/machine.h"
#include "core/check/self_check.h"

/* ---------------------------------------------------------------------------------------------- open, close */

static bool counts_others(uint32_t target)
{
    return target == UPMU_TARGET_PROCESS || target == UPMU_TARGET_TASK;
}

static int check_opts(const struct upmu_set_opts *o)
{
    const uint32_t flags =
        UPMU_SET_STRICT | UPMU_SET_NO_USER_READ | UPMU_SET_INHERIT | UPMU_SET_NO_INHERIT | UPMU_SET_TOGETHER;
    if (o->target > UPMU_TARGET_TASK)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: target %u is not known", o->target);
    if (o->flags & ~flags)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: flags 0x%x are not known", o->flags & ~flags);
    if (counts_others(o->target) && o->pid <= 0)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: %s id %d is not valid",
                         o->target == UPMU_TARGET_TASK ? "thread" : "process", (int)o->pid);
    if (o->target == UPMU_TARGET_CPU && o->cpu < 0)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: CPU %d is not valid", o->cpu);
    if (o->target == UPMU_TARGET_COMMAND && (!o->argv || !o->argv[0]))
        return upmu_fail(UPMU_E_INVAL, "upmu_set_open: no command given");
    return 0;
}

/* Whether a CPU is in a list such as "0-3,18". */
static bool is_listed(const char *cpus, int cpu)
{
    for (const char *p = cpus; *p;) {
        char *end;
        long first = strtol(p, &end, 10), last = first;
        if (end == p)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return true;
        p = end + (*end == ',');
    }
    return false;
}

/* An event of a PMU that belongs to no task can be counted on CPUs only, and on one CPU of each socket or die: on two of
 * them the same would be counted twice. */
static int check_scopes(struct upmu_set *set)
{
    for (size_t i = 0; i < set->list.n; i++) {
        struct event *e = &set->list.events[i];
        bool on_cpu = set->opts.target == UPMU_TARGET_CPU;
        if (set->list.absent[i] || e->cpu < 0 || (on_cpu && is_listed(e->cpus, set->opts.cpu)))
            continue;
        if (on_cpu)
            (void)upmu_fail(UPMU_E_UNSUPPORTED,
                            "'%s' counts a whole socket or die, and is counted on CPU %s alone, once for each", e->name,
                            e->cpus);
        else
            (void)upmu_fail(UPMU_E_UNSUPPORTED,
                            "'%s' counts a whole CPU or socket, not a task; count it with "
                            "UPMU_TARGET_CPU (upmu stat -C %s)",
                            e->name, e->cpus);
        if (counter_list_leave_out(&set->list, i, UPMU_E_UNSUPPORTED) < 0)
            return UPMU_E_NOMEM;
        set->elsewhere |= on_cpu ? UINT64_C(1) << i : 0;
    }
    return 0;
}

/* Why two events take turns, where they are tied to one counter: "; both need counter 0". */
static void tied_to_one(const struct event *a, const struct event *b, char *why, size_t cap)
{
    const struct arch_counters *c = &machine_kind(a->core)->family->counters;
    uint32_t mask = plan_mask(a, c);
    why[0] = '\0';
    if (mask != plan_mask(b, c) || !mask || (mask & (mask - 1)) != 0)
        return;
    unsigned counter = (unsigned)__builtin_ctz(mask);
    bool fixed = counter >= ARCH_FIXED;
    snprintf(why, cap, "; both need %scounter %u", fixed ? "fixed " : "", fixed ? counter - ARCH_FIXED : counter);
}

static bool take_turns(const struct counter_list *list, size_t i, size_t k)
{
    return !list->absent[i] && !list->absent[k] && list->events[k].class == EVENT_CORE &&
           list->events[i].class == EVENT_CORE && list->events[k].core == list->events[i].core &&
           list->plan.entry[k].group != list->plan.entry[i].group;
}

/* Counted at the same time means: one group of each kind of core. */
static int check_together(const struct upmu_set *set)
{
    const struct counter_list *list = &set->list;
    for (size_t i = 0; i < list->n; i++) {
        if (list->cause[i] == UPMU_E_FIT)
            return upmu_fail(UPMU_E_FIT, "%s", list->reason[i]);
        for (size_t k = 0; k < i; k++) {
            char why[64];
            if (!take_turns(list, i, k))
                continue;
            tied_to_one(&list->events[k], &list->events[i], why, sizeof why);
            return upmu_fail(UPMU_E_FIT,
                             "'%s' and '%s' cannot all be counted at the same time as the others on %s%s; where that "
                             "is not asked for (UPMU_SET_TOGETHER, --together) they take turns",
                             list->events[k].name, list->events[i].name, machine_get()->family->title, why);
        }
    }
    return 0;
}

static int open_instances(struct upmu_set *set)
{
    int rc;
    switch (set->opts.target) {
    case UPMU_TARGET_PROCESS:
        return set_attach_process(set);
    case UPMU_TARGET_TASK:
        return set_attach_task(set);
    case UPMU_TARGET_COMMAND:
        return set_prepare_command(set);
    case UPMU_TARGET_CPU:
        rc = set_add_instance(set, -1, set->opts.cpu);
        return rc == UPMU_E_GONE ? upmu_fail(UPMU_E_GONE, "there is no CPU %d online", set->opts.cpu) : rc;
    default:
        set->owner = caller_thread();
        set->tid = core_kernel()->gettid();
        return set_add_instance(set, 0, -1);
    }
}

/* The first absent event's failure, for sets that take all or nothing. */
static int strict_failure(const struct upmu_set *set)
{
    for (size_t i = 0; i < set->list.n; i++)
        if (set->list.absent[i])
            return upmu_fail(set->list.cause[i], "%s", set->list.reason[i]);
    return 0;
}

static bool anything_open(const struct upmu_set *set)
{
    for (size_t n = 0; n < set->n_instances; n++)
        for (size_t i = 0; i < set->list.n_parts; i++)
            if (set->instances[n]->counters.counter[i].fd >= 0)
                return true;
    return false;
}

/* If not even an event that counts nothing may be opened on the process, it is not ours to count: that is a failure of
 * the call and not of its events. */
static int foreign_process(const struct upmu_set *set)
{
    if (!counts_others(set->opts.target) || anything_open(set))
        return 0;
    const struct kernel_open req = {.type = KERNEL_TYPE_SOFTWARE,
                                    .config = KERNEL_SW_DUMMY,
                                    .exclude = KERNEL_EXCLUDE_KERNEL,
                                    .pid = set->opts.pid,
                                    .cpu = -1,
                                    .group_fd = -1};
    int fd = core_kernel()->open(&req);
    if (fd >= 0)
        core_kernel()->close(fd);
    if (fd != -EACCES && fd != -EPERM)
        return 0;
    char name[32];
    snprintf(name, sizeof name, "%s %d", set->opts.target == UPMU_TARGET_TASK ? "thread" : "process",
             (int)set->opts.pid);
    const struct explain_context context = {.event = name, .type = req.type, .pid = req.pid, .cpu = -1};
    int code = explain_open_failure(core_kernel(), -fd, &context);
    return code == UPMU_E_PERM ? code : 0;
}

static int set_fill(struct upmu_set *set, const char *events)
{
    enum kernel_backend backend;
    int rc = backend_choose(set->opts.backend, &backend);
    if (rc == 0)
        rc = counter_list_make(&set->list, events, PLAN_EVENTS_MAX, false, backend);
    if (rc == 0 && set->list.n == 0)
        rc = upmu_fail(UPMU_E_INVAL, "upmu_set_open: the list of events is empty");
    if (rc == 0)
        rc = self_check_list(&set->list);
    if (rc == 0)
        rc = check_scopes(set);
    if (rc == 0 && (set->opts.flags & UPMU_SET_STRICT))
        rc = strict_failure(set);
    if (rc == 0 && (set->opts.flags & UPMU_SET_TOGETHER))
        rc = check_together(set);
    if (rc < 0)
        return rc;
    set->names = calloc(set->list.n, sizeof *set->names);
    set->reasons = calloc(set->list.n, sizeof *set->reasons);
    if (!set->names || !set->reasons)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    rc = open_instances(set);
    if (rc == 0)
        rc = foreign_process(set);
    set_note_start(set);
    for (size_t i = 0; rc == 0 && i < set->list.n; i++)
        counters_name(&set->instances[0]->counters, i, set->names[i], sizeof set->names[i]);
    return rc;
}

int upmu_set_open(struct upmu_set **out, const char *events, const struct upmu_set_opts *opts)
{
    struct upmu_set_opts ours;
    if (!out)
        return argument_null(__func__, "set");
    *out = NULL;
    if (!events)
        return argument_null(__func__, "events");
    int rc = OPTS_TAKE(ours, opts, UPMU_SET_OPTS_SIZE_V1);
    if (rc == 0)
        rc = check_opts(&ours);
    if (rc < 0)
        return rc;
    struct upmu_set *set = calloc(1, sizeof *set);
    if (!set)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    set->opts = ours;
    set->gate = -1;
    set->process = caller_process();
    rc = set_fill(set, events);
    set->opts.argv = NULL; /* the caller's, who may free them now */
    set->opts.backend = NULL;
    if (rc < 0) {
        upmu_set_close(set);
        return rc;
    }
    *out = set;
    return 0;
}

void upmu_set_close(struct upmu_set *set)
{
    if (!set)
        return;
    bool forked = set->process != caller_process();
    set_drop_instances(set, 0, forked);
    if (set->gate >= 0 && forked) {
        core_kernel()->close(set->gate); /* the command is the parent's to start or to end */
    } else if (set->gate >= 0) {
        core_kernel()->abandon(set->gate, set->spawned);
        core_kernel()->wait(set->spawned, NULL, NULL);
    }
    free(set->program);
    for (size_t i = 0; set->reasons && i < set->list.n; i++)
        free(set->reasons[i]);
    free(set->reasons);
    free(set->names);
    free(set->instances);
    counter_list_free(&set->list);
    free(set);
}

/* Counters of a thread are read through its own pages and rusage, and a forked child has nothing of a set but copies of its
 * descriptors. */
int set_foreign(const struct upmu_set *set, const char *call)
{
    if (set->process != caller_process())
        return upmu_fail(UPMU_E_STATE, "%s: the set belongs to another process, of which this one was forked", call);
    return upmu_fail(UPMU_E_STATE, "%s: the set counts another thread, which alone may use it", call);
}

/* ------------------------------------------------------------------------------------------------- readings */

static int read_instance(struct set_instance *in, size_t i, struct reading *now)
{
    return counters_reading(&in->counters, in->words, i, now);
}

/* Context switches and times of getrusage. */
static bool is_eventless(const struct counter *counter)
{
    return counter->switches || counter->usage;
}

static struct reading switches_between(const struct reading *before, struct reading now)
{
    now.count -= before->count;
    now.enabled -= before->enabled;
    now.running -= before->running;
    return now;
}

static struct upmu_value value_of_switches(const struct upmu_set *set, struct set_instance *in, size_t i)
{
    struct reading now;
    int cause = read_instance(in, i, &now);
    if (cause < 0)
        return value_without(value_status_of(cause), cause);
    if (!set->running)
        now = in->stopped[i];
    now = switches_between(&in->base[i], now);
    return value_total(&now);
}

/* A counter that went backwards was reset or replaced under us: its difference means nothing. The time keeps a sum from
 * taking this part for a thread that slept. */
static struct upmu_value went_backwards(const struct reading *now)
{
    struct upmu_value v = value_without(UPMU_NOT_COUNTED, 0);
    v.enabled = now->enabled > 0 ? now->enabled : 1;
    return v;
}

/* Where one event stands now, counted from the set's zero, in all and (unless NULL) on each kind of core. */
static struct upmu_value value_of_part(const struct upmu_set *set, struct set_instance *in, size_t i,
                                       struct upmu_value *by_kind)
{
    const struct counters *c = &in->counters;
    const struct reading nothing[VALUE_KINDS_MAX] = {{0}};
    struct reading now[VALUE_KINDS_MAX];
    if (is_eventless(&c->counter[i]))
        return value_of_switches(set, in, i);
    int n = counters_readings(c, in->words, i, now);
    if (n < 0)
        return value_without(value_status_of(n), n);
    size_t part = i;
    for (int k = 0; k < n; k++, part = c->counter[part].next) {
        while (c->counter[part].elsewhere)
            part = c->counter[part].next;
        const struct reading *zero = &in->base[part];
        if (now[k].count < zero->count || now[k].enabled < zero->enabled || now[k].running < zero->running)
            return went_backwards(&now[k]);
        now[k].count -= zero->count;
        now[k].enabled -= zero->enabled;
        now[k].running -= zero->running;
    }
    return value_of_kinds(nothing, now, (size_t)n, by_kind);
}

/* The instance whose derived event is read. */
struct derived_source {
    struct set_instance *in;
};

static int read_since_zero(void *arg, size_t part, struct reading *before, struct reading *after)
{
    const struct derived_source *source = arg;
    int cause = read_instance(source->in, part, after);
    const struct reading zero = source->in->base[part];
    *before = (struct reading){0};
    if (cause < 0)
        return cause;
    if (after->count < zero.count || after->enabled < zero.enabled || after->running < zero.running) {
        *before = zero; /* went backwards, which the caller sees */
        return 0;
    }
    after->count -= zero.count;
    after->enabled -= zero.enabled;
    after->running -= zero.running;
    return 0;
}

/* Where event i stands now; a derived event has no number by kinds of cores. */
static struct upmu_value value_of(const struct upmu_set *set, struct set_instance *in, size_t i,
                                  struct upmu_value *by_kind)
{
    struct derived_source source = {in};
    if (!set->list.link[i].weight)
        return value_of_part(set, in, i, by_kind);
    return derived_value(&in->counters, i, read_since_zero, &source, NULL);
}

/* The part of event i on its `kind`-th kind of core. @return the list's number of it, or SIZE_MAX. */
static size_t part_of(const struct upmu_set *set, size_t i, size_t kind)
{
    const struct counters *c = &set->instances[0]->counters;
    for (size_t part = i;; part = c->counter[part].next) {
        if (!c->counter[part].elsewhere && kind-- == 0)
            return part;
        if (c->counter[part].next == 0)
            return SIZE_MAX;
    }
}

/* What event i counted on one kind of core, as of the last reading. */
static struct upmu_value value_of_kind(const struct upmu_set *set, size_t i, size_t kind)
{
    struct upmu_value sum = {0};
    for (size_t k = 0; k < set->n_instances; k++) {
        struct upmu_value by_kind[VALUE_KINDS_MAX];
        struct upmu_value all = value_of(set, set->instances[k], i, by_kind);
        bool number = all.status == UPMU_EXACT || all.status == UPMU_SCALED;
        const struct upmu_value *v =
            number && !set->list.link[i].weight && !is_eventless(&set->instances[k]->counters.counter[i])
                ? &by_kind[kind]
                : &all;
        if (k == 0)
            sum = *v;
        else
            value_add(&sum, v);
    }
    return sum;
}

/* Cycles and instructions of a task that runs come by the million in a millisecond: where a virtual PMU has next to none of them,
 * it has lost the counter on the way. A CPU may have slept. */
static bool is_stalled(const struct upmu_set *set, size_t i, const struct upmu_value *v)
{
    const uint64_t long_ns = 1000000, ns_each = 100;
    const struct event *e = &set->list.events[i];
    return machine_get()->cpu.hypervisor && set->opts.target != UPMU_TARGET_CPU && e->kernel &&
           event_always_moves(e, false) && v->running > long_ns && v->raw < v->running / ns_each;
}

static bool is_zero_doubtful(const struct upmu_set *set, size_t i)
{
    return derived_zero_doubtful(&set->list.events[i], set->opts.target == UPMU_TARGET_THREAD);
}

/* A zero of one kind may be that of a core that lacks the event, and the sum is short of what was done there. */
static bool doubt_zeros(const struct upmu_set *set, size_t i, struct upmu_value *total)
{
    if (!is_zero_doubtful(set, i))
        return false;
    bool doubted = value_doubt_zero(total) || is_stalled(set, i, total);
    for (size_t kind = 1; !doubted && part_of(set, i, kind) != SIZE_MAX; kind++) {
        for (size_t k = 0; k <= kind && !doubted; k++) {
            struct upmu_value v = value_of_kind(set, i, k);
            doubted = v.running > 0 && value_doubt_zero(&v);
        }
    }
    if (doubted) {
        total->status = UPMU_NOT_COUNTED;
        total->value = UPMU_NO_VALUE;
    }
    return doubted;
}

/* A counter that has jumped stays ahead, and after long enough its count would look possible: until the set is reset the event
 * has no number. Core events come at most some hundred times a nanosecond, which finds a jump for longer. */
static void doubt_jumps(struct upmu_set *set, struct upmu_value *values)
{
    const uint64_t most_per_ns = 500;
    for (size_t i = 0; i < set->list.n; i++) {
        const struct upmu_value *v = &values[i];
        bool core = set->list.events[i].class == EVENT_CORE && v->raw >> 40 != 0 && v->raw / most_per_ns > v->running;
        if (core || v->cause == UPMU_E_JUMP)
            set->jumped |= UINT64_C(1) << i;
        if (set->jumped >> i & 1)
            values[i] = value_without(UPMU_NOT_COUNTED, UPMU_E_JUMP);
    }
}

/* One term of a derived event, of all instances. */
static struct upmu_value term_total(const struct upmu_set *set, size_t term, bool *doubted)
{
    struct upmu_value sum = value_of_part(set, set->instances[0], term, NULL);
    for (size_t k = 1; k < set->n_instances; k++) {
        struct upmu_value v = value_of_part(set, set->instances[k], term, NULL);
        value_add(&sum, &v);
    }
    *doubted |= is_zero_doubtful(set, term) && value_doubt_zero(&sum);
    return sum;
}

/* A derived event on several kinds of cores, of all instances. */
static struct upmu_value kinds_total(const struct upmu_set *set, size_t i, bool *doubted)
{
    struct upmu_value sum = {0};
    for (size_t k = 0; k < set->n_instances; k++) {
        struct derived_source source = {set->instances[k]};
        struct upmu_value v = derived_value(&source.in->counters, i, read_since_zero, &source, doubted);
        if (k == 0)
            sum = v;
        else
            value_add(&sum, &v);
    }
    return sum;
}

/* A derived event of all instances: its terms are added up first, since a difference that is below 0 in one thread may be a
 * count of the process all the same. */
static struct upmu_value derived_total(struct upmu_set *set, size_t i)
{
    struct upmu_value terms[FORMULA_TERMS_MAX];
    int32_t weights[FORMULA_TERMS_MAX];
    bool doubted = false;
    size_t n = 0;
    for (size_t term = i; n == 0 || term; term = set->list.link[term].also) {
        weights[n] = set->list.link[term].weight;
        terms[n++] = term_total(set, term, &doubted);
    }
    struct upmu_value v = set->list.link[i].next ? kinds_total(set, i, &doubted) : value_weighted(terms, weights, n);
    set->doubted |= doubted ? UINT64_C(1) << i : 0;
    set->out_of_range |= v.cause == UPMU_E_RANGE ? UINT64_C(1) << i : 0;
    return v;
}

/* Read all instances. The times of single members are looked at in the first reading after a start and in those that are
 * not made in the middle of a thread's work: a reading that is made often must cost no further system calls. */
static void set_read_words(struct upmu_set *set)
{
    bool check = !set->checked || !set->running || set->opts.target != UPMU_TARGET_THREAD;
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        counters_read(&in->counters, in->words);
        if (check)
            counters_leave_late(&in->counters, counters_late(&in->counters, in->words));
    }
    set->checked = true;
}

int upmu_set_read(struct upmu_set *set, struct upmu_value *values, size_t n)
{
    if (!set || !values || n < set->list.n)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_read: room for %zu values given, %zu needed", n,
                         set ? set->list.n : 0);
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_read");
    if (!set->started)
        return upmu_fail(UPMU_E_STATE, "upmu_set_read: the set was never started");
    memset(values, 0, set->list.n * sizeof *values);
    set_read_words(set);
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        for (size_t i = 0; i < set->list.n; i++) {
            struct upmu_value v = value_of(set, in, i, NULL);
            if (k == 0)
                values[i] = v;
            else
                value_add(&values[i], &v);
        }
    }
    set->doubted = set->out_of_range = 0;
    for (size_t i = 0; i < set->list.n; i++) {
        if (set->list.link[i].weight)
            values[i] = derived_total(set, i);
        else if (set->elsewhere >> i & 1)
            values[i] = value_without(UPMU_NOT_COUNTED, 0); /* takes nothing from a sum over CPUs */
        else if (doubt_zeros(set, i, &values[i]))
            set->doubted |= UINT64_C(1) << i;
    }
    doubt_jumps(set, values);
    return (int)set->list.n;
}

const char *upmu_set_core_type(const struct upmu_set *set, size_t i, size_t kind)
{
    if (!set || i >= set->list.n)
        return NULL;
    size_t part = part_of(set, i, kind);
    return part == SIZE_MAX ? NULL : set->list.events[part].pmu;
}

int upmu_set_read_core_type(struct upmu_set *set, size_t i, size_t kind, struct upmu_value *value)
{
    if (!value || !upmu_set_core_type(set, i, kind))
        return upmu_fail(UPMU_E_INVAL,
                         "upmu_set_read_core_type: there is no event %zu, or it is not counted on %zu kinds of "
                         "cores",
                         i, kind + 1);
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_read_core_type");
    if (!set->started)
        return upmu_fail(UPMU_E_STATE, "upmu_set_read_core_type: the set was never started");
    *value = value_of_kind(set, i, kind);
    return 0;
}

int upmu_set_reset(struct upmu_set *set)
{
    if (!set)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_reset: no set given");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_reset");
    int rc = 0;
    set->jumped = 0;
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        counters_read(&in->counters, in->words);
        for (size_t i = 0; i < set->list.n_parts; i++) {
            const struct counter *counter = &in->counters.counter[i];
            struct reading now;
            if (!counter->counted && !is_eventless(counter))
                continue; /* there is no count to start anew */
            if (read_instance(in, i, &now) < 0) {
                rc = upmu_fail(UPMU_E_SYSTEM, "'%s' could not be read, and so not be set to zero",
                               set->list.events[i].name);
                continue;
            }
            in->base[i] = now;
            in->stopped[i] = now;
        }
    }
    return rc;
}

/* ------------------------------------------------------------------------------------------------ start, stop */

/* Switches go on while the set is stopped: move their zero by what passed meanwhile, or note where they stand. */
static void switches_pause(struct upmu_set *set, bool stop)
{
    for (size_t k = 0; k < set->n_instances; k++) {
        struct set_instance *in = set->instances[k];
        if (!in->counters.wants_switches && !in->counters.wants_usage)
            continue;
        counters_read_switches(&in->counters, in->words);
        for (size_t i = 0; i < set->list.n; i++) {
            struct reading now;
            if (!is_eventless(&in->counters.counter[i]) || read_instance(in, i, &now) < 0)
                continue;
            if (stop) {
                in->stopped[i] = now;
                continue;
            }
            struct reading pause = switches_between(&in->stopped[i], now);
            in->base[i].count += pause.count;
            in->base[i].enabled += pause.enabled;
            in->base[i].running += pause.running;
        }
    }
}

static int release_command(struct upmu_set *set)
{
    int rc = core_kernel()->release(set->gate, &set->used_before);
    set->gate = -1;
    if (rc == 0) {
        set->command = set->spawned;
        return 0;
    }
    core_kernel()->wait(set->spawned, NULL, NULL);
    set->waited = true;
    return upmu_fail(UPMU_E_IO, "cannot execute '%s': %s (%s)", set->program, strerror(-rc), upmu_errno_name(-rc));
}

int upmu_set_start(struct upmu_set *set)
{
    if (!set)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_start: no set given");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_start");
    int rc = 0;
    if (set->running)
        return 0;
    if (set->waited)
        return upmu_fail(UPMU_E_STATE, "upmu_set_start: the command has ended");
    set->checked = false; /* before the counters run: what comes after is in the counts */
    if (set->gate >= 0) {
        rc = release_command(set);
    } else {
        switches_pause(set, false);
        for (size_t k = 0; rc == 0 && k < set->n_instances; k++)
            rc = counters_control(&set->instances[k]->counters, KERNEL_ENABLE);
    }
    if (rc == 0)
        set->started = set->running = true;
    return rc;
}

int upmu_set_stop(struct upmu_set *set)
{
    if (!set)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_stop: no set given");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_stop");
    if (!set->running)
        return 0;
    int rc = 0;
    for (size_t k = 0; k < set->n_instances; k++) {
        int one = counters_control(&set->instances[k]->counters, KERNEL_DISABLE);
        rc = rc ? rc : one;
    }
    switches_pause(set, true);
    set->running = false;
    return rc;
}

int upmu_set_wait(struct upmu_set *set, int *status)
{
    if (!set || !set->command)
        return upmu_fail(UPMU_E_STATE, "upmu_set_wait: no command was started");
    if (!set_is_callers(set))
        return set_foreign(set, "upmu_set_wait");
    if (!set->waited) {
        int rc = core_kernel()->wait(set->command, &set->status, &set->used);
        if (rc < 0)
            return upmu_fail(UPMU_E_SYSTEM, "cannot wait for the command: %s", upmu_errno_name(-rc));
        set->waited = true;
    }
    if (status)
        *status = set->status;
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- asking */

size_t upmu_set_event_count(const struct upmu_set *set)
{
    return set ? set->list.n : 0;
}

const char *upmu_set_name(const struct upmu_set *set, size_t i)
{
    return set && i < set->list.n ? set->names[i] : NULL;
}

const char *upmu_set_reason(const struct upmu_set *set, size_t i)
{
    if (!set || i >= set->list.n)
        return "";
    const char *reason = set->list.reason[i] ? set->list.reason[i] : set->reasons[i];
    for (size_t k = 0; !reason && k < set->n_instances; k++)
        if (counters_cause(&set->instances[k]->counters, i) == UPMU_E_PARTIAL)
            reason = upmu_strerror(UPMU_E_PARTIAL);
    if (!reason && set->jumped >> i & 1)
        return upmu_strerror(UPMU_E_JUMP);
    if (!reason && set->out_of_range >> i & 1)
        return "the difference of its events came out below 0, or their sum beyond 64 bits";
    if (!reason && set->doubted >> i & 1 && set->list.link[i].weight)
        return "an event of its formula read 0, which may as well mean that it was not counted";
    if (!reason && set->doubted >> i & 1 && !set->list.events[i].zero_unsure)
        return "it hardly moved, though code was executed: the PMU counts the event for somebody else at the same time";
    if (!reason && set->doubted >> i & 1 && machine_get()->cpu.hypervisor)
        return "it read 0, which may as well mean that the hypervisor of this virtual machine does not pass the event "
               "on, or that another user of the PMU has the counter";
    if (!reason && set->doubted >> i & 1)
        return "it read 0, which may as well mean that this CPU lacks it: no list of the CPU's events confirms the "
               "code";
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
    return counts_others(set->opts.target) ? set->opts.pid : set->command;
}

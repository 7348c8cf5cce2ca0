/* SPDX-License-Identifier: MIT */
/* Counters of one thread, process or CPU: open, start, read, close. */
#include "core/set/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/tick.h"
#include "core/check/refusal.h"
#include "core/machine/machine.h"
#include "core/names/intern.h"

/* ------------------------------------------------------------------------------------------------ opening */

/* Map an errno to a code without a message, for threads that must not allocate. */
static int counters_code(int err)
{
    switch (err) {
    case EMFILE:
    case ENFILE:
        return UPMU_E_NFILES;
    case EACCES:
    case EPERM:
        return UPMU_E_PERM;
    case ENOSYS:
        return UPMU_E_NO_SYSCALL;
    case EBUSY:
        return UPMU_E_BUSY;
    case ESRCH:
        return UPMU_E_GONE;
    case ENOMEM:
        return UPMU_E_NOMEM;
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        return UPMU_E_UNSUPPORTED;
    default:
        return UPMU_E_SYSTEM;
    }
}

/* Whether the event counts user mode, but not only user mode. */
static bool counters_has_user_mode(const struct event *e)
{
    return e->user && e->kernel && !e->kernel_only && !e->mode_blind && !e->filter_ignored && !e->all_modes_only;
}

/* Descriptors that open instances wanted and did not get, in the whole process. */
static size_t missing_descriptors;

static void counters_miss_descriptor(struct counters *c)
{
    c->missing_descriptors++;
    __atomic_add_fetch(&missing_descriptors, 1, __ATOMIC_RELAXED);
}

/* Descriptors of a complete instance; at most one more than it needs, for context switches. */
static size_t counters_descriptors(const struct counter_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n_all; i++)
        n += !list->absent[i] && list->plan.entry[i].same_as == i && list->events[i].class != EVENT_USAGE;
    return n;
}

/* Descriptors still to be opened for this instance and the later ones. */
static size_t counters_descriptors_to_open(const struct counters *c, const struct counter_target *target)
{
    size_t n = counters_descriptors(c->list) * (target->later + 1);
    for (size_t i = 0; i < c->list->n_all; i++)
        n -= c->counter[i].fd >= 0;
    return n;
}

const char *counters_descriptors_reason(const char *name, size_t besides)
{
    const struct explain_context context = {
        .event = name,
        .cpu = -1,
        .descriptors = __atomic_load_n(&missing_descriptors, __ATOMIC_RELAXED) + besides,
    };
    struct explanation e;
    char text[EXPLANATION_TEXT_MAX];
    explain_open(core_kernel(), EMFILE, &context, &e);
    explain_text(name, &e, text, sizeof text);
    return intern(text);
}

static int counters_open_failed(struct counters *c, const struct event *e, const struct counter_target *target, int err)
{
    if (!target->explain)
        return counters_code(err);
    if (err == EMFILE)
        counters_miss_descriptor(c);
    struct explain_context context = {
        .event = e->name,
        .type = e->type,
        .pid = target->pid,
        .cpu = target->cpu,
        .wants_kernel = e->kernel,
        .precise = e->precise > 0,
        .user_mode_counts = counters_has_user_mode(e),
        .descriptors = counters_descriptors_to_open(c, target),
        .inherit = target->inherit && !target->on_exec,
    };
    return explain_open_failure(core_kernel(), err, &context);
}

static void counters_fill_request(struct kernel_open *req, const struct event *e, const struct counter_target *target,
                                  int leader)
{
    *req = (struct kernel_open){
        .type = e->type,
        .exclude = event_exclude(e),
        .precise = e->precise,
        .config = e->config,
        .config1 = e->config1,
        .config2 = e->config2,
        .pid = target->pid,
        .cpu = target->cpu,
        .group_fd = leader,
        .disabled = leader < 0,
        .inherit = target->inherit,
        .enable_on_exec = leader < 0 && target->on_exec,
        .backend = (uint8_t)target->backend,
        .group_read = leader < 0, /* a read of the group has the leader's times only; that of a member has its own */
    };
    /* Other backends have no PMU numbers; the core PMU has a fixed type. */
    if (target->backend != KERNEL_BACKEND_PERF && e->class == EVENT_CORE &&
        e->type == machine_core_type(e->core)->pmu_type)
        req->type = KERNEL_TYPE_RAW;
    if (target->backend == KERNEL_BACKEND_PERF && target->user_read && e->class == EVENT_CORE)
        req->config1 |= machine_core_type(e->core)->user_read_config1;
}

/* Open as requested; if kernel mode is refused and was not explicitly requested, retry without it. */
static int counters_open_modes(const struct event *e, const struct counter_target *target, int leader,
                               struct counter *c)
{
    struct kernel_open req;
    counters_fill_request(&req, e, target, leader);
    int fd = core_kernel()->open(&req);
    bool insists = e->modes_fixed && !e->filter_ignored;
    if ((fd != -EACCES && fd != -EPERM) || !e->kernel || !e->user || insists || e->all_modes_only || e->kernel_only)
        return fd;
    req.exclude |= UPMU_EXCLUDE_KERNEL;
    int narrowed = core_kernel()->open(&req);
    if (narrowed < 0) /* report the first refusal, unless the second shows that there is no such event */
        return narrowed == -ENOENT || narrowed == -EMFILE || narrowed == -ENFILE ? narrowed : fd;
    c->user_only = !e->mode_blind && !e->filter_ignored;
    return narrowed;
}

static bool counters_may_not_fit(int err)
{
    return err == -EINVAL || err == -ENOSPC || err == -EOPNOTSUPP;
}

static size_t counters_leader(const struct counters *c, int g)
{
    size_t i = 0;
    while (c->counter[i].fd != c->group[g].leader)
        i++;
    return i;
}

/* Linux checks a new member without its stopped leader. Opening and closing a copy of the leader makes the kernel
 * check as many events as the group has. */
static bool counters_fits(const struct counters *c, const struct counter_target *target, int g)
{
    size_t i = counters_leader(c, g);
    const struct event *leader = &c->list->events[i];
    struct counter copy = c->counter[i];
    if (leader->class != EVENT_CORE || !machine_core_type(leader->core)->leader_unchecked || target->on_exec)
        return true;
    int fd = counters_open_modes(leader, target, c->group[g].leader, &copy);
    if (fd >= 0)
        core_kernel()->close(fd);
    return fd >= 0 || !counters_may_not_fit(fd);
}

/* Open an event in the group of `leader`. @return its descriptor or -errno. */
static int counters_open_member(const struct counters *c, const struct event *e, const struct counter_target *target,
                                int g, struct counter *counter)
{
    int fd = counters_open_modes(e, target, c->group[g].leader, counter);
    if (fd < 0 || counters_fits(c, target, g))
        return fd;
    core_kernel()->close(fd);
    return -EINVAL;
}

/* Find out why an event that must join a group was refused: whether it can be counted alone. */
static int counters_open_alone(const struct event *e, const struct counter_target *target, struct counter *counter,
                               int refusal)
{
    int alone = counters_open_modes(e, target, -1, counter);
    if (alone < 0)
        return alone;
    core_kernel()->close(alone);
    counter->cause = UPMU_E_FIT;
    return refusal;
}

/* Open in the group of *g if it has a leader, else as the leader of a new group. */
static int counters_open_in_group(struct counters *c, const struct event *e, const struct counter_target *target,
                                  int *g, struct counter *counter)
{
    size_t owner = c->list->link[counter - c->counter].owner;
    bool tied = e->class != EVENT_SOFTWARE && c->list->link[owner].group != 0; /* in braces */
    int fd = -EINVAL;
    if (*g >= 0) {
        fd = counters_open_member(c, e, target, *g, counter);
        if (fd >= 0 || !counters_may_not_fit(fd))
            return fd;
        if ((target->together && e->class == EVENT_CORE) || tied)
            return counters_open_alone(e, target, counter, fd);
    }
    fd = counters_open_modes(e, target, -1, counter);
    if (fd < 0)
        return fd;
    *g = (int)c->n_groups++;
    c->group[*g].leader = fd;
    return fd;
}

/* A PMU without mode filters refuses them with the same errno as a missing event: retry without filters to
 * separate the two. */
static int counters_open_unfiltered(struct counters *c, const struct event *e, const struct counter_target *target,
                                    int *g, struct counter *counter)
{
    struct event all = *e;
    all.user = all.kernel = true;
    int fd = counters_open_in_group(c, &all, target, g, counter);
    counter->all_modes = fd >= 0;
    return fd;
}

/* Open event i in its group, or in a new one if the kernel finds that it does not fit. @return 0 or -errno. */
static int counters_open_event(struct counters *c, const struct counter_target *target, size_t i, const struct event *e,
                               int *group_of)
{
    struct counter *counter = &c->counter[i];
    int *g = &group_of[c->list->plan.entry[i].group];
    bool filtered = e->class == EVENT_CORE && e->modes_fixed && !(e->user && e->kernel);
    int fd = e->filter_ignored && filtered ? -EINVAL : counters_open_in_group(c, e, target, g, counter);
    if (filtered && counter->cause == 0 && (fd == -EINVAL || fd == -EOPNOTSUPP)) {
        int unfiltered = counters_open_unfiltered(c, e, target, g, counter);
        fd = unfiltered >= 0 || e->filter_ignored ? unfiltered : fd;
    }
    if (fd < 0)
        return fd;
    counter->id = core_kernel()->identify(fd);
    counter->fd = fd;
    counter->group = (uint16_t)*g;
    counter->position = c->group[*g].n++;
    counter->counted = true;
    return 0;
}

static bool counters_is_switches(const struct event *e)
{
    return e->type == KERNEL_TYPE_SOFTWARE && e->config == KERNEL_SW_CONTEXT_SWITCHES;
}

/* Duplicate events share the count of the first. */
static void counters_share_duplicates(struct counters *c)
{
    for (size_t i = 0; i < c->list->n_parts; i++) {
        const struct counter *first = &c->counter[c->list->plan.entry[i].same_as];
        struct counter *counter = &c->counter[i];
        if (counter == first || counter->fd >= 0 || !first->counted)
            continue;
        counter->word = first->word;
        counter->group_word = first->group_word;
        counter->group = first->group;
        counter->user_only = first->user_only;
        counter->all_modes = first->all_modes || (c->list->events[i].filter_ignored && c->list->events[i].modes_fixed &&
                                                  !(c->list->events[i].user && c->list->events[i].kernel));
        counter->counted = true;
    }
}

static void counters_lay_out(struct counters *c)
{
    size_t word = 0, first = 0;
    for (size_t g = 0; g < c->n_groups; g++) {
        c->group[g].word = (uint16_t)word;
        c->group[g].first = (uint16_t)first;
        first += c->group[g].n;
        word += KERNEL_READ_GROUP_HEAD + 2u * c->group[g].n;
    }
    for (size_t i = 0; i < c->list->n_all; i++) {
        struct counter *counter = &c->counter[i];
        counter->next = c->list->link[i].next;
        counter->also = c->list->link[i].also;
        counter->weight = c->list->link[i].weight;
        if (counter->fd < 0)
            continue;
        c->ids[c->group[counter->group].first + counter->position] = counter->id;
        counter->group_word = c->group[counter->group].word;
        counter->word = (uint16_t)(counter->group_word + KERNEL_READ_GROUP_HEAD + 2u * counter->position);
    }
    counters_share_duplicates(c);
    c->switch_word = (uint16_t)word;
    word += c->wants_switches ? 2u : 0u;
    c->usage_word = (uint16_t)word;
    c->words = word + (c->wants_usage ? KERNEL_USAGE_WORDS + 1u : 0u);
}

static void counters_map_pages(struct counters *c)
{
    if (!upmu_arch_counter_read)
        return;
    for (size_t g = 0; g < c->n_groups; g++)
        c->group[g].pages = true;
    for (size_t i = 0; i < c->list->n_all; i++) {
        struct counter *counter = &c->counter[i];
        if (counter->fd < 0)
            continue;
        if (c->list->events[i].class != EVENT_CORE || core_kernel()->map(counter->fd, &counter->page) < 0) {
            counter->page = NULL;
            c->group[counter->group].pages = false;
        }
    }
}

size_t counters_arena(const struct counter_list *list)
{
    return (list->n_all + 1) * (sizeof(struct counter) + sizeof(uint64_t) + sizeof(struct counter_group));
}

size_t counters_words(const struct counter_list *list)
{
    return list->n_all * (KERNEL_READ_GROUP_HEAD + 2) + 2 + KERNEL_USAGE_WORDS + 1;
}

/* Context switches of the calling thread need no event (switches.c). An event is the fallback of the page if
 * permitted, RUSAGE_THREAD the fallback of both. */
static bool counters_use_rusage_switches(struct counters *c, const struct counter_target *target, size_t i)
{
    if (!target->self || target->inherit || target->backend != KERNEL_BACKEND_PERF ||
        !counters_is_switches(&c->list->events[i]))
        return false;
    if (!c->sequence && !target->late_page)
        (void)switches_open(c); /* without the page, RUSAGE_THREAD gives the same count at a higher cost */
    c->wants_switches = true;
    c->counter[i].switches = true;
    return true;
}

/* User and system time of the calling thread. */
static bool counters_use_rusage_times(struct counters *c, const struct counter_target *target, size_t i)
{
    struct counter *counter = &c->counter[i];
    if (c->list->events[i].class != EVENT_USAGE)
        return false;
    if (target->self && !target->inherit) {
        c->wants_usage = true;
        counter->usage = true;
        return true;
    }
    counter->cause = UPMU_E_UNSUPPORTED;
    c->wanted_not_open++;
    if (target->explain)
        (void)upmu_fail(
            UPMU_E_UNSUPPORTED,
            "'%s' is read with getrusage, which covers only the calling thread: it is not counted for other targets",
            c->list->events[i].name);
    if (target->failed)
        target->failed(c->list->link[i].owner, target->failed_arg);
    return true;
}

static void counters_begin(struct counters *c, const struct counter_list *list, const struct counter_target *target,
                           void *arena)
{
    memset(c, 0, sizeof *c);
    c->pid = target->pid;
    c->counter = arena;
    c->ids = (uint64_t *)(void *)(c->counter + list->n_all + 1);
    c->group = (struct counter_group *)(void *)(c->ids + list->n_all + 1);
    for (size_t i = 0; i < list->n_all; i++)
        c->counter[i].fd = -1;
    /* A child forked by another thread in the meantime closes what it finds here. */
    __atomic_store_n(&c->list, list, __ATOMIC_RELEASE);
}

/* Without its group's fillers an event could be counted in modes that it does not have. */
static void counters_spoil_group(struct counters *c, const struct counter_target *target, size_t filler)
{
    const struct counter_list *list = c->list;
    for (size_t i = 0; i < list->n_parts; i++) {
        if (list->plan.entry[i].group != list->plan.entry[filler].group || !c->counter[i].counted)
            continue;
        c->counter[i].counted = false;
        c->counter[i].cause = c->counter[filler].cause;
        if (!target->failed)
            continue;
        (void)upmu_fail(c->counter[i].cause,
                        "'%s' is not counted: the kernel refused an event that keeps other modes out of its group",
                        list->events[i].name);
        target->failed(list->link[i].owner, target->failed_arg);
    }
}

/* Whether the CPU to count has another core type than event i. */
static bool counters_is_elsewhere(struct counters *c, const struct counter_target *target, size_t i)
{
    const struct event *e = &c->list->events[i];
    c->counter[i].elsewhere =
        e->each_core_type && target->cpu >= 0 && !machine_has_cpu(machine_core_type(e->core), target->cpu);
    return c->counter[i].elsewhere;
}

static int counters_note_failure(struct counters *c, const struct counter_target *target, size_t i, int err)
{
    const struct counter_list *list = c->list;
    if (c->counter[i].cause == UPMU_E_FIT)
        (void)upmu_fail(UPMU_E_FIT, "'%s' cannot be counted at the same time as the events before it",
                        list->events[i].name);
    else
        c->counter[i].cause = counters_open_failed(c, &list->events[i], target, err);
    c->wanted_not_open++;
    if (target->failed)
        target->failed(list->link[i].owner, target->failed_arg);
    return c->counter[i].cause;
}

static bool counters_group_counts(const struct counters *c, size_t group)
{
    for (size_t i = 0; i < c->list->n_parts; i++)
        if (c->counter[i].counted && c->list->plan.entry[i].group == group)
            return true;
    return false;
}

/* Whether event i failed to open and left a counter free that its group must occupy. */
static bool counters_left_gap(const struct counters *c, size_t i)
{
    const struct plan_entry *entry = &c->list->plan.entry[i];
    return !c->list->absent[i] && c->counter[i].fd < 0 && entry->same_as == i && entry->counter >= 0 &&
           c->list->events[i].class == EVENT_CORE && machine_get()->family->counters.fillers != NULL;
}

/* Where all counters share one filter, a group must occupy all of them. The planner filled the unused ones; this
 * fills those whose event the kernel refused. A group that counts nothing is not opened. */
static int counters_fill_groups(struct counters *c, const struct counter_target *target, int *group_of)
{
    const struct counter_list *list = c->list;
    int first_failure = 0;
    for (size_t i = 0; i < list->n_all; i++) {
        struct event filler = list->events[i];
        if (i < list->n_parts) {
            if (!counters_left_gap(c, i))
                continue;
            filler = counter_list_filler(machine_get(), &filler, (unsigned)list->plan.entry[i].counter);
        }
        if (!counters_group_counts(c, list->plan.entry[i].group))
            continue;
        int rc = counters_open_event(c, target, i, &filler, group_of);
        if (rc == 0) {
            c->counter[i].counted = false;
            continue;
        }
        int cause = counters_note_failure(c, target, i, -rc);
        counters_spoil_group(c, target, i);
        first_failure = first_failure ? first_failure : cause;
    }
    return first_failure;
}

/* Why the terms on one core type have no common count, or NULL. With several core types they need the times of one
 * group. */
static const char *counters_formula_fault(const struct counters *c, size_t head, bool one_group, int *cause)
{
    const struct counter *first = &c->counter[head];
    for (size_t i = first->also; i && first->counted; i = c->counter[i].also) {
        const struct counter *term = &c->counter[i];
        *cause = UPMU_E_PERM;
        if (term->counted && (term->user_only != first->user_only || term->all_modes != first->all_modes))
            return "were granted in different modes; ask for one with ':u'";
        *cause = UPMU_E_FIT;
        if (term->counted && one_group && term->group != first->group)
            return "do not fit on the counters at the same time, which is required with several core types; count its "
                   "parts";
    }
    return NULL;
}

static void counters_check_formula(struct counters *c, const struct counter_target *target, size_t i)
{
    bool one_group = c->counter[i].next != 0;
    const char *fault = NULL;
    size_t head = i;
    int cause = 0;
    do {
        fault = counters_formula_fault(c, head, one_group, &cause);
        head = c->counter[head].next;
    } while (head && !fault);
    if (!fault)
        return;
    c->counter[i].counted = false;
    c->counter[i].cause = cause;
    if (target->explain)
        (void)upmu_fail(cause, "'%s': the events of its formula %s", c->list->events[i].name, fault);
    if (target->failed)
        target->failed(i, target->failed_arg);
}

int counters_open(struct counters *c, const struct counter_list *list, const struct counter_target *target, void *arena)
{
    int group_of[PLAN_ENTRIES_MAX], first_failure = 0;
    memset(group_of, -1, sizeof group_of);
    counters_begin(c, list, target, arena);
    for (size_t i = 0; i < list->n_parts; i++) {
        if (list->absent[i]) {
            c->counter[i].cause = list->cause[i];
            continue;
        }
        if (counters_is_elsewhere(c, target, i) || counters_use_rusage_switches(c, target, i) ||
            counters_use_rusage_times(c, target, i) || c->counter[list->plan.entry[i].same_as].counted)
            continue;
        int rc = counters_open_event(c, target, i, &list->events[i], group_of);
        int cause = rc < 0 ? counters_note_failure(c, target, i, -rc) : 0;
        first_failure = first_failure ? first_failure : cause;
    }
    int cause = counters_fill_groups(c, target, group_of);
    first_failure = first_failure ? first_failure : cause;
    if (target->self && target->user_read && !target->inherit)
        counters_map_pages(c);
    counters_lay_out(c);
    for (size_t k = 0; k < list->n; k++)
        counters_check_formula(c, target, k);
    if (target->running) {
        int rc = counters_control(c, KERNEL_ENABLE);
        first_failure = first_failure ? first_failure : rc;
    }
    return first_failure;
}

void counters_close(struct counters *c, bool forked)
{
    const struct kernel_ops *k = core_kernel();
    for (size_t i = c->list ? c->list->n_all : 0; i-- > 0;) {
        struct counter *counter = &c->counter[i];
        if (counter->page && !forked)
            k->unmap(counter->page);
        counter->page = NULL;
        if (counter->fd >= 0)
            k->close_event(counter->fd, counter->id);
        counter->fd = -1;
    }
    if (c->switch_page && !forked)
        k->unmap(c->switch_page);
    c->switch_page = NULL;
    c->sequence = NULL;
    c->n_groups = 0;
    __atomic_sub_fetch(&missing_descriptors, c->missing_descriptors, __ATOMIC_RELAXED);
    c->missing_descriptors = 0;
}

int counters_control_failed(enum kernel_verb verb, int err)
{
    if (err == EALREADY)
        return upmu_fail(UPMU_E_BUSY, "PAPI counts one event set of a thread at a time, and another one of this thread "
                                      "is running. Stop it, or unset UPMU_BACKEND");
    return upmu_fail(UPMU_E_SYSTEM, "cannot %s a counter group: %s", verb == KERNEL_ENABLE ? "start" : "stop",
                     upmu_errno_name(err));
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Read all members through their pages; false if a page does not permit it at this moment. `stale`: accept the
 * times that the page last recorded. */
static bool counters_read_pages(const struct counters *c, size_t g, uint64_t *section, bool stale)
{
    const struct counter_group *group = &c->group[g];
    for (size_t i = 0; i < c->list->n_all; i++) {
        const struct counter *counter = &c->counter[i];
        struct kernel_page_count now;
        if (counter->fd < 0 || counter->group != g)
            continue;
        if (core_kernel()->page_read(counter->page, upmu_arch_counter_read, &now) < 0)
            return false;
        if (now.stale_times && (!stale || now.running == 0))
            return false; /* started after the page was last written: only read(2) has its times */
        section[KERNEL_READ_GROUP_HEAD + 2u * counter->position] = now.value;
        if (counter->position == 0) {
            section[1] = now.enabled;
            section[2] = now.running;
            section[0] = group->n | (now.stale_times ? COUNTERS_STALE : 0);
        }
    }
    return true;
}

bool counters_is_group(const struct counters *c, const struct counter_group *group, const uint64_t *section)
{
    const uint64_t *id = c->ids + group->first;
    if (section[0] != group->n)
        return false;
    for (size_t m = 0; m < group->n; m++)
        if (id[m] != 0 && section[KERNEL_READ_GROUP_HEAD + 2 * m + 1] != id[m])
            return false;
    return true;
}

/* A lost descriptor is read once, to detect the loss, and never again. */
static void counters_read_all(const struct counters *c, uint64_t *words, bool stale)
{
    const struct kernel_ops *k = core_kernel();
    for (size_t g = 0; g < c->n_groups; g++) {
        struct counter_group *group = &c->group[g];
        uint64_t *section = words + group->word;
        if (group->pages && counters_read_pages(c, g, section, stale))
            continue;
        size_t bytes = (KERNEL_READ_GROUP_HEAD + 2u * group->n) * sizeof *section;
        if (!group->lost && k->read(group->leader, section, bytes) == (ssize_t)bytes &&
            counters_is_group(c, group, section))
            continue;
        group->lost = true;
        section[0] = 0;
    }
}

void counters_read_user(struct counters *c, uint64_t *words)
{
    uint64_t switches = 0;
    for (size_t g = 0; g < c->n_groups; g++) {
        uint64_t *section = words + c->group[g].word;
        if (!c->group[g].pages || !counters_read_pages(c, g, section, true))
            section[0] = 0;
    }
    if (c->wants_usage)
        words[c->usage_word + KERNEL_USAGE_WORDS] = 0;
    if (!c->wants_switches)
        return;
    words[c->switch_word + 1] = c->sequence && switches_read(c, &switches) == 0;
    words[c->switch_word] = switches;
}

void counters_read_groups(const struct counters *c, uint64_t *words)
{
    counters_read_all(c, words, true);
}

void counters_read(struct counters *c, uint64_t *words)
{
    counters_read_all(c, words, false);
    counters_read_switches(c, words);
}

void counters_read_usage(const struct counters *c, uint64_t *words)
{
    struct kernel_usage now = {0};
    uint64_t *usage = words + c->usage_word;
    usage[KERNEL_USAGE_WORDS] = core_kernel()->usage(0, &now) == 0;
    usage[KERNEL_USAGE_USER] = now.user_ns;
    usage[KERNEL_USAGE_SYSTEM] = now.system_ns;
}

static int counters_usage_reading(const struct counters *c, const uint64_t *words, size_t i, struct reading *out)
{
    const uint64_t *usage = words + c->usage_word;
    if (!usage[KERNEL_USAGE_WORDS])
        return UPMU_E_SYSTEM;
    out->count = usage[c->list->events[i].config];
    out->enabled = out->running = tick_portable();
    out->stale = false;
    return 0;
}

int counters_reading(const struct counters *c, const uint64_t *words, size_t i, struct reading *out)
{
    const struct counter *counter = &c->counter[i];
    if (counter->switches) {
        if (!words[c->switch_word + 1])
            return UPMU_E_SYSTEM;
        out->count = words[c->switch_word];
        out->enabled = out->running = tick_portable();
        out->stale = false;
        return 0;
    }
    if (counter->usage)
        return counters_usage_reading(c, words, i, out);
    if (!counter->counted)
        return counter->cause;
    const uint64_t *section = words + counter->group_word;
    if (section[0] == 0)
        return UPMU_E_IO;
    out->count = words[counter->word];
    out->enabled = section[1];
    out->running = section[2];
    out->stale = (section[0] & COUNTERS_STALE) != 0;
    return 0;
}

static int counters_core_types_cause(const struct counters *c, size_t i)
{
    int cause = c->counter[i].cause;
    while (cause == 0 && (i = c->list->link[i].next) != 0)
        cause = c->counter[i].cause;
    return cause;
}

int counters_cause(const struct counters *c, size_t i)
{
    int cause = counters_core_types_cause(c, i);
    while (cause == 0 && (i = c->list->link[i].also) != 0)
        cause = counters_core_types_cause(c, i);
    return cause;
}

int counters_readings(const struct counters *c, const uint64_t *words, size_t i, struct reading *out)
{
    int n = 0;
    do {
        int cause = c->counter[i].elsewhere ? 0 : counters_reading(c, words, i, &out[n]);
        if (cause < 0)
            return cause;
        n += !c->counter[i].elsewhere;
        i = c->counter[i].next;
    } while (i != 0 && n < VALUE_CORE_TYPES_MAX);
    return n > 0 ? n : UPMU_E_UNSUPPORTED; /* the CPU's core type is not counted */
}

void counters_name(const struct counters *c, size_t i, char *name, size_t cap)
{
    const struct event *e = &c->list->events[i];
    bool all = c->counter[i].all_modes, narrowed = !all && c->counter[i].user_only;
    event_name_with_modes(e, all || e->user, all || (e->kernel && !narrowed), all || narrowed || e->modes_fixed, name,
                          cap);
}

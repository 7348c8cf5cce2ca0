/* SPDX-License-Identifier: MIT */
/*
 * Counters through libpapi.
 *
 * PAPI runs one event set per thread at a time, and cannot start its events individually. Several groups that core
 * opens for one thread therefore share one event set: it runs while any group does, and a group's count
 * is the difference since its start. Adding an event to a running event set stops it briefly; that is possible only if
 * the calling thread counts itself, because then only this code is missed.
 *
 * PAPI's counts have no times, so a dummy event, the witness, is opened beside each event set. It shows when the
 * thread's events were stopped as a whole (prctl), and whether the descriptors are still open: a program that
 * closed all of them may have reused the numbers, which PAPI would read as counts. PAPI opens a set as one pinned
 * group, which is either on the PMU whenever the thread runs, or in an error state that PAPI_read() returns. So an
 * event set is never multiplexed, and never inherited, because PAPI loses such errors.
 */
#include "kernel/papi/sets.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/tiny_lock.h"
#include "kernel/papi/library.h"
#include "kernel/papi/names.h"
#include "kernel/parts.h"

enum { EVENTSET_EVENTS_MAX = 64, SLOTS = 4096 };

struct eventset;

/** Times in nanoseconds. */
struct times {
    uint64_t enabled, running;
};

struct papi_event {
    struct eventset *eventset;
    struct papi_event *leader; /* itself, if it leads its group */
    struct kernel_open asked;
    uint64_t id;
    size_t index;     /* in PAPI's set */
    uint64_t carried; /* counted before the last stop of the group or the event set */
    uint64_t base;    /* PAPI's count at the last start of the group or the event set */
    bool closed;      /* no longer used; PAPI counts it until the event set is rebuilt */
    /* of leaders */
    bool enabled;
    struct times elapsed; /* without the time since `since` */
    struct times since;
};

/* PAPI's event set of one thread for one target. */
struct eventset {
    struct eventset *next;
    pid_t process, owner; /* of the thread that opened it */
    pid_t target;         /* 0: the owner itself */
    int cpu;
    int set;     /* PAPI's event set */
    int witness; /* descriptor of a dummy event that always runs, -1 if there is none */
    uint64_t witness_id;
    bool running;
    bool lost;      /* the descriptors have been reused: even PAPI must not touch them */
    bool broken;    /* lost in PAPI: not readable anymore */
    unsigned modes; /* of events that only PAPI has: enum PAPI_MODE_ */
    size_t n;
    struct papi_event *event[EVENTSET_EVENTS_MAX];
};

/* The lock protects the lists; reads use only the slot. */
static struct {
    struct tiny_lock lock;
    struct eventset *first;
    uint64_t opened;
    struct papi_event *slot[SLOTS];
} state;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void sets_before_fork(void)
{
    tiny_lock_take(&state.lock);
}

static void sets_after_fork(void)
{
    tiny_lock_give(&state.lock);
}

static void sets_install_fork_handlers(void)
{
    (void)pthread_atfork(sets_before_fork, sets_after_fork,
                         sets_after_fork); /* without memory for the handlers a forked child may find the lock held */
}

/* A signal handler must not find the lock held by the thread it interrupts. */
static void sets_lock(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    tiny_lock_take(&state.lock);
}

static void sets_unlock(const sigset_t *before)
{
    tiny_lock_give(&state.lock);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ----------------------------------------------------------------------------------------------- the witness */

static void witness_open(struct eventset *b)
{
    const struct kernel_open dummy = {
        .type = KERNEL_TYPE_SOFTWARE,
        .config = KERNEL_SW_DUMMY,
        .exclude = UPMU_EXCLUDE_KERNEL,
        .pid = b->target,
        .cpu = b->cpu,
        .group_fd = -1,
    };
    b->witness = upmu_kernel_perf.open(&dummy);
    b->witness_id = b->witness >= 0 ? upmu_kernel_perf.identify(b->witness) : 0;
}

/* Without a witness the clock is used. @return 0, or -EIO if the witness was closed. */
static int eventset_times(struct eventset *b, struct times *out)
{
    uint64_t words[KERNEL_READ_ONE_WORDS];
    struct timespec t;
    if (b->lost)
        return -EIO;
    if (b->witness < 0) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        out->enabled = out->running = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        return 0;
    }
    ssize_t n = upmu_kernel_perf.read(b->witness, words, sizeof words);
    b->lost = n != sizeof words || (b->witness_id != 0 && words[3] != b->witness_id);
    out->enabled = words[1];
    out->running = words[2];
    return b->lost ? -EIO : 0;
}

static void sets_add_times(struct times *sum, const struct times *from, const struct times *to)
{
    sum->enabled += to->enabled - from->enabled;
    sum->running += to->running - from->running;
}

static int sets_errno(int code)
{
    static const struct {
        int code, err;
    } known[] = {
        {PAPI_CODE_ENOEVNT, ENOENT},        {PAPI_CODE_EPERM, EACCES},          {PAPI_CODE_ECNFLCT, ENOSPC},
        {PAPI_CODE_ECOUNT, ENOSPC},         {PAPI_CODE_EINVAL, EINVAL},         {PAPI_CODE_ENOMEM, ENOMEM},
        {PAPI_CODE_EISRUN, EALREADY},       {PAPI_CODE_ENOCNTR, ENODEV},        {PAPI_CODE_ENOSUPP, EOPNOTSUPP},
        {PAPI_CODE_EINVAL_DOM, EOPNOTSUPP}, {PAPI_CODE_ECMP_DISABLED, ELIBACC}, {PAPI_CODE_ECOMBO, EPROTONOSUPPORT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return -known[i].err;
    return code == PAPI_CODE_OK ? 0 : -EIO;
}

static bool sets_is_papi_only(const struct papi_event *e)
{
    return e->asked.type == KERNEL_TYPE_NAMED;
}

static unsigned sets_modes(const struct kernel_open *req)
{
    return (req->exclude & UPMU_EXCLUDE_USER ? 0u : (unsigned)PAPI_MODE_USER) |
           (req->exclude & UPMU_EXCLUDE_KERNEL ? 0u : (unsigned)PAPI_MODE_KERNEL);
}

/* ---------------------------------------------------------------------------------------------- PAPI's sets */

/* Create an empty set for the event set's target. @return 0 or -errno. */
static int set_make(struct eventset *b)
{
    const struct papi_library *l = papi_library();
    union papi_option option = {.reserved = {0}};
    b->set = PAPI_NO_SET;
    int rc = l->call.create(&b->set);
    if (rc == PAPI_CODE_OK)
        rc = l->call.assign(b->set, l->component);
    if (rc == PAPI_CODE_OK && b->target > 0)
        rc = l->call.attach(b->set, (unsigned long)b->target);
    if (rc == PAPI_CODE_OK && b->cpu >= 0) {
        option.cpu.set = b->set;
        option.cpu.cpu = (unsigned)b->cpu;
        rc = l->call.set_opt(PAPI_CPU_OPTION, &option);
    }
    if (rc == PAPI_CODE_OK && b->modes) {
        memset(&option, 0, sizeof option);
        option.domain.set = b->set;
        option.domain.modes = (int)b->modes;
        rc = l->call.set_opt(PAPI_DOMAIN_OPTION, &option);
    }
    return sets_errno(rc);
}

/* @return 0, or -errno if PAPI does not release it. */
static int set_drop(struct eventset *b)
{
    const struct papi_library *l = papi_library();
    long long last[EVENTSET_EVENTS_MAX];
    struct times now;
    int rc = PAPI_CODE_OK;
    if (b->set == PAPI_NO_SET)
        return 0;
    if (eventset_times(b, &now) < 0)
        return -EIO; /* PAPI would close descriptors that now belong to the program */
    if (b->running)
        rc = l->call.stop(b->set, last);
    b->running = false;
    if (rc == PAPI_CODE_OK)
        rc = l->call.cleanup(b->set);
    if (rc == PAPI_CODE_OK)
        rc = l->call.destroy(&b->set);
    b->set = PAPI_NO_SET;
    return sets_errno(rc);
}

static int set_add(struct eventset *b, const struct papi_event *e)
{
    const struct papi_library *l = papi_library();
    char name[PAPI_NAME_MAX];
    if (sets_is_papi_only(e))
        return sets_errno(l->call.add(b->set, (int)(uint32_t)e->asked.config));
    int rc = papi_name_of(&e->asked, name);
    return rc < 0 ? rc : sets_errno(l->call.add_named(b->set, name));
}

/* ------------------------------------------------------------------------------------------------- counting */

/* PAPI's counts of a running event set. @return 0 or -EIO. */
static int eventset_counts(struct eventset *b, uint64_t counts[EVENTSET_EVENTS_MAX])
{
    long long values[EVENTSET_EVENTS_MAX];
    if (b->broken || papi_library()->call.read(b->set, values) != PAPI_CODE_OK)
        return -EIO;
    for (size_t i = 0; i < b->n; i++) {
        if (values[i] < 0)
            return -EIO;
        counts[i] = (uint64_t)values[i];
    }
    return 0;
}

/* Add the counts of the enabled groups to their carried counts. */
static int eventset_carry(struct eventset *b, const struct papi_event *only)
{
    uint64_t counts[EVENTSET_EVENTS_MAX];
    int rc = eventset_counts(b, counts);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < b->n; i++) {
        struct papi_event *e = b->event[i];
        if (!e->leader->enabled || (only && e->leader != only))
            continue;
        if (counts[e->index] < e->base)
            return -EIO; /* backwards: another event's counter */
        e->carried += counts[e->index] - e->base;
        e->base = counts[e->index];
    }
    return 0;
}

static bool eventset_any_enabled(const struct eventset *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->event[i]->leader == b->event[i] && b->event[i]->enabled)
            return true;
    return false;
}

/* PAPI counts from 0 at each start. */
static int eventset_start(struct eventset *b)
{
    int rc = b->broken ? -EIO : sets_errno(papi_library()->call.start(b->set));
    b->running = rc == 0;
    for (size_t i = 0; i < b->n; i++)
        b->event[i]->base = 0;
    return rc;
}

static int eventset_stop(struct eventset *b)
{
    long long last[EVENTSET_EVENTS_MAX];
    b->running = false;
    return sets_errno(papi_library()->call.stop(b->set, last));
}

static int group_enable(struct papi_event *leader)
{
    struct eventset *b = leader->eventset;
    uint64_t counts[EVENTSET_EVENTS_MAX] = {0};
    if (leader->enabled)
        return 0;
    int rc = eventset_times(b, &leader->since);
    if (rc == 0)
        rc = b->running ? eventset_counts(b, counts) : eventset_start(b);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < b->n; i++)
        if (b->event[i]->leader == leader)
            b->event[i]->base = counts[b->event[i]->index];
    leader->enabled = true;
    return 0;
}

static int group_disable(struct papi_event *leader)
{
    struct eventset *b = leader->eventset;
    if (!leader->enabled)
        return 0;
    struct times now;
    int rc = eventset_times(b, &now);
    if (rc == 0)
        rc = eventset_carry(b, leader);
    if (rc == 0)
        sets_add_times(&leader->elapsed, &leader->since, &now);
    leader->enabled = false;
    if (rc == 0 && !eventset_any_enabled(b))
        rc = eventset_stop(b);
    b->broken |= rc < 0; /* the counts up to here are lost */
    return rc;
}

/* --------------------------------------------------------------------------------------------- making event sets */

/* Remove closed events. */
static void eventset_clear(struct eventset *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct papi_event *e = b->event[i];
        if (!e->closed)
            b->event[kept++] = e;
    }
    for (size_t i = kept; i < b->n; i++)
        b->event[i] = NULL;
    b->n = kept;
}

/* Put the event set's events into a new PAPI set. @return 0 or -errno: nothing can be counted then. */
static int eventset_fill(struct eventset *b)
{
    int rc = set_make(b);
    for (size_t i = 0; rc == 0 && i < b->n; i++) {
        rc = set_add(b, b->event[i]);
        b->event[i]->index = i;
    }
    return rc;
}

/* Rebuild the set without the closed events, in the modes that the new event needs. */
static int eventset_rebuild(struct eventset *b)
{
    struct papi_event *closed[EVENTSET_EVENTS_MAX];
    size_t n_closed = 0;
    int rc = b->running ? eventset_carry(b, NULL) : 0;
    if (rc == 0)
        rc = set_drop(b);
    for (size_t i = 0; i < b->n; i++)
        if (b->event[i]->closed)
            closed[n_closed++] = b->event[i];
    eventset_clear(b);
    for (size_t i = 0; i < n_closed; i++)
        free(closed[i]);
    return rc < 0 ? rc : eventset_fill(b);
}

/* Events that only PAPI has are counted in the modes of the set, so all must agree. */
static int eventset_modes(struct eventset *b, const struct papi_event *e)
{
    unsigned wanted = sets_modes(&e->asked);
    if (!sets_is_papi_only(e) || b->modes == wanted)
        return 0;
    for (size_t i = 0; i < b->n; i++)
        if (!b->event[i]->closed && sets_is_papi_only(b->event[i]))
            return -EOPNOTSUPP;
    b->modes = wanted;
    return 1;
}

/* @return 0 or -errno, with the event set unchanged. */
static int eventset_add(struct eventset *b, struct papi_event *e)
{
    bool was_running = b->running, stale = b->set == PAPI_NO_SET;
    int rc = eventset_modes(b, e);
    if (rc < 0)
        return rc;
    stale |= rc > 0;
    for (size_t i = 0; i < b->n; i++)
        stale |= b->event[i]->closed;
    if (was_running && b->target != 0)
        return -EALREADY; /* it would miss what the other thread does in the meantime */
    if (was_running || stale) {
        rc = eventset_rebuild(b);
        b->broken |= rc < 0 && b->n > 0;
        if (rc < 0)
            return rc;
    }
    rc = b->n == EVENTSET_EVENTS_MAX ? -ENOSPC : set_add(b, e);
    if (rc == 0) {
        e->index = b->n;
        b->event[b->n++] = e;
    }
    if (was_running && eventset_start(b) < 0)
        b->broken = true;
    return rc;
}

static struct eventset *eventset_of(const struct kernel_open *req)
{
    pid_t self = (pid_t)syscall(SYS_gettid), target = req->pid == self ? 0 : req->pid;
    for (struct eventset *b = state.first; b; b = b->next)
        if (b->owner == self && b->process == getpid() && b->target == target && b->cpu == req->cpu && !b->broken &&
            !b->lost)
            return b;
    struct eventset *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct eventset){
        .next = state.first,
        .process = getpid(),
        .owner = self,
        .target = target,
        .cpu = req->cpu,
        .set = PAPI_NO_SET,
    };
    state.first = b;
    witness_open(b);
    return b;
}

static bool eventset_all_closed(const struct eventset *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (!b->event[i]->closed)
            return false;
    return true;
}

/* In a forked child PAPI still lists the parent's sets, whose descriptors are shared: stopping one here would stop
 * it there. They are only forgotten. */
static void eventset_close(struct eventset *b)
{
    struct eventset **at = &state.first;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    if (b->process == getpid()) {
        (void)set_drop(b); /* an error has no recipient */
        if (!b->lost && b->owner == (pid_t)syscall(SYS_gettid))
            (void)papi_library()->call.unregister_thread(); /* refused while the program has sets of its own */
    }
    if (b->witness >= 0)
        upmu_kernel_perf.close_event(b->witness, b->witness_id);
    for (size_t i = 0; i < b->n; i++)
        free(b->event[i]);
    free(b);
}

/* --------------------------------------------------------------------------------------------------- slots */

static struct papi_event *sets_event(int fd)
{
    size_t slot = (size_t)(fd - KERNEL_PAPI_FIRST);
    return slot < SLOTS ? __atomic_load_n(&state.slot[slot], __ATOMIC_ACQUIRE) : NULL;
}

/* @return a number for the event, or -EMFILE. */
static int sets_new_slot(struct papi_event *e)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (state.slot[i])
            continue;
        __atomic_store_n(&state.slot[i], e, __ATOMIC_RELEASE);
        return KERNEL_PAPI_FIRST + (int)i;
    }
    return -EMFILE;
}

/* Refuse requests that PAPI cannot serve, or not without losing errors. */
static int sets_check_request(const struct kernel_open *req)
{
    if (req->inherit || req->enable_on_exec)
        return -EPROTONOSUPPORT;
    return papi_library()->usable ? 0 : -ELIBACC;
}

static int sets_open_locked(const struct kernel_open *req, struct papi_event *e)
{
    struct papi_event *leader = req->group_fd >= 0 ? sets_event(req->group_fd) : e;
    struct eventset *b = leader == e ? eventset_of(req) : leader ? leader->eventset : NULL;
    if (!b)
        return leader ? -ENOMEM : -EBADF;
    if (leader != e && leader->enabled)
        return -EALREADY; /* it would get its group's times, but was counted for less */
    e->eventset = b;
    e->leader = leader;
    e->id = ++state.opened;
    int rc = eventset_add(b, e);
    int fd = rc < 0 ? rc : sets_new_slot(e);
    if (rc == 0 && fd < 0)
        e->closed = true; /* freed when the event set is rebuilt */
    if (eventset_all_closed(b))
        eventset_close(b);
    return rc < 0 ? rc : fd;
}

int papi_open(const struct kernel_open *req)
{
    int rc = sets_check_request(req);
    if (rc < 0)
        return rc;
    pthread_once(&fork_once, sets_install_fork_handlers);
    struct papi_event *e = calloc(1, sizeof *e);
    if (!e)
        return -ENOMEM;
    e->asked = *req;
    if (!kernel_descriptor_reserve()) { /* PAPI opens one for each event */
        free(e);
        return -EMFILE;
    }
    sigset_t before;
    sets_lock(&before);
    int fd = sets_open_locked(req, e);
    sets_unlock(&before);
    if (fd >= 0)
        return fd;
    kernel_descriptor_unreserve();
    if (fd != -EMFILE)
        free(e);
    return fd;
}

static void sets_close_event(struct papi_event *e)
{
    struct eventset *b = e->eventset;
    struct times now;
    e->closed = true;
    e->enabled = false;
    if (eventset_all_closed(b))
        eventset_close(b);
    else if (b->running && b->process == getpid() && !eventset_any_enabled(b) && eventset_times(b, &now) == 0)
        b->broken |= eventset_stop(b) < 0;
}

void papi_close(int fd, uint64_t id)
{
    int saved = errno;
    sigset_t before;
    sets_lock(&before);
    struct papi_event *e = sets_event(fd);
    if (e && (id == 0 || e->id == id)) {
        __atomic_store_n(&state.slot[fd - KERNEL_PAPI_FIRST], NULL, __ATOMIC_RELEASE);
        sets_close_event(e);
        kernel_descriptor_unreserve();
    }
    sets_unlock(&before);
    errno = saved;
}

uint64_t papi_identify(int fd)
{
    const struct papi_event *e = sets_event(fd);
    return e ? e->id : 0;
}

/* -------------------------------------------------------------------------------------------------- reading */

/* Fill the words of a group read. @return their number. */
static size_t sets_fill_group(const struct papi_event *leader, const uint64_t *counts, const struct times *now,
                              uint64_t *words, size_t cap)
{
    const struct eventset *b = leader->eventset;
    struct times elapsed = leader->elapsed;
    size_t at = KERNEL_READ_GROUP_HEAD;
    if (leader->enabled)
        sets_add_times(&elapsed, &leader->since, now);
    words[0] = 0;
    words[1] = elapsed.enabled;
    words[2] = elapsed.running;
    for (size_t i = 0; i < b->n && at + 2 <= cap; i++) {
        const struct papi_event *e = b->event[i];
        if (e->leader != leader || e->closed)
            continue;
        words[at++] = e->carried + (leader->enabled ? counts[e->index] - e->base : 0);
        words[at++] = e->id;
        words[0]++;
    }
    return at;
}

/* As read(2) of the group that `e` leads, with ids and both times; a group that is disabled has the values of its last stop.
 * @return bytes, or -errno */
static ssize_t sets_read_group(struct papi_event *e, void *words, size_t bytes)
{
    uint64_t counts[EVENTSET_EVENTS_MAX] = {0};
    struct times now = {0};
    int rc = 0;
    if (e->enabled)
        rc = eventset_times(e->eventset, &now);
    if (rc == 0 && e->enabled)
        rc = eventset_counts(e->eventset, counts);
    if (rc == 0 && e->eventset->broken)
        rc = -EIO;
    if (rc < 0)
        return rc;
    return (ssize_t)(sets_fill_group(e, counts, &now, words, bytes / sizeof(uint64_t)) * sizeof(uint64_t));
}

ssize_t papi_read(int fd, void *words, size_t bytes)
{
    struct papi_event *e = sets_event(fd);
    int saved = errno;
    struct cancel_hold cancel;
    if (!e || e->leader != e || e->eventset->process != getpid())
        return -EBADF;
    if (bytes < (KERNEL_READ_GROUP_HEAD + 2) * sizeof(uint64_t))
        return -ENOSPC;
    cancel_hold(&cancel); /* PAPI reads with read(3) */
    ssize_t n = sets_read_group(e, words, bytes);
    errno = saved;
    cancel_resume(&cancel);
    return n;
}

int papi_control(int fd, enum kernel_verb verb)
{
    struct papi_event *e = sets_event(fd);
    sigset_t before;
    if (!e || e->eventset->process != getpid())
        return -EBADF;
    sets_lock(&before);
    int rc = verb == KERNEL_ENABLE ? group_enable(e->leader) : group_disable(e->leader);
    sets_unlock(&before);
    return rc;
}

int papi_named(const char *name, uint64_t *code)
{
    const struct papi_library *l = papi_library();
    int number = 0;
    if (!l->usable)
        return -ELIBACC;
    int rc = l->call.query_named(name);
    if (rc == PAPI_CODE_OK)
        rc = l->call.name_to_code(name, &number);
    *code = (uint32_t)number;
    return sets_errno(rc);
}

int papi_usable(const char **reason)
{
    const struct papi_library *l = papi_library();
    *reason = l->reason;
    return l->usable ? 0 : -ELIBACC;
}

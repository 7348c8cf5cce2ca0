/* SPDX-License-Identifier: MIT */
/* Targets of counter sets: a thread, all threads of a process, a command, a CPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "core/set/set.h"

/* ---------------------------------------------------------------------------------------------- instances */

static void target_keep_reason(size_t i, void *arg)
{
    struct upmu_set *set = arg;
    if (!set->reasons[i])
        set->reasons[i] = strdup(upmu_error());
}

/* Rounded up: arrays of struct reading follow the arena. */
static size_t target_arena_bytes(const struct counter_list *list)
{
    const size_t align = _Alignof(struct reading);
    return (counters_arena(list) + align - 1) / align * align;
}

static size_t target_instance_bytes(const struct counter_list *list)
{
    return sizeof(struct set_instance) + target_arena_bytes(list) + counters_words(list) * sizeof(uint64_t) +
           2 * (list->n_all + 1) * sizeof(struct reading);
}

static struct set_instance *target_new_instance(const struct counter_list *list)
{
    struct set_instance *in = calloc(1, target_instance_bytes(list));
    if (!in)
        return NULL;
    unsigned char *rest = in->arena + target_arena_bytes(list);
    in->base = (struct reading *)(void *)rest;
    in->stopped = in->base + list->n_all + 1;
    in->words = (uint64_t *)(void *)(in->stopped + list->n_all + 1);
    return in;
}

static void target_fill(struct counter_target *target, struct upmu_set *set, pid_t pid, int cpu)
{
    uint32_t what = set->opts.target, flags = set->opts.flags;
    *target = (struct counter_target){
        .pid = pid,
        .cpu = cpu,
        .backend = set->list.backend,
        .inherit = what == UPMU_TARGET_THREAD ? flags & UPMU_SET_INHERIT
                                              : what != UPMU_TARGET_CPU && !(flags & UPMU_SET_NO_INHERIT),
        .on_exec = what == UPMU_TARGET_COMMAND,
        .self = what == UPMU_TARGET_THREAD,
        .user_read = what == UPMU_TARGET_THREAD && !(flags & UPMU_SET_NO_USER_READ),
        .together = flags & UPMU_SET_TOGETHER,
        .later = set->threads > set->n_instances ? set->threads - set->n_instances - 1 : 0,
        .explain = true,
        .failed = target_keep_reason,
        .failed_arg = set,
    };
}

/* One event is enough: the thread may have ended after the others were opened. */
static bool target_is_gone(const struct counters *c)
{
    for (size_t i = 0; i < c->list->n; i++)
        if (!c->list->absent[i] && c->list->events[i].class != EVENT_USAGE && counters_cause(c, i) == UPMU_E_GONE)
            return true;
    return false;
}

static int target_grow(struct upmu_set *set)
{
    if (set->n_instances < set->cap_instances)
        return 0;
    size_t want = set->cap_instances ? set->cap_instances * 2 : 4;
    struct set_instance **grown = realloc(set->instances, want * sizeof *grown);
    if (!grown)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    set->instances = grown;
    set->cap_instances = want;
    return 0;
}

/* Fail if an event was opened in another way than requested: not at the same time, or in more modes. */
static int target_check_options(const struct upmu_set *set, const struct counters *c)
{
    const struct counter_list *list = &set->list;
    for (size_t i = 0; i < list->n_parts; i++) {
        size_t owner = list->link[i].owner;
        if ((set->opts.flags & UPMU_SET_TOGETHER) && c->counter[i].cause == UPMU_E_FIT)
            return upmu_fail(UPMU_E_FIT, "%s", upmu_set_reason(set, owner));
        if ((set->opts.flags & UPMU_SET_STRICT) && c->counter[i].all_modes)
            return upmu_fail(UPMU_E_UNSUPPORTED,
                             "'%s': this PMU has no filter for user and kernel mode. Omit the modifier",
                             list->events[owner].name);
    }
    return 0;
}

int set_add_instance(struct upmu_set *set, pid_t pid, int cpu)
{
    struct counter_target target;
    int rc = target_grow(set);
    if (rc < 0)
        return rc;
    struct set_instance *in = target_new_instance(&set->list);
    if (!in)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    in->pid = pid;
    target_fill(&target, set, pid, cpu);
    rc = counters_open(&in->counters, &set->list, &target, in->arena);
    if (target_is_gone(&in->counters)) {
        counters_close(&in->counters, false);
        free(in);
        return UPMU_E_GONE;
    }
    set->instances[set->n_instances++] = in;
    int check = target_check_options(set, &in->counters);
    if (check < 0)
        return check;
    return (set->opts.flags & UPMU_SET_STRICT) && rc < 0 ? rc : 0;
}

void set_drop_instances(struct upmu_set *set, size_t from, bool forked)
{
    while (set->n_instances > from) {
        struct set_instance *in = set->instances[--set->n_instances];
        counters_close(&in->counters, forked);
        free(in);
    }
}

/* ------------------------------------------------------------------------------------------------ process */

struct tid_list {
    pid_t *tids;
    size_t n;
};

static int target_list_threads(pid_t pid, struct tid_list *out)
{
    for (size_t cap = 64;; cap *= 2) {
        pid_t *grown = realloc(out->tids, cap * sizeof *grown);
        if (!grown)
            return upmu_fail(UPMU_E_NOMEM, "out of memory");
        out->tids = grown;
        ssize_t n = core_kernel()->threads(pid, out->tids, cap);
        if (n == -ENOENT || n == -ESRCH || n == 0)
            return upmu_fail(UPMU_E_GONE, "there is no process %d", (int)pid);
        if (n < 0)
            return upmu_fail(UPMU_E_SYSTEM, "cannot list the threads of process %d: %s", (int)pid,
                             upmu_errno_name((int)-n));
        if ((size_t)n <= cap) {
            out->n = (size_t)n;
            return 0;
        }
    }
}

/* The process of a thread, or 0 if it cannot be read. */
static pid_t target_process_of(pid_t tid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    if (core_kernel()->read_file(path, text, sizeof text) <= 0)
        return 0;
    const char *line = strstr(text, "\nTgid:");
    return line ? (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10) : 0;
}

/* The kernel lists all threads of a process under each thread's id, but counts only one thread under each:
 * mistaking a thread for a process would give a wrong count. */
static int target_check_process(pid_t pid)
{
    pid_t process = target_process_of(pid);
    if (process == 0 || process == pid)
        return 0;
    return upmu_fail(UPMU_E_INVAL,
                     "%d is a thread of process %d, not a process. Count it with UPMU_TARGET_TASK (upmu stat -t %d)",
                     (int)pid, (int)process, (int)pid);
}

int set_attach_task(struct upmu_set *set)
{
    struct tid_list threads = {0};
    int rc = target_list_threads(set->opts.pid, &threads); /* it exists, whether it may be counted or not */
    free(threads.tids);
    if (rc == 0)
        rc = set_add_instance(set, set->opts.pid, -1);
    return rc == UPMU_E_GONE ? upmu_fail(UPMU_E_GONE, "there is no thread %d", (int)set->opts.pid) : rc;
}

static int target_compare_tids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

/* Whether `after` has a thread that `before` lacks. */
static bool target_has_new_thread(struct tid_list *before, struct tid_list *after)
{
    qsort(before->tids, before->n, sizeof *before->tids, target_compare_tids);
    for (size_t i = 0; i < after->n; i++)
        if (!bsearch(&after->tids[i], before->tids, before->n, sizeof *before->tids, target_compare_tids))
            return true;
    return false;
}

static int target_attach_threads(struct upmu_set *set, const struct tid_list *threads)
{
    for (size_t i = 0; i < threads->n; i++) {
        int rc = set_add_instance(set, threads->tids[i], -1);
        if (rc < 0 && rc != UPMU_E_GONE) /* a thread may end before it is opened */
            return rc;
    }
    if (set->n_instances == 0)
        return upmu_fail(UPMU_E_GONE, "process %d ended while its counters were opened", (int)set->opts.pid);
    return 0;
}

/* A thread created during the pass is inherited if its creator was already attached, and not counted otherwise;
 * there is no way to find out which. So the pass is discarded and repeated until no thread was created during it:
 * then every thread is counted exactly once, and later ones are inherited. */
int set_attach_process(struct upmu_set *set)
{
    enum { PASSES = 100 };
    struct tid_list before = {0}, after = {0};
    int rc = target_check_process(set->opts.pid), pass = 0;
    for (; pass < PASSES && rc == 0; pass++) {
        set_drop_instances(set, 0, false);
        rc = target_list_threads(set->opts.pid, &before);
        set->threads = before.n;
        if (rc == 0)
            rc = target_attach_threads(set, &before);
        if (rc == 0)
            rc = target_list_threads(set->opts.pid, &after);
        if (rc == 0 && !target_has_new_thread(&before, &after))
            break;
    }
    if (rc == 0 && pass == PASSES)
        rc = upmu_fail(UPMU_E_STATE,
                       "process %d creates threads faster than counters can be attached. Start it under the counters "
                       "instead (upmu stat -- COMMAND)",
                       (int)set->opts.pid);
    free(before.tids);
    free(after.tids);
    return rc;
}

/* ------------------------------------------------------------------------------------------------ command */

/* Counters that the kernel removes at exec would read as an exact 0. */
static int target_leave_all_out(struct upmu_set *set)
{
    for (size_t i = 0; i < set->list.n; i++) {
        if (set->list.absent[i])
            continue;
        (void)upmu_fail(UPMU_E_PERM,
                        "the kernel stops all counting in '%s': the program changes its privileges on exec "
                        "(set-user-ID, set-group-ID, capabilities) or is not readable. Count as the user it becomes",
                        set->program);
        if (counter_list_leave_out(&set->list, i, UPMU_E_PERM) < 0)
            return UPMU_E_NOMEM;
    }
    return set->opts.flags & UPMU_SET_STRICT ? UPMU_E_PERM : 0;
}

int set_prepare_command(struct upmu_set *set)
{
    set->program = strdup(set->opts.argv[0]);
    if (!set->program)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    int rc = core_kernel()->exec_detaches(set->program) ? target_leave_all_out(set) : 0;
    if (rc < 0)
        return rc;
    pid_t pid = core_kernel()->spawn(set->opts.argv, &set->gate);
    if (pid < 0)
        return upmu_fail(UPMU_E_IO, "cannot create a process for '%s': %s", set->program, upmu_errno_name(-pid));
    set->spawned = pid;
    rc = set_add_instance(set, pid, -1);
    return rc == UPMU_E_GONE ? upmu_fail(UPMU_E_GONE, "the process for '%s' ended before its exec", set->program) : rc;
}

static uint64_t target_usage_since(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

int upmu_set_usage_read(const struct upmu_set *set, struct upmu_usage *usage)
{
    const struct kernel_usage nothing = {0};
    int rc = set ? OPTS_CHECK(usage, UPMU_USAGE_SIZE_V1) : argument_null(__func__, "set");
    if (rc != 0)
        return rc;
    const struct kernel_usage *before = &set->used_before, *now = &set->used;
    if (!set->command || !set->waited)
        return upmu_fail(UPMU_E_STATE, "upmu_set_usage_read: the set has no command that was waited for");
    if (memcmp(now, &nothing, sizeof nothing) == 0)
        return upmu_fail(UPMU_E_STATE, "upmu_set_usage_read: the kernel has no accounting data for the command");
    const struct upmu_usage full = {
        .user_ns = target_usage_since(before->user_ns, now->user_ns),
        .system_ns = target_usage_since(before->system_ns, now->system_ns),
        .minor_faults = target_usage_since(before->minor_faults, now->minor_faults),
        .major_faults = target_usage_since(before->major_faults, now->major_faults),
        .switches = target_usage_since(before->switches, now->switches),
    };
    return OPTS_GIVE(usage, full, UPMU_USAGE_SIZE_V1);
}

/* SPDX-License-Identifier: MIT */
/* Liveness of a counter set's target. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/set/set.h"

/** Fields of /proc/PID/stat. */
struct alive_stat {
    char state;
    unsigned long threads; /**< of its process, including itself */
    uint64_t start;
};

/* The command's name may hold any character: the fields start after the last parenthesis. @return 0 or -errno. */
static int alive_read(pid_t id, struct alive_stat *out)
{
    enum { THREADS_FIELD = 17, START_FIELD = 19 }; /* counted from the state, which is 0 */
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)id);
    ssize_t n = core_kernel()->read_file(path, text, sizeof text);
    if (n < 0)
        return (int)n;
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2])
        return -EIO;
    out->state = at[2];
    int field = 0;
    for (at += 2; at && *at; at = strchr(at, ' '), field++) {
        at += *at == ' ';
        if (field == THREADS_FIELD && sscanf(at, "%lu", &out->threads) != 1)
            return -EIO;
        if (field == START_FIELD)
            return sscanf(at, "%" SCNu64, &out->start) == 1 ? 0 : -EIO;
    }
    return -EIO;
}

/* A process whose main thread has ended lives as long as any other thread. */
static bool alive_ended(const struct alive_stat *s, bool process)
{
    bool zombie = s->state == 'Z' || s->state == 'X';
    return zombie && (!process || s->threads <= 1);
}

static pid_t alive_id(const struct upmu_set *set)
{
    switch (set->opts.target) {
    case UPMU_TARGET_PROCESS:
    case UPMU_TARGET_TASK:
        return set->opts.pid;
    case UPMU_TARGET_COMMAND:
        return set->spawned;
    default:
        return set->tid;
    }
}

void set_note_start(struct upmu_set *set)
{
    struct alive_stat now;
    if (set->opts.target != UPMU_TARGET_CPU && alive_read(alive_id(set), &now) == 0)
        set->target_start = now.start;
}

static int alive_task(const struct upmu_set *set)
{
    struct alive_stat now = {0};
    int rc = alive_read(alive_id(set), &now);
    if (set->target_start == 0)
        return upmu_fail(UPMU_E_SYSTEM,
                         "upmu_set_alive: start time unknown: /proc/%d/stat was not readable when the set was opened",
                         (int)alive_id(set));
    if (rc == -ENOENT || rc == -ESRCH)
        return 0;
    if (rc < 0)
        return upmu_fail(UPMU_E_SYSTEM, "upmu_set_alive: cannot read /proc/%d/stat: %s", (int)alive_id(set),
                         upmu_errno_name(-rc));
    return now.start == set->target_start && !alive_ended(&now, set->opts.target != UPMU_TARGET_TASK);
}

/* A CPU that cannot be taken offline has no `online` file. */
static int alive_cpu(const struct upmu_set *set)
{
    char path[64], text[8];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", set->opts.cpu);
    ssize_t n = core_kernel()->read_file(path, text, sizeof text);
    return n < 1 || text[0] != '0';
}

int upmu_set_alive(struct upmu_set *set)
{
    if (!set)
        return upmu_fail(UPMU_E_INVAL, "upmu_set_alive: `set` is NULL");
    if (set->process != caller_process())
        return set_foreign(set, "upmu_set_alive");
    if (set->opts.target == UPMU_TARGET_CPU)
        return alive_cpu(set);
    if (set->waited)
        return 0;
    return alive_task(set);
}

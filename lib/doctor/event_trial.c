/* SPDX-License-Identifier: MIT */
/* Trial of an event: whether it counts on this machine. */
#include <stdbool.h>

#include "base/error.h"
#include "core/backend.h"
#include "core/names/event.h"
#include "core/machine/machine_snapshot.h"
#include "doctor/trial_load.h"

/* A short load first, and a longer one for events that did not move. */
enum { TRIAL_ROUNDS = 1, TRIAL_MORE_ROUNDS = 8 };

/* An event that opens does not necessarily count. */
static int trial_outcome(const char *name, const struct upmu_value *v, const char *reason)
{
    bool stalled = v->running > 0 && v->raw == 0; /* on a counter, but did not count */
    bool doubted = v->status == UPMU_NOT_COUNTED && (v->cause == UPMU_E_JUMP || (v->cause == 0 && reason[0]));
    if (v->status == UPMU_EXACT || v->status == UPMU_SCALED || stalled || doubted)
        return 0;
    if (v->cause)
        return upmu_fail(v->cause, "%s", reason);
    return upmu_fail(UPMU_E_BUSY, "'%s' opens, but gets no counter: another user of the PMU holds the one it needs",
                     name);
}

/* Read a running set of one event. @return 0 with a number in *v, or the cause of failure. */
static int trial_read(struct upmu_set *set, const char *name, struct upmu_value *v)
{
    int rc = upmu_set_read(set, v, 1);
    return rc < 0 ? rc : trial_outcome(name, v, upmu_set_reason(set, 0));
}

static int trial_run(struct upmu_set *set, const struct event *e, const char *name, uint64_t *seen)
{
    struct upmu_value v = {.status = UPMU_NOT_COUNTED};
    int rc = upmu_set_start(set);
    if (rc < 0)
        return rc;
    if (seen)
        trial_load(TRIAL_ROUNDS);
    rc = trial_read(set, name, &v);
    if (rc == 0 && seen && v.raw == 0) {
        trial_load(TRIAL_MORE_ROUNDS);
        rc = trial_read(set, name, &v);
    }
    if (rc == 0 && seen)
        *seen = v.raw;
    if (rc == 0 && seen && *seen == 0 && e->class == EVENT_USAGE)
        *seen = 1; /* the kernel's accounts advance with its timer tick: a successful read is sufficient */
    return rc;
}

static int trial_event(const char *name, uint64_t *seen)
{
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .flags = UPMU_SET_STRICT};
    struct event e = {.cpu = -1};
    enum kernel_backend backend;
    int rc = backend_choose(NULL, &backend);
    if (rc == 0)
        rc = backend_resolve(backend, name, &e);
    if (rc < 0)
        return rc;
    if (machine_snapshot_in_use())
        return machine_snapshot_trial(e.name, seen);
    if (e.cpu >= 0) { /* a PMU that counts no tasks */
        opts.target = UPMU_TARGET_CPU;
        opts.cpu = e.cpu;
    }
    rc = upmu_set_open(&set, name, &opts);
    if (rc < 0)
        return rc;
    rc = trial_run(set, &e, name, seen);
    upmu_set_close(set);
    return rc;
}

int upmu_event_probe(const char *name, uint64_t *counted)
{
    if (counted)
        *counted = 0;
    if (!name)
        return upmu_fail(UPMU_E_INVAL, "upmu_event_probe: `name` is NULL");
    return trial_event(name, counted);
}

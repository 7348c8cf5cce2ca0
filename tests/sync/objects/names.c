/* SPDX-License-Identifier: MIT */
/*
 * Names of locks given before recording begins, while it is paused, and while it only counts.
 *
 * They are in the trace, except those of locks retired before. Names that do not fit are counted as lost.
 */
#include "../read_object.h"

#include "upmu/control.h"

enum { NAMES_KEPT = 256, NAMES_TOO_MANY = 7 };

static char locks[NAMES_KEPT + NAMES_TOO_MANY];

static unsigned names_of(const void *object, const char *name)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    unsigned n = 0;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0)
        n += e->object == (uintptr_t)object && strcmp(e->name, name) == 0;
    CHECK(rc == 0);
    upmu_trace_close(t);
    return n;
}

static uint64_t lost(void)
{
    struct upmu_trace *t;
    struct upmu_trace_process p = {.size = sizeof p};
    CHECK(upmu_trace_open(&t, dir) == 0 && upmu_trace_process_at(t, 0, &p) == 0);
    upmu_trace_close(t);
    return p.lost;
}

static void before_it_begins(void)
{
    upmu_lock_announce(&locks[0], "announced early");
    upmu_lock_name(&locks[1], "named early");
    upmu_lock_announce(&locks[2], "retired early");
    upmu_lock_retired(&locks[2]);
    for (int i = 3; i < NAMES_KEPT + NAMES_TOO_MANY; i++)
        upmu_lock_name(&locks[i], "one of many");
    begin(UPMU_SYNC_CONTENDED);
    CHECK(names_of(&locks[0], "announced early") == 1);
    CHECK(names_of(&locks[1], "named early") == 1);
    CHECK(names_of(&locks[2], "retired early") == 0);
    CHECK(names_of(&locks[NAMES_KEPT - 1], "one of many") == 1);
    CHECK(names_of(&locks[NAMES_KEPT], "one of many") == 0);
    CHECK(lost() == NAMES_TOO_MANY);
}

static void while_little_is_recorded(void)
{
    struct upmu_control *control;
    CHECK(upmu_control_open(&control, dir) == 0);
    CHECK(upmu_control_stop(control, 0) == 0);
    upmu_lock_name(&locks[3], "named while stopped");
    CHECK(upmu_control_start(control, 0) == 0);
    upmu_control_close(control);
    CHECK(upmu_sync_set_mode(UPMU_SYNC_COUNTS) == UPMU_SYNC_CONTENDED);
    upmu_lock_announce(&locks[4], "announced in mode counts");
    end();
    CHECK(names_of(&locks[3], "named while stopped") == 1);
    CHECK(names_of(&locks[4], "announced in mode counts") == 1);
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    before_it_begins();
    while_little_is_recorded();
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}

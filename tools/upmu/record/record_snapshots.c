/* SPDX-License-Identifier: MIT */
/* Snapshots of a flight recorder, while the command runs. */
#include "record_snapshots.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ui/memory.h"
#include "ui/output.h"
#include "upmu/snapshot.h"

int snapshots_add(struct snapshot_request *q, const char *trigger)
{
    int kind = upmu_trigger_check(trigger);
    if (kind < 0)
        return -1;
    char *all = q->triggers ? memory_format("%s;%s", q->triggers, trigger) : memory_copy(trigger);
    free(q->triggers);
    q->triggers = all;
    q->deadlock |= kind == UPMU_TRIGGER_DEADLOCK;
    return 0;
}

struct upmu_snapshot_watch *snapshots_open(const struct snapshot_request *q, const char *dir, const char *shown)
{
    const struct upmu_snapshot_watch_opts opts = {.size = sizeof opts, .interval_ns = q->interval_ns, .most = q->most};
    struct upmu_snapshot_watch *watch = NULL;
    if (!q->triggers)
        return NULL;
    char *beside = q->dir ? memory_copy(q->dir) : memory_format("%s-snapshots", shown);
    if (upmu_snapshot_watch_open(&watch, dir, beside, &opts) != 0)
        complain("no snapshots will be taken: %s", upmu_error());
    free(beside);
    return watch;
}

static void snapshots_report(int rc, const struct upmu_snapshot *s)
{
    if (rc < 0)
        complain("a snapshot failed: %s", upmu_error());
    if (rc <= 0)
        return;
    char *missed = s->missed ? memory_format(", without %" PRIu64 " packets overwritten meanwhile", s->missed) : NULL;
    complain("snapshot %s: %s (%.1f MiB in %.1f ms%s)", s->path, s->reason, (double)s->bytes / (1 << 20),
             (double)s->took_ns / 1e6, missed ? missed : "");
    free(missed);
}

void snapshots_poll(struct upmu_snapshot_watch *watch)
{
    struct upmu_snapshot s = {.size = sizeof s};
    if (watch)
        snapshots_report(upmu_snapshot_watch_poll(watch, &s), &s);
}

void snapshots_take(struct upmu_snapshot_watch *watch, const char *reason)
{
    struct upmu_snapshot s = {.size = sizeof s};
    if (watch)
        snapshots_report(upmu_snapshot_watch_take(watch, reason, &s), &s);
}

void snapshots_close(struct upmu_snapshot_watch *watch)
{
    struct upmu_snapshot_totals t = {.size = sizeof t};
    snapshots_poll(watch);
    if (watch && upmu_snapshot_watch_totals_read(watch, &t) == 0) {
        complain("%" PRIu64 " snapshot%s taken", t.taken, t.taken == 1 ? "" : "s");
        if (t.skipped)
            complain("%" PRIu64 " more would have been, but came too soon after one or beyond their number "
                     "(--snapshot-every, --snapshot-most)",
                     t.skipped);
    }
    upmu_snapshot_watch_close(watch);
}

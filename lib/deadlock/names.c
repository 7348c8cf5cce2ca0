/* SPDX-License-Identifier: MIT */
/* Names of kinds and certainties of deadlocks, and of classes of lock-order cycles. */
#include "base/text/name.h"
#include "deadlock/graph/blocked.h"
#include "deadlock/graph/lock_order.h"
#include "upmu/deadlock.h"

static const char *const kind_names[] = {
    [UPMU_DEADLOCK_CYCLE] = "cycle",
    [UPMU_DEADLOCK_SELF] = "self",
    [UPMU_DEADLOCK_OWNER_ENDED] = "owner-ended",
    [UPMU_DEADLOCK_JOIN_CYCLE] = "join-cycle",
    [UPMU_DEADLOCK_JOIN_SELF] = "join-self",
    [UPMU_DEADLOCK_NO_POST] = "no-post",
    [UPMU_DEADLOCK_NO_SIGNAL] = "no-signal",
    [UPMU_DEADLOCK_BARRIER_SHORT] = "barrier-short",
    [UPMU_DEADLOCK_NO_WAKE] = "no-wake",
    [UPMU_DEADLOCK_ALL_ASLEEP] = "all-asleep",
    [UPMU_DEADLOCK_CROSS_PROCESS] = "cross-process",
};

/* The graph's enumerations equal the public ones. */
_Static_assert((int)WG_CYCLE == (int)UPMU_DEADLOCK_CYCLE && (int)WG_SELF == (int)UPMU_DEADLOCK_SELF &&
                   (int)WG_OWNER_ENDED == (int)UPMU_DEADLOCK_OWNER_ENDED &&
                   (int)WG_JOIN_CYCLE == (int)UPMU_DEADLOCK_JOIN_CYCLE &&
                   (int)WG_JOIN_SELF == (int)UPMU_DEADLOCK_JOIN_SELF && (int)WG_NO_POST == (int)UPMU_DEADLOCK_NO_POST &&
                   (int)WG_NO_SIGNAL == (int)UPMU_DEADLOCK_NO_SIGNAL &&
                   (int)WG_BARRIER_SHORT == (int)UPMU_DEADLOCK_BARRIER_SHORT &&
                   (int)WG_NO_WAKE == (int)UPMU_DEADLOCK_NO_WAKE &&
                   (int)WG_ALL_ASLEEP == (int)UPMU_DEADLOCK_ALL_ASLEEP &&
                   (int)WG_CROSS_PROCESS == (int)UPMU_DEADLOCK_CROSS_PROCESS &&
                   sizeof kind_names / sizeof *kind_names == WG_DEADLOCK_KINDS,
               "kinds");
_Static_assert((int)WG_CERTAIN == (int)UPMU_DEADLOCK_CERTAIN && (int)WG_STALLED == (int)UPMU_DEADLOCK_STALLED &&
                   (int)WG_BREAKABLE == (int)UPMU_DEADLOCK_BREAKABLE && (int)WG_WAKEABLE == (int)UPMU_DEADLOCK_WAKEABLE,
               "statuses");

const char *upmu_deadlock_kind_name(int kind)
{
    return NAME_OF(kind_names, kind);
}

const char *upmu_deadlock_certainty_name(int certainty)
{
    static const char *const names[] = {"certain", "stalled", "breakable", "wakeable"};
    return NAME_OF(names, certainty);
}

_Static_assert((int)WG_INVERSION == (int)UPMU_LOCK_INVERSION && (int)WG_GATED == (int)UPMU_LOCK_GATED &&
                   (int)WG_ONE_THREAD == (int)UPMU_LOCK_ONE_THREAD && (int)WG_ORDERED == (int)UPMU_LOCK_ORDERED &&
                   (int)WG_BROKEN == (int)UPMU_LOCK_BROKEN && WG_ORDER_CLASSES == WG_BROKEN + 1,
               "the waitgraph counts classes as the public header does");

const char *upmu_lock_cycle_class_name(int class_number)
{
    static const char *const names[] = {"inversion", "gated", "one-thread", "ordered", "broken"};
    return NAME_OF(names, class_number);
}

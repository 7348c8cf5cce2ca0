/* SPDX-License-Identifier: MIT */
/* Context switches are counted for every user; migrations without rights are refused and never 0. */
#include "support/behavior.h"

enum { SLEEPS = 50 };

/* The set's count lies between what the kernel accounts just inside and just outside of it. */
static void forced_sleeps(void)
{
    struct upmu_set *set;
    struct upmu_value v;
    CHECK(upmu_set_open(&set, "context-switches", NULL) == 0, "open");
    uint64_t outside = switches_so_far();
    CHECK(upmu_set_start(set) == 0, "start");
    uint64_t inside = switches_so_far();
    for (int i = 0; i < SLEEPS; i++)
        sleep_briefly();
    inside = switches_so_far() - inside;
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    outside = switches_so_far() - outside;
    CHECK(v.status == UPMU_EXACT, "%s: %s", upmu_status_name(v.status), upmu_set_reason(set, 0));
    /* A sleep may be over before the thread has left its CPU; most are not. */
    CHECK(inside >= SLEEPS / 2, "%llu", (unsigned long long)inside);
    CHECK(v.value >= inside && v.value <= outside, "%llu, not between %llu and %llu", (unsigned long long)v.value,
          (unsigned long long)inside, (unsigned long long)outside);
    CHECK(strcmp(upmu_set_name(set, 0), "context-switches") == 0, "%s", upmu_set_name(set, 0));
    upmu_set_close(set);
}

static void *sleeps_in_a_thread(void *arg)
{
    (void)arg;
    forced_sleeps();
    return NULL;
}

static void migrations(enum rights rights, int denied)
{
    struct upmu_set *set;
    struct upmu_value v;
    CHECK(upmu_set_open(&set, "cpu-migrations", NULL) == 0, "open");
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    if (rights == RIGHTS_ALL) {
        CHECK(v.status == UPMU_EXACT, "%s", upmu_status_name(v.status));
    } else {
        check_no_number(&v);
        check_denied(v.status, v.cause, rights == RIGHTS_NONE ? denied : EACCES);
        CHECK(strlen(upmu_set_reason(set, 0)) > 20, "'%s'", upmu_set_reason(set, 0));
    }
    upmu_set_close(set);
}

int main(void)
{
    enum rights rights = rights_here();
    int denied = errno;
    forced_sleeps();
    join_thread(start_thread(sleeps_in_a_thread, NULL));
    migrations(rights, denied);
    return 0;
}

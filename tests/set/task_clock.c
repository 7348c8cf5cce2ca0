/* SPDX-License-Identifier: MIT */
/* task-clock is the thread's CPU time, not wall-clock time. */
#include "support/behavior.h"

enum { BUSY = 100 * 1000 * 1000, TRIES = 8 };

/* Scheduler and perf stop their clocks a little apart at each of some twenty switches; and what the machine's host takes of
 * the CPU in between is in perf's clock alone: then it is measured again. @return whether they agree. */
static bool agrees(enum rights rights, int denied, bool last)
{
    struct upmu_set *set;
    struct upmu_value v;
    CHECK(upmu_set_open(&set, "task-clock", NULL) == 0, "open");
    uint64_t outside = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    CHECK(upmu_set_start(set) == 0, "start");
    uint64_t inside = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    burn(BUSY);
    for (int i = 0; i < 20; i++)
        sleep_briefly(); /* no CPU time */
    inside = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - inside;
    CHECK(upmu_set_stop(set) == 0, "stop");
    outside = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - outside;
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    upmu_set_close(set);
    if (rights == RIGHTS_NONE) {
        check_no_number(&v);
        check_denied(v.status, v.cause, denied);
        return true;
    }
    uint64_t slack = outside / 20;
    bool fits = v.value + slack >= inside && v.value <= outside + slack;
    CHECK(v.status == UPMU_EXACT, "%s", upmu_status_name(v.status));
    CHECK(fits || !last, "%llu ns, not between %llu and %llu", (unsigned long long)v.value, (unsigned long long)inside,
          (unsigned long long)outside);
    return fits;
}

int main(void)
{
    enum rights rights = rights_here();
    int denied = errno, i = 1;
    while (!agrees(rights, denied, i == TRIES))
        i++;
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Regions in a signal handler that interrupts libupmu: refused and counted, never deadlocked. */
#include "support/behavior.h"

#include <signal.h>
#include <sys/time.h>

enum { NAMES = 500 };

static volatile sig_atomic_t made;

static void begin_a_new_name(int signal_number)
{
    char name[8] = "h000";
    int n = made;
    (void)signal_number;
    if (n >= NAMES)
        return;
    name[1] = (char)('0' + n / 100);
    name[2] = (char)('0' + n / 10 % 10);
    name[3] = (char)('0' + n % 10);
    made = n + 1;
    if (upmu_region_begin(name) == 0)
        (void)upmu_region_end(name);
}

int main(void)
{
    const struct itimerval often = {.it_interval = {.tv_usec = 500}, .it_value = {.tv_usec = 500}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    regions_on("none");
    instance("main");
    CHECK(signal(SIGALRM, begin_a_new_name) != SIG_ERR, "signal");
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");
    while (made < NAMES)
        CHECK(region_count("main") == 1, "the region is not there");
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0, "setitimer");
    uint64_t seen = 0;
    const char *name;
    for (size_t i = 0; upmu_region_name_at(i, &name) == 0; i++)
        seen += name[0] == 'h';
    struct upmu_region_health h = health_now();
    CHECK(seen <= NAMES && seen + h.interrupted >= NAMES, "%llu measured and %llu turned away of %d",
          (unsigned long long)seen, (unsigned long long)h.interrupted, NAMES);
    return 0;
}

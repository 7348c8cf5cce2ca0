/* SPDX-License-Identifier: MIT */
/*
 * msr/tsc/ counts what the instruction reads, within 2 us.
 *
 * The event counts while its thread is on a CPU, so intervals with a context switch are left out.
 */
#include "support/behavior.h"

#if defined(__x86_64__)

struct moment {
    uint64_t before, value, after;
};

static struct moment read_moment(struct upmu_set *set)
{
    struct upmu_value v;
    struct moment m;
    m.before = __builtin_ia32_rdtsc();
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    m.after = __builtin_ia32_rdtsc();
    CHECK(v.status == UPMU_EXACT, "%s", upmu_status_name(v.status));
    m.value = v.value;
    return m;
}

/* Ticks in two microseconds. */
static uint64_t two_us(void)
{
    uint64_t ns = nanoseconds(CLOCK_MONOTONIC_RAW), tick = __builtin_ia32_rdtsc();
    pass(10000000);
    tick = __builtin_ia32_rdtsc() - tick;
    return tick * 2000 / (nanoseconds(CLOCK_MONOTONIC_RAW) - ns);
}

int main(void)
{
    struct upmu_set *set;
    struct upmu_value v;
    if (rights_here() != RIGHTS_ALL)
        skip("counting it needs the right to count kernel mode");
    int rc = upmu_set_open(&set, "msr/tsc/", NULL);
    if (rc == UPMU_E_NAME)
        skip("the kernel has no msr/tsc/ here: %s", upmu_error());
    CHECK(rc == 0, "open");
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    CHECK(v.status == UPMU_EXACT, "%s: %s", upmu_status_name(v.status), upmu_set_reason(set, 0));
    uint64_t limit = two_us(), compared = 0;
    for (int i = 0; i < 1000 && compared < 20; i++) {
        uint64_t switches = switches_so_far();
        struct moment a = read_moment(set);
        pass(200000);
        struct moment b = read_moment(set);
        if (switches_so_far() != switches)
            continue;
        /* The counts were taken within the brackets: their difference lies within the brackets', give or take 2 us. */
        uint64_t least = b.before - a.after, most = b.after - a.before, counted = b.value - a.value;
        CHECK(counted + limit >= least && counted <= most + limit, "%llu, not between %llu and %llu",
              (unsigned long long)counted, (unsigned long long)least, (unsigned long long)most);
        compared++;
    }
    CHECK(compared > 0, "no interval without a context switch");
    upmu_set_close(set);
    return 0;
}

#else

int main(void)
{
    skip("msr/tsc/ is of x86");
}

#endif

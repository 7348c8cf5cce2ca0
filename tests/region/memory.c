/* SPDX-License-Identifier: MIT */
/* Constant memory use: ten million instances take no more than ten thousand.
 *
 * One million with PAPI, whose calls are slow: one byte per instance would still show. */
#include "support/behavior.h"

enum { MILLION = 1000000 };

static void run(long n)
{
    static upmu_region_t outer = UPMU_REGION("outer"), inner = UPMU_REGION("inner");
    for (long i = 0; i < n; i++) {
        (void)upmu_region_enter(&outer);
        (void)upmu_region_enter(&inner);
        (void)upmu_region_leave(&inner);
        (void)upmu_region_leave(&outer);
    }
}

int main(void)
{
    if (SANITIZED)
        skip("a sanitizer's own memory would be measured");
    const char *backend = getenv("UPMU_BACKEND");
    const long pairs = backend && strcmp(backend, "papi") == 0 ? MILLION / 2 : 10 * MILLION / 2;
    regions_on(NULL);
    run(10000);
    size_t resident = resident_kb(), maps = mappings();
    run(pairs - 10000);
    CHECK(resident_kb() <= resident + 256, "%zu kB, %zu before", resident_kb(), resident);
    CHECK(mappings() <= maps + 2, "%zu mappings, %zu before", mappings(), maps);
    CHECK(region_count("outer") + region_count("inner") == 2 * (uint64_t)pairs, "%llu",
          (unsigned long long)region_count("outer"));
    struct test_region s = region_of("inner", UPMU_ALL_THREADS);
    CHECK(s.wall.count == (uint64_t)pairs && s.wall.min <= s.wall.max && s.wall.sum >= s.wall.max, "no distribution");
    return 0;
}

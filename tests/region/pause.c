/* SPDX-License-Identifier: MIT */
/* Pausing and resuming with upmu_region_switch(): earlier counts stay, the pause is not measured. */
#include "support/behavior.h"

static void *in_a_thread(void *name)
{
    instance(name);
    return NULL;
}

int main(void)
{
    char threaded[] = "in a thread";
    CHECK(upmu_region_switch(1) == 0, "on before they are set up");
    instance("not set up");
    regions_on("page-faults");
    instance("a");
    CHECK(upmu_region_switch(1) == 1, "they were on");
    CHECK(upmu_region_switch(0) == 1, "they were on");
    CHECK(upmu_region_switch(0) == 0, "they were off");
    instance("a");
    instance("b");
    join_thread(start_thread(in_a_thread, threaded));
    CHECK(region_count("a") == 1, "%llu", (unsigned long long)region_count("a")); /* reading back still works */
    CHECK(upmu_region_count() == 1, "a region of the pause is known");
    CHECK(upmu_region_switch(1) == 0, "they were off");
    instance("a");
    join_thread(start_thread(in_a_thread, threaded));
    CHECK(region_count("a") == 2 && region_count(threaded) == 1, "measuring does not resume");

    /* Open when the pause begins: its end in the pause is not seen, so it has no time, and the next one is whole. */
    CHECK(upmu_region_begin("a") == 0, "begin");
    CHECK(upmu_region_switch(0) == 1, "pause");
    CHECK(upmu_region_end("a") == 0, "end in the pause");
    CHECK(upmu_region_switch(1) == 0, "resume");
    instance("a");
    struct test_region s = region_of("a", UPMU_ALL_THREADS);
    CHECK(s.count == 3 && s.open == 0, "%llu finished, %llu open", (unsigned long long)s.count,
          (unsigned long long)s.open);
    CHECK(health_now().end_without_begin == 0, "misuse where there was none");
    return 0;
}

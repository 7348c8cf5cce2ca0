/* SPDX-License-Identifier: MIT */
/* Misuse of the region API: counted, never fatal, without loss of earlier counts. */
#include "support/behavior.h"

/* Earlier counts are kept, and recording continues. */
static void unharmed(void)
{
    static uint64_t made = 0;
    instance("kept");
    made++;
    CHECK(region_count("kept") == made, "%llu of %llu", (unsigned long long)region_count("kept"),
          (unsigned long long)made);
    CHECK(region_of("kept", UPMU_ALL_THREADS).open == 0, "open");
}

static void ends_without_begin(void)
{
    uint64_t before = health_now().end_without_begin;
    CHECK(upmu_region_end("kept") == UPMU_E_STATE, "end without begin");
    CHECK(upmu_region_end("never begun") == UPMU_E_STATE, "end of an unknown name");
    static upmu_region_t handle = UPMU_REGION("kept");
    CHECK(upmu_region_leave(&handle) == UPMU_E_STATE, "leave without enter");
    CHECK(upmu_region_begin("twice") == 0 && upmu_region_end("twice") == 0, "once");
    CHECK(upmu_region_end("twice") == UPMU_E_STATE, "ended twice");
    CHECK(health_now().end_without_begin == before + 4, "%llu", (unsigned long long)health_now().end_without_begin);
    unharmed();
}

static void *ends_what_another_began(void *arg)
{
    (void)arg;
    CHECK(upmu_region_end("mine") == UPMU_E_STATE, "ended in another thread");
    return NULL;
}

static void ends_in_another_thread(void)
{
    uint64_t before = health_now().end_without_begin;
    CHECK(upmu_region_begin("mine") == 0, "begin");
    join_thread(start_thread(ends_what_another_began, NULL));
    CHECK(region_of("mine", own_tid()).open == 1, "the owner's region was touched");
    CHECK(upmu_region_end("mine") == 0, "end");
    CHECK(region_count("mine") == 1, "%llu", (unsigned long long)region_count("mine"));
    CHECK(health_now().end_without_begin == before + 1, "not counted");
    unharmed();
}

static void ends_out_of_order(void)
{
    uint64_t before = health_now().closed_by_outer;
    CHECK(upmu_region_begin("around") == 0 && upmu_region_begin("left open") == 0 && upmu_region_begin("too") == 0,
          "begin");
    CHECK(upmu_region_end("around") == 0, "end");
    CHECK(health_now().closed_by_outer == before + 2, "%llu", (unsigned long long)health_now().closed_by_outer);
    CHECK(region_count("left open") == 1 && region_count("too") == 1 && region_count("around") == 1, "not finished");
    CHECK(region_of("left open", 0).open == 0, "still open");
    unharmed();
}

static void names_too_long(void)
{
    static char one[4097], other[4097];
    memset(one, 'n', 4096);
    memcpy(other, one, sizeof one);
    other[4095] = 'm';
    uint64_t before = health_now().names_cut;
    instance(one);
    instance(one);
    instance(other);
    CHECK(health_now().names_cut == before + 3, "%llu", (unsigned long long)health_now().names_cut);
    CHECK(region_count(one) == 2 && region_count(other) == 1, "two long names are one region");
    unharmed();
}

static void no_names(void)
{
    static upmu_region_t unnamed = UPMU_REGION(NULL), empty = UPMU_REGION("");
    uint64_t before = health_now().names_refused, marks = health_now().marks;
    CHECK(upmu_region_begin(NULL) == UPMU_E_INVAL && upmu_region_begin("") == UPMU_E_INVAL, "begin");
    CHECK(upmu_region_end(NULL) == UPMU_E_INVAL && upmu_region_end("") == UPMU_E_INVAL, "end");
    CHECK(upmu_region_enter(NULL) == UPMU_E_INVAL && upmu_region_leave(NULL) == UPMU_E_INVAL, "no handle");
    CHECK(upmu_region_enter(&unnamed) == UPMU_E_INVAL && upmu_region_leave(&unnamed) == UPMU_E_INVAL, "no name");
    CHECK(upmu_region_enter(&empty) == UPMU_E_INVAL && upmu_region_leave(&empty) == UPMU_E_INVAL, "empty name");
    CHECK(upmu_mark(NULL) == UPMU_E_INVAL && upmu_mark("") == 0, "mark");
    CHECK(health_now().names_refused == before + 5, "%llu", (unsigned long long)health_now().names_refused);
    CHECK(health_now().marks == marks + 1, "%llu", (unsigned long long)health_now().marks);
    unharmed();
}

static void deep(int depth)
{
    (void)upmu_region_begin("deep");
    if (depth > 1)
        deep(depth - 1);
    CHECK(upmu_region_end("deep") == 0, "the end of a begin at depth %d", depth);
}

static void too_deep(void)
{
    deep(300);
    CHECK(region_count("deep") == UPMU_REGION_DEPTH_MAX, "%llu", (unsigned long long)region_count("deep"));
    CHECK(health_now().too_deep == 300 - UPMU_REGION_DEPTH_MAX, "%llu", (unsigned long long)health_now().too_deep);
    CHECK(region_of("deep", 0).open == 0, "open");
    unharmed();
}

static void *leaves_a_region_open(void *arg)
{
    (void)arg;
    CHECK(upmu_region_begin("never ended") == 0, "begin");
    instance("kept by a thread");
    return NULL;
}

static void open_at_the_end_of_a_thread(void)
{
    uint64_t before = health_now().never_ended;
    join_thread(start_thread(leaves_a_region_open, NULL));
    CHECK(health_now().never_ended == before + 1, "%llu", (unsigned long long)health_now().never_ended);
    CHECK(region_count("kept by a thread") == 1, "lost");
    struct test_region s = region_of("never ended", UPMU_ALL_THREADS);
    CHECK(s.count == 0 && s.wall.min == UPMU_NO_VALUE, "a region that did not end has a time");
    unharmed();
}

int main(void)
{
    regions_on("page-faults,context-switches");
    unharmed();
    ends_without_begin();
    ends_in_another_thread();
    ends_out_of_order();
    names_too_long();
    no_names();
    too_deep();
    open_at_the_end_of_a_thread();
    struct test_region s = region_of("kept", UPMU_ALL_THREADS);
    CHECK(s.events[0].stat.count + s.events[0].without_value == s.count, "%llu", (unsigned long long)s.count);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* The inline region calls as functions of the library: by dlsym(), by function pointer, and called without inlining. */
#include <dlfcn.h>

#include "support/behavior.h"

static struct {
    int (*begin)(const char *);
    int (*end)(const char *);
    int (*enter)(upmu_region_t *);
    int (*leave)(upmu_region_t *);
    int (*mark)(const char *);
} looked_up;

static void look_up(const char *name, void *function, void *to)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    CHECK(found, "%s is no symbol", name);
    CHECK(found == function, "the address of %s is not that of the library's function", name);
    memcpy(to, &found, sizeof found);
}

static void one_of_each(void)
{
    static upmu_region_t handle = UPMU_REGION("by symbol");
    CHECK(looked_up.begin("by symbol") == 0 && looked_up.end("by symbol") == 0, "begin and end");
    CHECK(looked_up.enter(&handle) == 0 && looked_up.leave(&handle) == 0, "enter and leave");
    CHECK(looked_up.mark("mark") == 0, "mark");
}

int main(void)
{
    look_up("upmu_region_begin", (void *)upmu_region_begin, &looked_up.begin);
    look_up("upmu_region_end", (void *)upmu_region_end, &looked_up.end);
    look_up("upmu_region_enter", (void *)upmu_region_enter, &looked_up.enter);
    look_up("upmu_region_leave", (void *)upmu_region_leave, &looked_up.leave);
    look_up("upmu_mark", (void *)upmu_mark, &looked_up.mark);
    one_of_each();
    CHECK(looked_up.begin(NULL) == 0 && looked_up.mark(NULL) == 0,
          "a call while regions are off looked at its argument");
    regions_on("none");
    one_of_each();
    CHECK(looked_up.begin("") == UPMU_E_INVAL && looked_up.end("never begun") == UPMU_E_STATE, "errors");
    struct test_region s = region_of("by symbol", UPMU_ALL_THREADS);
    CHECK(s.count == 2 && s.open == 0, "%llu instances", (unsigned long long)s.count);
    return 0;
}

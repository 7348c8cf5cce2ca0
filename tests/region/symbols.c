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
} found_symbols;

static void find_symbol(const char *name, void *function, void *to)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    CHECK(found, "%s is no symbol", name);
    CHECK(found == function, "the address of %s is not that of the library's function", name);
    memcpy(to, &found, sizeof found);
}

static void one_of_each(void)
{
    static upmu_region_t handle = UPMU_REGION("by symbol");
    CHECK(found_symbols.begin("by symbol") == 0 && found_symbols.end("by symbol") == 0, "begin and end");
    CHECK(found_symbols.enter(&handle) == 0 && found_symbols.leave(&handle) == 0, "enter and leave");
    CHECK(found_symbols.mark("mark") == 0, "mark");
}

int main(void)
{
    find_symbol("upmu_region_begin", (void *)upmu_region_begin, &found_symbols.begin);
    find_symbol("upmu_region_end", (void *)upmu_region_end, &found_symbols.end);
    find_symbol("upmu_region_enter", (void *)upmu_region_enter, &found_symbols.enter);
    find_symbol("upmu_region_leave", (void *)upmu_region_leave, &found_symbols.leave);
    find_symbol("upmu_mark", (void *)upmu_mark, &found_symbols.mark);
    one_of_each();
    CHECK(found_symbols.begin(NULL) == 0 && found_symbols.mark(NULL) == 0,
          "a call while regions are off used its argument");
    regions_on("none");
    one_of_each();
    CHECK(found_symbols.begin("") == UPMU_E_INVAL && found_symbols.end("never begun") == UPMU_E_STATE, "errors");
    struct test_region s = region_of("by symbol", UPMU_ALL_THREADS);
    CHECK(s.count == 2 && s.open == 0, "%llu instances", (unsigned long long)s.count);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Start, stop, reset and read: what counts and what does not. */
#include "support/behavior.h"

enum { PAGES = 100 };

static enum rights rights;

static void touch_fresh(size_t pages)
{
    unsigned char *p = fresh_pages(pages);
    touch_pages(p, pages, (size_t)sysconf(_SC_PAGESIZE));
    free_pages(p, pages);
}

/* At least, and not so much more that other pages can be in it. */
static void expect(struct upmu_set *set, uint64_t pages)
{
    struct upmu_value v;
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    if (rights == RIGHTS_NONE) {
        check_no_number(&v);
        return;
    }
    CHECK(v.status == UPMU_EXACT, "%s", upmu_status_name(v.status));
    CHECK(v.value >= pages && (SANITIZED || v.value < pages + PAGES / 2), "%llu faults, %llu pages",
          (unsigned long long)v.value, (unsigned long long)pages);
}

static void counting(struct upmu_set *set)
{
    CHECK(upmu_set_start(set) == 0, "start");
    touch_fresh(PAGES);
    expect(set, PAGES);
    CHECK(upmu_set_stop(set) == 0, "stop");
    touch_fresh(PAGES);
    expect(set, PAGES); /* what happens while stopped does not count */
    CHECK(upmu_set_stop(set) == 0, "stop again");
    CHECK(upmu_set_start(set) == 0, "start again");
    CHECK(upmu_set_start(set) == 0, "and again");
    touch_fresh(PAGES);
    expect(set, 2 * PAGES);
    CHECK(upmu_set_reset(set) == 0, "reset");
    expect(set, 0);
    touch_fresh(PAGES);
    expect(set, PAGES);
}

static void resetting_while_stopped(struct upmu_set *set)
{
    CHECK(upmu_set_stop(set) == 0, "stop");
    CHECK(upmu_set_reset(set) == 0, "reset");
    touch_fresh(PAGES);
    CHECK(upmu_set_start(set) == 0, "start");
    expect(set, 0);
    touch_fresh(PAGES);
    expect(set, PAGES);
}

static void *read_elsewhere(void *set)
{
    struct upmu_value v;
    CHECK(upmu_set_read(set, &v, 1) == UPMU_E_STATE, "another thread's set was read");
    return NULL;
}

int main(void)
{
    struct upmu_set *set;
    struct upmu_value v;
    rights = rights_here();
    size_t before = open_descriptors();
    CHECK(upmu_set_open(&set, "page-faults", NULL) == 0, "open");
    CHECK(upmu_set_read(set, &v, 1) == UPMU_E_STATE, "read before start");
    touch_fresh(PAGES); /* before the first start nothing counts */
    counting(set);
    resetting_while_stopped(set);
    join_thread(start_thread(read_elsewhere, set));
    upmu_set_close(set);
    CHECK(open_descriptors() == before, "%zu descriptors, %zu before", open_descriptors(), before);
    CHECK(upmu_set_open(&set, "no-such-event", NULL) == UPMU_E_NAME && set == NULL, "unknown name");
    return 0;
}

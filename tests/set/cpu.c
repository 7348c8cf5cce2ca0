/* SPDX-License-Identifier: MIT */
/* A set on a CPU counts the events of every process that runs there. */
#include <sched.h>

#include "support/behavior.h"

enum { PAGES = 1000 };

int main(void)
{
    struct upmu_set *set;
    struct upmu_value v;
    cpu_set_t allowed, one;
    if (rights_here() != RIGHTS_ALL)
        skip("counting a CPU needs rights");
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "sched_getaffinity");
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_CPU, .cpu = (int)cpu};
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0, "open");
    CHECK(upmu_set_start(set) == 0, "start");
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
    unsigned char *p = fresh_pages(PAGES);
    touch_pages(p, PAGES, (size_t)sysconf(_SC_PAGESIZE));
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    if (v.status == UPMU_REFUSED && geteuid() != 0) {
        check_no_number(&v);
        skip("counting a CPU needs rights: %s", upmu_set_reason(set, 0));
    }
    CHECK(v.status == UPMU_EXACT, "%s: %s", upmu_status_name(v.status), upmu_set_reason(set, 0));
    CHECK(v.value >= PAGES, "%llu faults of %d pages", (unsigned long long)v.value, PAGES);
    CHECK(upmu_set_instance_count(set) == 1, "%zu", upmu_set_instance_count(set));
    upmu_set_close(set);
    opts.cpu = 1 << 20;
    CHECK(upmu_set_open(&set, "page-faults", &opts) == UPMU_E_GONE, "a CPU that is not there");
    return 0;
}

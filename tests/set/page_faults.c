/* SPDX-License-Identifier: MIT */
/* A set counts exactly the pages its thread touches, or has a cause and no number. */
#include "support/behavior.h"

enum {
    PAGES = 1000,
    THREADS = 8,
    CONSTANT = 0, /**< faults of starting, stopping and reading themselves, once the set has been used */
};

static enum rights rights;
static int denied;

static struct upmu_value faults_of(struct upmu_set *set, size_t pages)
{
    struct upmu_value v;
    unsigned char *p = fresh_pages(pages);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(upmu_set_reset(set) == 0, "reset");
    CHECK(upmu_set_start(set) == 0, "start");
    touch_pages(p, pages, page);
    CHECK(upmu_set_stop(set) == 0, "stop");
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    free_pages(p, pages);
    return v;
}

static void *count_faults(void *arg)
{
    size_t pages = PAGES + (size_t)(uintptr_t)arg;
    struct upmu_set *set;
    CHECK(upmu_set_open(&set, "page-faults", NULL) == 0, "open");
    struct upmu_value v = faults_of(set, 1); /* the code and stack of the calls are in memory now */
    v = faults_of(set, pages);
    if (rights == RIGHTS_NONE) {
        check_denied(v.status, v.cause, denied);
        check_no_number(&v);
        CHECK(strlen(upmu_set_reason(set, 0)) > 20, "'%s'", upmu_set_reason(set, 0));
    } else {
        const char *name = rights == RIGHTS_ALL ? "page-faults" : "page-faults:u";
        CHECK(v.status == UPMU_EXACT, "%s", upmu_status_name(v.status));
        CHECK(v.value >= pages + CONSTANT && v.value <= pages + CONSTANT + SANITIZER_FAULTS, "%llu faults of %zu pages",
              (unsigned long long)v.value, pages);
        CHECK(strcmp(upmu_set_name(set, 0), name) == 0, "%s", upmu_set_name(set, 0));
        CHECK(v.running == v.enabled && v.running > 0, "%llu ns of %llu", (unsigned long long)v.running,
              (unsigned long long)v.enabled);
    }
    upmu_set_close(set);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    rights = rights_here();
    denied = errno;
    count_faults(NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = start_thread(count_faults, (void *)(i * 100));
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    return 0;
}

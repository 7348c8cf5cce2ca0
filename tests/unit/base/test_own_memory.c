/* SPDX-License-Identifier: MIT */
/* Memory of the recorder: what is touched counts, once, and what is unmapped does not. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own_memory.h"
#include "unit/suite.h"

static size_t page;

static void a_page_each(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    (void)own_memory_count(); /* what other tests have left */
}

START_TEST(only_touched_pages_count)
{
    char *sparse = own_memory_map(page << 16, MAP_NORESERVE);
    ck_assert_ptr_nonnull(sparse);
    sparse[page * 5] = 1;
    sparse[page * 9000] = 1; /* beyond the pages that are looked at in one call */
    sparse[(page << 16) - 1] = 1;
    ck_assert_uint_eq(own_memory_count(), 3 * page);
    own_memory_unmap(sparse, page << 16);
}
END_TEST

START_TEST(a_mapping_counts_once)
{
    char *p = own_memory_map(page, 0);
    p[0] = 1;
    ck_assert_uint_eq(own_memory_count(), page);
    ck_assert_uint_eq(own_memory_count(), 0);
    own_memory_unmap(p, page);
}
END_TEST

START_TEST(unmapped_memory_does_not_count)
{
    for (int i = 0; i < 70000; i++) { /* more than the list has places: they are used again */
        char *p = own_memory_map(page, 0);
        ck_assert_ptr_nonnull(p);
        p[0] = 1;
        own_memory_unmap(p, page);
    }
    char *p = own_memory_map(page, 0);
    p[0] = 1;
    ck_assert_uint_eq(own_memory_count(), page);
    own_memory_unmap(p, page);
}
END_TEST

START_TEST(no_space_is_left_under_a_limit_where_proc_cannot_be_read)
{
    const rlim_t much = (rlim_t)1 << (sizeof(void *) == 8 ? 50 : 31);
    struct rlimit space, files, low;
    ck_assert(getrlimit(RLIMIT_AS, &space) == 0 && getrlimit(RLIMIT_NOFILE, &files) == 0);
    low = (struct rlimit){much < space.rlim_max ? much : space.rlim_max, space.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &low), 0);
    uint64_t readable = own_memory_space_left();
    low = (struct rlimit){0, files.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    uint64_t unreadable = own_memory_space_left();
    ck_assert(setrlimit(RLIMIT_AS, &space) == 0 && setrlimit(RLIMIT_NOFILE, &files) == 0);
    ck_assert(readable > 0 && readable < much);
    ck_assert_uint_eq(unreadable, 0);
}
END_TEST

START_TEST(a_forked_child_finds_it_wiped)
{
    char *p = own_memory_map_wiped(page);
    p[0] = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(p[0] == 0 ? 0 : 1);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(p[0], 1);
    ck_assert_uint_eq(own_memory_count(), page);
    own_memory_unmap(p, page);
}
END_TEST

START_TEST(failure_keeps_errno)
{
    errno = ENOTTY;
    ck_assert_ptr_null(own_memory_map(SIZE_MAX / 2, 0));
    ck_assert_ptr_null(own_memory_map_wiped(SIZE_MAX / 2));
    ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("own_memory");
    tcase_add_checked_fixture(cases, a_page_each, NULL);
    tcase_add_test(cases, only_touched_pages_count);
    tcase_add_test(cases, a_mapping_counts_once);
    tcase_add_test(cases, unmapped_memory_does_not_count);
    tcase_add_test(cases, no_space_is_left_under_a_limit_where_proc_cannot_be_read);
    tcase_add_test(cases, a_forked_child_finds_it_wiped);
    tcase_add_test(cases, failure_keeps_errno);
    return run_suite("own_memory", cases);
}

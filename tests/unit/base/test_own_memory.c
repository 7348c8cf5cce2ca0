/* SPDX-License-Identifier: MIT */
/* Memory of the recorder: what is touched counts, once, and what is unmapped does not. */
#include <errno.h>
#include <sys/mman.h>
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
    tcase_add_test(cases, a_forked_child_finds_it_wiped);
    tcase_add_test(cases, failure_keeps_errno);
    return run_suite("own_memory", cases);
}

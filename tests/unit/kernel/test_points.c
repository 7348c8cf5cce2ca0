/* SPDX-License-Identifier: MIT */
/* Tracepoints as the files of tracefs describe them, under UPMU_FSROOT. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel_ops.h"
#include "kernel/parts.h"
#include "unit/suite.h"

enum { ALL = (1u << KERNEL_POINTS) - 1 };

static char root[] = "/tmp/upmu-points-XXXXXX";

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_int_eq(setenv("UPMU_FSROOT", root, 1), 0);
}

static void tear_down(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

/* The file, below one of the two places where tracefs is. */
static void describe(const char *place, const char *point, const char *text)
{
    char path[256], command[300];
    snprintf(path, sizeof path, "%s/sys/kernel/%s/events/%s", root, place, point);
    snprintf(command, sizeof command, "mkdir -p '%s'", path);
    ck_assert_int_eq(system(command), 0);
    snprintf(path, sizeof path, "%s/sys/kernel/%s/events/%s/format", root, place, point);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

#define HEAD                                                                       \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char waking[] =
    "name: sched_waking\nID: 375\nformat:\n" HEAD "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
static const char begin[] =
    "name: contention_begin\nID: 408\nformat:\n" HEAD "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n";
static const char end[] =
    "name: contention_end\nID: 407\nformat:\n" HEAD "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n";

START_TEST(fields_are_where_the_kernel_has_them)
{
    struct kernel_point_layout l[KERNEL_POINTS];
    describe("tracing", "sched/sched_waking", waking);
    describe("debug/tracing", "lock/contention_begin", begin);
    describe("debug/tracing", "lock/contention_end", end);
    ck_assert_int_eq(kernel_points_find(ALL, l), 0);
    ck_assert_uint_eq(l[KERNEL_POINT_WAKING].id, 375);
    ck_assert_uint_eq(l[KERNEL_POINT_WAKING].kind, KERNEL_SWITCH_WAKES);
    ck_assert_uint_eq(l[KERNEL_POINT_WAKING].value, 24); /* not common_pid */
    ck_assert_uint_eq(l[KERNEL_POINT_WAKING].value_bytes, 4);
    ck_assert_uint_eq(l[KERNEL_POINT_WAKING].more_bytes, 0);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_BEGIN].id, 408);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_BEGIN].value, 8);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_BEGIN].value_bytes, 8);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_BEGIN].more, 16);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_END].id, 407);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_END].more, 16);
}
END_TEST

START_TEST(what_is_not_wanted_is_not_looked_for)
{
    struct kernel_point_layout l[KERNEL_POINTS];
    describe("tracing", "sched/sched_waking", waking);
    ck_assert_int_eq(kernel_points_find(1u << KERNEL_POINT_WAKING, l), 0);
    ck_assert_uint_eq(l[KERNEL_POINT_WAKING].id, 375);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_BEGIN].id, 0);
}
END_TEST

START_TEST(what_is_missing_or_strange_is_an_error_and_the_rest_is_found)
{
    struct kernel_point_layout l[KERNEL_POINTS];
    ck_assert_int_eq(kernel_points_find(ALL, l), -ENOENT);
    describe("tracing", "lock/contention_begin", begin);
    describe("tracing", "lock/contention_end", end);
    ck_assert_int_eq(kernel_points_find(ALL, l), -ENOENT);
    ck_assert_uint_eq(l[KERNEL_POINT_LOCK_END].id, 407);
    static const char *const strange[] = {
        "",
        "ID: 5\n",
        "ID: x\n field:pid_t pid;\toffset:24;\tsize:4;",
        "ID: 5\n field:pid_t pid;\toffset:24;\tsize:3;",
        "ID: 5\n field:pid_t pid;\toffset:60;\tsize:4;",
        "ID: 5\n field:pid_t pid;\toffset:-4;\tsize:4;",
    };
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        describe("tracing", "sched/sched_waking", strange[i]);
        ck_assert_int_eq(kernel_points_find(ALL, l), -EPROTO);
        ck_assert_uint_eq(l[KERNEL_POINT_WAKING].id, 0);
    }
}
END_TEST

START_TEST(tracefs_that_cannot_be_read_is_not_taken_for_one_that_is_not_there)
{
    struct kernel_point_layout l[KERNEL_POINTS];
    char path[256];
    describe("tracing", "sched", waking);
    snprintf(path, sizeof path, "%s/sys/kernel/tracing/events/sched/sched_waking", root);
    ck_assert_int_eq(symlink("sched_waking", path), 0); /* root may read all */
    ck_assert_int_eq(kernel_points_find(1u << KERNEL_POINT_WAKING, l), -ELOOP);
    describe("debug/tracing", "sched/sched_waking", waking);
    ck_assert_int_eq(kernel_points_find(1u << KERNEL_POINT_WAKING, l), 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("points");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, fields_are_where_the_kernel_has_them);
    tcase_add_test(cases, what_is_not_wanted_is_not_looked_for);
    tcase_add_test(cases, what_is_missing_or_strange_is_an_error_and_the_rest_is_found);
    tcase_add_test(cases, tracefs_that_cannot_be_read_is_not_taken_for_one_that_is_not_there);
    return run_suite("kernel points", cases);
}

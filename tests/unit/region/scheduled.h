/* SPDX-License-Identifier: MIT */
/** @file A recording with switch records over the scripted kernel, in a process of its own for each test. */
#ifndef UPMU_TESTS_SCHEDULED_H
#define UPMU_TESTS_SCHEDULED_H

#include <stdlib.h>

#include "support/machine.h"
#include "unit/suite.h"
#include "upmu/region.h"

static const struct scripted_sample steady[] = {{100, 1000, 1000}};
static char dir[] = "/tmp/upmu-unit-region-XXXXXX";

static void set_up(void)
{
    ck_assert_ptr_nonnull(mkdtemp(dir));
    machine_plain(steady, 1);
    ck_assert_int_eq(setenv("UPMU_SCHED", "1", 1), 0);
}

/* Its process has ended by then. */
static void tear_down(void)
{
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

static void setup(void)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "none", .trace = dir};
    ck_assert_msg(upmu_region_setup(&opts) == 0, "%s", upmu_error());
}

static void region(void)
{
    ck_assert_int_eq(upmu_region_begin("r"), 0);
    ck_assert_int_eq(upmu_region_end("r"), 0);
}

#endif

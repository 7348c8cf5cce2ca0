/* SPDX-License-Identifier: MIT */
/** @file A machine for tests of core: the scripted kernel with a recorded /proc/cpuinfo and the usual PMUs. */
#ifndef UPMU_TESTS_CORE_MACHINE_H
#define UPMU_TESTS_CORE_MACHINE_H

#include "support/quick_check.h"
#include <stdio.h>
#include <stdlib.h>

#include "core/machine/machine.h"
#include "support/scripted.h"

#define TEST_DEVICES "/sys/bus/event_source/devices"

/** A kernel without anything: no CPU that is known, no PMU, no event. */
static inline void machine_bare(void)
{
    scripted_reset();
    core_kernel_use(&upmu_kernel_scripted);
    machine_forget();
}

/** An unknown CPU with a core PMU and software events; `n` counters' worth of samples are the same for every event:
 *  counted all the time, one sample for each read. */
static inline void machine_plain(const struct scripted_sample *samples, size_t n)
{
    machine_bare();
    scripted_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: NoVendor\n");
    scripted_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
    scripted_file(TEST_DEVICES "/cpu/type", "4\n");
    scripted_file(TEST_DEVICES "/software/type", "1\n");
    scripted_counter(KERNEL_TYPE_HARDWARE, SCRIPTED_ANY, samples, n);
    scripted_counter(KERNEL_TYPE_HW_CACHE, SCRIPTED_ANY, samples, n);
    scripted_counter(KERNEL_TYPE_RAW, SCRIPTED_ANY, samples, n);
    scripted_counter(KERNEL_TYPE_SOFTWARE, SCRIPTED_ANY, samples, n);
}

/** One of the recorded machines below `folder`. */
static inline void machine_recorded(const char *folder, const char *name)
{
    static char text[1 << 16];
    char path[512];
    machine_bare();
    snprintf(path, sizeof path, "%s/%s/proc/cpuinfo", folder, name);
    FILE *f = fopen(path, "re");
    ck_assert_msg(f != NULL, "no recorded machine %s", path);
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    ck_assert_uint_gt(n, 0);
    ck_assert_uint_lt(n, sizeof text - 1);
    text[n] = '\0';
    scripted_file("/proc/cpuinfo", text);
    scripted_file(TEST_DEVICES "/cpu/type", "4\n");
    scripted_file(TEST_DEVICES "/software/type", "1\n");
}

#endif

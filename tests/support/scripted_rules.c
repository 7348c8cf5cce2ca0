/* SPDX-License-Identifier: MIT */
/* Rules for opens of the scripted kernel: limits of kernels and machines that are rarely at hand. */
#include <errno.h>
#include <stdio.h>

#include "support/scripted.h"

static bool scripted_is_core_pmu(const struct kernel_open *req)
{
    return req->type == KERNEL_TYPE_HARDWARE || req->type == KERNEL_TYPE_HW_CACHE || req->type == KERNEL_TYPE_RAW;
}

int scripted_rule_deny(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)req, (void)group, (void)n;
    return -*(const int *)arg;
}

int scripted_rule_paranoid(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n;
    int paranoid = *(const int *)arg;
    bool kernel_mode = !(req->exclude & UPMU_EXCLUDE_KERNEL);
    bool whole_cpu = req->pid == -1;
    if (paranoid > 2 || (paranoid > 1 && kernel_mode) || (paranoid > 0 && whole_cpu))
        return -EACCES;
    return 0;
}

int scripted_rule_no_pmu(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n, (void)arg;
    return scripted_is_core_pmu(req) ? -ENOENT : 0;
}

int scripted_rule_no_filter(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n, (void)arg;
    return scripted_is_core_pmu(req) && req->exclude ? -EOPNOTSUPP : 0;
}

int scripted_rule_no_mixed_group(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        if ((group[i].type == KERNEL_TYPE_SOFTWARE) != (req->type == KERNEL_TYPE_SOFTWARE))
            return -EINVAL;
    return 0;
}

int scripted_rule_group_size(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    int on_counters = scripted_is_core_pmu(req);
    for (size_t i = 0; i < n; i++)
        on_counters += scripted_is_core_pmu(&group[i]);
    return on_counters > *(const int *)arg ? -EINVAL : 0;
}

int scripted_rule_core3b(const struct kernel_open *req, const struct kernel_open *group, size_t n, void *arg)
{
    (void)group, (void)n, (void)arg;
    if (!scripted_is_core_pmu(req))
        return 0;
    if (req->exclude & UPMU_EXCLUDE_HV)
        return -EINVAL;
    if ((req->exclude & UPMU_EXCLUDE_USER) && (req->exclude & UPMU_EXCLUDE_KERNEL))
        return -EOPNOTSUPP;
    if (req->type == KERNEL_TYPE_RAW) {
        bool known = req->config <= 0x00f || (req->config >= 0x100 && req->config <= 0x13d);
        return known ? 0 : -EINVAL;
    }
    if (req->type == KERNEL_TYPE_HARDWARE && req->config > 5)
        return -EINVAL;
    return 0;
}

/* The counter an event is tied to: misses to 1, everything else to 0. */
static unsigned scripted_core3b_counter(const struct kernel_open *req)
{
    if (req->type == KERNEL_TYPE_RAW)
        return (unsigned)(req->config >> 8);
    if (req->type == KERNEL_TYPE_HARDWARE)
        return req->config == 3 || req->config == 5;
    return (unsigned)(req->config >> 16) & 1;
}

bool scripted_place_core3b(const struct kernel_open *group, size_t n, void *arg)
{
    (void)arg;
    unsigned taken[2] = {0, 0};
    for (size_t i = 0; i < n; i++)
        if (scripted_is_core_pmu(&group[i]) && taken[scripted_core3b_counter(&group[i])]++)
            return false;
    return true;
}

void scripted_user(int paranoid)
{
    static int level;
    char text[16];
    level = paranoid;
    snprintf(text, sizeof text, "%d\n", paranoid);
    scripted_file("/proc/sys/kernel/perf_event_paranoid", text);
    scripted_file("/proc/self/status", "Name:\ttest\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n"
                                       "NoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n");
    scripted_file("/proc/self/uid_map", "         0          0 4294967295\n");
    scripted_rule(scripted_rule_paranoid, &level);
}

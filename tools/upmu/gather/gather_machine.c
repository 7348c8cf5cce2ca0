/* SPDX-License-Identifier: MIT */
/*
 * Files of /proc and /sys that describe the counters of a machine.
 *
 * Every file is listed; no whole tree is copied, so that no host name, network address, serial number, other process or
 * container path is included.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gather.h"
#include "ui/memory.h"

/* /proc/cpuinfo of a thousand processors is the longest. */
enum { GATHER_FILE_MAX = 4 << 20, GATHER_DEPTH = 2 };

/* ------------------------------------------------------------------------------------------------- one file */

/* @return the text with a zero byte behind it and *len bytes; NULL if it cannot be had. */
static char *gather_read_text(struct gather *g, const char *path, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t cap = 4096;

    if (fd < 0) {
        g->unreadable += errno != ENOENT && errno != ENOTDIR;
        return NULL;
    }
    char *text = memory_array(cap, 1);
    for (*len = 0;;) {
        ssize_t n = read(fd, text + *len, cap - 1 - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        if (n < 0 || cap > GATHER_FILE_MAX) {
            g->unreadable += n < 0;
            g->left_out += n > 0;
            free(text);
            close(fd);
            return NULL;
        }
        *len += (size_t)n;
        if (*len == cap - 1)
            text = memory_resize(text, cap *= 2, 1);
    }
    close(fd);
    text[*len] = '\0';
    return text;
}

static void gather_take_file(struct gather *g, const char *path)
{
    size_t len;
    char *text = gather_read_text(g, path, &len);

    if (text)
        gather_text(g, path + 1, text, len);
    free(text);
}

static void gather_take_files(struct gather *g, const char *folder, const char *const *names)
{
    for (; *names; names++) {
        char *path = memory_format("%s/%s", folder, *names);
        gather_take_file(g, path);
        free(path);
    }
}

/* Keep the lines for which `wanted` is true. */
static void gather_take_lines(struct gather *g, const char *path, bool (*wanted)(const char *line, size_t len))
{
    size_t len, kept = 0;
    char *text = gather_read_text(g, path, &len);

    if (!text)
        return;
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
        if (wanted(line, n)) {
            memmove(text + kept, line, n);
            kept += n;
        }
        line += n;
    }
    gather_text(g, path + 1, text, kept);
    free(text);
}

/* ------------------------------------------------------------------------------------------------- folders */

static int gather_name_is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int gather_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Each name in a folder, in the same order for everybody. */
static void gather_each_name(struct gather *g, const char *folder,
                             void (*each)(struct gather *g, const char *path, int depth), int depth)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, gather_name_is_visible, gather_by_name);

    if (n < 0) {
        g->unreadable += errno != ENOENT;
        return;
    }
    for (int i = 0; i < n; i++) {
        char *path = memory_format("%s/%s", folder, entries[i]->d_name);
        each(g, path, depth);
        free(path);
        free(entries[i]);
    }
    free(entries);
}

static const char *path_last_part(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* The settings of a PMU; power management and bus links do not affect counting. */
static void gather_take_pmu_part(struct gather *g, const char *path, int depth)
{
    struct stat st;

    if (lstat(path, &st) != 0 || strcmp(path_last_part(path), "power") == 0 ||
        strcmp(path_last_part(path), "uevent") == 0)
        return;
    if (S_ISREG(st.st_mode) && (st.st_mode & 0444) != 0)
        gather_take_file(g, path);
    else if (S_ISDIR(st.st_mode) && depth < GATHER_DEPTH)
        gather_each_name(g, path, gather_take_pmu_part, depth + 1);
}

/* The bus has links to the PMUs' own folders. */
static void gather_take_pmu(struct gather *g, const char *path, int depth)
{
    gather_each_name(g, path, gather_take_pmu_part, depth + 1);
}

/* ------------------------------------------------------------------------------------------------ the groups */

static bool line_has_no_serial(const char *line, size_t len)
{
    static const char *const private[] = {"serial", "uuid", "mac address"};
    char *key = memory_array(len + 1, 1);
    bool good = true;

    for (size_t i = 0; i < len && line[i] != ':'; i++)
        key[i] = (char)tolower((unsigned char)line[i]);
    for (size_t i = 0; i < sizeof private / sizeof *private; i++)
        good &= strstr(key, private[i]) == NULL;
    free(key);
    return good;
}

static void gather_take_cpuinfo(struct gather *g)
{
    gather_take_lines(g, "/proc/cpuinfo", line_has_no_serial);
}

static void gather_take_pmus(struct gather *g)
{
    gather_each_name(g, "/sys/bus/event_source/devices", gather_take_pmu, 0);
    gather_take_file(g, "/sys/kernel/tracing/events/sched/sched_switch/id");
    gather_take_file(g, "/sys/kernel/debug/tracing/events/sched/sched_switch/id");
}

static void gather_take_kernel(struct gather *g)
{
    static const char *const kernel[] = {
        "ostype",
        "osrelease",
        "perf_event_paranoid",
        "perf_event_mlock_kb",
        "perf_event_max_sample_rate",
        "perf_event_max_stack",
        "perf_cpu_time_max_percent",
        "perf_user_access",
        "nmi_watchdog",
        "kptr_restrict",
        "yama/ptrace_scope",
        "unprivileged_bpf_disabled",
        NULL,
    };
    gather_take_files(g, "/proc/sys/kernel", kernel);
    gather_take_file(g, "/proc/sys/fs/file-max");
}

static bool line_is_of_rights(const char *line, size_t len)
{
    static const char *const fields[] = {"Uid:",     "Gid:",           "Cap",
                                         "Seccomp",  "NoNewPrivs:",    "Cpus_allowed_list:",
                                         "Threads:", "Mems_allowed_l", "Speculation"};
    (void)len;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strncmp(line, fields[i], strlen(fields[i])) == 0)
            return true;
    return false;
}

/* The limits of our control group, without its path, which may contain the name of a container or a user. */
static void gather_take_cgroup(struct gather *g)
{
    static const char *const names[] = {"cpu.max",    "cpu.weight",  "cpuset.cpus.effective",
                                        "memory.max", "memory.high", "pids.max"};
    size_t len;
    char *text = gather_read_text(g, "/proc/self/cgroup", &len);
    char *own = text ? strstr(text, "0::/") : NULL;

    if (own)
        own[strcspn(own, "\n")] = '\0';
    for (size_t i = 0; own && i < sizeof names / sizeof *names; i++) {
        char *path = memory_format("/sys/fs/cgroup%s/%s", own + strlen("0::"), names[i]);
        char *limit = gather_read_text(g, path, &len);
        char *name = memory_format("sys/fs/cgroup/%s", names[i]);
        if (limit)
            gather_text(g, name, limit, len);
        free(name);
        free(limit);
        free(path);
    }
    free(text);
}

static void gather_take_rights(struct gather *g)
{
    gather_take_lines(g, "/proc/self/status", line_is_of_rights);
    gather_take_file(g, "/proc/self/limits");
    gather_take_file(g, "/proc/self/uid_map");
    gather_take_cgroup(g);
}

static void gather_take_cache(struct gather *g, const char *path, int depth)
{
    static const char *const facts[] = {
        "level",           "type", "size", "ways_of_associativity", "coherency_line_size", "number_of_sets",
        "shared_cpu_list", NULL};
    (void)depth;
    if (strncmp(path_last_part(path), "index", 5) == 0)
        gather_take_files(g, path, facts);
}

static void gather_take_processor(struct gather *g, const char *path, int depth)
{
    static const char *const facts[] = {"topology/core_id",
                                        "topology/physical_package_id",
                                        "topology/die_id",
                                        "topology/cluster_id",
                                        "topology/thread_siblings_list",
                                        "regs/identification/midr_el1",
                                        "cpu_capacity",
                                        "cpufreq/scaling_driver",
                                        "cpufreq/scaling_governor",
                                        "cpufreq/cpuinfo_min_freq",
                                        "cpufreq/cpuinfo_max_freq",
                                        NULL};
    const char *name = path_last_part(path);

    if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)name[3]))
        return;
    gather_take_files(g, path, facts);
    char *caches = memory_format("%s/cache", path);
    gather_each_name(g, caches, gather_take_cache, depth + 1);
    free(caches);
}

static void gather_take_node(struct gather *g, const char *path, int depth)
{
    static const char *const facts[] = {"cpulist", "distance", NULL};

    (void)depth;
    if (strncmp(path_last_part(path), "node", 4) == 0)
        gather_take_files(g, path, facts);
}

static void gather_take_topology(struct gather *g)
{
    static const char *const facts[] = {"online",     "possible",    "present",    "offline", "isolated",
                                        "smt/active", "smt/control", "kernel_max", NULL};
    static const char *const clocks[] = {"current_clocksource", "available_clocksource", NULL};

    gather_take_files(g, "/sys/devices/system/cpu", facts);
    gather_each_name(g, "/sys/devices/system/cpu", gather_take_processor, 0);
    gather_each_name(g, "/sys/devices/system/node", gather_take_node, 0);
    gather_take_files(g, "/sys/devices/system/clocksource/clocksource0", clocks);
    gather_take_file(g, "/sys/hypervisor/type");
}

const struct gather_group gather_groups[] = {
    {"the CPU as the kernel describes it (/proc/cpuinfo)", "lines with serial numbers", gather_take_cpuinfo},
    {"the kernel's PMUs (/sys/bus/event_source): types, formats, events, CPUs, caps", "power management",
     gather_take_pmus},
    {"the kernel's version and its settings of perf", "boot id, host name, command line", gather_take_kernel},
    {"rights and limits of this process and its container", "names, process ids, the container's path",
     gather_take_rights},
    {"CPUs, caches, memory nodes and clocks", "", gather_take_topology},
    {NULL, NULL, NULL},
};

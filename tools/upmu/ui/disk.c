/* SPDX-License-Identifier: MIT */
/* Disk space that a recording occupies, and memory that the recorder had. */
#include "ui/disk.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ui/memory.h"
#include "upmu/trace.h"

enum { BLOCK_BYTES = 512, DESCRIPTORS = 8 };

static uint64_t disk_sum; /* nftw() has no argument for it */

static int disk_add(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)path, (void)at;
    disk_sum += type == FTW_NS ? 0 : (uint64_t)st->st_blocks * BLOCK_BYTES;
    return 0;
}

uint64_t disk_bytes(const char *dir)
{
    disk_sum = 0;
    return nftw(dir, disk_add, DESCRIPTORS, FTW_PHYS) == 0 ? disk_sum : UINT64_MAX;
}

char *disk_size(double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    for (; bytes >= 1024 && i + 1 < sizeof units / sizeof *units; i++)
        bytes /= 1024;
    return memory_format("%.4g %s", bytes, units[i]);
}

char *disk_text(uint64_t bytes, size_t n_threads, uint64_t ns)
{
    const double hour = 3600e9, second = 1e9;
    char *all = disk_size((double)bytes), *each = disk_size((double)bytes / (double)(n_threads ? n_threads : 1));
    char *hourly = disk_size((double)bytes * hour / (double)(ns ? ns : 1));
    char *text = memory_format("%s, %s per thread%s%s%s", all, each, (double)ns >= second ? ", " : "",
                               (double)ns >= second ? hourly : "", (double)ns >= second ? " per hour" : "");
    free(all);
    free(each);
    free(hourly);
    return text;
}

char *disk_memory_text(const char *dir)
{
    struct upmu_trace *trace;
    uint64_t bytes = 0, threads = 0;
    size_t known = 0, n = 0;
    if (upmu_trace_open(&trace, dir) != 0)
        return NULL; /* the report has the reason */
    for (; n < upmu_trace_process_count(trace); n++) {
        struct upmu_trace_process p = UPMU_INIT(struct upmu_trace_process);
        if (upmu_trace_process_at(trace, n, &p) != 0 || p.memory_bytes == 0)
            continue;
        known++;
        bytes += p.memory_bytes;
        threads += p.memory_threads;
    }
    upmu_trace_close(trace);
    if (known == 0)
        return NULL;
    char *all = disk_size((double)bytes), *each = disk_size((double)bytes / (double)(threads ? threads : 1));
    char *of = known < n ? memory_format(" in %zu of %zu processes", known, n) : memory_copy("");
    char *text = threads ? memory_format("%s%s, %s per thread", all, of, each) : memory_format("%s%s", all, of);
    free(all);
    free(each);
    free(of);
    return text;
}

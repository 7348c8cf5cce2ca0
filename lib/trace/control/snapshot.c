/* SPDX-License-Identifier: MIT */
/*
 * Snapshots of a recording.
 *
 * The files are copied into a directory beside the final one, which is renamed when it is complete.
 */
#include "upmu/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/process/host_clock.h"
#include "base/tick.h"
#include "trace/control/snapshot.h"
#include "trace/read/packets.h"
#include "upmu/region.h"
#include "upmu/trace.h"

#define SNAPSHOT_PART ".part" /* ends the name of one that is not complete */

static struct snapshot_cut cut_now(void)
{
    struct timespec real;
    struct snapshot_cut cut = {.raw_ns = host_clock_raw_ns()};
    clock_gettime(CLOCK_REALTIME, &real);
    cut.real_ns = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
#ifdef TICK_ISA_NAME
    cut.tick = tick_isa();
#endif
    return cut;
}

/* ------------------------------------------------------------------------------------------------- processes */

static void snapshot_process_free(struct snapshot_process *p)
{
    free(p->to);
    free(p->text);
    free(p->waits.versions);
    path_list_free(&p->streams);
    meta_free(&p->meta);
    *p = (struct snapshot_process){.from = NULL};
}

/* What is read before the cut. */
static int snapshot_process_open(struct snapshot_process *p, const char *from, const char *part)
{
    const char *name = strrchr(from, '/');
    *p = (struct snapshot_process){.from = from};
    int rc = recording_metadata(from, &p->meta, &p->text, &p->text_len);
    if (rc == 0 && asprintf(&p->to, "%s/%s", part, name ? name + 1 : from) < 0) {
        p->to = NULL;
        rc = upmu_fail(UPMU_E_NOMEM, "out of memory for a path");
    }
    return rc == 0 ? snapshot_waits_read(p) : rc;
}

/* The metadata is last: a directory without it is not a trace. */
static int snapshot_process_copy(struct snapshot_process *p, const struct snapshot_cut *cut, const char *reason,
                                 struct upmu_snapshot *out)
{
    int rc = recording_streams(p->from, &p->streams);
    if (rc == 0)
        rc = snapshot_streams(p, cut, out);
    if (rc == 0)
        rc = snapshot_files(p, out);
    return rc == 0 ? snapshot_metadata(p, reason, out) : rc;
}

static int snapshot_processes(struct snapshot_process *all, size_t n, const char *reason, struct upmu_snapshot *out)
{
    struct snapshot_cut cut = cut_now();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (mkdir(all[i].to, 0700) != 0)
            return snapshot_write_failed(all[i].to, errno);
        rc = snapshot_waits_write(&all[i], &cut, out); /* all before any stream: close to the cut */
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = snapshot_process_copy(&all[i], &cut, reason, out);
    out->took_ns = host_clock_raw_ns() - cut.raw_ns;
    out->processes = (uint32_t)n;
    return rc;
}

static int snapshot_fill(const struct path_list *from, const char *part, const char *reason, struct upmu_snapshot *out)
{
    struct snapshot_process *all = calloc(from->n, sizeof *all);
    size_t opened = 0;
    int rc = 0;
    if (!all)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for a snapshot");
    while (rc == 0 && opened < from->n) {
        rc = snapshot_process_open(&all[opened], from->paths[opened], part);
        opened++;
    }
    if (rc == 0)
        rc = snapshot_processes(all, from->n, reason, out);
    while (opened > 0)
        snapshot_process_free(&all[--opened]);
    free(all);
    return rc;
}

/* --------------------------------------------------------------------------------------------------- directory */

/* Remove a directory of files and directories of files. */
static void snapshot_remove(const char *dir, int depth)
{
    const struct dirent *e;
    DIR *d = opendir(dir);
    while (d && (e = readdir(d))) {
        char *path = NULL;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || asprintf(&path, "%s/%s", dir, e->d_name) < 0)
            continue;
        if (unlink(path) != 0 && depth > 0)
            snapshot_remove(path, depth - 1);
        free(path);
    }
    if (d)
        closedir(d);
    (void)rmdir(dir); /* what is left is seen by the user: the snapshot has failed in any case */
}

static int snapshot_check_target(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : snapshot_write_failed(path, errno);
    if (rmdir(path) == 0)
        return 0;
    return upmu_fail(UPMU_E_IO, "cannot write the snapshot \"%s\": %s. Give a new or empty directory.", path,
                     strerrordesc_np(errno));
}

static int snapshot_write(const char *recording, const char *path, const char *part, const char *reason,
                          struct upmu_snapshot *out)
{
    struct path_list from;
    struct upmu_trace_repair_result repair = {.size = sizeof repair};
    int rc = recording_processes(recording, &from);
    if (rc != 0)
        return rc;
    if (mkdir(part, 0700) != 0) {
        rc = snapshot_write_failed(part, errno);
    } else {
        rc = snapshot_fill(&from, part, reason, out);
        if (rc == 0) /* the clock, fitted to the packets, for readers that do not fit it themselves */
            rc = upmu_trace_repair(part, &repair);
        if (rc == 0 && rename(part, path) != 0)
            rc = snapshot_write_failed(path, errno);
        if (rc != 0)
            snapshot_remove(part, 1);
    }
    path_list_free(&from);
    return rc;
}

int upmu_snapshot_take(const char *recording, const char *path, const char *reason, struct upmu_snapshot *out)
{
    char *part = NULL;
    if (!recording || !path || !out)
        return argument_null(__func__, !recording ? "recording" : !path ? "path" : "out");
    if (reason && strlen(reason) > UPMU_REGION_NAME_MAX)
        return upmu_fail(UPMU_E_INVAL, "upmu_snapshot_take: `reason` has %zu bytes, at most %d are possible",
                         strlen(reason), UPMU_REGION_NAME_MAX);
    struct upmu_snapshot done = {.path = path, .reason = reason ? reason : "requested"};
    int rc = OPTS_CHECK(out, UPMU_SNAPSHOT_SIZE_V1);
    if (rc == 0)
        rc = snapshot_check_target(path);
    if (rc != 0)
        return rc;
    if (asprintf(&part, "%s" SNAPSHOT_PART, path) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for a path");
    rc = snapshot_write(recording, path, part, done.reason, &done);
    free(part);
    return rc == 0 ? OPTS_GIVE(out, done, UPMU_SNAPSHOT_SIZE_V1) : rc;
}

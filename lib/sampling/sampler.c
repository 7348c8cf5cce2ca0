/* SPDX-License-Identifier: MIT */
/* Public functions of samplers, and the file that they write. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/process/host_clock.h"
#include "sampling/sampling.h"

enum { INTERVAL_FIRST_MS = 10, INTERVAL_FIRST_CALLS_MS = 1 };

static int sampler_create_file(struct upmu_sampler *s, const char *dir)
{
    char path[PATH_MAX];
    struct timespec now;
    if (snprintf(path, sizeof path, "%s/" SAMPLING_FILE, dir) >= (int)sizeof path)
        return upmu_fail(UPMU_E_IO, "the path of the directory is too long");
    s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (s->fd < 0)
        return upmu_fail(UPMU_E_IO, "cannot create %s: %s", path, strerror(errno));
    memcpy(s->header.magic, SAMPLING_MAGIC, sizeof s->header.magic);
    s->header.version = SAMPLING_VERSION;
    s->header.header_bytes = sizeof s->header;
    s->header.source = SAMPLING_PERF;
    s->header.raw_ns = host_clock_raw_ns();
    clock_gettime(CLOCK_REALTIME, &now);
    s->header.realtime_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    s->offset = sizeof s->header;
    sampling_write_header(s);
    if (!s->write_failed) {
        sampling_save_vdso(dir);
        return 0;
    }
    (void)unlink(path); /* without a header it is not a samples file */
    return upmu_fail(UPMU_E_IO, "cannot write %s: %s", path, strerror(errno));
}

static int sampler_start(struct upmu_sampler *s, const char *dir, const struct upmu_sampler_opts *opts)
{
    int rc = sampling_event(s, opts);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    if (rc != 0)
        return rc;
    s->n_rings = cpus > 0 ? (size_t)cpus : 1;
    s->rings = calloc(s->n_rings, sizeof *s->rings);
    if (s->timed)
        sampling_calibrate(s);
    return s->rings ? sampler_create_file(s, dir) : upmu_fail(UPMU_E_NOMEM, "out of memory for a sampler");
}

int upmu_sampler_open(struct upmu_sampler **sampler, const char *dir, const struct upmu_sampler_opts *opts)
{
    struct upmu_sampler_opts ours;
    if (!sampler || !dir)
        return ARGUMENT_NULL(sampler, dir);
    *sampler = NULL;
    int rc = OPTS_TAKE(ours, opts, UPMU_SAMPLER_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    struct upmu_sampler *s = calloc(1, sizeof *s);
    if (!s)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for a sampler");
    s->fd = -1;
    rc = sampler_start(s, dir, &ours);
    s->interval_ms = s->uprobe[0] ? INTERVAL_FIRST_CALLS_MS : INTERVAL_FIRST_MS;
    if (rc == 0)
        *sampler = s;
    else
        (void)upmu_sampler_close(s, NULL);
    return rc;
}

/* A descriptor per thread and CPU: the soft limit is for select(), which nothing here uses. */
static void sampler_raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* a lower limit is reported by the events that do not open */
    }
}

int upmu_sampler_attach(struct upmu_sampler *sampler, pid_t pid, int begin)
{
    if (!sampler)
        return argument_null(__func__, "sampler");
    if (begin != UPMU_SAMPLER_AT_EXEC && begin != UPMU_SAMPLER_RUNNING)
        return upmu_fail(UPMU_E_INVAL, "upmu_sampler_attach: `begin` is %d, which is not in enum upmu_sampler_begin",
                         begin);
    int rc;
    if (begin == UPMU_SAMPLER_AT_EXEC) {
        rc = sampling_attach_thread(sampler, pid, true);
    } else {
        sampler_raise_descriptors();
        sampler->header.flags |= SAMPLING_ATTACHED;
        rc = sampling_attach_running(sampler, pid);
        if (rc == 0)
            rc = sampling_describe(sampler, pid);
    }
    if (rc == 0)
        return 0;
    if (rc == -EPERM && sampler->n_events > 0 && !sampler->rings[0].page)
        return upmu_fail(UPMU_E_MLOCK, "cannot lock memory for the sample rings (EPERM). Raise "
                                       "kernel.perf_event_mlock_kb or ulimit -l");
    return sampling_refused(sampler, -rc);
}

int upmu_sampler_drain(struct upmu_sampler *sampler)
{
    if (!sampler)
        return argument_null(__func__, "sampler");
    sampling_rings_drain(sampler);
    return sampler->write_failed ? upmu_fail(UPMU_E_IO, "samples cannot be written: %s", strerror(errno))
                                 : sampler->interval_ms;
}

/* The count of all threads; inherited events are added to the event they come from. */
static uint64_t sampler_count(const struct upmu_sampler *s)
{
    uint64_t sum = 0, count;
    for (size_t i = 0; i < s->n_events; i += s->timed ? 2 : 1)
        if (read(s->events[i], &count, sizeof count) == (ssize_t)sizeof count)
            sum += count;
    return sum;
}

static void sampler_finish(struct upmu_sampler *s)
{
    for (size_t i = 0; i < s->n_events; i++)
        (void)ioctl(s->events[i], PERF_EVENT_IOC_DISABLE, 0); /* its threads may have ended: nothing left to disable */
    sampling_rings_drain(s);
    s->header.count = sampler_count(s);
    s->header.flags |= SAMPLING_ENDED;
    sampling_write_header(s);
}

int upmu_sampler_close(struct upmu_sampler *s, struct upmu_sampler_result *result)
{
    int rc = 0;
    if (!s)
        return 0;
    if (s->fd >= 0)
        sampler_finish(s);
    const struct upmu_sampler_result ours = {
        .samples = s->samples, .lost = s->lost, .unwritten = s->header.unwritten, .count = s->header.count};
    if (s->write_failed)
        rc = upmu_fail(UPMU_E_IO, "a part of the samples could not be written");
    if (result) {
        int given = OPTS_GIVE(result, ours, UPMU_SAMPLER_RESULT_SIZE_V1);
        rc = rc == 0 ? given : rc;
    }
    sampling_rings_unmap(s);
    for (size_t i = 0; i < s->n_events; i++)
        close(s->events[i]);
    if (s->fd >= 0 && close(s->fd) != 0 && rc == 0)
        rc = upmu_fail(UPMU_E_IO, "samples cannot be written: %s", strerror(errno));
    map_free(&s->forked);
    sampling_unpin_all(s);
    sampling_uprobe_end(s);
    free(s->events);
    free(s->rings);
    free(s);
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* Export to a file, a device or a descriptor, with progress and warnings. */
#include "export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ui/command.h"
#include "ui/output.h"
#include "ui/progress.h"
#include "upmu/upmu.h"

/* ---------------------------------------------------------------------------------------------------- writing */

static void export_report_damage(void *arg, const char *message)
{
    (void)arg;
    complain("%s", message);
}

/* What else a format left out, and how to get it. */
static const char *export_limits(const char *format)
{
    if (strcmp(format, "chrome") == 0 || strcmp(format, "perfetto") == 0 || strcmp(format, "firefox") == 0)
        return ", 262144 regions and waits (the longest are kept), and as many of each: marks, counter values, arrows; "
               "--from and --to export a part of the recording";
    return strcmp(format, "tasks") == 0 || strcmp(format, "gcc") == 0 ? " and 200 lines" : "";
}

/* @param written out: the output is complete, except for damaged parts of the recording */
static int export_write_to(const struct export_order *q, int fd, bool *written)
{
    struct upmu_export_opts opts = q->opts;
    struct upmu_export_result result = {.size = sizeof result};
    struct progress progress;
    opts.size = sizeof opts;
    opts.progress = progress_begin(&progress);
    opts.arg = &progress;
    opts.damage = export_report_damage;
    int rc = upmu_export(q->dir, q->format, fd, &opts, &result);
    *written = rc == 0;
    progress_end(&progress);
    if (rc < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    if (result.lost)
        complain("%" PRIu64 " events were lost while recording", result.lost);
    if (result.omitted)
        complain("%" PRIu64 " items were left out: viewers accept at most 512 levels%s", result.omitted,
                 export_limits(q->format));
    if (result.without_number)
        complain(
            "%" PRIu64
            " counters of regions have no value, or are not those of the first process: the sums do not include them",
            result.without_number);
    if (result.damages)
        complain("%" PRIu64 " damaged parts of the recording could not be read; the rest is exported", result.damages);
    return result.damages ? EXIT_FAILED : EXIT_OK;
}

int export_to(const struct export_order *q, int fd)
{
    bool written;
    return export_write_to(q, fd, &written);
}

/* A device or a pipe is written to as it is. */
static int export_to_device(const struct export_order *q)
{
    int fd = open(q->output, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        complain("cannot write %s: %s", q->output, strerror(errno));
        return EXIT_FAILED;
    }
    int status = export_to(q, fd);
    return close(fd) == 0 ? status : EXIT_FAILED;
}

/* A file is made beside its name and takes it when it is whole: a failed export leaves no half of one. What could be read
 * of a damaged recording is whole. */
int export_to_file(const struct export_order *q)
{
    char temporary[PATH_MAX + 32], real[PATH_MAX];
    struct stat st;
    if (output_is_standard(q->output))
        return export_to(q, STDOUT_FILENO);
    if (stat(q->output, &st) == 0 && !S_ISREG(st.st_mode))
        return export_to_device(q);
    const char *target = realpath(q->output, real) ? real : q->output; /* a link stays one */
    int n = snprintf(temporary, sizeof temporary, "%s.upmu-%ld", target, (long)getpid());
    int fd = n < (int)sizeof temporary ? open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                                       : (errno = ENAMETOOLONG, -1);
    if (fd < 0) {
        complain("cannot write %s: %s", q->output, strerror(errno));
        return EXIT_FAILED;
    }
    bool written;
    int status = export_write_to(q, fd, &written);
    bool closed = close(fd) == 0;
    if (written && (!closed || rename(temporary, target) != 0)) {
        complain("cannot write %s: %s", q->output, strerror(errno));
        status = EXIT_FAILED;
        written = false;
    }
    if (!written)
        (void)unlink(temporary);
    return status;
}

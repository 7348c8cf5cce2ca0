/* SPDX-License-Identifier: MIT */
/* Start, stop and selection of functions in a running process. */
#include "trace/control/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/process/host_clock.h"
#include "base/tick.h"
#include "func/format/switch.h"
#include "trace/control/control_file.h"
#include "trace/control/process.h"
#include "trace/read/packets.h"

struct switch_file {
    struct func_switch *control; /**< NULL: not mapped */
    uint32_t *gate;
};

static int switch_map_fd(struct switch_file *f, const char *path, int fd, int protection)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return packets_io_failed(path, errno);
    if (!S_ISREG(st.st_mode) || st.st_size < FUNC_SWITCH_BYTES)
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a switch of functions", path);
    void *p = mmap(NULL, FUNC_SWITCH_BYTES, protection, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return packets_io_failed(path, errno);
    f->control = p;
    if (!func_switch_is_valid(f->control, FUNC_SWITCH_BYTES))
        return upmu_fail(UPMU_E_FORMAT, "\"%s\" is not a switch of functions that this libupmu reads", path);
    f->gate = func_switch_gate(f->control);
    return f->gate ? 0
                   : upmu_fail(UPMU_E_STATE,
                               "\"%s\": only the process itself can stop recording of functions, because "
                               "its page of the switch could not be mapped",
                               path);
}

static void switch_unmap(struct switch_file *f)
{
    if (f->control)
        munmap(f->control, FUNC_SWITCH_BYTES);
}

/* @return 0; UPMU_E_STATE (no functions), UPMU_E_PERM, UPMU_E_FORMAT, UPMU_E_IO, UPMU_E_NOMEM. */
static int switch_map(struct switch_file *f, const char *dir, bool write)
{
    char *path = NULL;
    *f = (struct switch_file){0};
    if (asprintf(&path, "%s/" FUNC_SWITCH_FILE, dir) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the path of the switch in \"%s\"", dir);
    int fd = open(path, (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), rc;
    if (fd >= 0)
        rc = switch_map_fd(f, path, fd, write ? PROT_READ | PROT_WRITE : PROT_READ);
    else if (errno == ENOENT)
        rc = upmu_fail(UPMU_E_STATE,
                       "functions are not recorded in the process of \"%s\": start it with \"upmu record --functions\"",
                       dir);
    else
        rc = packets_io_failed(path, errno);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

int32_t control_functions_status(const char *dir)
{
    struct switch_file f;
    int32_t state = UPMU_CONTROL_FUNCTIONS_NONE;
    if (switch_map(&f, dir, false) == 0)
        state = __atomic_load_n(f.gate, __ATOMIC_ACQUIRE) & FUNC_KIND ? UPMU_CONTROL_FUNCTIONS_ON
                                                                      : UPMU_CONTROL_FUNCTIONS_STOPPED;
    switch_unmap(&f);
    return state;
}

/* Now, on the clock of the recording. */
static uint64_t switch_tick(const struct func_switch *s)
{
#ifdef TICK_ISA_NAME
    if (s->kind == FUNC_ON_ISA)
        return tick_isa();
#endif
    return s->kind == FUNC_ON_PORTABLE ? host_clock_raw_ns() : 0; /* 0: at the last return */
}

/* What is done with the switch of a process; `dir` is its directory. */
typedef int switch_act(struct switch_file *f, const char *dir, void *arg);

static int switch_change(const char *function, const struct upmu_control *control, size_t index, switch_act *act,
                         void *arg)
{
    const char *dir = NULL;
    struct control_header *h = NULL;
    struct switch_file f = {0};
    int rc = control_map_running(function, control, index, &dir, &h);
    if (rc != 0 || !h || !dir)
        return rc;
    rc = switch_map(&f, dir, true);
    if (rc == 0 && f.control)
        rc = act(&f, dir, arg);
    switch_unmap(&f);
    control_file_unmap(h);
    return rc;
}

static int switch_start(struct switch_file *f, const char *dir, void *arg)
{
    (void)dir;
    (void)arg;
    (void)func_switch_on(f->control, f->gate);
    return 0;
}

static int switch_stop(struct switch_file *f, const char *dir, void *arg)
{
    (void)dir;
    (void)arg;
    (void)func_switch_off(f->control, f->gate, switch_tick(f->control));
    return 0;
}

static int switch_select(struct switch_file *f, const char *dir, void *arg)
{
    int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0)
        return packets_io_failed(dir, errno);
    int rc = flock(dirfd, LOCK_EX) != 0 ? packets_io_failed(dir, errno)
                                        : func_switch_select(f->control, f->gate, arg, switch_tick(f->control));
    close(dirfd);
    return rc;
}

int upmu_control_functions_start(const struct upmu_control *control, size_t index)
{
    return switch_change(__func__, control, index, switch_start, NULL);
}

int upmu_control_functions_stop(const struct upmu_control *control, size_t index)
{
    return switch_change(__func__, control, index, switch_stop, NULL);
}

int upmu_control_functions_select(const struct upmu_control *control, size_t index,
                                  const struct upmu_func_selection *selection)
{
    struct upmu_func_selection s;
    if (!control || !selection)
        return ARGUMENT_NULL(control, selection);
    int rc = OPTS_TAKE(s, selection, UPMU_FUNC_SELECTION_SIZE_V1);
    struct func_selection_change change = {s.include, s.exclude, s.below, s.depth, s.min_ns};
    return rc < 0 ? rc : switch_change(__func__, control, index, switch_select, &change);
}

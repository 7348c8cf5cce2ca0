/* SPDX-License-Identifier: MIT */
/*
 * Calls of functions as a sampled event, by the kernel's uprobes: "uprobe:FILE:FUNCTION", and until their ends "uprobe-time:FILE:FUNCTION".
 *
 * The kernel puts a breakpoint at the function's first instruction in all processes that map the file while the event is open. The
 * event is a tracepoint, defined in tracefs. The kernel's other way, an event source whose configuration has the address of a path,
 * cannot be inherited: new threads and processes of the program would read the path at that address, and fail.
 *
 * The end of a call is a probe at each instruction by which its function ends. The kernel's own way (uretprobe) puts an address of its
 * own in place of the return address: a program that throws an exception through the function would end, coroutines fail, and of a
 * recursion 64 calls are followed.
 *
 * tracefs need not be mounted: it is opened without being visible in any folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sampling/sampling.h"
#include "sampling/targets.h"

#define UPROBE_PREFIX "uprobe:"
#define TIMED_PREFIX "uprobe-time:"
#define UPROBE_NAME "upmu/%s_%s"
#define CALLS "calls"
#define EXITS "exits"
#define TRACEFS "/sys/kernel/tracing"
#define DEFINITIONS "uprobe_events"

enum { UPROBE_NOT_SUPPORTED = 524 }; /* ENOTSUPP of the kernel, which C libraries do not name */

static bool uprobe_is_timed(const char *event)
{
    return strncmp(event, TIMED_PREFIX, strlen(TIMED_PREFIX)) == 0;
}

bool sampling_is_uprobe(const char *event)
{
    return strncmp(event, UPROBE_PREFIX, strlen(UPROBE_PREFIX)) == 0 || uprobe_is_timed(event);
}

/* A mount of tracefs that only this process sees. @return a descriptor, or -1 with errno. */
static int uprobe_tracefs_mount(void)
{
#if defined(SYS_fsopen) && defined(SYS_fsmount)
    enum { CLOSE_ON_EXEC = 1, CREATE = 6 }; /* FSOPEN_CLOEXEC and FSMOUNT_CLOEXEC, FSCONFIG_CMD_CREATE */
    int fs = (int)syscall(SYS_fsopen, "tracefs", CLOSE_ON_EXEC);
    if (fs < 0)
        return -1;
    int folder =
        syscall(SYS_fsconfig, fs, CREATE, NULL, NULL, 0) == 0 ? (int)syscall(SYS_fsmount, fs, CLOSE_ON_EXEC, 0) : -1;
    int err = errno;
    close(fs);
    errno = err;
    return folder;
#else
    errno = ENOSYS;
    return -1;
#endif
}

/* The folder of tracefs. @return a descriptor, or -1 with errno. */
static int uprobe_tracefs(void)
{
    int folder = open(TRACEFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && faccessat(folder, DEFINITIONS, F_OK, 0) == 0)
        return folder;
    if (folder >= 0)
        close(folder);
    return uprobe_tracefs_mount();
}

/* Add or remove a definition. @return 0 or errno. */
static int uprobe_write(int folder, const char *text)
{
    int fd = openat(folder, DEFINITIONS, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int err = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return err;
}

/* The tracepoint's number; -1. */
static int uprobe_id(int folder, const char *name)
{
    char path[128], text[16] = "";
    snprintf(path, sizeof path, "events/%s/id", name);
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 ? atoi(text) : -1;
}

/* A name without a slash is that of a library, in the folders where they are installed. @return the path, to be freed; NULL */
static char *uprobe_path(const char *name)
{
    static const char *const folders[] = {
        "/lib/*-linux-*", "/usr/lib/*-linux-*", "/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    char *found = strchr(name, '/') ? realpath(name, NULL) : NULL;
    for (size_t i = 0; !found && !strchr(name, '/') && i < sizeof folders / sizeof *folders; i++) {
        char pattern[PATH_MAX];
        glob_t g;
        if (snprintf(pattern, sizeof pattern, "%s/%s", folders[i], name) >= (int)sizeof pattern)
            return NULL;
        if (glob(pattern, 0, NULL, &g) == 0 && g.gl_pathc > 0)
            found = realpath(g.gl_pathv[0], NULL);
        globfree(&g);
    }
    return found;
}

static int uprobe_refused(const char *event, int err)
{
    switch (err) {
    case EACCES:
    case EPERM:
        return upmu_fail(UPMU_E_PERM, "%s is refused (%s): uprobes need root", event, strerror(err));
    case ENODEV:
    case ENOENT:
        return upmu_fail(UPMU_E_UNSUPPORTED, "this kernel has no uprobes: it was built without CONFIG_UPROBE_EVENTS");
    default:
        return upmu_fail(UPMU_E_SYSTEM, "%s cannot be defined: %s", event, strerror(err));
    }
}

/* Define a tracepoint of calls or exits. @return its number, or a negative code. */
static int uprobe_define(const struct upmu_sampler *s, int folder, const char *kind, const char *path,
                         const struct targets *t)
{
    bool exits = kind[0] == EXITS[0];
    const struct target *all = exits ? t->exits : t->entries;
    size_t n = exits ? t->n_exits : t->n_entries;
    char name[sizeof s->uprobe + 16], text[PATH_MAX + 128];
    snprintf(name, sizeof name, UPROBE_NAME, kind, s->uprobe);
    for (size_t i = 0; i < n; i++) { /* several probes of one name are one tracepoint */
        snprintf(text, sizeof text, "p:%s %s:0x%llx%s%s%s\n", name, path, (unsigned long long)all[i].offset,
                 s->timed ? " stack=$stack" : "", exits ? " exit=" : "",
                 !exits         ? ""
                 : all[i].jumps ? t->address
                                : "$stack");
        int err = uprobe_write(folder, text);
        if (err != 0)
            return uprobe_refused(s->header.event, err);
    }
    int id = uprobe_id(folder, name);
    return id < 0 ? uprobe_refused(s->header.event, EIO) : id;
}

int sampling_uprobe_define(struct upmu_sampler *s, const char *event, const char *path, const struct targets *t)
{
    static uint32_t number; /* several samplers of a process */
    int folder = uprobe_tracefs();
    if (folder < 0)
        return uprobe_refused(event, errno);
    snprintf(s->header.event, sizeof s->header.event, "%s", event);
    snprintf(s->uprobe, sizeof s->uprobe, "%d_%u", (int)getpid(), __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
    int calls = uprobe_define(s, folder, CALLS, path, t);
    int exits = calls >= 0 && s->timed ? uprobe_define(s, folder, EXITS, path, t) : 0;
    close(folder);
    if (calls < 0 || exits < 0)
        return calls < 0 ? calls : exits;
    s->attr.type = PERF_TYPE_TRACEPOINT;
    s->attr.config = (uint32_t)calls;
    s->exit_attr.config = (uint32_t)exits;
    return 0;
}

/* Open the events of a tracepoint for this thread. @return 0 or errno. */
static int uprobe_try_tracepoint(uint64_t config)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof attr, .config = config, .disabled = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* The kernel looks at an instruction when a process has mapped it, and does not report a refusal to a process that maps it later: this
 * one maps it first. Of several functions, one that is refused is left without samples. */
static int uprobe_try(const struct upmu_sampler *s, const char *path, const char *function, const struct targets *t)
{
    struct stat st;
    int fd = t->n_entries == 1 ? open(path, O_RDONLY | O_CLOEXEC) : -1, calls = 0, exits = 0;
    void *code =
        fd >= 0 && fstat(fd, &st) == 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (code != MAP_FAILED) {
        calls = uprobe_try_tracepoint(s->attr.config);
        exits = s->timed ? uprobe_try_tracepoint(s->exit_attr.config) : 0;
        munmap(code, (size_t)st.st_size);
    }
    if (fd >= 0)
        close(fd);
    if (calls == EINVAL || calls == UPROBE_NOT_SUPPORTED)
        return upmu_fail(
            UPMU_E_UNSUPPORTED,
            "%s: this kernel puts no probe on the first instruction of %s. Select a function that calls it", path,
            function);
    if (exits == EINVAL || exits == UPROBE_NOT_SUPPORTED)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "%s: this kernel puts no probe on an instruction by which %s returns. Count its calls: "
                         "uprobe:FILE:FUNCTION",
                         path, function);
    return 0;
}

int sampling_uprobe(struct upmu_sampler *s, const char *event)
{
    const char *file = strchr(event, ':') + 1, *function = strrchr(file, ':');
    struct targets found = {.entries = NULL};
    if (!function || function == file || !function[1])
        return upmu_fail(UPMU_E_NAME, "'%s' is no uprobe. Use uprobe:FILE:FUNCTION, such as uprobe:libc.so.6:malloc",
                         event);
    s->timed = uprobe_is_timed(event);
    char *name = strndup(file, (size_t)(function - file));
    char *path = name ? uprobe_path(name) : NULL;
    int rc = path ? targets_find(&found, path, function + 1, s->timed)
                  : upmu_fail(UPMU_E_NAME, "there is no file %s", name ? name : "");
    if (rc == 0)
        rc = sampling_uprobe_define(s, event, path, &found);
    if (rc == 0)
        rc = uprobe_try(s, path, function + 1, &found);
    s->stepped = !found.emulated;
    targets_free(&found);
    free(name);
    free(path);
    return rc;
}

void sampling_uprobe_end(struct upmu_sampler *s)
{
    static const char *const kinds[] = {CALLS, EXITS};
    char text[sizeof s->uprobe + 24];
    int folder = s->uprobe[0] ? uprobe_tracefs() : -1;
    if (folder < 0)
        return;
    for (int i = 0; i <= s->timed; i++) {
        snprintf(text, sizeof text, "-:" UPROBE_NAME "\n", kinds[i], s->uprobe);
        (void)uprobe_write(folder, text); /* what is left of a definition has no effect */
    }
    close(folder);
}

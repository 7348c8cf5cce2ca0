/* SPDX-License-Identifier: MIT */
/*
 * Small files and directories of /proc and /sys, or of a recorded machine.
 *
 * UPMU_FSROOT is a prefix for each path, so that a recorded machine can be examined anywhere. If it is set, nothing
 * is ever read from the running machine: a file missing in the recording is missing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own_once.h"
#include "kernel/parts.h"

static struct own_once root_once;
static char root[PATH_MAX];
static bool root_too_long;

/* Copied once: the program may change its environment, but the examined machine must not change. */
static void files_choose_root(void)
{
    const char *wanted = secure_getenv("UPMU_FSROOT");
    if (!wanted)
        return;
    root_too_long = strlen(wanted) >= sizeof root;
    if (!root_too_long)
        strcpy(root, wanted);
}

bool kernel_files_recorded(void)
{
    own_once(&root_once, files_choose_root);
    return root_too_long || root[0] != '\0';
}

/* Real path of an open file. @return its length, or -errno. */
static ssize_t files_real_path(int fd, char real[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, real, PATH_MAX - 1);
    if (n < 0)
        return -errno;
    real[n] = '\0';
    return n;
}

int kernel_open_beneath(int top, const char *path, int flags)
{
    char above[PATH_MAX], real[PATH_MAX];
    int fd = openat(top, path[1] ? path + 1 : ".", flags);
    if (fd < 0)
        return -errno;
    ssize_t n = files_real_path(top, above);
    if (n > 0 && files_real_path(fd, real) >= n && strncmp(real, above, (size_t)n) == 0 &&
        (real[n] == '/' || real[n] == '\0'))
        return fd;
    close(fd);
    return -EXDEV;
}

/* Open below the root, links included: one to /proc leads to the recording's. */
static int files_open_recorded(const char *path, int flags)
{
    const struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return -errno;
    long fd = syscall(SYS_openat2, top, path, &how, sizeof how);
    if (fd < 0)
        fd = -errno;
    if (fd == -ENOSYS || fd == -EPERM) /* before Linux 5.6, or blocked by a seccomp filter */
        fd = kernel_open_beneath(top, path, flags);
    close(top);
    return (int)fd;
}

/* @return a descriptor, or -errno. */
static int files_open(const char *path, int flags)
{
    own_once(&root_once, files_choose_root);
    if (root_too_long)
        return -ENAMETOOLONG;
    if (root[0])
        return files_open_recorded(path, flags);
    int fd = open(path, flags);
    return fd < 0 ? -errno : fd;
}

/* Read until the end of the file or the buffer. @return bytes, -EFBIG with a full buffer if there is more, -errno. */
static ssize_t files_read_whole(int fd, char *buf, size_t cap)
{
    size_t len = 0;
    for (;;) {
        char beyond;
        bool full = len == cap - 1;
        ssize_t n = read(fd, full ? &beyond : buf + len, full ? 1 : cap - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            buf[0] = '\0';
            return -errno;
        }
        if (n == 0 || full) {
            buf[len] = '\0';
            return n == 0 ? (ssize_t)len : -EFBIG;
        }
        len += (size_t)n;
    }
}

ssize_t kernel_read_file(const char *path, char *buf, size_t cap)
{
    if (cap == 0)
        return -EINVAL;
    buf[0] = '\0';
    int fd = files_open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    ssize_t n = files_read_whole(fd, buf, cap);
    close(fd);
    return n;
}

static int files_is_visible(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Sorted by bytes, not by locale: the order must be the same for every user. */
static int files_compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int kernel_list_dir(const char *path, int (*each)(const char *name, void *arg), void *arg)
{
    struct dirent **entries;
    int rc = 0, fd = files_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    int n = scandirat(fd, ".", &entries, files_is_visible, files_compare_names), err = errno;
    close(fd);
    if (n < 0)
        return -err;
    for (int i = 0; i < n; i++) {
        if (rc == 0)
            rc = each(entries[i]->d_name, arg);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

/* A missing process is ESRCH, as for kill(2); ENOENT means that /proc is not mounted. */
static int files_task_error(int err)
{
    return err == ENOENT && access("/proc/self/task", F_OK) == 0 ? -ESRCH : -err;
}

/* Ignores UPMU_FSROOT: the ids are opened on the running machine. */
ssize_t kernel_threads(pid_t pid, pid_t *tids, size_t cap)
{
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return files_task_error(errno);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            break;
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        if (n < cap)
            tids[n] = (pid_t)strtol(entry->d_name, NULL, 10);
        n++;
    }
    int err = errno;
    closedir(dir);
    if (err)
        return -err;
    return n ? (ssize_t)n : -ESRCH;
}

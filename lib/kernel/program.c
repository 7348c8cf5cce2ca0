/* SPDX-License-Identifier: MIT */
/*
 * Programs at whose exec the kernel removes all events.
 *
 * A task that gains privileges by exec, or may execute but not read the program, must not be observed by the
 * unprivileged: the kernel removes its events, which would then read as exact zeros. The conditions are those under
 * which the kernel makes a process undumpable at exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "kernel/parts.h"

static bool program_is_executable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Find the file that execvp() would execute. */
static bool program_find(const char *program, char path[PATH_MAX])
{
    if (strchr(program, '/'))
        return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX && program_is_executable(path);
    const char *dir = getenv("PATH");
    if (!dir)
        dir = "/bin:/usr/bin";
    for (;;) {
        int n = (int)strcspn(dir, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", n, dir, n > 0 ? "/" : "", program) < PATH_MAX &&
            program_is_executable(path))
            return true;
        if (dir[n] == '\0')
            return false;
        dir += n + 1;
    }
}

static bool program_sets_ids(const struct stat *st)
{
    if ((st->st_mode & S_ISUID) && st->st_uid != geteuid())
        return true;
    /* Without the group's execute permission the bit means mandatory locking. */
    return (st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) && st->st_gid != getegid();
}

/* Whether privileges of the file are ignored: by its mount, or by a task with no_new_privs. */
static bool program_privileges_ignored(const char *path)
{
    struct statvfs fs;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return true;
    return statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID);
}

bool kernel_exec_detaches(const char *program)
{
    char path[PATH_MAX];
    struct stat st;
    int saved = errno;
    bool detaches = false;
    if (program_find(program, path) && stat(path, &st) == 0) {
        bool unreadable = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0;
        bool capable = geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
        detaches = unreadable || ((program_sets_ids(&st) || capable) && !program_privileges_ignored(path));
    }
    errno = saved;
    return detaches;
}

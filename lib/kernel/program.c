/* SPDX-License-Identifier: MIT */
/*
 * What the kernel does to events when a program is executed. Room: kernel. Before it: core, which asks before it counts a
 * command; after it: the file system.
 *
 * A task that gains rights by executing a program, or that may execute but not read it, must not be watched by those
 * without these rights: the kernel takes all events off it, and they would read as if nothing had ever happened. The
 * conditions are those under which the kernel makes a process undumpable at exec.
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

static bool executable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* The file that execvp() would take. */
static bool find_program(const char *program, char path[PATH_MAX])
{
    if (strchr(program, '/'))
        return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX && executable(path);
    const char *dir = getenv("PATH");
    if (!dir)
        dir = "/bin:/usr/bin";
    for (;;) {
        int n = (int)strcspn(dir, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", n, dir, n > 0 ? "/" : "", program) < PATH_MAX && executable(path))
            return true;
        if (dir[n] == '\0')
            return false;
        dir += n + 1;
    }
}

static bool sets_ids(const struct stat *st)
{
    if ((st->st_mode & S_ISUID) && st->st_uid != geteuid())
        return true;
    /* Without the right of the group to execute, the bit means mandatory locking. */
    return (st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) && st->st_gid != getegid();
}

/* Whether rights that come with a file are ignored: on such a mount, and by a task that has renounced them. */
static bool rights_ignored(const char *path)
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
    if (find_program(program, path) && stat(path, &st) == 0) {
        bool unreadable = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0;
        bool capable = geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
        detaches = unreadable || ((sets_ids(&st) || capable) && !rights_ignored(path));
    }
    errno = saved;
    return detaches;
}

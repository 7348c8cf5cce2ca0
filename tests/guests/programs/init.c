/* SPDX-License-Identifier: MIT */
/*
 * The first process of a guest: runs every program of /tests and powers the machine off.
 *
 * It mounts /proc, /sys and /dev, runs the programs in the order of their names and prints how each ended. boot.sh judges
 * by the last line printed here alone, since an emulator exits with 0 after a panic too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int mount_at(const char *type, const char *at)
{
    (void)mkdir(at, 0755); /* most are there */
    if (mount(type, at, type, 0, NULL) == 0 || errno == EBUSY)
        return 0;
    printf("init: cannot mount %s at %s: %s\n", type, at, strerror(errno));
    return 1;
}

static int is_program(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* @return 0, or 1 after printing how the program ended. 77: skipped, with the reason printed. */
static int run(const char *name)
{
    char path[300];
    int status;
    snprintf(path, sizeof path, "/tests/%s", name);
    printf("GUEST-RUN %s\n", name);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl(path, name, (char *)NULL);
        printf("init: cannot execute %s: %s\n", path, strerror(errno));
        fflush(stdout);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        printf("init: %s could not be run: %s\n", name, strerror(errno));
        return 1;
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    printf("GUEST-END %s %d\n", name, code);
    return code != 0 && code != 77;
}

/* The kernel gives its first process 4096 descriptors at most; a distribution's own first process raises that, as this one does. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < 65536) {
        limit.rlim_max = 65536;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* a test that lacks them is skipped with the reason */
    }
}

int main(void)
{
    struct dirent **names;
    raise_descriptors();
    int failed = mount_at("proc", "/proc") + mount_at("sysfs", "/sys") + mount_at("devtmpfs", "/dev") +
                 mount_at("tmpfs", "/tmp");
    /* A kernel without tracing has no such folder; the tests that need it report that. */
    if (access("/sys/kernel/tracing", F_OK) == 0)
        failed += mount_at("tracefs", "/sys/kernel/tracing");
    int n = scandir("/tests", &names, is_program, alphasort);
    if (n <= 0) {
        printf("init: there is nothing in /tests\n");
        failed++;
    }
    for (int i = 0; i < n; i++)
        failed += run(names[i]->d_name);
    printf("GUEST-EXIT %d\n", failed);
    fflush(stdout);
    sync();
    reboot(RB_POWER_OFF);
    return 1;
}

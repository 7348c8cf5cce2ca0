/* SPDX-License-Identifier: MIT */
/*
 * A command that changes its user when executed: the kernel does not count it, each value has the reason.
 *
 * Root makes the program and another user counts it.
 */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "support/behavior.h"

enum { NOBODY = 65534 };

static void make_program(const char *from, const char *to, mode_t mode)
{
    char bytes[65536];
    ssize_t n;
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    CHECK(in >= 0 && out >= 0, "%s to %s: %s", from, to, strerror(errno));
    while ((n = read(in, bytes, sizeof bytes)) > 0)
        CHECK(write(out, bytes, (size_t)n) == n, "write");
    CHECK(n == 0 && fchmod(out, mode) == 0 && close(out) == 0 && close(in) == 0, "%s", to);
}

static struct upmu_value counted(char *program)
{
    char *argv[] = {program, NULL};
    const struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv};
    struct upmu_set *set;
    struct upmu_value v;
    int status;
    CHECK(upmu_set_open(&set, "page-faults:u", &opts) == 0, "open");
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_wait(set, &status) == 0 && status == 0, "status 0x%x", (unsigned)status);
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    CHECK((v.status == UPMU_REFUSED) == (upmu_set_reason(set, 0)[0] != '\0'), "reason '%s'", upmu_set_reason(set, 0));
    upmu_set_close(set);
    return v;
}

static int as_nobody(char *plain, char *changing, char *unreadable)
{
    CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0, "setuid");
    /* The change of user made this process one that may not be counted, nor its children before their exec. */
    CHECK(prctl(PR_SET_DUMPABLE, 1) == 0, "prctl");
    if (rights_here() == RIGHTS_NONE)
        skip("no event can be counted here (%s)", strerror(errno));
    struct upmu_value v = counted(plain);
    CHECK(v.status == UPMU_EXACT && v.value > 0, "%s", upmu_status_name(v.status));
    char *const refused[] = {changing, unreadable};
    for (size_t i = 0; i < 2; i++) {
        v = counted(refused[i]);
        CHECK(v.status == UPMU_REFUSED && v.cause == UPMU_E_PERM && v.value == UPMU_NO_VALUE, "%s: %s", refused[i],
              upmu_status_name(v.status));
    }
    return 0;
}

int main(void)
{
    char folder[] = "/tmp/upmu-setuid-XXXXXX", plain[64], changing[64], unreadable[64];
    struct statvfs fs;
    int status;
    if (geteuid() != 0)
        skip("only root can make a program of another user");
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        skip("no process here may gain rights (no_new_privs)");
    if (statvfs("/tmp", &fs) == 0 && (fs.f_flag & ST_NOSUID))
        skip("/tmp is mounted nosuid");
    CHECK(mkdtemp(folder) && chmod(folder, 0755) == 0, "mkdtemp");
    snprintf(plain, sizeof plain, "%s/plain", folder);
    snprintf(changing, sizeof changing, "%s/changing", folder);
    snprintf(unreadable, sizeof unreadable, "%s/unreadable", folder);
    make_program("/bin/true", plain, 0755);
    make_program("/bin/true", changing, 04755);
    make_program("/bin/true", unreadable, 0711);
    pid_t pid = fork();
    if (pid == 0)
        exit(as_nobody(plain, changing, unreadable));
    CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
    unlink(plain);
    unlink(changing);
    unlink(unreadable);
    rmdir(folder);
    CHECK(WIFEXITED(status), "status 0x%x", (unsigned)status);
    return WEXITSTATUS(status);
}

/* SPDX-License-Identifier: MIT */
/* A command counted from first to last instruction with its children, one that fails to execute, one never started. */
#include <sys/wait.h>

#include "support/behavior.h"

enum { PAGES = 2000, CHILDREN = 3 };

static void touch_fresh(void)
{
    unsigned char *p = fresh_pages(PAGES);
    touch_pages(p, PAGES, (size_t)sysconf(_SC_PAGESIZE));
}

/* What the command does: touch pages, here and in children. */
static int family(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            touch_fresh();
            _exit(0);
        }
        CHECK(waitpid(pid, NULL, 0) == pid, "waitpid");
    }
    touch_fresh();
    return 42;
}

static struct upmu_set *prepared(char *const argv[], uint32_t flags)
{
    struct upmu_set *set;
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv, .flags = flags};
    CHECK(upmu_set_open(&set, "page-faults", &opts) == 0, "open");
    return set;
}

static uint64_t faults_of_family(char *program, uint32_t flags)
{
    char word[] = "family";
    char *argv[] = {program, word, NULL};
    struct upmu_set *set = prepared(argv, flags);
    struct upmu_value v;
    int status;
    CHECK(upmu_set_pid(set) == 0, "a pid before its start");
    CHECK(upmu_set_wait(set, NULL) == UPMU_E_STATE, "waited for before its start");
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_pid(set) > 0, "no pid");
    CHECK(upmu_set_wait(set, &status) == 0, "wait");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %d", status);
    CHECK(upmu_set_read(set, &v, 1) == 1, "read");
    CHECK(v.status == UPMU_EXACT, "%s", upmu_status_name(v.status));
    CHECK(waitpid(upmu_set_pid(set), NULL, WNOHANG) < 0 && errno == ECHILD, "the command was not waited for");
    upmu_set_close(set);
    return v.value;
}

static void not_executable(const char *path, const char *words)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", path);
    char *argv[] = {copy, NULL};
    struct upmu_set *set = prepared(argv, 0);
    CHECK(upmu_set_start(set) == UPMU_E_IO, "start");
    CHECK(strstr(upmu_error(), path) && strstr(upmu_error(), words), "no '%s'", words);
    CHECK(upmu_set_start(set) == UPMU_E_STATE, "started twice");
    upmu_set_close(set);
}

/* Far more often than the library's share of descriptors allows at once. */
static void never_started(char *program)
{
    struct rlimit limit;
    char word[] = "family";
    char *argv[] = {program, word, NULL};
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    limit.rlim_cur = limit.rlim_max < 128 ? limit.rlim_max : 128;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    size_t before = open_descriptors();
    for (int i = 0; i < 100; i++)
        upmu_set_close(prepared(argv, 0));
    CHECK(open_descriptors() == before, "%zu descriptors, %zu before", open_descriptors(), before);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "a child was left behind");
}

/* The second one's child has a copy of the first one's gate. */
static void first_of_two_never_started(char *program)
{
    char word[] = "family";
    char *argv[] = {program, word, NULL};
    int status;
    struct upmu_set *first = prepared(argv, 0), *second = prepared(argv, 0);
    alarm(200);
    upmu_set_close(first);
    alarm(0);
    CHECK(upmu_set_start(second) == 0, "start");
    CHECK(upmu_set_wait(second, &status) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %d", status);
    upmu_set_close(second);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "family") == 0)
        return family();
    if (rights_here() == RIGHTS_NONE)
        skip("no event can be counted here (%s)", strerror(errno));
    char self[] = "/proc/self/exe", path[512];
    ssize_t n = readlink(self, path, sizeof path - 1);
    CHECK(n > 0, "readlink");
    path[n] = '\0';
    uint64_t all = faults_of_family(path, 0), alone = faults_of_family(path, UPMU_SET_NO_INHERIT);
    CHECK(all >= (CHILDREN + 1) * PAGES, "%llu faults", (unsigned long long)all);
    CHECK(alone >= PAGES, "%llu faults", (unsigned long long)alone);
    CHECK(alone + CHILDREN * PAGES <= all, "%llu alone, %llu with children", (unsigned long long)alone,
          (unsigned long long)all);
    not_executable("/no/such/program", "ENOENT");
    not_executable("/etc/passwd", "EACCES");
    first_of_two_never_started(path);
    never_started(path);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* A forked child closes a set of its parent without effect on the parent's counters and waiting command. */
#include <sys/wait.h>

#include "support/behavior.h"

enum { PAGES = 100 };

static struct upmu_set *opened(const char *events, const struct upmu_set_opts *opts)
{
    struct upmu_set *set;
    CHECK(upmu_set_open(&set, events, opts) == 0, "open");
    return set;
}

static void in_the_child(struct upmu_set *thread, struct upmu_set *command)
{
    struct upmu_value v[2];
    CHECK(upmu_set_read(thread, v, 2) == UPMU_E_STATE, "read");
    CHECK(upmu_set_reset(thread) == UPMU_E_STATE, "reset");
    CHECK(upmu_set_stop(thread) == UPMU_E_STATE, "stop");
    CHECK(upmu_set_user_read(thread, 1) == 0, "a page in the child");
    CHECK(upmu_set_start(command) == UPMU_E_STATE, "start");
    CHECK(upmu_error()[0] != '\0', "no message");
    /* The pages are not inherited; their addresses are given to the next to ask. */
    unsigned char *mine[64];
    for (size_t i = 0; i < 64; i++)
        mine[i] = fresh_pages(1);
    upmu_set_close(thread);
    upmu_set_close(command);
    for (size_t i = 0; i < 64; i++)
        *mine[i] = 1;
    _exit(0);
}

int main(void)
{
    char program[] = "true";
    char *argv[] = {program, NULL};
    const struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_COMMAND, .argv = argv};
    struct upmu_value v[2];
    int status;
    if (rights_here() == RIGHTS_NONE)
        skip("no event can be counted here (%s)", strerror(errno));
    struct upmu_set *thread = opened("page-faults,context-switches", NULL), *command = opened("task-clock", &opts);
    CHECK(upmu_set_start(thread) == 0, "start");
    pid_t pid = fork();
    if (pid == 0)
        in_the_child(thread, command);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "the child: status 0x%x", (unsigned)status);
    touch_pages(fresh_pages(PAGES), PAGES, (size_t)sysconf(_SC_PAGESIZE));
    CHECK(upmu_set_read(thread, v, 2) == 2, "read");
    CHECK(v[0].status == UPMU_EXACT && v[0].value >= PAGES, "%s", upmu_status_name(v[0].status));
    CHECK(upmu_set_start(command) == 0, "the command did not outlive the child's close");
    CHECK(upmu_set_wait(command, &status) == 0 && status == 0, "status 0x%x", (unsigned)status);
    upmu_set_close(command);
    upmu_set_close(thread);
    return 0;
}

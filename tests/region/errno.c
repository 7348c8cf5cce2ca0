/* SPDX-License-Identifier: MIT */
/* errno is unchanged by every region call: first, wrong, packet-filling, not counting. */
#include <ftw.h>
#include <sys/wait.h>

#include "support/behavior.h"

enum { OURS = 4242 };

#define KEEPS(call)                                 \
    do {                                            \
        errno = OURS;                               \
        (void)(call);                               \
        CHECK(errno == OURS, "errno is %d", errno); \
    } while (0)

static void *work(void *arg)
{
    static upmu_region_t handle = UPMU_REGION("handle");
    (void)arg;
    KEEPS(upmu_region_begin("first use in this thread"));
    KEEPS(upmu_region_end("first use in this thread"));
    for (int i = 0; i < 30000; i++) {
        KEEPS(upmu_region_enter(&handle));
        KEEPS(upmu_mark("a remark long enough to fill the trace's packets before long, again and again and again"));
        KEEPS(upmu_region_leave(&handle));
    }
    KEEPS(upmu_region_end("not open"));
    KEEPS(upmu_region_end("not known"));
    KEEPS(upmu_region_begin(NULL));
    KEEPS(upmu_region_leave(NULL));
    for (int i = 0; i < 300; i++)
        KEEPS(upmu_region_begin("deep"));
    return NULL;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int main(void)
{
    char trace[] = "/tmp/upmu-errno-XXXXXX";
    CHECK(mkdtemp(trace) != NULL, "%s", strerror(errno));
    KEEPS(upmu_region_begin("off"));
    KEEPS(upmu_region_end("off"));
    struct upmu_region_opts opts = {
        .size = sizeof opts, .events = "page-faults,cpu-migrations,cycles,context-switches", .trace = trace};
    CHECK(upmu_region_setup(&opts) == 0, "setup");
    work(NULL);
    join_thread(start_thread(work, NULL));
    pid_t pid = fork();
    if (pid == 0) {
        KEEPS(upmu_region_begin("first use in a child"));
        KEEPS(upmu_region_end("first use in a child"));
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "status %d", status);
    CHECK(nftw(trace, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0, "%s", trace);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A program that closes every descriptor, as daemons do, and opens its own files at their numbers.
 *
 * From then on its values are refused, and its files are neither read nor closed.
 */
#include <fcntl.h>

#include "support/behavior.h"

enum { FD_MAX = 8192, FIRST_FD = 3 };

/* Put `file` at every number that is open now beyond the standard ones, except its own. @return how many. */
static size_t replace_all(int file, bool replaced[FD_MAX])
{
    size_t n = 0;
    for (int fd = FIRST_FD; fd < FD_MAX; fd++) {
        if (fd == file || fcntl(fd, F_GETFD) < 0)
            continue;
        CHECK(dup2(file, fd) == fd, "dup2");
        replaced[fd] = true;
        n++;
    }
    return n;
}

static int file_with_contents(char *path)
{
    static const char zeros[65536];
    int file = mkstemp(path);
    CHECK(file >= 0 && unlink(path) == 0, "mkstemp");
    CHECK(write(file, zeros, sizeof zeros) == (ssize_t)sizeof zeros, "write");
    CHECK(lseek(file, 0, SEEK_SET) == 0, "lseek");
    return file;
}

int main(void)
{
    static bool replaced[FD_MAX];
    struct upmu_set *set;
    struct upmu_value v[2];
    char path[] = "/tmp/upmu-closed-XXXXXX";
    if (rights_here() == RIGHTS_NONE)
        skip("no event can be counted here (%s)", strerror(errno));
    CHECK(upmu_set_open(&set, "page-faults,task-clock", NULL) == 0, "open");
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_read(set, v, 2) == 2, "read");
    CHECK(v[0].status == UPMU_EXACT && v[1].status == UPMU_EXACT, "not counted to begin with");
    int file = file_with_contents(path);
    size_t n = replace_all(file, replaced);
    CHECK(n >= 2, "%zu descriptors replaced", n);
    off_t once = 0;
    for (int i = 0; i < 5; i++) {
        CHECK(upmu_set_read(set, v, 2) == 2, "read");
        for (int e = 0; e < 2; e++)
            CHECK(v[e].status == UPMU_REFUSED && v[e].value == UPMU_NO_VALUE &&
                      strstr(upmu_set_reason(set, (size_t)e), "descriptor was closed"),
                  "event %d: %s (%s)", e, upmu_status_name(v[e].status), upmu_set_reason(set, (size_t)e));
        off_t at = lseek(file, 0, SEEK_CUR);
        once = i == 0 ? at : once;
        CHECK(at == once, "read again: at %lld, %lld after the first time", (long long)at, (long long)once);
    }
    upmu_set_close(set);
    for (int fd = FIRST_FD; fd < FD_MAX; fd++)
        CHECK(!replaced[fd] || fcntl(fd, F_GETFD) >= 0, "descriptor %d of the program was closed", fd);
    return 0;
}

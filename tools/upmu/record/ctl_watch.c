/* SPDX-License-Identifier: MIT */
/* Snapshots of recordings that this command did not start. */
#include "ctl_watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record.h"
#include "ui/command.h"
#include "ui/memory.h"
#include "ui/output.h"
#include "upmu/snapshot.h"

static char *snapshot_default_directory(const char *target)
{
    char when[32];
    struct tm tm;
    time_t now = time(NULL);
    size_t len = strlen(target);
    while (len > 1 && target[len - 1] == '/')
        len--;
    char *plain = memory_format("%.*s", (int)len, target);
    const char *slash = strrchr(plain, '/');
    if (!localtime_r(&now, &tm) || strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm) == 0)
        snprintf(when, sizeof when, "%lld", (long long)now);
    char *dir = memory_format("upmu-snapshot-%s-%s", slash && slash[1] ? slash + 1 : plain, when);
    free(plain);
    return dir;
}

int ctl_snapshot(const char *dir, const char *target, const char *to)
{
    struct upmu_snapshot s = {.size = sizeof s};
    char *path = to ? memory_copy(to) : snapshot_default_directory(target);
    int rc = upmu_snapshot_take(dir, path, NULL, &s);
    if (rc != 0) {
        complain("%s", upmu_error());
    } else {
        fputs("upmu: snapshot of ", stderr);
        fprintf(stderr, "%u process%s (%.1f MiB in %.1f ms", s.processes, s.processes == 1 ? "" : "es",
                (double)s.bytes / (1 << 20), (double)s.took_ns / 1e6);
        if (s.missed)
            fprintf(stderr, ", without %" PRIu64 " packets overwritten meanwhile", s.missed);
        fputs("), in ", stderr);
        output_clean(stderr, path);
        char *word = output_shell_path(path);
        fprintf(stderr, "; next: upmu report %s\n", word);
        free(word);
    }
    free(path);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}

static volatile sig_atomic_t watch_ended;

static void watch_end(int signal)
{
    (void)signal;
    watch_ended = 1;
}

int ctl_watch(const char *dir, const char *to)
{
    struct snapshot_request q = {.triggers = memory_copy(""), .dir = to};
    const struct sigaction end = {.sa_handler = watch_end};
    const struct timespec pause = {.tv_nsec = RECORD_POLL_MS * 1000000L};
    struct record_watch watch;
    struct output out;
    if (output_standard(&out, OUTPUT_STDERR) != 0)
        return EXIT_FAILED;
    struct upmu_snapshot_watch *snapshots = snapshots_open(&q, dir, dir);
    free(q.triggers);
    if (!snapshots)
        return EXIT_FAILED;
    (void)sigaction(SIGINT, &end, NULL);
    (void)sigaction(SIGTERM, &end, NULL);
    record_watch_open(&watch, dir, snapshots, &out);
    for (int passed = 0; !watch_ended; passed += RECORD_POLL_MS) {
        record_watch_step(&watch, passed % RECORD_LOOK_MS == 0);
        nanosleep(&pause, NULL); /* a signal only makes the next look earlier */
    }
    record_watch_close(&watch);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

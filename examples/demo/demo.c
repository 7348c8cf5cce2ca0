/* SPDX-License-Identifier: MIT */
/*
 * A parallel bzip2 compressor with regions: compresses with libbz2 on many threads and verifies each block.
 *
 *     UPMU_EVENTS=task-clock,page-faults UPMU_REPORT=text UPMU_TRACE=trace ./demo [-j THREADS] INPUT OUTPUT
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pipeline.h"

enum { MEGABYTE = 1000 * 1000, WORKERS_MAX = 256 };

static int usage(void)
{
    fprintf(stderr, "usage: demo [-j THREADS] INPUT OUTPUT\n");
    return 2;
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void show_progress(uint64_t bytes)
{
    fprintf(stderr, "\r  %" PRIu64 " MB read", bytes / MEGABYTE);
}

static int parse_workers(const char *text, unsigned *workers)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > WORKERS_MAX)
        return -1;
    *workers = (unsigned)n;
    return 0;
}

/* Closing reports what buffered writing may have hidden, so its result counts. */
static int compress_file(const char *input, const char *output, unsigned workers, struct pipeline_result *result)
{
    int in = open(input, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        fprintf(stderr, "demo: %s: %s\n", input, strerror(errno));
        return -1;
    }
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0) {
        fprintf(stderr, "demo: %s: %s\n", output, strerror(errno));
        close(in);
        return -1;
    }
    int on_terminal = isatty(STDERR_FILENO);
    int rc = pipeline_run(in, out, workers, on_terminal ? show_progress : NULL, result);
    if (on_terminal)
        fprintf(stderr, "\r\033[K");
    if (close(out) != 0) {
        fprintf(stderr, "demo: %s: %s\n", output, strerror(errno));
        rc = -1;
    }
    close(in);
    return rc;
}

int main(int argc, char **argv)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned workers = cpus < 1 ? 1 : cpus > WORKERS_MAX ? WORKERS_MAX : (unsigned)cpus;
    int option;
    while ((option = getopt(argc, argv, "j:")) != -1) {
        if (option != 'j' || parse_workers(optarg, &workers) < 0)
            return usage();
    }
    if (argc - optind != 2)
        return usage();

    struct pipeline_result result;
    double start = now();
    if (compress_file(argv[optind], argv[optind + 1], workers, &result) < 0)
        return 1;
    double seconds = now() - start;
    printf("%" PRIu64 " blocks, %.1f MB to %.1f MB, every block verified; %u threads, %.1f s, %.1f MB/s\n",
           result.blocks, (double)result.bytes_in / MEGABYTE, (double)result.bytes_out / MEGABYTE, workers, seconds,
           (double)result.bytes_in / MEGABYTE / seconds);
    return 0;
}

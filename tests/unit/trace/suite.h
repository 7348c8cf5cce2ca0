/* SPDX-License-Identifier: MIT */
/** @file Helpers of the trace tests: a temporary directory, whole files, reading to the end. */
#ifndef UPMU_TESTS_TRACE_SUITE_H
#define UPMU_TESTS_TRACE_SUITE_H

#include "support/quick_check.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/write/writer.h"
#include "unit/suite.h"
#include "upmu/region.h"
#include "upmu/trace.h"

/* ------------------------------------------------------------------------------------------------------ files */

/** The recording of the running test; made by recording_set_up(), gone after recording_tear_down(). */
static char recording[PATH_MAX - 256];

static inline void recording_set_up(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(recording, sizeof recording, "%s/upmu-trace-XXXXXX", tmp ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(recording));
}

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void recording_tear_down(void)
{
    nftw(recording, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/** Path of a file in `dir`, in a buffer of the caller. */
static inline const char *path_in(char *path, const char *dir, const char *name)
{
    ck_assert_int_lt(snprintf(path, PATH_MAX, "%s/%s", dir, name), PATH_MAX);
    return path;
}

/** The whole file; `*len` bytes and a NUL, to be freed. */
static inline char *read_whole(const char *path, size_t *len)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_msg(fd >= 0, "%s cannot be opened", path);
    ck_assert_int_eq(fstat(fd, &st), 0);
    *len = (size_t)st.st_size;
    char *bytes = malloc(*len + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(read(fd, bytes, *len), (ssize_t)*len);
    bytes[*len] = '\0';
    close(fd);
    return bytes;
}

/** A new file in place of an old one: to truncate it would make some file systems wait for the disk. */
static inline void write_whole(const char *path, const void *bytes, size_t len)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_msg(fd >= 0, "%s cannot be written", path);
    ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
    close(fd);
}

static inline size_t file_size(const char *path)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    return (size_t)st.st_size;
}

/** Number of files of `dir` whose names begin so. */
static inline size_t count_files(const char *dir, const char *prefix)
{
    DIR *d = opendir(dir);
    ck_assert_ptr_nonnull(d);
    size_t n = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
    closedir(d);
    return n;
}

/* ------------------------------------------------------------------------------------------- writing, reading */

static inline struct trace_writer *writer_with(const struct trace_counter *counters, size_t n, size_t packet_bytes)
{
    struct trace_writer *w;
    struct trace_config config = {
        .dir = recording, .counters = counters, .n_counters = n, .packet_bytes = packet_bytes};
    ck_assert_msg(trace_writer_open(&w, &config) == 0, "%s", upmu_error());
    return w;
}

static inline struct trace_stream *stream_of(struct trace_writer *w, pid_t tid)
{
    struct trace_stream *s;
    ck_assert_msg(trace_stream_acquire(w, tid, "worker", &s) == 0, "%s", upmu_error());
    return s;
}

static inline struct upmu_trace *trace_of(const char *dir)
{
    struct upmu_trace *t;
    ck_assert_msg(upmu_trace_open(&t, dir) == 0, "%s", upmu_error());
    return t;
}

/** The next event, which must be there. */
static inline const struct upmu_trace_event *must_read(struct upmu_trace *t)
{
    const struct upmu_trace_event *e;
    int rc = upmu_trace_next(t, &e);
    ck_assert_msg(rc == 1, "%s", rc < 0 ? upmu_error() : "no further event");
    return e;
}

static inline void must_end(struct upmu_trace *t)
{
    const struct upmu_trace_event *e;
    int rc = upmu_trace_next(t, &e);
    ck_assert_msg(rc == 0, "%s", rc < 0 ? upmu_error() : "an event too many");
    ck_assert_ptr_null(e);
}

static inline struct upmu_trace_process process_of(const struct upmu_trace *t, size_t index)
{
    struct upmu_trace_process p = {.size = sizeof p};
    ck_assert_int_eq(upmu_trace_process_at(t, index, &p), 0);
    return p;
}

#endif

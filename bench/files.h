/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A folder for what a benchmark writes, and the floor of all that is written: bytes stored into a shared mapping of a file
 * whose space was set aside, populated, and grown piece by piece. Room: bench.
 */
#ifndef BENCH_FILES_H
#define BENCH_FILES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/** A new folder in TMPDIR. Ends the program if there can be none. */
void bench_folder_make(char path[PATH_MAX]);
/** It goes, with all that is in it. */
void bench_folder_remove(const char *path);
/** What all its files hold. */
double bench_folder_bytes(const char *path);

/** A file that is stored into. */
struct bench_file {
    int fd;
    off_t end;
    uint8_t *piece;
    size_t piece_bytes;
    size_t used; /**< of the piece */
};

/** Ends the program if it cannot be made. It has no name: it goes with bench_file_close(). */
void bench_file_open(struct bench_file *f, const char *folder, size_t piece_bytes);
void bench_file_close(struct bench_file *f);
/** The next piece takes the place of this one. Ends the program if there is no room. */
void bench_file_grow(struct bench_file *f);

/** Store so many bytes, in a piece that has room for them. */
static inline void bench_file_store(struct bench_file *f, const void *bytes, size_t n)
{
    if (f->used + n > f->piece_bytes)
        bench_file_grow(f);
    memcpy(f->piece + f->used, bytes, n);
    f->used += n;
}

#endif

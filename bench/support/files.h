/* SPDX-License-Identifier: MIT */
/** @file Temporary folders, and the floor of a trace write: bytes stored into a growing mapped file. */
#ifndef BENCH_FILES_H
#define BENCH_FILES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/** A new folder in TMPDIR. Ends the program if there can be none. */
void bench_folder_make(char path[PATH_MAX]);
/** Remove the folder with its files. */
void bench_folder_remove(const char *path);
/** Bytes of all its files. */
double bench_folder_bytes(const char *path);

/** A file that grows by mapped pieces. */
struct bench_file {
    int fd;
    off_t end;
    uint8_t *piece;
    size_t piece_bytes;
    size_t used; /**< of the piece */
};

/** Ends the program if it cannot be made. It is unlinked: bench_file_close() frees it. */
void bench_file_open(struct bench_file *f, const char *folder, size_t piece_bytes);
void bench_file_close(struct bench_file *f);
/** Map the next piece in place of this one. Ends the program if the disk is full. */
void bench_file_grow(struct bench_file *f);

/** Store `n` bytes, in the next piece if this one is full. */
static inline void bench_file_store(struct bench_file *f, const void *bytes, size_t n)
{
    if (f->used + n > f->piece_bytes)
        bench_file_grow(f);
    memcpy(f->piece + f->used, bytes, n);
    f->used += n;
}

#endif

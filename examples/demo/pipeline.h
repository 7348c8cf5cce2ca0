/* SPDX-License-Identifier: MIT */
/** @file A parallel block compressor: read, compress and verify on many threads, write in order. */
#ifndef DEMO_PIPELINE_H
#define DEMO_PIPELINE_H

#include <stdint.h>

struct pipeline_result {
    uint64_t blocks;
    uint64_t bytes_in;
    uint64_t bytes_out;
};

/**
 * Compress everything of descriptor `in` to descriptor `out` as bzip2 streams one after the other, each block
 * decompressed again and compared before it is written.
 * @param workers compressing threads, at least 1
 * @param progress called by the reader after each block with the bytes read so far, or NULL
 * @return 0, or -1; the reason has been printed to standard error.
 */
int pipeline_run(int in, int out, unsigned workers, void (*progress)(uint64_t bytes), struct pipeline_result *result);

#endif

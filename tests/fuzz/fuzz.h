/* SPDX-License-Identifier: MIT */
/** @file Shared parts of the fuzz targets: the entry point and scratch files. */
#ifndef UPMU_TESTS_FUZZ_H
#define UPMU_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** One input; defined once per target. Returns 0, or -1 to keep the input out of the corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The scratch folder of this process, made at first use and removed at exit. */
const char *fuzz_folder(void);

/** Writes a file of the scratch folder. @return its path, valid until the next call. Ends the program on failure. */
const char *fuzz_file(const char *name, const void *data, size_t size);

/** Writes a file anew. Ends the program on failure. */
void fuzz_write(const char *file, const void *data, size_t size);

/** The input as text: a copy with a NUL behind it, to be freed. Ends the program without memory. */
char *fuzz_text(const uint8_t *data, size_t size);

#endif

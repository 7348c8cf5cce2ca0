/* SPDX-License-Identifier: MIT */
/** @file Mapped files of a recording, or memory in their place, with space reserved before each use. */
#ifndef UPMU_FUNC_FILES_H
#define UPMU_FUNC_FILES_H

#include <stdbool.h>
#include <stddef.h>

/** Map `bytes` of a new file of the process's trace, of which the first `ready` are reserved; memory if there is no trace.
 *  @return NULL with errno. */
void *func_file_map(const char *name, size_t bytes, size_t ready);
/** Reserve space for bytes [from, to) of the file. Keeps errno, async-signal-safe. @return false if there is none. */
bool func_file_reserve(const char *name, size_t from, size_t to);

#endif

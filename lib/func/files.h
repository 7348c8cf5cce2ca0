/* SPDX-License-Identifier: MIT */
/** @file Mapped files of a recording, or memory in their place, with space reserved before each use. */
#ifndef UPMU_FUNC_FILES_H
#define UPMU_FUNC_FILES_H

#include <stdbool.h>
#include <stddef.h>

/** System calls of the recorder follow, up to func_calls_end(). @return false after func_calls_finish(): none may be made, and
 *  func_calls_end() is not called. Signal safe. */
bool func_calls_begin(void);
void func_calls_end(void);
/** No system call is made from here on, in this process and its children. Waits for threads that make some now, but not for long: one
 *  may have left by a signal handler's longjmp(). */
void func_calls_finish(void);

/** Map `bytes` of a new file of the process's trace, of which the first `ready` are reserved; memory if there is no trace.
 *  @return NULL with errno. */
void *func_file_map(const char *name, size_t bytes, size_t ready);
/** Reserve space for bytes [from, to) of the file. Keeps errno, async-signal-safe. @return false if there is none. */
bool func_file_reserve(const char *name, size_t from, size_t to);
/** Map bytes [from, from + bytes) of a file of the process's trace, reserved and filled with pages; the file is made if it is not
 *  there. Async-signal-safe. @return NULL without space. */
void *func_file_window(const char *name, size_t from, size_t bytes);

#endif

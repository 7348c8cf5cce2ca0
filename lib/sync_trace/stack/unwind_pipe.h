/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The pipe of libunwind.
 *
 * For a frame without unwind information libunwind tests whether memory is readable: it reads from a pipe that it keeps open,
 * writes a byte of the memory to it, and opens another one if that fails. A program that has closed the pipe and reused its
 * numbers would lose a byte of its own file, get one of ours, and have its descriptors closed.
 */
#ifndef UPMU_SYNC_UNWIND_PIPE_H
#define UPMU_SYNC_UNWIND_PIPE_H

#include <stdbool.h>

/** Call `walk`, the first walk of libunwind, and learn which descriptors it opens. @return its result. */
bool sync_unwind_pipe_learn(bool (*walk)(void));
/** Whether the descriptors are still those of the pipe. Once they are not, never again. Keeps errno. */
bool sync_unwind_pipe_is_intact(void);

#endif

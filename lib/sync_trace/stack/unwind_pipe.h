/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The pipe of libunwind.
 *
 * For a frame without unwind information libunwind tests whether memory is readable: it reads from a pipe that it keeps open,
 * writes a byte of the memory to it, and opens another one if that fails. A program that has closed the pipe and reused its
 * numbers would lose a byte of its own file, get one of ours, and have its descriptors closed. So the numbers are checked: where
 * libunwind's calls arrive at the wrappers here, then; elsewhere before each walk, by two system calls. There its numbers are in the
 * upper half of the range, too: a program may rely on getting the lowest ones.
 */
#ifndef UPMU_SYNC_UNWIND_PIPE_H
#define UPMU_SYNC_UNWIND_PIPE_H

#include <stdbool.h>
#include <stdint.h>

/** Numbers of the pipe whose uses are checked in the wrappers; -1: none. */
extern struct sync_unwind_pipe {
    int reads, writes;
} sync_unwind_pipe __attribute__((visibility("hidden")));

/** Call `walk`, the first walk of libunwind, and learn which descriptors it opens. `libunwind` is an address within it.
 *  @return the result of `walk`. */
bool sync_unwind_pipe_learn(bool (*walk)(void), const void *libunwind);
/** Whether a walk is safe: the descriptors are those of the pipe, or are checked when they are used. Once they are not those of the
 *  pipe, never again. Keeps errno. */
bool sync_unwind_pipe_is_intact(void);
/** After a call of pipe2() from `site`: move the pipe of libunwind to high numbers. Does nothing for other calls, and after the first
 *  walk. Keeps errno. */
void sync_unwind_pipe_raise(int fd[2], uintptr_t site);
/** A call with one of the numbers above: whether libunwind, from `site`, would use a descriptor of the program. */
bool sync_unwind_pipe_refuses(uintptr_t site);

#endif

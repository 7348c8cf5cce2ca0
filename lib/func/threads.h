/* SPDX-License-Identifier: MIT */
/** @file Making and ending of a thread's tree, and of a process's file. */
#ifndef UPMU_FUNC_THREADS_H
#define UPMU_FUNC_THREADS_H

#include "func/state.h"

/** Memory of the process, and the key of threads. @return 0; UPMU_E_NOMEM, UPMU_E_LIMIT, UPMU_E_SYSTEM. */
int func_threads_start(void);
/** Make the process's file, and note the modules. @return 0; UPMU_E_IO. */
int func_process_open(void);
/** The calling thread's tree, made at its first use, in a forked child after a file of its own. Keeps errno.
 *  @return NULL if there is none. */
struct func_tree *func_thread_start(void);

#endif

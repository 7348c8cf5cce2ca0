/* SPDX-License-Identifier: MIT */
/** @file Names that compilers give to the bodies of OpenMP constructs, and those of the runtimes' code. */
#ifndef UPMU_OPENMP_STACKS_NAMES_H
#define UPMU_OPENMP_STACKS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/** Whether a compiler has made this function of the body of a construct. NULL is none. */
bool omp_name_is_outlined(const char *function);

/** Whether both are of one construct: with debug information Clang makes two functions of a body. */
bool omp_name_is_same_body(const char *inner, const char *outer);

/** Whether this code belongs to an OpenMP runtime, or to libupmu_omp. Either may be NULL. */
bool omp_name_is_runtime(const char *function, const char *module);

/** Whether threads start in this function or module, outside of the program. Either may be NULL. */
bool omp_name_is_start(const char *function, const char *module);

#endif

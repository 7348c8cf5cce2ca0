/* SPDX-License-Identifier: MIT */
/** @file Wrappers' parameters: what they are, passed and stored as, by their number. */
#ifndef UPMU_MPI_WRAP_WRAP_H
#define UPMU_MPI_WRAP_WRAP_H

#include "mpi/call.h"
#include "upmu/api.h"

/** An error code of every MPI, other than success: the function behind the wrapper does not exist in the process. */
enum { MPI_NO_FUNCTION = 15 };

#define MPI_CALL_SITE() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/**
 * A wrapper is in two parts, so that it has no frame while nothing is recorded. The second part is where the first one's caller called, as
 * a tail call leaves no frame; where the compiler makes none, it is inlined.
 */
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define MPI_TAIL __attribute__((musttail))
#define MPI_PART __attribute__((noinline))
#elif defined(__OPTIMIZE__) && (defined(__x86_64__) || defined(__aarch64__)) /* and -foptimize-sibling-calls */
#define MPI_TAIL
#define MPI_PART __attribute__((noinline))
#else
#define MPI_TAIL
#define MPI_PART inline __attribute__((always_inline))
#endif

/* clang-format off */
#define MPI_PARAMETERS_0 void
#define MPI_TYPES_0 void
#define MPI_VALUES_0 0
#define MPI_NAMES_0
#define MPI_PASSED_0 
#define MPI_PARAMETERS_1 long a0
#define MPI_TYPES_1 long
#define MPI_VALUES_1 MPI_NAMES_1
#define MPI_NAMES_1 a0
#define MPI_PASSED_1 a[0]
#define MPI_PARAMETERS_2 long a0, long a1
#define MPI_TYPES_2 long, long
#define MPI_VALUES_2 MPI_NAMES_2
#define MPI_NAMES_2 a0, a1
#define MPI_PASSED_2 a[0], a[1]
#define MPI_PARAMETERS_3 long a0, long a1, long a2
#define MPI_TYPES_3 long, long, long
#define MPI_VALUES_3 MPI_NAMES_3
#define MPI_NAMES_3 a0, a1, a2
#define MPI_PASSED_3 a[0], a[1], a[2]
#define MPI_PARAMETERS_4 long a0, long a1, long a2, long a3
#define MPI_TYPES_4 long, long, long, long
#define MPI_VALUES_4 MPI_NAMES_4
#define MPI_NAMES_4 a0, a1, a2, a3
#define MPI_PASSED_4 a[0], a[1], a[2], a[3]
#define MPI_PARAMETERS_5 long a0, long a1, long a2, long a3, long a4
#define MPI_TYPES_5 long, long, long, long, long
#define MPI_VALUES_5 MPI_NAMES_5
#define MPI_NAMES_5 a0, a1, a2, a3, a4
#define MPI_PASSED_5 a[0], a[1], a[2], a[3], a[4]
#define MPI_PARAMETERS_6 long a0, long a1, long a2, long a3, long a4, long a5
#define MPI_TYPES_6 long, long, long, long, long, long
#define MPI_VALUES_6 MPI_NAMES_6
#define MPI_NAMES_6 a0, a1, a2, a3, a4, a5
#define MPI_PASSED_6 a[0], a[1], a[2], a[3], a[4], a[5]
#define MPI_PARAMETERS_7 long a0, long a1, long a2, long a3, long a4, long a5, long a6
#define MPI_TYPES_7 long, long, long, long, long, long, long
#define MPI_VALUES_7 MPI_NAMES_7
#define MPI_NAMES_7 a0, a1, a2, a3, a4, a5, a6
#define MPI_PASSED_7 a[0], a[1], a[2], a[3], a[4], a[5], a[6]
#define MPI_PARAMETERS_8 long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7
#define MPI_TYPES_8 long, long, long, long, long, long, long, long
#define MPI_VALUES_8 MPI_NAMES_8
#define MPI_NAMES_8 a0, a1, a2, a3, a4, a5, a6, a7
#define MPI_PASSED_8 a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
#define MPI_PARAMETERS_9 long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8
#define MPI_TYPES_9 long, long, long, long, long, long, long, long, long
#define MPI_VALUES_9 MPI_NAMES_9
#define MPI_NAMES_9 a0, a1, a2, a3, a4, a5, a6, a7, a8
#define MPI_PASSED_9 a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]
#define MPI_PARAMETERS_10 long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9
#define MPI_TYPES_10 long, long, long, long, long, long, long, long, long, long
#define MPI_VALUES_10 MPI_NAMES_10
#define MPI_NAMES_10 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9
#define MPI_PASSED_10 a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]
#define MPI_PARAMETERS_11 long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10
#define MPI_TYPES_11 long, long, long, long, long, long, long, long, long, long, long
#define MPI_VALUES_11 MPI_NAMES_11
#define MPI_NAMES_11 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10
#define MPI_PASSED_11 a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]
#define MPI_PARAMETERS_12 long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10, long a11
#define MPI_TYPES_12 long, long, long, long, long, long, long, long, long, long, long, long
#define MPI_VALUES_12 MPI_NAMES_12
#define MPI_NAMES_12 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11
#define MPI_PASSED_12 a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]
#define MPI_PARAMETERS_13 long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7, long a8, long a9, long a10, long a11, long a12
#define MPI_TYPES_13 long, long, long, long, long, long, long, long, long, long, long, long, long
#define MPI_VALUES_13 MPI_NAMES_13
#define MPI_NAMES_13 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12
#define MPI_PASSED_13 a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]
#define MPI_PLUS_1_0 1
#define MPI_PLUS_1_1 2
#define MPI_PLUS_1_2 3
#define MPI_PLUS_1_3 4
#define MPI_PLUS_1_4 5
#define MPI_PLUS_1_5 6
#define MPI_PLUS_1_6 7
#define MPI_PLUS_1_7 8
#define MPI_PLUS_1_8 9
#define MPI_PLUS_1_9 10
#define MPI_PLUS_1_10 11
#define MPI_PLUS_1_11 12
#define MPI_PLUS_1_12 13
#define MPI_EACH_NUMBER(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#define MPI_CAT_(a, b) a##b
#define MPI_CAT(a, b) MPI_CAT_(a, b)
/* clang-format on */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * MPI's functions in Fortran: mpif.h and `use mpi` under the names of all compilers, and `use mpi_f08`.
 *
 * All arguments are addresses. ierror follows those of C; in mpi_f08 it may be omitted.
 */
#include "mpi/wrap/wrap.h"

/* Error code at the ierror argument's address; 0 if it is omitted. */
static int32_t fortran_error(long address)
{
    int32_t error = 0;
    if (address)
        memcpy(&error, (const void *)address, sizeof error);
    return error;
}

/* Return MPI_NO_FUNCTION by the ierror argument, unless it is omitted: the MPI library lacks the function. */
static void fortran_no_function(long address)
{
    const int32_t error = MPI_NO_FUNCTION;
    if (address)
        memcpy((void *)address, &error, sizeof error);
}

/* Calls with `n` arguments, ierror among them, whatever they are. */
#define CALL_N(n)                                                                                              \
    static __attribute__((noinline, unused)) void call_##n(uint32_t number, enum mpi_variant variant, long *a, \
                                                           uintptr_t site)                                     \
    {                                                                                                          \
        void (*real)(MPI_TYPES_##n);                                                                           \
        void *address = mpi_real(number, variant);                                                             \
        if (UNLIKELY(!address)) {                                                                              \
            fortran_no_function(a[(n)-1]);                                                                     \
            return;                                                                                            \
        }                                                                                                      \
        memcpy(&real, &address, sizeof real);                                                                  \
        struct mpi_call c __attribute__((cleanup(mpi_call_end)));                                              \
        mpi_call_begin(&c, number, variant, a, site);                                                          \
        real(MPI_PASSED_##n);                                                                                  \
        c.rc = fortran_error(a[(n)-1]);                                                                        \
    }
MPI_EACH_NUMBER(CALL_N)

#define WRAP_N(symbol, number, variant, n)                            \
    static MPI_PART void record_##symbol(MPI_CAT(MPI_PARAMETERS_, n)) \
    {                                                                 \
        long a[] = {MPI_CAT(MPI_VALUES_, n)};                         \
        MPI_CAT(call_, n)(number, variant, a, MPI_CALL_SITE());       \
    }                                                                 \
    UPMU_API void symbol(MPI_CAT(MPI_PARAMETERS_, n));                \
    void symbol(MPI_CAT(MPI_PARAMETERS_, n))                          \
    {                                                                 \
        void (*real)(MPI_CAT(MPI_TYPES_, n));                         \
        void *address = mpi_real_found(number, variant);              \
        memcpy(&real, &address, sizeof real);                         \
        if (LIKELY(address) && UNLIKELY(mpi_call_is_off(number))) {   \
            real(MPI_CAT(MPI_NAMES_, n));                             \
            return;                                                   \
        }                                                             \
        MPI_TAIL return record_##symbol(MPI_CAT(MPI_NAMES_, n));      \
    }
#define WRAP_ALL(number, lower, upper, n)                 \
    WRAP_N(mpi_##lower##_, number, MPI_F_UNDERSCORE, n)   \
    WRAP_N(mpi_##lower##__, number, MPI_F_UNDERSCORES, n) \
    WRAP_N(mpi_##lower, number, MPI_F_PLAIN, n)           \
    WRAP_N(MPI_##upper, number, MPI_F_UPPER, n)           \
    WRAP_N(mpi_##lower##_f08_, number, MPI_F08, n)        \
    WRAP_N(mpi_##lower##_f08ts_, number, MPI_F08TS, n)
#define WRAP_FORTRAN(number, name, lower, upper, n, ...) WRAP_ALL(number, lower, upper, MPI_PLUS_1_##n)
#define WRAP_NOT(...)
MPI_CALLS(WRAP_FORTRAN, WRAP_NOT, WRAP_FORTRAN)

/* MPI_Init() has no arguments in Fortran but the error, and MPI_Init_thread() two: both are rows of C alone. */
WRAP_ALL(MPI_CALL_Init, init, INIT, 1)
WRAP_ALL(MPI_CALL_Init_thread, init_thread, INIT_THREAD, 3)

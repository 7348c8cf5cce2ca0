/* SPDX-License-Identifier: MIT */
/* MPI's functions in C. */
#include "mpi/wrap/wrap.h"

#define WRAP(number, name, lower, upper, n, ...)                  \
    UPMU_API int MPI_##name(MPI_PARAMETERS_##n);                  \
    int MPI_##name(MPI_PARAMETERS_##n)                            \
    {                                                             \
        long a[] = {MPI_VALUES_##n};                              \
        int (*real)(MPI_TYPES_##n);                               \
        void *address = mpi_real(number, MPI_C);                  \
        if (UNLIKELY(!address))                                   \
            return MPI_NO_FUNCTION;                               \
        memcpy(&real, &address, sizeof real);                     \
        if (UNLIKELY(mpi_call_is_off(number)))                    \
            return real(MPI_PASSED_##n);                          \
        struct mpi_call c __attribute__((cleanup(mpi_call_end))); \
        mpi_call_begin(&c, number, MPI_C, a, MPI_CALL_SITE());    \
        c.rc = real(MPI_PASSED_##n);                              \
        return c.rc;                                              \
    }
MPI_CALLS(WRAP, WRAP)

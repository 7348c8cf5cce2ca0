/* SPDX-License-Identifier: MIT */
/* MPI's functions in C. */
#include "mpi/frequent.h"
#include "mpi/wrap/wrap.h"

#define WRAP(number_, name_, lower, upper, n, class_, comm_, peer_, tag_, count_, type_, request_, status_) \
    UPMU_API int MPI_##name_(MPI_PARAMETERS_##n);                                                           \
    int MPI_##name_(MPI_PARAMETERS_##n)                                                                     \
    {                                                                                                       \
        static const struct mpi_call_row row = {"",     n,     MPI_CLASS_##class_, comm_,  peer_, tag_,     \
                                                count_, type_, request_,           status_};                \
        long a[] = {MPI_VALUES_##n};                                                                        \
        int (*real)(MPI_TYPES_##n);                                                                         \
        void *address = mpi_real(number_, MPI_C);                                                           \
        if (UNLIKELY(!address))                                                                             \
            return MPI_NO_FUNCTION;                                                                         \
        memcpy(&real, &address, sizeof real);                                                               \
        if (UNLIKELY(mpi_call_is_off(number_)))                                                             \
            return real(MPI_PASSED_##n);                                                                    \
        if (mpi_row_is_frequent(&row)) {                                                                    \
            unsigned char status[MPI_STATUS_MAX] __attribute__((aligned(8)));                               \
            struct mpi_frequent f __attribute__((cleanup(mpi_frequent_unwound)));                           \
            if (LIKELY(mpi_frequent_begin(&f, number_, &row, a, status, MPI_CALL_SITE()))) {                \
                int rc = real(MPI_PASSED_##n);                                                              \
                mpi_frequent_end(&f, number_, &row, a, rc);                                                 \
                return rc;                                                                                  \
            }                                                                                               \
        }                                                                                                   \
        struct mpi_call c __attribute__((cleanup(mpi_call_end)));                                           \
        mpi_call_begin(&c, number_, MPI_C, a, MPI_CALL_SITE());                                             \
        c.rc = real(MPI_PASSED_##n);                                                                        \
        return c.rc;                                                                                        \
    }
MPI_CALLS(WRAP, WRAP)

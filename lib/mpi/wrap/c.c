/* SPDX-License-Identifier: MIT */
/* MPI's functions in C. */
#include "mpi/wrap/frequent.h"
#include "mpi/wrap/wrap.h"

/* Calls with `n` arguments, whatever they are. */
#define CALL_N(n)                                                                                          \
    static __attribute__((noinline, unused)) int call_##n(uint32_t number, enum mpi_variant variant,       \
                                                          long *a __attribute__((unused)), uintptr_t site) \
    {                                                                                                      \
        int (*real)(MPI_TYPES_##n);                                                                        \
        void *address = mpi_real(number, variant);                                                         \
        if (UNLIKELY(!address))                                                                            \
            return MPI_NO_FUNCTION;                                                                        \
        memcpy(&real, &address, sizeof real);                                                              \
        struct mpi_call c __attribute__((cleanup(mpi_call_end)));                                          \
        mpi_call_begin(&c, number, variant, a, site);                                                      \
        c.rc = real(MPI_PASSED_##n);                                                                       \
        return c.rc;                                                                                       \
    }
CALL_N(0)
MPI_EACH_NUMBER(CALL_N)

/* The part of a wrapper that only classes of frequent calls have. */
#define FREQUENT_IF(is, ...) MPI_CAT(FREQUENT_, is)(__VA_ARGS__)
#define FREQUENT_0(...)
#define FREQUENT_1(number_, n, class_, comm_, peer_, tag_, count_, type_, request_, status_)        \
    static const struct mpi_call_row row = {"",     n,     MPI_CLASS_##class_, comm_,  peer_, tag_, \
                                            count_, type_, request_,           status_};            \
    int (*real)(MPI_TYPES_##n);                                                                     \
    void *address = mpi_real_found(number_, MPI_C);                                                 \
    memcpy(&real, &address, sizeof real);                                                           \
    if (mpi_row_is_frequent(&row) && LIKELY(address)) {                                             \
        long a[] = {MPI_VALUES_##n};                                                                \
        struct mpi_frequent_frame frame;                                                            \
        struct mpi_frequent f __attribute__((cleanup(mpi_frequent_unwound)));                       \
        if (LIKELY(mpi_frequent_begin(&f, number_, &row, a, &frame, MPI_CALL_SITE()))) {            \
            int rc = real(MPI_PASSED_##n);                                                          \
            mpi_frequent_end(&f, number_, &row, a, rc);                                             \
            return rc;                                                                              \
        }                                                                                           \
    }

#define WRAP(number_, name_, lower, upper, n, class_, ...)                                               \
    static MPI_PART int record_##name_(MPI_PARAMETERS_##n)                                               \
    {                                                                                                    \
        FREQUENT_IF(MPI_IS_FREQUENT(class_), number_, n, class_, __VA_ARGS__);                           \
        long passed[] = {MPI_VALUES_##n}; /* another one, so that the compiler keeps `a` in registers */ \
        return call_##n(number_, MPI_C, passed, MPI_CALL_SITE());                                        \
    }                                                                                                    \
    UPMU_API int MPI_##name_(MPI_PARAMETERS_##n);                                                        \
    int MPI_##name_(MPI_PARAMETERS_##n)                                                                  \
    {                                                                                                    \
        int (*real)(MPI_TYPES_##n);                                                                      \
        void *address = mpi_real_found(number_, MPI_C);                                                  \
        memcpy(&real, &address, sizeof real);                                                            \
        if (LIKELY(address) && UNLIKELY(mpi_call_is_off(number_)))                                       \
            return real(MPI_NAMES_##n);                                                                  \
        MPI_TAIL return record_##name_(MPI_NAMES_##n);                                                   \
    }

/* The form with large counts, which are words as all arguments. */
#define WRAP_LARGE(number_, name_, lower, upper, n, ...)           \
    WRAP(number_, name_, lower, upper, n, __VA_ARGS__)             \
    static MPI_PART int record_##name_##_c(MPI_PARAMETERS_##n)     \
    {                                                              \
        long a[] = {MPI_VALUES_##n};                               \
        return call_##n(number_, MPI_C_LARGE, a, MPI_CALL_SITE()); \
    }                                                              \
    UPMU_API int MPI_##name_##_c(MPI_PARAMETERS_##n);              \
    int MPI_##name_##_c(MPI_PARAMETERS_##n)                        \
    {                                                              \
        int (*real)(MPI_TYPES_##n);                                \
        void *address = mpi_real_found(number_, MPI_C_LARGE);      \
        memcpy(&real, &address, sizeof real);                      \
        if (LIKELY(address) && UNLIKELY(mpi_call_is_off(number_))) \
            return real(MPI_NAMES_##n);                            \
        MPI_TAIL return record_##name_##_c(MPI_NAMES_##n);         \
    }
MPI_CALLS(WRAP, WRAP, WRAP_LARGE)

/* -------------------------------------------------------------------------------- what frequent calls seldom need */

uint32_t mpi_frequent_withhold(uint64_t tick, uintptr_t site)
{
    uint32_t stack = 0;
    if (upmu_sync_state_) {
        mpi_tls.locks = upmu_sync_state_();
        mpi_tls.where.withheld = upmu_sync_withhold_(tick, site, &stack);
    }
    return stack;
}

void mpi_frequent_fail(const struct mpi_frequent *f, bool brief, uint64_t tick)
{
    if (brief)
        mpi_write_enter(f->stream, f->tick, &f->e);
    mpi_write_leave(f->stream, tick, &f->e);
}

void mpi_frequent_abandon(const struct mpi_frequent *f)
{
    const struct mpi_call_row *row = &mpi_call_rows[f->e.call];
    struct mpi_frequent left = *f;
    uint64_t tick = tick_now();
    if (mpi_row_is_poll(row)) {
        mpi_frequent_resume(&left);
        return;
    }
    left.e.result = MPI_CALL_UNWOUND;
    mpi_frequent_fail(&left, mpi_row_is_brief(row), tick);
    mpi_frequent_leave(&left, f->e.call, tick, UPMU_NO_VALUE);
}

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The MPI library of the process: its functions, constants and statuses.
 *
 * Without mpi.h: on the supported 64-bit ISAs, integers, pointers and handles are each passed as one word, so that one wrapper fits
 * every implementation. Values that differ between them are in a table.
 */
#ifndef UPMU_MPI_ABI_H
#define UPMU_MPI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/format/mpi_calls.h"

/** Which symbol a program called. */
enum mpi_variant {
    MPI_C,             /**< MPI_Send */
    MPI_C_LARGE,       /**< MPI_Send_c */
    MPI_F_UNDERSCORE,  /**< mpi_send_ */
    MPI_F_UNDERSCORES, /**< mpi_send__ */
    MPI_F_PLAIN,       /**< mpi_send */
    MPI_F_UPPER,       /**< MPI_SEND */
    MPI_F08,           /**< mpi_send_f08_ */
    MPI_F08TS,         /**< mpi_send_f08ts_ */
    MPI_VARIANTS
};

/** The size of a status is at most this. */
enum { MPI_STATUS_MAX = 48 };

/** What differs between implementations. */
struct mpi_abi {
    const char *name;
    size_t handle_bytes; /**< of a handle: 4, or that of a pointer */
    size_t status_bytes;
    size_t source_at, tag_at, error_at; /**< in a status */
    size_t bytes_at;                    /**< the size of the message in a status, a word; MPI_STATUS_MAX: unknown */
    int any_source, any_tag, proc_null;
    long status_ignore, in_place; /**< values of an argument in C */
    int in_status;                /**< MPI_ERR_IN_STATUS */
    int thread_levels;            /**< MPI_THREAD_FUNNELED; if it is not 1, each higher level is twice the one below */
    long world, self, byte;       /**< handles */
    long comm_null, request_null, type_null;
};

/** Of the process, valid once mpi_abi_start() has succeeded. */
extern struct mpi_abi mpi_abi __attribute__((visibility("hidden")));
/** Version text of the library, "" before. */
extern char mpi_library[256] __attribute__((visibility("hidden")));

/** The launcher's rank or size is another one than MPI's: it may be the launcher of another MPI. */
extern bool mpi_launcher_differs __attribute__((visibility("hidden")));

/** A function of the library. All take words: the calling conventions of 64-bit Linux pass those of `...` as any other. */
typedef int mpi_function(long, ...);

/** The functions behind wrappers that were found so far. */
extern void *mpi_real_functions[MPI_CALL_NUMBERS][MPI_VARIANTS] __attribute__((visibility("hidden")));
void *mpi_real_find(uint32_t call, enum mpi_variant variant);

/** The function behind a wrapper, if it was found. */
static inline void *mpi_real_found(uint32_t call, enum mpi_variant variant)
{
    return __atomic_load_n(&mpi_real_functions[call][variant], __ATOMIC_ACQUIRE);
}

/** The function behind a wrapper; NULL: the process has none. Keeps errno. */
static inline void *mpi_real(uint32_t call, enum mpi_variant variant)
{
    void *f = mpi_real_found(call, variant);
    return __builtin_expect(f != NULL, 1) ? f : mpi_real_find(call, variant);
}

/** What this library itself calls: functions of the MPI library by their PMPI_ names, which no tool wraps. */
#define MPI_OWN_CALLS(X)     \
    X(Get_library_version)   \
    X(Comm_rank)             \
    X(Comm_size)             \
    X(Comm_group)            \
    X(Comm_remote_group)     \
    X(Group_size)            \
    X(Group_rank)            \
    X(Group_translate_ranks) \
    X(Group_free)            \
    X(Sendrecv)              \
    X(Type_size)             \
    X(Type_get_envelope)     \
    X(Get_count)             \
    X(Test_cancelled)        \
    X(Comm_test_inter)       \
    X(Query_thread)          \
    X(Send)                  \
    X(Irecv)                 \
    X(Test)                  \
    X(Wait)                  \
    X(Cancel)                \
    X(Allgather)             \
    X(Comm_split)            \
    X(Comm_free)

enum mpi_own_call {
#define MPI_OWN_NUMBER(name) MPI_OWN_##name,
    MPI_OWN_CALLS(MPI_OWN_NUMBER) MPI_OWN_COUNT
};
/** Valid once mpi_abi_start() has succeeded. */
extern mpi_function *mpi_own[MPI_OWN_COUNT] __attribute__((visibility("hidden")));

/** Find out which MPI library this is, after its MPI_Init(), and try it on MPI_COMM_SELF. @return NULL; or why calls are not
 *  recorded. */
const char *mpi_abi_start(void);
/** The same without MPI_Init(), after the first session has begun: its handle is at `session`. Without a communicator, statuses are tried by
 *  that of a request which is MPI_REQUEST_NULL. */
const char *mpi_abi_start_session(long session, bool fortran);

/** Sessions of the process, by which ranks in the job are known without MPI_Init(). `at`: where its handle is. @return how many are open;
 *  -1: it is not known. */
int mpi_session_add(long at, bool fortran);
int mpi_session_remove(long at, bool fortran);

/** A handle in memory. */
static inline long mpi_handle_load(long address)
{
    int32_t word;
    long handle;
    if (mpi_abi.handle_bytes == sizeof handle) {
        memcpy(&handle, (const void *)address, sizeof handle);
        return handle;
    }
    memcpy(&word, (const void *)address, sizeof word);
    return word;
}

/** Handles of Fortran. */
long mpi_comm_of_fortran(int32_t comm);
long mpi_type_of_fortran(int32_t type);
/** Whether an argument of Fortran means "no status"; true also if that is unknown. */
bool mpi_is_fortran_ignore(long argument);
/** Whether an argument means "no status", so that another status can take its place. */
bool mpi_ignores_status(long argument, bool fortran);

/** Whether an argument is MPI_IN_PLACE; true also if that is unknown. */
bool mpi_is_in_place(long argument, bool fortran);

/** A status: its source, tag and error, and the bytes of the message (UPMU_NO_VALUE: unknown). */
struct mpi_status {
    int source, tag, error;
    uint64_t bytes;
};
struct mpi_status mpi_status_read(const void *status);
/** Whether a request that was to be canceled is. */
bool mpi_status_is_canceled(const void *status);

/** Sizes of MPI's own types, which are never freed: handle and size in one word, so that threads need no lock. The handle of another
 *  type, which MPI may use again, has MPI_TYPE_DERIVED in place of the size. */
enum { MPI_TYPE_SIZE_BITS = 16, MPI_TYPE_DERIVED = 0xffff, MPI_TYPES_KEPT = 64 };
extern uint64_t mpi_type_sizes[MPI_TYPES_KEPT] __attribute__((visibility("hidden")));

static inline uint64_t *mpi_type_slot(uint64_t type)
{
    return &mpi_type_sizes[(type * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
}

/** Size of a valid type that is not kept, asked MPI for; `keep`: it has no entry. -1: unknown. Keeps errno. */
int mpi_type_ask(long type, bool keep);

/** Bytes of `count` elements of a valid type; UINT64_MAX: unknown. */
static inline uint64_t mpi_type_bytes(long type, int64_t count)
{
    uint64_t word = __atomic_load_n(mpi_type_slot((uint64_t)type), __ATOMIC_RELAXED);
    bool kept = word >> MPI_TYPE_SIZE_BITS == (uint64_t)type && word != 0;
    int size = (int)(word & MPI_TYPE_DERIVED);
    if (__builtin_expect(!kept || size == MPI_TYPE_DERIVED, 0))
        size = mpi_type_ask(type, !kept);
    return size < 0 || count < 0 ? UINT64_MAX : (uint64_t)count * (uint64_t)size;
}

/** Rank and size of a communicator. @return false: unknown. */
bool mpi_comm_place(long comm, int *rank, int *size);
/** Rank in the job of the first member; -1: unknown. */
int mpi_comm_first(long comm);

/** A step of a hash, other than 0: different for small numbers, too (the last steps are those of splitmix64). */
static inline uint64_t mpi_mix(uint64_t h, uint64_t with)
{
    h = h * UINT64_C(0x9e3779b97f4a7c15) + with + 1;
    h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
    h ^= h >> 31;
    return h ? h : 1;
}

/** Members of a communicator: the rank in the job of the first one, and a hash of all. */
struct mpi_members {
    int first, size;
    uint64_t hash;
};
/** Those of the calling rank's group, or of the other one (`remote`). @return false: unknown, or some are of another job. */
bool mpi_comm_members(long comm, bool remote, struct mpi_members *out);
bool mpi_comm_is_inter(long comm);
/** MPI_Query_thread(); -1: unknown. */
int mpi_thread_level(void);

#endif

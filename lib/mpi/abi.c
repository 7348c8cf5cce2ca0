/* SPDX-License-Identifier: MIT */
/*
 * The MPI library of the process.
 *
 * The functions behind wrappers are the next ones of the same name, so that other tools between the program and the library see
 * the calls. Own calls go to the PMPI_ names, which no tool wraps. A library that a program has opened privately, as Python's MPI
 * modules do, is not among the next ones: it is found among the loaded files.
 */
#include "mpi/abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>

#include "base/tiny_lock.h"
#include "mpi/state.h"
#include "upmu/upmu.h"

struct mpi_abi mpi_abi;
char mpi_library[256];
bool mpi_launcher_differs;

/* ------------------------------------------------------------------------------------------------------ functions */

static const char *const variant_forms[MPI_VARIANTS] = {"MPI_%s", "MPI_%s_c", "mpi_%s_",     "mpi_%s__",
                                                        "mpi_%s", "MPI_%s",   "mpi_%s_f08_", "mpi_%s_f08ts_"};

#define NAMES(number, name, lower, upper, ...) [number] = {#name, #lower, #upper},
static const struct {
    char name[MPI_CALL_NAME_MAX], lower[MPI_CALL_NAME_MAX], upper[MPI_CALL_NAME_MAX];
} call_names[MPI_CALL_NUMBERS] = {MPI_CALLS(NAMES, NAMES, NAMES)};

void *mpi_real_functions[MPI_CALL_NUMBERS][MPI_VARIANTS];

static const char *const library_files[] = {"libmpi_abi.so.1",  "libmpi_abi.so.0",   "libmpi.so.40",
                                            "libmpi.so.80",     "libmpi.so.12",      "libmpich.so.12",
                                            "libmpifort.so.12", "libmpichfort.so.12"};

static void *find_symbol(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; !f && i < sizeof library_files / sizeof *library_files; i++) {
        void *file = dlopen(library_files[i], RTLD_LAZY | RTLD_NOLOAD);
        if (file) {
            f = dlsym(file, name);
            dlclose(file); /* it stays loaded */
        }
    }
    return f;
}

void *mpi_real_find(uint32_t call, enum mpi_variant variant)
{
    char name[64];
    int saved = errno;
    const char *text = variant <= MPI_C_LARGE   ? call_names[call].name
                       : variant == MPI_F_UPPER ? call_names[call].upper
                                                : call_names[call].lower;
    snprintf(name, sizeof name, variant_forms[variant], text);
    void *f = find_symbol(name);
    __atomic_store_n(&mpi_real_functions[call][variant], f, __ATOMIC_RELEASE);
    errno = saved;
    return f;
}

mpi_function *mpi_own[MPI_OWN_COUNT];

/* Conversions of Fortran handles; NULL where both are the same number. */
static long (*comm_f2c)(int), (*type_f2c)(int), (*session_f2c)(int);
/* Addresses that mean "no status" and "in place" in Fortran; NULL: unknown. */
enum { FORTRAN_ADDRESSES = 8 };
static const void *fortran_ignore[FORTRAN_ADDRESSES], *fortran_in_place[FORTRAN_ADDRESSES];

static bool own_find(void)
{
#define OWN_NAME(name) "PMPI_" #name,
    static const char *const names[] = {MPI_OWN_CALLS(OWN_NAME)};
    bool found = true;
    for (int i = 0; i < MPI_OWN_COUNT; i++) {
        void *f = find_symbol(names[i]);
        memcpy(&mpi_own[i], &f, sizeof f);
        found &= f != NULL;
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------ implementations */

/* Constants of Open MPI are addresses of its objects, which a program may have copied into itself. */
static long openmpi_object(const char *name)
{
    void *p = dlsym(RTLD_DEFAULT, name);
    return (long)(p ? p : find_symbol(name));
}

static void abi_find_conversions(void)
{
    void *f = find_symbol("PMPI_Comm_f2c");
    memcpy(&comm_f2c, &f, sizeof f);
    f = find_symbol("PMPI_Type_f2c");
    memcpy(&type_f2c, &f, sizeof f);
    f = find_symbol("PMPI_Session_f2c");
    memcpy(&session_f2c, &f, sizeof f);
}

static void abi_set_openmpi(void)
{
    mpi_abi = (struct mpi_abi){
        .name = "Open MPI",
        .handle_bytes = sizeof(long),
        .status_bytes = 24,
        .source_at = 0,
        .tag_at = 4,
        .error_at = 8,
        .bytes_at = 16,
        .any_source = -1,
        .any_tag = -1,
        .proc_null = -2,
        .status_ignore = 0,
        .in_place = 1,
        .in_status = 18,
        .thread_levels = 1,
        .world = openmpi_object("ompi_mpi_comm_world"),
        .self = openmpi_object("ompi_mpi_comm_self"),
        .byte = openmpi_object("ompi_mpi_byte"),
        .comm_null = openmpi_object("ompi_mpi_comm_null"),
        .request_null = openmpi_object("ompi_request_null"),
        .type_null = openmpi_object("ompi_mpi_datatype_null"),
    };
    abi_find_conversions();
}

static void abi_set_mpich(void)
{
    mpi_abi = (struct mpi_abi){
        .name = "MPICH",
        .handle_bytes = 4,
        .status_bytes = 20,
        .source_at = 8,
        .tag_at = 12,
        .error_at = 16,
        .bytes_at = 0,
        .any_source = -2,
        .any_tag = -1,
        .proc_null = -1,
        .status_ignore = 1,
        .in_place = -1,
        .in_status = 17,
        .thread_levels = 1,
        .world = 0x44000000,
        .self = 0x44000001,
        .byte = 0x4c00010d,
        .comm_null = 0x04000000,
        .request_null = 0x2c000000,
        .type_null = 0x0c000000,
    };
    comm_f2c = type_f2c = session_f2c = NULL;
}

/* The ABI that MPI 5.0 defines, of which handles are small numbers in the size of a pointer. */
static void abi_set_standard(void)
{
    mpi_abi = (struct mpi_abi){
        .name = "MPI ABI",
        .handle_bytes = sizeof(long),
        .status_bytes = 32,
        .source_at = 0,
        .tag_at = 4,
        .error_at = 8,
        .bytes_at = MPI_STATUS_MAX,
        .any_source = -1,
        .any_tag = -2,
        .proc_null = -3,
        .status_ignore = 0,
        .in_place = 1,
        .in_status = 19,
        .thread_levels = 1024,
        .world = 0x101,
        .self = 0x102,
        .byte = 0x247,
        .comm_null = 0x100,
        .request_null = 0x180,
        .type_null = 0x200,
    };
    abi_find_conversions();
}

/* A library with that ABI has its version; others, with an ABI of their own, have none or a negative one. */
static bool abi_is_standard(void)
{
    int major = -1, minor = -1, (*version)(int *, int *);
    void *f = find_symbol("PMPI_Abi_get_version");
    memcpy(&version, &f, sizeof f);
    return version && version(&major, &minor) == 0 && major >= 1;
}

/* Open MPI of series 4 and 5, and the libraries of the MPICH ABI initiative, which share their header's constants. */
static const char *abi_choose(void)
{
    static const char *const mpich_family[] = {"MPICH", "MVAPICH", "Intel(R) MPI", "Cray MPICH", "ParaStation MPI"};
    if (abi_is_standard()) {
        abi_set_standard();
        return NULL;
    }
    if (strncmp(mpi_library, "Open MPI v4.", 12) == 0 || strncmp(mpi_library, "Open MPI v5.", 12) == 0) {
        abi_set_openmpi();
        return mpi_abi.world && mpi_abi.self && mpi_abi.byte ? NULL : "objects of Open MPI are missing";
    }
    for (size_t i = 0; i < sizeof mpich_family / sizeof *mpich_family; i++)
        if (strstr(mpi_library, mpich_family[i])) {
            abi_set_mpich();
            return NULL;
        }
    return "this MPI library is not known";
}

/* The size of the message in a status, where it is a word; UINT64_MAX elsewhere. Open MPI has it as one, MPICH's lower half of it is the
 * size, and the upper half is 0 unless the request was canceled or the message is large. */
static uint64_t status_word(const unsigned char *status)
{
    uint64_t word = UINT64_MAX;
    if (mpi_abi.bytes_at < MPI_STATUS_MAX)
        memcpy(&word, status + mpi_abi.bytes_at, sizeof word);
    return word;
}

static void abi_set_place(int rank, int size)
{
    mpi_launcher_differs =
        mpi_process.rank >= 0 && mpi_process.size > 0 && (mpi_process.rank != rank || mpi_process.size != size);
    mpi_process.rank = rank;
    mpi_process.size = size;
}

/* Verify the ABI by queries and a message to this rank itself, whose status is known. @return NULL, or why it differs. */
static const char *abi_try(void)
{
    enum { TAG = 77, SENT = 5, POISON = 0x5a };
    unsigned char status[MPI_STATUS_MAX + 16];
    char out[SENT] = "upmu", in[8] = "";
    int rank = -1, size = -1, self = -1, bytes = -1, error;
    memset(status, POISON, sizeof status);
    if (!mpi_comm_place(mpi_abi.world, &rank, &size) || rank < 0 || size <= rank ||
        !mpi_comm_place(mpi_abi.self, &self, &bytes) || self != 0 || bytes != 1 ||
        mpi_type_bytes(mpi_abi.byte, SENT) != SENT)
        return "its answers about MPI_COMM_WORLD, MPI_COMM_SELF or MPI_BYTE are not those of a known MPI library";
    error = mpi_own[MPI_OWN_Sendrecv]((long)out, (long)SENT, mpi_abi.byte, 0L, (long)TAG, (long)in, (long)sizeof in,
                                      mpi_abi.byte, 0L, (long)TAG, mpi_abi.self, (long)status);
    struct mpi_status s = mpi_status_read(status);
    if (error != 0 || memcmp(in, out, SENT) != 0 || s.source != 0 || s.tag != TAG || s.bytes != SENT)
        return "a message to itself arrives changed";
    for (size_t i = mpi_abi.status_bytes; i < sizeof status; i++)
        if (status[i] != POISON)
            return "its status is larger than expected";
    if (status_word(status) != SENT)
        mpi_abi.bytes_at = MPI_STATUS_MAX;
    abi_set_place(rank, size);
    return NULL;
}

/* Addresses of the Fortran constants, looked up in the global scope: the program may have copy relocations of them. */
static void fortran_find(void)
{
    static const char *const ignore_objects[] = {"mpi_fortran_status_ignore_", "mpi_fortran_statuses_ignore_",
                                                 "MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};
    static const char *const ignore_pointers[] = {"MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE"};
    static const char *const in_place_objects[] = {"mpi_fortran_in_place_", "MPIR_F08_MPI_IN_PLACE"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof ignore_objects / sizeof *ignore_objects; i++)
        fortran_ignore[n++] = dlsym(RTLD_DEFAULT, ignore_objects[i]);
    for (size_t i = 0; i < sizeof ignore_pointers / sizeof *ignore_pointers; i++) {
        const void *const *pointer = dlsym(RTLD_DEFAULT, ignore_pointers[i]);
        fortran_ignore[n++] = pointer ? *pointer : NULL;
    }
    n = 0;
    for (size_t i = 0; i < sizeof in_place_objects / sizeof *in_place_objects; i++)
        fortran_in_place[n++] = dlsym(RTLD_DEFAULT, in_place_objects[i]);
    const void *const *pointer = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
    fortran_in_place[n] = pointer ? *pointer : NULL;
}

static bool fortran_is(const void *const of[FORTRAN_ADDRESSES], const void *p, bool *known)
{
    bool is = false;
    *known = false;
    for (int i = 0; i < FORTRAN_ADDRESSES; i++) {
        *known |= of[i] != NULL;
        is |= of[i] == p;
    }
    return is;
}

static const char *abi_find(void)
{
    int length = 0;
    char text[8192] = "";
#ifndef __LP64__
    return "MPI calls are recorded on 64-bit machines only";
#endif
    if (!own_find())
        return "the MPI library has no PMPI_ functions";
    if (mpi_own[MPI_OWN_Get_library_version]((long)text, (long)&length) != 0)
        return "the MPI library has no version";
    snprintf(mpi_library, sizeof mpi_library, "%.*s", (int)strcspn(text, ",\n"), text);
    for (char *p = strchr(mpi_library, '\t'); p; p = strchr(p, '\t')) /* "MPICH Version:\t4.0.2" */
        *p = ' ';
    const char *why = abi_choose();
    if (!why)
        fortran_find();
    return why;
}

const char *mpi_abi_start(void)
{
    const char *why = abi_find();
    return why ? why : abi_try();
}

/* ------------------------------------------------------------------------------------------------------- sessions */

static struct {
    struct tiny_lock lock;
    long open[64]; /* handles of sessions */
    int n;         /* of them; more are not known */
    int more;
} sessions;

static long session_handle(long at, bool fortran)
{
    int32_t word;
    if (!fortran)
        return mpi_handle_load(at);
    memcpy(&word, (const void *)at, sizeof word);
    return session_f2c ? session_f2c(word) : word;
}

int mpi_session_add(long at, bool fortran)
{
    tiny_lock_take(&sessions.lock);
    if (sessions.n < (int)(sizeof sessions.open / sizeof *sessions.open))
        sessions.open[sessions.n++] = session_handle(at, fortran);
    else
        sessions.more++;
    int n = sessions.n + sessions.more;
    tiny_lock_give(&sessions.lock);
    return n;
}

int mpi_session_remove(long at, bool fortran)
{
    long handle = session_handle(at, fortran);
    int i = 0;
    tiny_lock_take(&sessions.lock);
    while (i < sessions.n && sessions.open[i] != handle)
        i++;
    if (i < sessions.n)
        sessions.open[i] = sessions.open[--sessions.n];
    else
        sessions.more -= sessions.more > 0;
    int n = sessions.n + sessions.more;
    tiny_lock_give(&sessions.lock);
    return n;
}

/* The group of all ranks of the job, to be freed. */
static bool group_of_job(long *group)
{
    int (*from_set)(long, const char *, long *);
    if (mpi_process.world)
        return mpi_own[MPI_OWN_Comm_group](mpi_abi.world, (long)group) == 0;
    void *f = find_symbol("PMPI_Group_from_session_pset");
    memcpy(&from_set, &f, sizeof f);
    tiny_lock_take(&sessions.lock);
    long session = sessions.open[0];
    bool any = sessions.n > 0;
    tiny_lock_give(&sessions.lock);
    return any && from_set && from_set(session, "mpi://WORLD", group) == 0;
}

const char *mpi_abi_start_session(long session, bool fortran)
{
    enum { POISON = 0x5a };
    unsigned char status[MPI_STATUS_MAX + 16];
    long group = 0, request;
    int rank = -1, size = -1, flag = 0;
    const char *why = abi_find();
    if (why)
        return why;
    (void)mpi_session_add(session, fortran);
    if (!group_of_job(&group) || mpi_own[MPI_OWN_Group_rank](mpi_handle_load((long)&group), (long)&rank) != 0 ||
        mpi_own[MPI_OWN_Group_size](mpi_handle_load((long)&group), (long)&size) != 0 || rank < 0 || size <= rank)
        return "its answers about mpi://WORLD are not those of a known MPI library";
    (void)mpi_own[MPI_OWN_Group_free]((long)&group); /* a handle of ours */
    request = mpi_abi.request_null;
    memset(status, POISON, sizeof status);
    if (mpi_own[MPI_OWN_Test]((long)&request, (long)&flag, (long)status) != 0 || !flag)
        return "a request that is none is not complete";
    struct mpi_status s = mpi_status_read(status);
    if (s.source != mpi_abi.any_source || s.tag != mpi_abi.any_tag || s.bytes != 0)
        return "its empty status is another one than expected";
    for (size_t i = mpi_abi.status_bytes; i < sizeof status; i++)
        if (status[i] != POISON)
            return "its status is larger than expected";
    abi_set_place(rank, size);
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------- values */

long mpi_comm_of_fortran(int32_t comm)
{
    return comm_f2c ? comm_f2c(comm) : comm;
}

long mpi_type_of_fortran(int32_t type)
{
    return type_f2c ? type_f2c(type) : type;
}

bool mpi_is_fortran_ignore(long argument)
{
    bool known;
    return fortran_is(fortran_ignore, (const void *)argument, &known) || !known;
}

bool mpi_ignores_status(long argument, bool fortran)
{
    bool known;
    if (!fortran)
        return argument == mpi_abi.status_ignore;
    return argument && fortran_is(fortran_ignore, (const void *)argument, &known);
}

bool mpi_is_in_place(long argument, bool fortran)
{
    if (!fortran)
        return argument == mpi_abi.in_place;
    bool known;
    return fortran_is(fortran_in_place, (const void *)argument, &known) || !known;
}

struct mpi_status mpi_status_read(const void *status)
{
    const unsigned char *p = status;
    struct mpi_status s = {.bytes = UPMU_NO_VALUE};
    int count = -1;
    memcpy(&s.source, p + mpi_abi.source_at, sizeof s.source);
    memcpy(&s.tag, p + mpi_abi.tag_at, sizeof s.tag);
    memcpy(&s.error, p + mpi_abi.error_at, sizeof s.error);
    uint64_t word = status_word(p);
    if (word <= INT32_MAX)
        s.bytes = word;
    else if (mpi_own[MPI_OWN_Get_count]((long)status, mpi_abi.byte, (long)&count) == 0 && count >= 0)
        s.bytes = (uint64_t)count;
    return s;
}

bool mpi_status_is_canceled(const void *status)
{
    int canceled = 0;
    return mpi_own[MPI_OWN_Test_cancelled]((long)status, (long)&canceled) == 0 && canceled;
}

uint64_t mpi_type_sizes[MPI_TYPES_KEPT];

static bool type_is_named(long type)
{
    int n[3], combiner = -1, combiner_of_byte = -2;
    return mpi_own[MPI_OWN_Type_get_envelope](type, (long)&n[0], (long)&n[1], (long)&n[2], (long)&combiner) == 0 &&
           mpi_own[MPI_OWN_Type_get_envelope](mpi_abi.byte, (long)&n[0], (long)&n[1], (long)&n[2],
                                              (long)&combiner_of_byte) == 0 &&
           combiner == combiner_of_byte;
}

int mpi_type_ask(long type, bool keep)
{
    int size = -1, saved = errno;
    if (type == mpi_abi.type_null || mpi_own[MPI_OWN_Type_size](type, (long)&size) != 0)
        size = -1;
    if (size >= 0 && keep && (uint64_t)type >> (63 - MPI_TYPE_SIZE_BITS) == 0) {
        uint64_t known = size < MPI_TYPE_DERIVED && type_is_named(type) ? (uint64_t)size : MPI_TYPE_DERIVED;
        __atomic_store_n(mpi_type_slot((uint64_t)type), (uint64_t)type << MPI_TYPE_SIZE_BITS | known, __ATOMIC_RELAXED);
    }
    errno = saved;
    return size;
}

bool mpi_comm_place(long comm, int *rank, int *size)
{
    return mpi_own[MPI_OWN_Comm_rank](comm, (long)rank) == 0 && mpi_own[MPI_OWN_Comm_size](comm, (long)size) == 0;
}

bool mpi_comm_is_inter(long comm)
{
    int inter = 0;
    return mpi_own[MPI_OWN_Comm_test_inter](comm, (long)&inter) != 0 || inter;
}

/* Ranks in the job of the members `at` to `at` + n - 1 of a group. */
static bool group_translate(long group, int at, int n, int *ranks)
{
    enum { MOST = 256 };
    int places[MOST];
    long world = 0;
    if (n > MOST || !group_of_job(&world))
        return false;
    for (int i = 0; i < n; i++)
        places[i] = at + i;
    bool done = mpi_own[MPI_OWN_Group_translate_ranks](group, (long)n, (long)places, mpi_handle_load((long)&world),
                                                       (long)ranks) == 0;
    (void)mpi_own[MPI_OWN_Group_free]((long)&world); /* a handle of ours */
    return done;
}

int mpi_comm_first(long comm)
{
    long group = 0;
    int first = -1;
    if (mpi_own[MPI_OWN_Comm_group](comm, (long)&group) != 0)
        return -1;
    bool known = group_translate(mpi_handle_load((long)&group), 0, 1, &first);
    (void)mpi_own[MPI_OWN_Group_free]((long)&group); /* a handle of ours */
    return known ? first : -1;
}

static bool group_members(long group, struct mpi_members *out)
{
    enum { STEP = 256 };
    int ranks[STEP];
    *out = (struct mpi_members){.first = -1, .hash = 1};
    if (mpi_own[MPI_OWN_Group_size](group, (long)&out->size) != 0)
        return false;
    for (int at = 0; at < out->size; at += STEP) {
        int n = out->size - at < STEP ? out->size - at : STEP;
        if (!group_translate(group, at, n, ranks))
            return false;
        out->first = at ? out->first : ranks[0];
        for (int i = 0; i < n; i++) {
            if (ranks[i] < 0) /* MPI_UNDEFINED */
                return false;
            out->hash = mpi_mix(out->hash, (uint64_t)ranks[i]);
        }
    }
    return out->size > 0;
}

bool mpi_comm_members(long comm, bool remote, struct mpi_members *out)
{
    long group = 0;
    if (mpi_own[remote ? MPI_OWN_Comm_remote_group : MPI_OWN_Comm_group](comm, (long)&group) != 0)
        return false;
    bool known = group_members(mpi_handle_load((long)&group), out);
    (void)mpi_own[MPI_OWN_Group_free]((long)&group); /* a handle of ours */
    return known;
}

int mpi_thread_level(void)
{
    enum { THREAD_FUNNELED = 1, THREAD_SERIALIZED = 2, THREAD_MULTIPLE = 3 };
    int level = -1;
    if (mpi_own[MPI_OWN_Query_thread]((long)&level) != 0)
        return -1;
    if (mpi_abi.thread_levels == 1 || level <= 0)
        return level; /* 0 to 3 */
    return level >= 4 * mpi_abi.thread_levels   ? THREAD_MULTIPLE
           : level >= 2 * mpi_abi.thread_levels ? THREAD_SERIALIZED
                                                : THREAD_FUNNELED;
}

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Table of event classes: ids, names and fields.
 *
 * A new kind of event is a row here and, unless the general encoder of sync.c fits, an encoder in event.c. Rows and
 * fields are only added at the end: the reader takes the layout from the metadata of the trace, looks up meanings by
 * name, and skips unknown classes and fields.
 */
#ifndef UPMU_TRACE_SCHEMA_H
#define UPMU_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct textbuf;

/** Version of the format. Readers refuse another major version; a newer minor version only adds. */
enum { SCHEMA_MAJOR = 2, SCHEMA_MINOR = 0 };

/** How a field is stored. */
enum schema_type {
    SCHEMA_U8,
    SCHEMA_U16,
    SCHEMA_U32,
    SCHEMA_U64,
    SCHEMA_I8,
    SCHEMA_I32,
    SCHEMA_HEX64,       /**< a u64 shown in base 16: addresses, ids */
    SCHEMA_TICK,        /**< a u64 on the recorder's clock */
    SCHEMA_CHAR,        /**< a byte of text in a fixed array */
    SCHEMA_STATUS,      /**< a u8 with the names of enum upmu_status */
    SCHEMA_OBJECT_KIND, /**< a u8 with the names of enum upmu_object_type */
    SCHEMA_MPI_CALL,    /**< a u16 with the names of mpi_calls.h */
    SCHEMA_STRING,      /**< bytes up to a NUL */
    SCHEMA_TYPES,
};

/** How often a field occurs. */
enum schema_shape {
    SCHEMA_ONCE,
    SCHEMA_IF_COUNTERS,   /**< once, but not in a trace without counters */
    SCHEMA_FLAT_COUNTERS, /**< one field per counter, named after it, for plots */
    SCHEMA_COUNTER_ARRAY, /**< an array over the counters */
    SCHEMA_SEQUENCE,      /**< u16 NAME_length, and as many items */
};

/** Meaning of a field to the reader. */
enum schema_slot {
    SCHEMA_SKIP, /**< ignored */
    SCHEMA_NAME,
    SCHEMA_VALUE,        /**< upmu_value.value, and .raw where no raw field follows */
    SCHEMA_VALUE_STATUS, /**< upmu_value.status */
    SCHEMA_CAUSE,        /**< upmu_value.cause */
    SCHEMA_TIME,         /**< both times of counters that were counted throughout; one for all, or one each */
    SCHEMA_RAW,          /**< upmu_value.raw */
    SCHEMA_ENABLED,      /**< upmu_value.enabled */
    SCHEMA_RUNNING,      /**< upmu_value.running */
    /* Synchronization: the fields of struct upmu_trace_event of these names. */
    SCHEMA_OBJECT,
    SCHEMA_OBJECT_TYPE,
    SCHEMA_RESULT,
    SCHEMA_STACK,
    SCHEMA_SITE,
    SCHEMA_FLAGS,
    SCHEMA_HOLDER,
    SCHEMA_HOLDER_SITE,
    SCHEMA_HOLDER_SINCE, /**< as a tick */
    SCHEMA_HOLDER_STACK,
    SCHEMA_HELD_STACK,
    SCHEMA_RELEASED_SITE,
    SCHEMA_RELEASED_SINCE, /**< as a tick */
    SCHEMA_HELD,
    SCHEMA_HELD_SITE,
    SCHEMA_HELD_COUNT, /**< lock_order.n_held, and from bit SCHEMA_PERMITS_SHIFT on lock_order.permits */
    SCHEMA_ACQUISITIONS,
    SCHEMA_CONTENDED,
    SCHEMA_COUNTED_THREAD,
    SCHEMA_MUTEX,
    SCHEMA_MUTEX_SITE,
    SCHEMA_MUTEX_SINCE, /**< as a tick */
    SCHEMA_SEM_VALUE,
    SCHEMA_PEER,
    SCHEMA_THREAD_SWITCHES,
    SCHEMA_THREAD_CPU,
    SCHEMA_THREAD_READY,
    SCHEMA_THREAD_CPUS,
    SCHEMA_FUTEXES,
    SCHEMA_FUTEX_INDEX,
    SCHEMA_MOVED_TO,
    SCHEMA_FUTEX_WOKEN,
    SCHEMA_WAKER,
    SCHEMA_CPU,
    SCHEMA_SWITCHES,
    SCHEMA_THREAD_WOKEN,
    SCHEMA_KERNEL_LOCK_KINDS,
    SCHEMA_FUTEX_WAITS,
    SCHEMA_FUTEX_RECORDED,
    /* MPI: the fields of struct upmu_trace_mpi* of these names. */
    SCHEMA_MPI_CALL_NUMBER,
    SCHEMA_MPI_COMM,
    SCHEMA_MPI_PEER,
    SCHEMA_MPI_TAG,
    SCHEMA_MPI_BYTES,
    SCHEMA_MPI_REQUEST,
    SCHEMA_MPI_SEQUENCE,
    SCHEMA_MPI_BEGIN,  /**< of the call, as a tick */
    SCHEMA_MPI_MADE,   /**< the call that made the request */
    SCHEMA_MPI_SOURCE, /**< of what MPI_Sendrecv() has received */
    SCHEMA_MPI_SOURCE_TAG,
    SCHEMA_MPI_RECEIVED,
    SCHEMA_MPI_POLLED,
    SCHEMA_MPI_POLLS,
    SCHEMA_MPI_SINCE, /**< as a tick */
    SCHEMA_MPI_BUSY,  /**< as ticks */
    SCHEMA_MPI_COMM_ID,
    SCHEMA_MPI_PARENT,
    SCHEMA_MPI_COMM_RANK,
    SCHEMA_MPI_COMM_SIZE,
    SCHEMA_MPI_JOB,
    SCHEMA_MPI_RANK,
    SCHEMA_MPI_SIZE,
    SCHEMA_MPI_THREAD_LEVEL,
    SCHEMA_MPI_WRAPPED,
    SCHEMA_MPI_COUNTED,
    SCHEMA_MPI_CALLS,
    SCHEMA_SAMPLE_CPU,
    SCHEMA_SAMPLE_TOTAL,
    SCHEMA_SAMPLE_PERIOD,
    /* OpenMP: the fields of struct upmu_trace_omp* of these names. */
    SCHEMA_OMP_EVENT,
    SCHEMA_OMP_CONSTRUCT,
    SCHEMA_OMP_NUMBER,
    SCHEMA_OMP_VALUE,
    SCHEMA_OMP_REGION,
    SCHEMA_OMP_THREADS,
    SCHEMA_OMP_METHOD,
    /* of heap_alloc and heap_free */
    SCHEMA_HEAP_BYTES,
    SCHEMA_HEAP_WEIGHT,
    SCHEMA_HEAP_PERIOD,
    /* A stack (its id is SCHEMA_STACK) and a module (its path is SCHEMA_NAME). */
    SCHEMA_METHOD,
    SCHEMA_TRUNCATED,
    SCHEMA_FRAMES,
    SCHEMA_BASE,
    SCHEMA_START,
    SCHEMA_END,
    SCHEMA_BUILD_ID,
    /* Cost of events on the recording machine, in picoseconds. */
    SCHEMA_COST_FULL,
    SCHEMA_COST_COMPACT,
    SCHEMA_COST_STACK,
    SCHEMA_SLOTS,
};

static inline bool schema_slot_is_of_counters(enum schema_slot slot)
{
    return slot >= SCHEMA_VALUE && slot <= SCHEMA_RUNNING;
}

/** Layout of SCHEMA_HELD_COUNT. */
enum { SCHEMA_PERMITS_SHIFT = 32, SCHEMA_PERMITS_MAX = 65535 };

/** Most frames of a call stack. */
enum { SCHEMA_FRAMES_MAX = 256 };

/** Words of each further request in an mpi_done: the call that made it and above 32 bits the result; communicator; peer and above 32 bits
 *  the tag; bytes; number. */
enum {
    SCHEMA_DONE_CALL,
    SCHEMA_DONE_COMM,
    SCHEMA_DONE_PEER,
    SCHEMA_DONE_BYTES,
    SCHEMA_DONE_REQUEST,
    SCHEMA_DONE_WORDS
};

/** `object` of calls: the descriptor in the lower half, its type and the kind of the call above it. */
#define SCHEMA_CALL_OBJECT(call, descriptor_type, fd) \
    ((uint64_t)(call) << 40 | (uint64_t)(descriptor_type) << 32 | (uint32_t)(fd))
#define SCHEMA_CALL_OF(object) ((uint32_t)((object) >> 40))
#define SCHEMA_CALL_DESCRIPTOR_TYPE(object) ((uint32_t)((object) >> 32) & 0xff)

/** Records that are not an event to the reader's caller, beside enum upmu_trace_kind. */
enum schema_kind {
    SCHEMA_KIND_STACK = -1,
    SCHEMA_KIND_MODULE = -2,
    SCHEMA_KIND_COST = -3,
    SCHEMA_KIND_MODULE_GONE = -4,
    SCHEMA_KIND_MPI_CALL = -5,     /**< an MPI_ENTER and an MPI_LEAVE to the caller */
    SCHEMA_KIND_MPI_DONE = -6,     /**< one MPI_REQUEST or more and an MPI_LEAVE */
    SCHEMA_KIND_MPI_EXCHANGE = -7, /**< an MPI_REQUEST and an MPI_LEAVE of MPI_Sendrecv() */
};

/** Without pointers: each page of the table that the loader relocates costs every recorded process a copy of it. */
struct schema_field {
    char name[20]; /**< "" for flat counters */
    enum schema_type type;
    enum schema_shape shape;
    enum schema_slot slot;
    uint32_t length; /**< 0, or the length of a fixed array (packet context only) */
};

struct schema_class {
    const char *name;
    int32_t kind;        /**< enum upmu_trace_kind, enum schema_kind */
    int32_t object_type; /**< enum upmu_object_type, of classes that have no field for it */
    uint32_t flags;      /**< enum upmu_trace_flag, likewise */
    const struct schema_field *fields;
    size_t n_fields;
};

/** Ids of event classes: the index into the table. Ids below CTF_ID_LONG can use the short head and are for frequent
 *  events; the others have the long head. Readers find classes by name: an id may change. */
enum schema_id {
    SCHEMA_ID_REGION_BEGIN, /**< every counter counted throughout, all with one time; or none has a value */
    SCHEMA_ID_REGION_END,
    SCHEMA_ID_REGION_BEGIN_TIMES, /**< every counter counted throughout, each with its own time */
    SCHEMA_ID_REGION_END_TIMES,
    SCHEMA_ID_OMP, /**< as long as the compact classes below */
    SCHEMA_ID_OMP_PARALLEL,
    SCHEMA_ID_MARK,
    SCHEMA_ID_LOCK_ACQUIRE, /**< the compact classes: 16 bytes with their head; no result, no site */
    SCHEMA_ID_LOCK_RELEASE,
    SCHEMA_ID_CUSTOM_ACQUIRE,
    SCHEMA_ID_CUSTOM_RELEASE,
    SCHEMA_ID_SEM_ACQUIRE,
    SCHEMA_ID_SEM_POST,
    SCHEMA_ID_READ_ACQUIRE,
    SCHEMA_ID_READ_RELEASE,
    SCHEMA_ID_WRITE_ACQUIRE,
    SCHEMA_ID_WRITE_RELEASE,
    SCHEMA_ID_SPIN_ACQUIRE,
    SCHEMA_ID_SPIN_RELEASE,
    SCHEMA_ID_LOCK_BLOCK,
    SCHEMA_ID_LOCK_ACQUIRED,
    SCHEMA_ID_COND_WAIT,
    SCHEMA_ID_COND_WAKE,
    SCHEMA_ID_COND_SIGNAL,
    SCHEMA_ID_COND_BROADCAST,
    SCHEMA_ID_LOCK_ACQUIRE_FULL, /**< acquisitions and releases with more fields */
    SCHEMA_ID_LOCK_RELEASE_FULL,
    SCHEMA_ID_FUTEX_WAIT,
    SCHEMA_ID_FUTEX_WOKEN,
    SCHEMA_ID_LOCK_REQUEST, /**< compact, as the first ones */
    SCHEMA_ID_SEM_POST_FULL,
    SCHEMA_ID_LOCK_FAILED, /**< from here on CTF_ID_LONG and above */
    SCHEMA_ID_LOCK_COUNTS,
    SCHEMA_ID_LOCK_INIT,
    SCHEMA_ID_LOCK_DESTROY,
    SCHEMA_ID_THREAD_CREATE,
    SCHEMA_ID_THREAD_START,
    SCHEMA_ID_THREAD_EXIT,
    SCHEMA_ID_THREAD_JOIN,
    SCHEMA_ID_THREAD_JOINED,
    SCHEMA_ID_THREAD_NAME,
    SCHEMA_ID_THREAD_DETACH,
    SCHEMA_ID_LOCK_NAME,
    SCHEMA_ID_LOCK_MISUSE,
    SCHEMA_ID_MODULE,
    SCHEMA_ID_LOCK_CONSISTENT,
    SCHEMA_ID_SEM_OPEN,
    SCHEMA_ID_SEM_CLOSE,
    SCHEMA_ID_SEM_UNLINK,
    SCHEMA_ID_SEM_VALUE,
    SCHEMA_ID_THREAD_CANCEL,
    SCHEMA_ID_BARRIER_ARRIVE,
    SCHEMA_ID_BARRIER_LEAVE,
    SCHEMA_ID_FUTEX_WAKE,
    SCHEMA_ID_OWN_COST,
    SCHEMA_ID_LOCK_ORDER,
    SCHEMA_ID_COUNTERS, /**< in three forms, as regions */
    SCHEMA_ID_COUNTERS_TIMES,
    SCHEMA_ID_COUNTERS_FULL,
    SCHEMA_ID_SCHED_BEGIN,
    SCHEMA_ID_SCHED_OUT,
    SCHEMA_ID_SCHED_IN,
    SCHEMA_ID_SCHED_LOST,
    SCHEMA_ID_SCHED_SEEN,
    SCHEMA_ID_SCHED_WAKE,
    SCHEMA_ID_KERNEL_LOCK_BLOCK,
    SCHEMA_ID_KERNEL_LOCK_DONE,
    SCHEMA_ID_FUTEX_COUNTS,
    SCHEMA_ID_FUTEX_ALSO,
    SCHEMA_ID_STACK,
    SCHEMA_ID_LOCK_REQUEST_FULL,
    SCHEMA_ID_MODULE_GONE,
    SCHEMA_ID_CALL_BLOCK,
    SCHEMA_ID_CALL_RETURN,
    SCHEMA_ID_MPI_ENTER,
    SCHEMA_ID_MPI_LEAVE,
    SCHEMA_ID_MPI_REQUEST,
    SCHEMA_ID_MPI_POLL,
    SCHEMA_ID_MPI_COMM,
    SCHEMA_ID_MPI_ENV,
    SCHEMA_ID_MPI_COUNT,
    SCHEMA_ID_MPI_START,
    SCHEMA_ID_SAMPLE,
    SCHEMA_ID_REGION_BEGIN_FULL, /**< neither of the short forms: all of upmu_value */
    SCHEMA_ID_REGION_END_FULL,
    SCHEMA_ID_OMP_ENV,
    SCHEMA_ID_HEAP_ALLOC,
    SCHEMA_ID_HEAP_FREE,
    SCHEMA_ID_MPI_CALL,
    SCHEMA_ID_MPI_DONE,
    SCHEMA_ID_MPI_EXCHANGE,
    SCHEMA_ID_REGIONS_DISCARDED,
    SCHEMA_IDS,
};

extern const struct schema_class schema_classes[SCHEMA_IDS];

/** The packet context, in the order of struct ctf_packet. */
extern const struct schema_field schema_packet_context[];
extern const size_t schema_packet_context_fields;

/** Name of a type in the metadata. */
const char *schema_type_name(enum schema_type type);
/** Bytes of each type; 0 for strings. */
extern const uint8_t schema_type_sizes[SCHEMA_TYPES];
static inline size_t schema_type_bytes(enum schema_type type)
{
    return schema_type_sizes[type];
}
/** The type of that name, or SCHEMA_TYPES. */
enum schema_type schema_type_named(const char *name, size_t len);

/** Write the TSDL type declarations (not that of ticks, which needs the clock). */
void schema_types_text(struct textbuf *out);
/** Write `fields` as a TSDL struct. `counters` are valid, distinct field names. */
void schema_struct_text(struct textbuf *out, const struct schema_field *fields, size_t n, const char *const *counters,
                        size_t n_counters);
/** Write all event classes as TSDL. */
void schema_classes_text(struct textbuf *out, const char *const *counters, size_t n_counters);

/** Longest name of a counter's field, with its NUL. */
enum { SCHEMA_FIELD_NAME_MAX = 96 };
/** Make a CTF field name from the name of counter `index`, distinct from the `n_taken` names before it and from all fixed
 *  fields. `out` has SCHEMA_FIELD_NAME_MAX bytes. */
void schema_counter_field(char *out, const char *counter, size_t index, const char *const *taken, size_t n_taken);

#endif

/* SPDX-License-Identifier: MIT */
/* Table of event classes: ids, names and fields. */
#include "trace/format/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/text/textbuf.h"
#include "trace/format/ctf.h"
#include "trace/format/mpi_calls.h"
#include "upmu/trace.h"

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

const uint8_t schema_type_sizes[SCHEMA_TYPES] = {
    [SCHEMA_U8] = 1,   [SCHEMA_U16] = 2,    [SCHEMA_U32] = 4,         [SCHEMA_U64] = 8,
    [SCHEMA_I8] = 1,   [SCHEMA_I32] = 4,    [SCHEMA_HEX64] = 8,       [SCHEMA_TICK] = 8,
    [SCHEMA_CHAR] = 1, [SCHEMA_STATUS] = 1, [SCHEMA_OBJECT_KIND] = 1, [SCHEMA_MPI_CALL] = 2};

static const struct {
    const char *name;
    const char *tsdl; /* the text after "typealias", NULL if metadata.c declares it or TSDL has it */
} types[SCHEMA_TYPES] = {
    [SCHEMA_U8] = {"u8", "integer { size = 8; align = 8; signed = false; }"},
    [SCHEMA_U16] = {"u16", "integer { size = 16; align = 8; signed = false; }"},
    [SCHEMA_U32] = {"u32", "integer { size = 32; align = 8; signed = false; }"},
    [SCHEMA_U64] = {"u64", "integer { size = 64; align = 8; signed = false; }"},
    [SCHEMA_I8] = {"i8", "integer { size = 8; align = 8; signed = true; }"},
    [SCHEMA_I32] = {"i32", "integer { size = 32; align = 8; signed = true; }"},
    [SCHEMA_HEX64] = {"hex64", "integer { size = 64; align = 8; signed = false; base = 16; }"},
    [SCHEMA_TICK] = {"tick64", NULL},
    [SCHEMA_CHAR] = {"text8", "integer { size = 8; align = 8; signed = false; encoding = UTF8; }"},
    [SCHEMA_STATUS] = {"status8", "enum : u8 { not_counted = 0, exact = 1, scaled = 2, refused = 3, unsupported = 4 }"},
    [SCHEMA_OBJECT_KIND] = {"object8",
                            "enum : u8 { none = 0, mutex = 1, cond = 2, semaphore = 3, custom = 4, thread = 5, "
                            "rwlock = 6, spin = 7, barrier = 8, once = 9, futex = 10, call = 11 }"},
    [SCHEMA_MPI_CALL] = {"mpi_call16", NULL}, /* schema_mpi_text() */
    [SCHEMA_STRING] = {"string", NULL},
};

#define OBJECT                                                \
    {                                                         \
        "object", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_OBJECT, 0 \
    }
#define OBJECT_TYPE                                                           \
    {                                                                         \
        "object_type", SCHEMA_OBJECT_KIND, SCHEMA_ONCE, SCHEMA_OBJECT_TYPE, 0 \
    }
#define RESULT                                              \
    {                                                       \
        "result", SCHEMA_I32, SCHEMA_ONCE, SCHEMA_RESULT, 0 \
    }
#define STACK                                             \
    {                                                     \
        "stack", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_STACK, 0 \
    }
#define SITE                                              \
    {                                                     \
        "site", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_SITE, 0 \
    }
/* A number of one kind of event, and the slot of that kind. */
#define PEER(slot)                               \
    {                                            \
        "peer", SCHEMA_I32, SCHEMA_ONCE, slot, 0 \
    }
#define OBJECT2(slot)                                 \
    {                                                 \
        "object2", SCHEMA_HEX64, SCHEMA_ONCE, slot, 0 \
    }
#define HOLDER_SITE(slot)                                 \
    {                                                     \
        "holder_site", SCHEMA_HEX64, SCHEMA_ONCE, slot, 0 \
    }
/* Not of the clock's type: CTF readers would use it as the time of the event. */
#define HOLDER_SINCE(slot)                               \
    {                                                    \
        "holder_since", SCHEMA_U64, SCHEMA_ONCE, slot, 0 \
    }
#define HOLDER_STACK(slot)                               \
    {                                                    \
        "holder_stack", SCHEMA_U32, SCHEMA_ONCE, slot, 0 \
    }
#define COUNT(slot)                               \
    {                                             \
        "count", SCHEMA_U64, SCHEMA_ONCE, slot, 0 \
    }
#define CPU                                           \
    {                                                 \
        "cpu", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_CPU, 0 \
    }
#define FLAGS                                             \
    {                                                     \
        "flags", SCHEMA_U16, SCHEMA_ONCE, SCHEMA_FLAGS, 0 \
    }
#define NAME                                               \
    {                                                      \
        "name", SCHEMA_STRING, SCHEMA_ONCE, SCHEMA_NAME, 0 \
    }

/* Counter fields, which follow the name of a region or the object of a reading. */
/* clang-format off */
#define VALUES_SHARED                                                     \
    {"", SCHEMA_U64, SCHEMA_FLAT_COUNTERS, SCHEMA_VALUE, 0},            \
    {"status", SCHEMA_STATUS, SCHEMA_COUNTER_ARRAY, SCHEMA_VALUE_STATUS, 0}, \
    {"cause", SCHEMA_I8, SCHEMA_COUNTER_ARRAY, SCHEMA_CAUSE, 0},          \
    {"time", SCHEMA_U64, SCHEMA_IF_COUNTERS, SCHEMA_TIME, 0}
#define VALUES_TIMES                                                      \
    {"", SCHEMA_U64, SCHEMA_FLAT_COUNTERS, SCHEMA_VALUE, 0},            \
    {"status", SCHEMA_STATUS, SCHEMA_COUNTER_ARRAY, SCHEMA_VALUE_STATUS, 0}, \
    {"cause", SCHEMA_I8, SCHEMA_COUNTER_ARRAY, SCHEMA_CAUSE, 0},          \
    {"time", SCHEMA_U64, SCHEMA_COUNTER_ARRAY, SCHEMA_TIME, 0}
#define VALUES_FULL                                                       \
    {"", SCHEMA_U64, SCHEMA_FLAT_COUNTERS, SCHEMA_VALUE, 0},            \
    {"status", SCHEMA_I32, SCHEMA_COUNTER_ARRAY, SCHEMA_VALUE_STATUS, 0},      \
    {"cause", SCHEMA_I32, SCHEMA_COUNTER_ARRAY, SCHEMA_CAUSE, 0},         \
    {"raw", SCHEMA_U64, SCHEMA_COUNTER_ARRAY, SCHEMA_RAW, 0},             \
    {"enabled", SCHEMA_U64, SCHEMA_COUNTER_ARRAY, SCHEMA_ENABLED, 0},     \
    {"running", SCHEMA_U64, SCHEMA_COUNTER_ARRAY, SCHEMA_RUNNING, 0}
/* clang-format on */

static const struct schema_field region_fields[] = {NAME, VALUES_SHARED};
static const struct schema_field region_times_fields[] = {NAME, VALUES_TIMES};
static const struct schema_field region_full_fields[] = {NAME, VALUES_FULL};
static const struct schema_field counters_fields[] = {OBJECT, VALUES_SHARED};
static const struct schema_field counters_times_fields[] = {OBJECT, VALUES_TIMES};
static const struct schema_field counters_full_fields[] = {OBJECT, VALUES_FULL};

static const struct schema_field regions_discarded_fields[] = {PEER(SCHEMA_PEER)};
static const struct schema_field mark_fields[] = {
    {"text", SCHEMA_STRING, SCHEMA_ONCE, SCHEMA_NAME, 0},
};

/* Most frequent events: head and stack are one aligned 64-bit word, the object another. */
static const struct schema_field compact_fields[] = {STACK, OBJECT};

static const struct schema_field block_fields[] = {
    OBJECT,
    OBJECT_TYPE,
    PEER(SCHEMA_HOLDER),
    STACK,
    SITE,
    HOLDER_SITE(SCHEMA_HOLDER_SITE),
    HOLDER_SINCE(SCHEMA_HOLDER_SINCE),
    HOLDER_STACK(SCHEMA_HOLDER_STACK),
    FLAGS,
};

static const struct schema_field lock_fields[] = {OBJECT, OBJECT_TYPE, RESULT, STACK, SITE, FLAGS};
static const struct schema_field release_fields[] = {
    OBJECT, OBJECT_TYPE, RESULT, STACK, SITE, HOLDER_SITE(SCHEMA_RELEASED_SITE), HOLDER_SINCE(SCHEMA_RELEASED_SINCE),
    FLAGS};
static const struct schema_field sem_post_fields[] = {OBJECT, RESULT, STACK, SITE, FLAGS};
static const struct schema_field lock_request_fields[] = {OBJECT, OBJECT_TYPE, STACK, FLAGS};
static const struct schema_field lock_init_fields[] = {OBJECT, OBJECT_TYPE, STACK, SITE, NAME, FLAGS};
static const struct schema_field lock_name_fields[] = {OBJECT, OBJECT_TYPE, NAME};
static const struct schema_field lock_counts_fields[] = {
    OBJECT,
    OBJECT_TYPE,
    COUNT(SCHEMA_ACQUISITIONS),
    {"contended", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_CONTENDED, 0},
    FLAGS,
    PEER(SCHEMA_COUNTED_THREAD),
};

static const struct schema_field cond_fields[] = {OBJECT, OBJECT2(SCHEMA_MUTEX), RESULT, STACK, SITE, FLAGS};

/* With the hold of the mutex that ends. */
static const struct schema_field cond_wait_fields[] = {OBJECT,
                                                       OBJECT2(SCHEMA_MUTEX),
                                                       RESULT,
                                                       STACK,
                                                       SITE,
                                                       HOLDER_SITE(SCHEMA_MUTEX_SITE),
                                                       HOLDER_SINCE(SCHEMA_MUTEX_SINCE),
                                                       FLAGS};

static const struct schema_field thread_fields[] = {OBJECT, PEER(SCHEMA_PEER), RESULT, STACK, SITE, FLAGS};
static const struct schema_field thread_start_fields[] = {OBJECT, PEER(SCHEMA_PEER), SITE};
static const struct schema_field thread_exit_fields[] = {OBJECT,
                                                         COUNT(SCHEMA_THREAD_SWITCHES),
                                                         FLAGS,
                                                         {"cpu_ns", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_THREAD_CPU, 0},
                                                         {"ready_ns", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_THREAD_READY, 0},
                                                         {"cpus", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_THREAD_CPUS, 0}};
static const struct schema_field thread_name_fields[] = {OBJECT, PEER(SCHEMA_PEER), NAME};

static const struct schema_field sem_open_fields[] = {OBJECT, RESULT, STACK, SITE, NAME};
static const struct schema_field sem_close_fields[] = {OBJECT, RESULT, STACK, SITE};
static const struct schema_field sem_value_fields[] = {OBJECT, COUNT(SCHEMA_SEM_VALUE), STACK, SITE};
static const struct schema_field wait_fields[] = {OBJECT, RESULT, STACK, SITE, FLAGS};
static const struct schema_field futex_wait_fields[] = {OBJECT, RESULT, STACK, SITE, FLAGS, COUNT(SCHEMA_FUTEXES)};
static const struct schema_field futex_woken_fields[] = {OBJECT, RESULT, STACK, SITE, FLAGS, COUNT(SCHEMA_FUTEX_INDEX)};
static const struct schema_field call_block_fields[] = {OBJECT, STACK, SITE, FLAGS};
static const struct schema_field call_return_fields[] = {OBJECT, RESULT, PEER(SCHEMA_WAKER), STACK, SITE, FLAGS};
#define MPI_U64(name, slot)                        \
    {                                              \
        (name), SCHEMA_U64, SCHEMA_ONCE, (slot), 0 \
    }
#define MPI_HEX(name, slot)                          \
    {                                                \
        (name), SCHEMA_HEX64, SCHEMA_ONCE, (slot), 0 \
    }
#define MPI_I32(name, slot)                        \
    {                                              \
        (name), SCHEMA_I32, SCHEMA_ONCE, (slot), 0 \
    }
#define MPI_CALL(slot)                                  \
    {                                                   \
        "call", SCHEMA_MPI_CALL, SCHEMA_ONCE, (slot), 0 \
    }
#define MPI_ENTER_FIELDS                                                                                  \
    MPI_CALL(SCHEMA_MPI_CALL_NUMBER), MPI_HEX("comm", SCHEMA_MPI_COMM), MPI_I32("peer", SCHEMA_MPI_PEER), \
        MPI_I32("tag", SCHEMA_MPI_TAG), MPI_U64("request", SCHEMA_MPI_REQUEST),                           \
        MPI_U64("sequence", SCHEMA_MPI_SEQUENCE), STACK, SITE
static const struct schema_field mpi_enter_fields[] = {MPI_ENTER_FIELDS};
static const struct schema_field mpi_leave_fields[] = {
    MPI_CALL(SCHEMA_MPI_CALL_NUMBER),      RESULT,
    MPI_HEX("comm", SCHEMA_MPI_COMM),      MPI_I32("peer", SCHEMA_MPI_PEER),
    MPI_I32("tag", SCHEMA_MPI_TAG),        MPI_U64("bytes", SCHEMA_MPI_BYTES),
    MPI_U64("request", SCHEMA_MPI_REQUEST)};
static const struct schema_field mpi_request_fields[] = {
    MPI_CALL(SCHEMA_MPI_CALL_NUMBER),      RESULT,
    MPI_HEX("comm", SCHEMA_MPI_COMM),      MPI_I32("peer", SCHEMA_MPI_PEER),
    MPI_I32("tag", SCHEMA_MPI_TAG),        MPI_U64("bytes", SCHEMA_MPI_BYTES),
    MPI_U64("request", SCHEMA_MPI_REQUEST)};
static const struct schema_field mpi_call_fields[] = {MPI_ENTER_FIELDS, MPI_U64("bytes", SCHEMA_MPI_BYTES),
                                                      MPI_U64("since", SCHEMA_MPI_BEGIN)};
static const struct schema_field mpi_done_fields[] = {MPI_CALL(SCHEMA_MPI_CALL_NUMBER),
                                                      {"made", SCHEMA_MPI_CALL, SCHEMA_ONCE, SCHEMA_MPI_MADE, 0},
                                                      RESULT,
                                                      MPI_HEX("comm", SCHEMA_MPI_COMM),
                                                      MPI_I32("peer", SCHEMA_MPI_PEER),
                                                      MPI_I32("tag", SCHEMA_MPI_TAG),
                                                      MPI_U64("bytes", SCHEMA_MPI_BYTES),
                                                      MPI_U64("request", SCHEMA_MPI_REQUEST),
                                                      {"others", SCHEMA_HEX64, SCHEMA_SEQUENCE, SCHEMA_FRAMES, 0}};
static const struct schema_field mpi_exchange_fields[] = {MPI_CALL(SCHEMA_MPI_CALL_NUMBER),
                                                          MPI_HEX("comm", SCHEMA_MPI_COMM),
                                                          MPI_I32("peer", SCHEMA_MPI_PEER),
                                                          MPI_I32("tag", SCHEMA_MPI_TAG),
                                                          MPI_U64("bytes", SCHEMA_MPI_BYTES),
                                                          MPI_I32("source", SCHEMA_MPI_SOURCE),
                                                          MPI_I32("source_tag", SCHEMA_MPI_SOURCE_TAG),
                                                          MPI_U64("received", SCHEMA_MPI_RECEIVED)};
static const struct schema_field mpi_poll_fields[] = {MPI_CALL(SCHEMA_MPI_POLLED), MPI_U64("count", SCHEMA_MPI_POLLS),
                                                      MPI_U64("since", SCHEMA_MPI_SINCE),
                                                      MPI_U64("ticks", SCHEMA_MPI_BUSY)};
static const struct schema_field mpi_comm_fields[] = {
    MPI_HEX("comm", SCHEMA_MPI_COMM_ID), MPI_HEX("parent", SCHEMA_MPI_PARENT), MPI_I32("rank", SCHEMA_MPI_COMM_RANK),
    MPI_I32("size", SCHEMA_MPI_COMM_SIZE)};
static const struct schema_field mpi_env_fields[] = {
    MPI_HEX("job", SCHEMA_MPI_JOB),         MPI_I32("rank", SCHEMA_MPI_RANK),
    MPI_I32("size", SCHEMA_MPI_SIZE),       MPI_I32("thread_level", SCHEMA_MPI_THREAD_LEVEL),
    MPI_I32("wrapped", SCHEMA_MPI_WRAPPED), NAME};
static const struct schema_field mpi_count_fields[] = {MPI_CALL(SCHEMA_MPI_COUNTED),
                                                       MPI_U64("count", SCHEMA_MPI_CALLS)};

/* As long as compact_fields: stream_fast.h writes both. "event" would be a keyword of the metadata. */
static const struct schema_field omp_fields[] = {
    {"what", SCHEMA_U8, SCHEMA_ONCE, SCHEMA_OMP_EVENT, 0},
    {"construct", SCHEMA_U8, SCHEMA_ONCE, SCHEMA_OMP_CONSTRUCT, 0},
    {"number", SCHEMA_U16, SCHEMA_ONCE, SCHEMA_OMP_NUMBER, 0},
    {"value", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_OMP_VALUE, 0},
};
static const struct schema_field omp_parallel_fields[] = {{"region", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_OMP_REGION, 0},
                                                          {"threads", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_OMP_THREADS, 0},
                                                          STACK,
                                                          SITE};
static const struct schema_field heap_fields[] = {OBJECT,
                                                  {"bytes", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_HEAP_BYTES, 0},
                                                  {"weight", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_HEAP_WEIGHT, 0},
                                                  {"period", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_HEAP_PERIOD, 0},
                                                  STACK,
                                                  SITE};
static const struct schema_field omp_env_fields[] = {{"method", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_OMP_METHOD, 0}, NAME};

static const struct schema_field futex_also_fields[] = {OBJECT};
static const struct schema_field futex_wake_fields[] = {
    OBJECT, OBJECT2(SCHEMA_MOVED_TO), RESULT, COUNT(SCHEMA_FUTEX_WOKEN), STACK, SITE};

static const struct schema_field lock_order_fields[] = {
    OBJECT,
    OBJECT_TYPE,
    OBJECT2(SCHEMA_HELD),
    HOLDER_SITE(SCHEMA_HELD_SITE),
    HOLDER_STACK(SCHEMA_HELD_STACK),
    STACK,
    COUNT(SCHEMA_HELD_COUNT),
    FLAGS,
};

static const struct schema_field sched_out_fields[] = {CPU, FLAGS};
static const struct schema_field sched_cpu_fields[] = {CPU};
static const struct schema_field sched_count_fields[] = {COUNT(SCHEMA_SWITCHES)};
static const struct schema_field sched_wake_fields[] = {PEER(SCHEMA_THREAD_WOKEN)};
static const struct schema_field kernel_lock_fields[] = {
    OBJECT, {"kinds", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_KERNEL_LOCK_KINDS, 0}};
static const struct schema_field kernel_lock_done_fields[] = {OBJECT, RESULT};
static const struct schema_field futex_counts_fields[] = {
    COUNT(SCHEMA_FUTEX_WAITS), {"recorded", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_FUTEX_RECORDED, 0}};

static const struct schema_field stack_fields[] = {
    {"id", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_STACK, 0},
    {"method", SCHEMA_U8, SCHEMA_ONCE, SCHEMA_METHOD, 0},
    {"truncated", SCHEMA_U8, SCHEMA_ONCE, SCHEMA_TRUNCATED, 0},
    {"frames", SCHEMA_HEX64, SCHEMA_SEQUENCE, SCHEMA_FRAMES, 0},
};

static const struct schema_field module_fields[] = {
    {"base", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_BASE, 0},  {"start", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_START, 0},
    {"end", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_END, 0},    {"build_id", SCHEMA_STRING, SCHEMA_ONCE, SCHEMA_BUILD_ID, 0},
    {"path", SCHEMA_STRING, SCHEMA_ONCE, SCHEMA_NAME, 0},
};

static const struct schema_field sample_fields[] = {
    SITE,
    STACK,
    {"cpu_ns", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SAMPLE_CPU, 0},
    {"total_ns", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SAMPLE_TOTAL, 0},
    {"period_ns", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SAMPLE_PERIOD, 0},
};

static const struct schema_field module_gone_fields[] = {
    {"base", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_BASE, 0},
    {"start", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_START, 0},
    {"end", SCHEMA_HEX64, SCHEMA_ONCE, SCHEMA_END, 0},
};

#define CLASS_AS(name, kind, type, flags, fields)                   \
    {                                                               \
        (name), (kind), (type), (flags), (fields), COUNT_OF(fields) \
    }
static const struct schema_field own_cost_fields[] = {
    {"event_ps", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_COST_FULL, 0},
    {"compact_ps", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_COST_COMPACT, 0},
    {"stack_ps", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_COST_STACK, 0},
};

#define CLASS_OF(name, kind, type, fields) CLASS_AS(name, kind, type, 0, fields)
#define CLASS(name, kind, fields) CLASS_OF(name, kind, UPMU_OBJECT_NONE, fields)

const struct schema_class schema_classes[SCHEMA_IDS] = {
    [SCHEMA_ID_REGION_BEGIN] = CLASS("region_begin", UPMU_TRACE_REGION_BEGIN, region_fields),
    [SCHEMA_ID_REGION_END] = CLASS("region_end", UPMU_TRACE_REGION_END, region_fields),
    [SCHEMA_ID_REGION_BEGIN_TIMES] = CLASS("region_begin_times", UPMU_TRACE_REGION_BEGIN, region_times_fields),
    [SCHEMA_ID_REGION_END_TIMES] = CLASS("region_end_times", UPMU_TRACE_REGION_END, region_times_fields),
    [SCHEMA_ID_REGION_BEGIN_FULL] = CLASS("region_begin_full", UPMU_TRACE_REGION_BEGIN, region_full_fields),
    [SCHEMA_ID_REGION_END_FULL] = CLASS("region_end_full", UPMU_TRACE_REGION_END, region_full_fields),
    [SCHEMA_ID_MARK] = CLASS("mark", UPMU_TRACE_MARK, mark_fields),

    [SCHEMA_ID_LOCK_ACQUIRE] = CLASS_OF("lock_acquire", UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, compact_fields),
    [SCHEMA_ID_LOCK_RELEASE] = CLASS_OF("lock_release", UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, compact_fields),
    [SCHEMA_ID_CUSTOM_ACQUIRE] =
        CLASS_OF("custom_acquire", UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_CUSTOM, compact_fields),
    [SCHEMA_ID_CUSTOM_RELEASE] =
        CLASS_OF("custom_release", UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_CUSTOM, compact_fields),
    [SCHEMA_ID_SEM_ACQUIRE] = CLASS_OF("sem_acquire", UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SEM, compact_fields),
    [SCHEMA_ID_SEM_POST] = CLASS_OF("sem_post", UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, compact_fields),

    [SCHEMA_ID_READ_ACQUIRE] =
        CLASS_AS("read_acquire", UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, UPMU_TRACE_FLAG_SHARED, compact_fields),
    [SCHEMA_ID_READ_RELEASE] =
        CLASS_AS("read_release", UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_RWLOCK, UPMU_TRACE_FLAG_SHARED, compact_fields),
    [SCHEMA_ID_WRITE_ACQUIRE] = CLASS_OF("write_acquire", UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_RWLOCK, compact_fields),
    [SCHEMA_ID_WRITE_RELEASE] = CLASS_OF("write_release", UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_RWLOCK, compact_fields),
    [SCHEMA_ID_SPIN_ACQUIRE] = CLASS_OF("spin_acquire", UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SPIN, compact_fields),
    [SCHEMA_ID_SPIN_RELEASE] = CLASS_OF("spin_release", UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_SPIN, compact_fields),

    [SCHEMA_ID_LOCK_BLOCK] = CLASS("lock_block", UPMU_TRACE_LOCK_BLOCK, block_fields),
    [SCHEMA_ID_LOCK_ACQUIRED] = CLASS("lock_acquired", UPMU_TRACE_LOCK_ACQUIRED, lock_fields),
    [SCHEMA_ID_COND_WAIT] = CLASS_OF("cond_wait", UPMU_TRACE_COND_WAIT, UPMU_OBJECT_COND, cond_wait_fields),
    [SCHEMA_ID_COND_WAKE] = CLASS_OF("cond_wake", UPMU_TRACE_COND_WAKE, UPMU_OBJECT_COND, cond_fields),
    [SCHEMA_ID_COND_SIGNAL] = CLASS_OF("cond_signal", UPMU_TRACE_COND_SIGNAL, UPMU_OBJECT_COND, cond_fields),
    [SCHEMA_ID_COND_BROADCAST] = CLASS_OF("cond_broadcast", UPMU_TRACE_COND_BROADCAST, UPMU_OBJECT_COND, cond_fields),
    [SCHEMA_ID_LOCK_ACQUIRE_FULL] = CLASS("lock_acquire_full", UPMU_TRACE_LOCK_ACQUIRE, lock_fields),
    [SCHEMA_ID_LOCK_RELEASE_FULL] = CLASS("lock_release_full", UPMU_TRACE_LOCK_RELEASE, release_fields),
    [SCHEMA_ID_SEM_POST_FULL] = CLASS_OF("sem_post_full", UPMU_TRACE_SEM_POST, UPMU_OBJECT_SEM, sem_post_fields),
    [SCHEMA_ID_LOCK_FAILED] = CLASS("lock_failed", UPMU_TRACE_LOCK_FAILED, lock_fields),
    [SCHEMA_ID_LOCK_COUNTS] = CLASS("lock_counts", UPMU_TRACE_LOCK_COUNTS, lock_counts_fields),
    [SCHEMA_ID_STACK] = CLASS("stack", SCHEMA_KIND_STACK, stack_fields),
    [SCHEMA_ID_LOCK_INIT] = CLASS("lock_init", UPMU_TRACE_LOCK_INIT, lock_init_fields),
    [SCHEMA_ID_LOCK_DESTROY] = CLASS("lock_destroy", UPMU_TRACE_LOCK_DESTROY, lock_fields),
    [SCHEMA_ID_THREAD_CREATE] = CLASS_OF("thread_create", UPMU_TRACE_THREAD_CREATE, UPMU_OBJECT_THREAD, thread_fields),
    [SCHEMA_ID_THREAD_START] =
        CLASS_OF("thread_start", UPMU_TRACE_THREAD_START, UPMU_OBJECT_THREAD, thread_start_fields),
    [SCHEMA_ID_THREAD_EXIT] = CLASS_OF("thread_exit", UPMU_TRACE_THREAD_EXIT, UPMU_OBJECT_THREAD, thread_exit_fields),
    [SCHEMA_ID_THREAD_JOIN] = CLASS_OF("thread_join", UPMU_TRACE_THREAD_JOIN, UPMU_OBJECT_THREAD, thread_fields),
    [SCHEMA_ID_THREAD_JOINED] = CLASS_OF("thread_joined", UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, thread_fields),
    [SCHEMA_ID_THREAD_NAME] = CLASS_OF("thread_name", UPMU_TRACE_THREAD_NAME, UPMU_OBJECT_THREAD, thread_name_fields),
    [SCHEMA_ID_THREAD_DETACH] = CLASS_OF("thread_detach", UPMU_TRACE_THREAD_DETACH, UPMU_OBJECT_THREAD, thread_fields),
    [SCHEMA_ID_LOCK_NAME] = CLASS("lock_name", UPMU_TRACE_LOCK_NAME, lock_name_fields),
    [SCHEMA_ID_LOCK_MISUSE] = CLASS("lock_misuse", UPMU_TRACE_LOCK_MISUSE, lock_fields),
    [SCHEMA_ID_MODULE] = CLASS("module", SCHEMA_KIND_MODULE, module_fields),
    [SCHEMA_ID_LOCK_CONSISTENT] = CLASS("lock_consistent", UPMU_TRACE_LOCK_CONSISTENT, lock_fields),
    [SCHEMA_ID_SEM_OPEN] = CLASS_OF("sem_open", UPMU_TRACE_SEM_OPEN, UPMU_OBJECT_SEM, sem_open_fields),
    [SCHEMA_ID_SEM_CLOSE] = CLASS_OF("sem_close", UPMU_TRACE_SEM_CLOSE, UPMU_OBJECT_SEM, sem_close_fields),
    [SCHEMA_ID_SEM_UNLINK] = CLASS_OF("sem_unlink", UPMU_TRACE_SEM_UNLINK, UPMU_OBJECT_SEM, sem_open_fields),
    [SCHEMA_ID_SEM_VALUE] = CLASS_OF("sem_value", UPMU_TRACE_SEM_VALUE, UPMU_OBJECT_SEM, sem_value_fields),
    [SCHEMA_ID_THREAD_CANCEL] = CLASS_OF("thread_cancel", UPMU_TRACE_THREAD_CANCEL, UPMU_OBJECT_THREAD, thread_fields),
    [SCHEMA_ID_BARRIER_ARRIVE] =
        CLASS_OF("barrier_arrive", UPMU_TRACE_BARRIER_ARRIVE, UPMU_OBJECT_BARRIER, wait_fields),
    [SCHEMA_ID_BARRIER_LEAVE] = CLASS_OF("barrier_leave", UPMU_TRACE_BARRIER_LEAVE, UPMU_OBJECT_BARRIER, wait_fields),
    [SCHEMA_ID_FUTEX_WAIT] = CLASS_OF("futex_wait", UPMU_TRACE_FUTEX_WAIT, UPMU_OBJECT_FUTEX, futex_wait_fields),
    [SCHEMA_ID_FUTEX_WOKEN] = CLASS_OF("futex_woken", UPMU_TRACE_FUTEX_WOKEN, UPMU_OBJECT_FUTEX, futex_woken_fields),
    [SCHEMA_ID_FUTEX_WAKE] = CLASS_OF("futex_wake", UPMU_TRACE_FUTEX_WAKE, UPMU_OBJECT_FUTEX, futex_wake_fields),
    [SCHEMA_ID_OWN_COST] = CLASS("own_cost", SCHEMA_KIND_COST, own_cost_fields),
    [SCHEMA_ID_LOCK_ORDER] = CLASS("lock_order", UPMU_TRACE_LOCK_ORDER, lock_order_fields),
    [SCHEMA_ID_COUNTERS] = CLASS("counters", UPMU_TRACE_COUNTERS, counters_fields),
    [SCHEMA_ID_COUNTERS_TIMES] = CLASS("counters_times", UPMU_TRACE_COUNTERS, counters_times_fields),
    [SCHEMA_ID_COUNTERS_FULL] = CLASS("counters_full", UPMU_TRACE_COUNTERS, counters_full_fields),
    [SCHEMA_ID_SCHED_BEGIN] = CLASS("sched_begin", UPMU_TRACE_SCHED_BEGIN, sched_cpu_fields),
    [SCHEMA_ID_SCHED_OUT] = CLASS("sched_out", UPMU_TRACE_SCHED_OUT, sched_out_fields),
    [SCHEMA_ID_SCHED_IN] = CLASS("sched_in", UPMU_TRACE_SCHED_IN, sched_cpu_fields),
    [SCHEMA_ID_SCHED_LOST] = CLASS("sched_lost", UPMU_TRACE_SCHED_LOST, sched_count_fields),
    [SCHEMA_ID_SCHED_SEEN] = CLASS("sched_seen", UPMU_TRACE_SCHED_SEEN, sched_count_fields),
    [SCHEMA_ID_SCHED_WAKE] = CLASS("sched_wake", UPMU_TRACE_SCHED_WAKE, sched_wake_fields),
    [SCHEMA_ID_KERNEL_LOCK_BLOCK] = CLASS("kernel_lock_block", UPMU_TRACE_KERNEL_LOCK_BLOCK, kernel_lock_fields),
    [SCHEMA_ID_KERNEL_LOCK_DONE] = CLASS("kernel_lock_done", UPMU_TRACE_KERNEL_LOCK_DONE, kernel_lock_done_fields),
    [SCHEMA_ID_FUTEX_COUNTS] = CLASS("futex_counts", UPMU_TRACE_FUTEX_COUNTS, futex_counts_fields),
    [SCHEMA_ID_LOCK_REQUEST] = CLASS_OF("lock_request", UPMU_TRACE_LOCK_REQUEST, UPMU_OBJECT_MUTEX, compact_fields),
    [SCHEMA_ID_LOCK_REQUEST_FULL] = CLASS("lock_request_full", UPMU_TRACE_LOCK_REQUEST, lock_request_fields),
    [SCHEMA_ID_FUTEX_ALSO] = CLASS_OF("futex_also", UPMU_TRACE_FUTEX_ALSO, UPMU_OBJECT_FUTEX, futex_also_fields),
    [SCHEMA_ID_MODULE_GONE] = CLASS("module_gone", SCHEMA_KIND_MODULE_GONE, module_gone_fields),
    [SCHEMA_ID_CALL_BLOCK] = CLASS_OF("call_block", UPMU_TRACE_CALL_BLOCK, UPMU_OBJECT_CALL, call_block_fields),
    [SCHEMA_ID_CALL_RETURN] = CLASS_OF("call_return", UPMU_TRACE_CALL_RETURN, UPMU_OBJECT_CALL, call_return_fields),
    [SCHEMA_ID_MPI_ENTER] = CLASS("mpi_enter", UPMU_TRACE_MPI_ENTER, mpi_enter_fields),
    [SCHEMA_ID_MPI_LEAVE] = CLASS("mpi_leave", UPMU_TRACE_MPI_LEAVE, mpi_leave_fields),
    [SCHEMA_ID_MPI_REQUEST] = CLASS("mpi_request", UPMU_TRACE_MPI_REQUEST, mpi_request_fields),
    [SCHEMA_ID_MPI_POLL] = CLASS("mpi_poll", UPMU_TRACE_MPI_POLL, mpi_poll_fields),
    [SCHEMA_ID_MPI_COMM] = CLASS("mpi_comm", UPMU_TRACE_MPI_COMM, mpi_comm_fields),
    [SCHEMA_ID_MPI_ENV] = CLASS("mpi_env", UPMU_TRACE_MPI_ENV, mpi_env_fields),
    [SCHEMA_ID_MPI_COUNT] = CLASS("mpi_count", UPMU_TRACE_MPI_COUNT, mpi_count_fields),
    [SCHEMA_ID_MPI_START] = CLASS("mpi_start", UPMU_TRACE_MPI_START, mpi_request_fields),
    [SCHEMA_ID_SAMPLE] = CLASS("sample", UPMU_TRACE_SAMPLE, sample_fields),
    [SCHEMA_ID_OMP] = CLASS("omp", UPMU_TRACE_OMP, omp_fields),
    [SCHEMA_ID_OMP_PARALLEL] = CLASS("omp_parallel", UPMU_TRACE_OMP_PARALLEL, omp_parallel_fields),
    [SCHEMA_ID_OMP_ENV] = CLASS("omp_env", UPMU_TRACE_OMP_ENV, omp_env_fields),
    [SCHEMA_ID_HEAP_ALLOC] = CLASS("heap_alloc", UPMU_TRACE_HEAP_ALLOC, heap_fields),
    [SCHEMA_ID_HEAP_FREE] = CLASS("heap_free", UPMU_TRACE_HEAP_FREE, heap_fields),
    [SCHEMA_ID_MPI_CALL] = CLASS("mpi_call", SCHEMA_KIND_MPI_CALL, mpi_call_fields),
    [SCHEMA_ID_MPI_DONE] = CLASS("mpi_done", SCHEMA_KIND_MPI_DONE, mpi_done_fields),
    [SCHEMA_ID_MPI_EXCHANGE] = CLASS("mpi_exchange", SCHEMA_KIND_MPI_EXCHANGE, mpi_exchange_fields),
    [SCHEMA_ID_REGIONS_DISCARDED] = CLASS("regions_discarded", UPMU_TRACE_REGIONS_DISCARDED, regions_discarded_fields),
};

static_assert((int)SCHEMA_ID_SEM_POST_FULL < (int)CTF_ID_LONG, "what occurs often has the short head");

const struct schema_field schema_packet_context[] = {
    {"timestamp_begin", SCHEMA_TICK, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"timestamp_end", SCHEMA_TICK, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"content_size", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"packet_size", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"packet_seq_num", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"events_discarded", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"tid", SCHEMA_I32, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"clock_width", SCHEMA_U32, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"thread_name", SCHEMA_CHAR, SCHEMA_ONCE, SCHEMA_SKIP, CTF_THREAD_NAME_BYTES},
    {"event_count", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"clock_tick", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"clock_raw", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"clock_monotonic", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
    {"clock_realtime", SCHEMA_U64, SCHEMA_ONCE, SCHEMA_SKIP, 0},
};
const size_t schema_packet_context_fields = COUNT_OF(schema_packet_context);

const char *schema_type_name(enum schema_type type)
{
    return types[type].name;
}

enum schema_type schema_type_named(const char *name, size_t len)
{
    int t = 0;
    while (t < SCHEMA_TYPES && (strlen(types[t].name) != len || memcmp(types[t].name, name, len) != 0))
        t++;
    return (enum schema_type)t;
}

/* The names of MPI calls, so that other readers print them. */
static void schema_mpi_text(struct textbuf *out)
{
    textbuf_join(out, "typealias enum : u16 { none = 0", NULL);
    for (unsigned i = 1; i < MPI_CALL_NUMBERS; i++)
        if (mpi_call_rows[i].name[0]) {
            textbuf_join(out, ", ", mpi_call_rows[i].name, " = ", NULL);
            textbuf_uint(out, i);
        }
    textbuf_join(out, " } := ", types[SCHEMA_MPI_CALL].name, ";\n", NULL);
}

void schema_types_text(struct textbuf *out)
{
    for (size_t t = 0; t < SCHEMA_TYPES; t++)
        if (types[t].tsdl)
            textbuf_join(out, "typealias ", types[t].tsdl, " := ", types[t].name, ";\n", NULL);
    schema_mpi_text(out);
}

static void schema_field_text(struct textbuf *out, const struct schema_field *f, const char *const *counters,
                              size_t n_counters)
{
    const char *type = types[f->type].name;
    switch (f->shape) {
    case SCHEMA_ONCE:
        textbuf_join(out, " ", type, " ", f->name, NULL);
        if (f->length)
            textbuf_printf(out, "[%u]", (unsigned)f->length);
        textbuf_join(out, ";", NULL);
        break;
    case SCHEMA_IF_COUNTERS:
        if (n_counters)
            textbuf_join(out, " ", type, " ", f->name, ";", NULL);
        break;
    case SCHEMA_FLAT_COUNTERS:
        /* CTF readers drop the underscore; it keeps a counter named "event" from being a keyword. */
        for (size_t i = 0; i < n_counters; i++)
            textbuf_join(out, " ", type, " _", counters[i], ";", NULL);
        break;
    case SCHEMA_COUNTER_ARRAY:
        if (n_counters)
            textbuf_printf(out, " %s %s[%zu];", type, f->name, n_counters);
        break;
    case SCHEMA_SEQUENCE:
        textbuf_join(out, " u16 ", f->name, "_length; ", type, " ", f->name, "[", f->name, "_length];", NULL);
        break;
    }
}

void schema_struct_text(struct textbuf *out, const struct schema_field *fields, size_t n, const char *const *counters,
                        size_t n_counters)
{
    textbuf_join(out, "struct {", NULL);
    for (size_t i = 0; i < n; i++)
        schema_field_text(out, &fields[i], counters, n_counters);
    textbuf_join(out, " }", NULL);
}

void schema_classes_text(struct textbuf *out, const char *const *counters, size_t n_counters)
{
    for (size_t id = 0; id < SCHEMA_IDS; id++) {
        const struct schema_class *c = &schema_classes[id];
        textbuf_join(out, "event {\n    name = \"", c->name, "\";\n    id = ", NULL);
        textbuf_uint(out, id);
        textbuf_join(out, ";\n    stream_id = 0;\n    fields := ", NULL);
        schema_struct_text(out, c->fields, c->n_fields, counters, n_counters);
        textbuf_join(out, ";\n};\n", NULL);
    }
}

static bool schema_is_fixed_field(const char *name)
{
    for (size_t id = 0; id < SCHEMA_IDS; id++)
        for (size_t i = 0; i < schema_classes[id].n_fields; i++)
            if (strcmp(schema_classes[id].fields[i].name, name) == 0)
                return true;
    return false;
}

static bool schema_name_is_taken(const char *name, const char *const *taken, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(taken[i], name) == 0)
            return true;
    return false;
}

static bool schema_is_field_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void schema_counter_field(char *out, const char *counter, size_t index, const char *const *taken, size_t n_taken)
{
    enum { SUFFIX_MAX = 24 }; /* "_" and two numbers */
    size_t len = 0;
    for (; counter[len] && len < SCHEMA_FIELD_NAME_MAX - SUFFIX_MAX; len++)
        out[len] = schema_is_field_char(counter[len]) ? counter[len] : '_';
    out[len] = '\0';
    if (len == 0) {
        memcpy(out, "counter", sizeof "counter");
        len = sizeof "counter" - 1;
    }
    for (size_t n = 0; schema_is_fixed_field(out) || schema_name_is_taken(out, taken, n_taken); n++)
        snprintf(out + len, SUFFIX_MAX, "_%u_%u", (unsigned)index, (unsigned)n);
}

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * MPI jobs of a recording: ranks, calls, messages, and what ranks waited for.
 * Link with libupmu_analysis. MPI is recorded by libupmu_mpi, which `upmu record --mpi` preloads.
 *
 *     struct upmu_mpi *m;
 *     struct upmu_mpi_rank row = {.size = sizeof row};
 *     if (upmu_mpi_open(&m, "DIR") < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_mpi_rank_at(m, i, &row) == 0; i++)
 *         printf("%d %" PRIu64 "\n", (int)row.rank, row.mpi_ns);
 *     upmu_mpi_close(m);
 *
 * A rank's time is that of the thread that called MPI_Init(), from the return of MPI_Init() to the call of MPI_Finalize(), or to the last
 * event of a rank that did not get there. Functions that fill a struct take its `size` from the caller, set it to the bytes
 * filled, and return 0; UPMU_E_END past the last entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. Strings are valid
 * until upmu_mpi_close(). One recording may be used by one thread at a time; no function is async-signal-safe.
 */
#ifndef UPMU_MPI_H
#define UPMU_MPI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** The MPI jobs of a recording. */
struct upmu_mpi;

/**
 * Read the MPI events of a recording. Memory grows with the number of calls, about 400 bytes each.
 * @param mpi out: to be closed with upmu_mpi_close(); NULL on failure
 * @param dir path of the directory
 * @return 0; UPMU_E_STATE (no process of it is a rank); UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_VERSION (as upmu_trace_open());
 *         UPMU_E_INVAL (NULL); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_mpi_open(struct upmu_mpi **mpi, const char *dir);

/**
 * As upmu_mpi_open(), of a stretch: times are cut at its ends, and counts are of what has a part in it. Messages and calls are matched in
 * the whole recording. The critical path is that of the whole job, as far as it is in the stretch; causes of the stretch's waits may be
 * before it; calls that are only counted have no times, and are left out. How a rank ended is of its whole life. Deadlocks are those
 * that were complete by the end of the stretch.
 * @param from_ns begin, nanoseconds since 1970; 0: the begin of the recording
 * @param to_ns   end; 0: the end of the recording
 * @return as upmu_mpi_open(); UPMU_E_INVAL (it ends before it begins).
 */
UPMU_API UPMU_CHECKED int upmu_mpi_open_between(struct upmu_mpi **mpi, const char *dir, uint64_t from_ns,
                                                uint64_t to_ns);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_mpi_close(struct upmu_mpi *mpi);

/** A job: ranks with one MPI_COMM_WORLD. */
struct upmu_mpi_job {
    size_t size;            /**< in: sizeof(struct upmu_mpi_job); out: bytes filled */
    uint32_t ranks;         /**< ranks with recorded calls */
    uint32_t world;         /**< size of MPI_COMM_WORLD; 0: unknown */
    uint64_t begin_ns;      /**< first return of MPI_Init(), nanoseconds since 1970 */
    uint64_t end_ns;        /**< last call of MPI_Finalize(), or end of a rank */
    uint64_t useful_max_ns; /**< longest time of a rank outside of MPI */
    double useful_mean_ns;  /**< mean of these times */
    /* Efficiencies by the definitions of POP, 0 to 1. They are those of a part of the job if `ranks` is not `world`. */
    double parallel;      /**< load balance x communication: mean useful time by the duration of the job */
    double load_balance;  /**< mean useful time by the longest one */
    double communication; /**< longest useful time by the duration of the job */
    uint64_t messages;    /**< messages between two recorded ranks, both halves found */
    uint64_t
        unmatched;     /**< sends and receives without the other half: not recorded, lost, overwritten, or never done */
    uint64_t reversed; /**< messages that were received before they were sent: the clocks of two hosts differ */
    uint64_t collectives; /**< collective calls of whole communicators */
    uint64_t partial;     /**< collective calls that not all ranks of the communicator have recorded: not analyzed */
    /**
     * Duration of the job with a network that takes no time: each rank computes as long as it did, and a call lasts only until what it
     * waits for has begun on the other ranks. Calls whose dependencies are not analyzed last as long as they did. UPMU_NO_VALUE: not
     * known, as events are missing, or several threads of a rank called MPI; then both numbers below are 0.
     */
    uint64_t ideal_ns;
    double
        serialization; /**< longest useful time by `ideal_ns`: what is lost by ranks that need each other's results */
    double transfer;   /**< `ideal_ns` by the duration: what is lost in the network; communication is their product */
    uint64_t reversed_ns; /**< the longest time by which one of `reversed` was received too early, nanoseconds */
};
#define UPMU_MPI_JOB_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_job, 112)
UPMU_API UPMU_CHECKED int upmu_mpi_job_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_job *out);

/** How a rank ended. */
enum upmu_mpi_end {
    UPMU_MPI_END_FINALIZED = 0, /**< it called MPI_Finalize() */
    UPMU_MPI_END_EXITED = 1,    /**< the process ended in order without it */
    UPMU_MPI_END_KILLED = 2,    /**< the process was killed, or still runs */
};

/** A rank. */
struct upmu_mpi_rank {
    size_t size;             /**< in: sizeof(struct upmu_mpi_rank); out: bytes filled */
    size_t job;              /**< index for upmu_mpi_job_at() */
    int32_t rank;            /**< in MPI_COMM_WORLD */
    int32_t pid;             /**< process id */
    const char *host;        /**< host name */
    const char *library;     /**< the MPI library, or why calls are not recorded */
    uint32_t wrapped;        /**< 1: calls are recorded; 0: all numbers below are 0 */
    uint32_t end;            /**< enum upmu_mpi_end */
    uint32_t in_call;        /**< the call that it was in when it ended, for upmu_trace_mpi_call_name(); 0: none */
    uint32_t reserved;       /**< 0 */
    uint64_t time_ns;        /**< of the rank */
    uint64_t useful_ns;      /**< of it outside of MPI */
    uint64_t mpi_ns;         /**< of it in MPI calls */
    uint64_t wait_ns;        /**< of it waits that are explained, see struct upmu_mpi_wait */
    uint64_t calls;          /**< recorded calls of all threads, polls included */
    uint64_t sent;           /**< messages */
    uint64_t sent_bytes;     /**< bytes of these, as far as they are known */
    uint64_t received;       /**< messages */
    uint64_t received_bytes; /**< bytes of these, as far as they are known */
    uint64_t unknown_bytes;  /**< messages of unknown size */
    uint32_t process;        /**< index of its process in the recording, as upmu_overview_process_at() has it */
    int32_t tid;             /**< thread that called MPI_Init(); 0: not known */
};
#define UPMU_MPI_RANK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_rank, 136)
/** Rank `index`: by job, then rank. */
UPMU_API UPMU_CHECKED int upmu_mpi_rank_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_rank *out);

/** An MPI function in a job. */
struct upmu_mpi_call {
    size_t size;      /**< in: sizeof(struct upmu_mpi_call); out: bytes filled */
    size_t job;       /**< index for upmu_mpi_job_at() */
    const char *name; /**< "MPI_Send" */
    uint64_t calls;   /**< of all ranks; counted ones included, which have no time */
    uint64_t ns;      /**< time in them, of all ranks and threads */
    uint64_t max_ns;  /**< of the rank with the longest time in them */
    int32_t max_rank; /**< that rank */
    int32_t reserved; /**< 0 */
    uint64_t bytes;   /**< passed to it to send, or received by it, as far as they are known */
};
#define UPMU_MPI_CALL_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_call, 64)
/** Function `index`: by job, then by time. */
UPMU_API UPMU_CHECKED int upmu_mpi_call_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_call *out);

/** Why a rank waited in a call. A wait is a part of the call. */
enum upmu_mpi_pattern {
    UPMU_MPI_LATE_SENDER = 1,    /**< a receive, or the wait for one, began before the send */
    UPMU_MPI_LATE_RECEIVER = 2,  /**< a send that could not go ahead began before the receive was posted */
    UPMU_MPI_WAIT_BARRIER = 3,   /**< MPI_Barrier() began before its last rank had */
    UPMU_MPI_WAIT_ALL = 4,       /**< the same of collectives in which all ranks need data of all */
    UPMU_MPI_LATE_BROADCAST = 5, /**< broadcast or scatter: the root began later */
    UPMU_MPI_EARLY_REDUCE = 6,   /**< reduce or gather: the root began before the first other rank */
    UPMU_MPI_EARLY_SCAN = 7,     /**< scan: a lower rank began later */
    UPMU_MPI_WAIT_FINALIZE = 8,  /**< MPI_Finalize() began before that of the last rank */
    UPMU_MPI_WRONG_ORDER =
        9, /**< late sender, while a message sent earlier is received later: in the other order it waits less */
};

/** Waits of a rank for another one in one function. */
struct upmu_mpi_wait {
    size_t size;      /**< in: sizeof(struct upmu_mpi_wait); out: bytes filled */
    size_t job;       /**< index for upmu_mpi_job_at() */
    const char *name; /**< of the function in which it waited */
    int32_t pattern;  /**< enum upmu_mpi_pattern */
    int32_t rank;     /**< that waited */
    int32_t cause;    /**< the late one, by its rank in MPI_COMM_WORLD */
    int32_t reserved; /**< 0 */
    uint64_t count;   /**< number of waits */
    uint64_t ns;      /**< their duration */
    uint64_t max_ns;  /**< of the longest */
};
#define UPMU_MPI_WAIT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_wait, 64)
/** Waits `index`, the longest first. */
UPMU_API UPMU_CHECKED int upmu_mpi_wait_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_wait *out);

/** Messages of a recorded rank with one whose calls are not recorded. What it waited for them is not known. */
struct upmu_mpi_partner {
    size_t size;       /**< in: sizeof(struct upmu_mpi_partner); out: bytes filled */
    size_t job;        /**< index for upmu_mpi_job_at() */
    int32_t rank;      /**< the recorded rank */
    int32_t partner;   /**< the other one, by its rank in MPI_COMM_WORLD; -1: not known, of another communicator */
    uint64_t sent;     /**< messages to it */
    uint64_t received; /**< messages from it */
};
#define UPMU_MPI_PARTNER_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_partner, 40)
/** Partner `index`: by rank, then by partner. Their messages are counted in `unmatched` of the job, too. */
UPMU_API UPMU_CHECKED int upmu_mpi_partner_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_partner *out);

/** The wait of one call: of several messages that it waited for, the longest. It begins with the call. */
struct upmu_mpi_call_wait {
    size_t size;      /**< in: sizeof(struct upmu_mpi_call_wait); out: bytes filled */
    size_t job;       /**< index for upmu_mpi_job_at() */
    const char *name; /**< of the function in which it waited */
    uint64_t call_ns; /**< begin of the call, nanoseconds since 1970 */
    uint64_t ns;      /**< duration of the wait */
    uint32_t process; /**< index of the process in the recording, as upmu_overview_process_at() has it */
    int32_t pattern;  /**< enum upmu_mpi_pattern */
    int32_t rank;     /**< that waited */
    int32_t cause;    /**< the late one, by its rank in MPI_COMM_WORLD */
};
#define UPMU_MPI_CALL_WAIT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_call_wait, 56)
/** Wait `index`, in no order. Those of struct upmu_mpi_wait are their sums. */
UPMU_API UPMU_CHECKED int upmu_mpi_call_wait_at(const struct upmu_mpi *mpi, size_t index,
                                                struct upmu_mpi_call_wait *out);

/**
 * What delayed a rank for which others waited. The time between the last synchronization of both ranks and a wait is compared: what
 * the late rank did longer than the waiting one caused the wait, in that proportion. If it waited for a third rank itself, that share
 * of the wait is passed on to that rank's delays. Of each rank the last 16 synchronizations and the last 4,096 calls and pieces of time
 * between calls are looked at.
 */
struct upmu_mpi_delay {
    size_t size;        /**< in: sizeof(struct upmu_mpi_delay); out: bytes filled */
    size_t job;         /**< index for upmu_mpi_job_at() */
    int32_t rank;       /**< the late rank */
    uint32_t inside;    /**< 1: it was in `name` for longer, waits excluded; 0: outside of MPI, before that call */
    const char *region; /**< the innermost region that it was in; NULL: none */
    const char
        *name; /**< without `region`: the MPI function; NULL: the time before a region, with `inside` not known */
    uint32_t process; /**< index of the rank's process in the recording, as upmu_overview_process_at() has it */
    uint32_t stack;   /**< of one of these calls; 0: none */
    uint64_t site;    /**< call site of one of these calls; 0: not known */
    uint64_t waits;   /**< number of waits for this rank to which it contributed */
    uint64_t ns;      /**< time that ranks waited because of it, for this rank or for others that waited for it */
};
#define UPMU_MPI_DELAY_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_delay, 72)
/** Delay `index`: by job, then those that cost most first. Their times add up to those of all waits, but for rounding. */
UPMU_API UPMU_CHECKED int upmu_mpi_delay_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_delay *out);

/**
 * What a job's critical path leads through: time of a rank in a region, in an MPI function, or before one. The path ends where the
 * last rank ends; each wait for another rank leads from its end to that rank. To shorten what is not on it does not shorten the job.
 */
struct upmu_mpi_path {
    size_t size;        /**< in: sizeof(struct upmu_mpi_path); out: bytes filled */
    size_t job;         /**< index for upmu_mpi_job_at() */
    int32_t rank;       /**< in MPI_COMM_WORLD */
    uint32_t inside;    /**< 1: in `name`, waits excluded; 0: outside of MPI, before that call */
    const char *region; /**< the innermost region that it was in; NULL: none */
    const char *name;   /**< without `region`: the MPI function; NULL: none followed */
    uint32_t process;   /**< index of the rank's process in the recording, as upmu_overview_process_at() has it */
    uint32_t stack;     /**< of one of these calls; 0: none */
    uint64_t site;      /**< call site of one of these calls; 0: not known */
    uint64_t ns;        /**< time on the path */
};
#define UPMU_MPI_PATH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_path, 64)
/** Part `index`: by job, then the longest first. */
UPMU_API UPMU_CHECKED int upmu_mpi_path_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_path *out);

/** A step of a critical path: a rank that it leads along for a while. */
struct upmu_mpi_path_step {
    size_t size;       /**< in: sizeof(struct upmu_mpi_path_step); out: bytes filled */
    size_t job;        /**< index for upmu_mpi_job_at() */
    int32_t rank;      /**< in MPI_COMM_WORLD */
    int32_t tid;       /**< thread that called MPI_Init() */
    uint32_t process;  /**< index of the rank's process in the recording, as upmu_overview_process_at() has it */
    uint32_t reserved; /**< 0 */
    uint64_t begin_ns; /**< nanoseconds since 1970 */
    uint64_t end_ns;   /**< begin of the next step */
};
#define UPMU_MPI_PATH_STEP_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_path_step, 48)
/** Step `index`: by job, then by time. */
UPMU_API UPMU_CHECKED int upmu_mpi_path_step_at(const struct upmu_mpi *mpi, size_t index,
                                                struct upmu_mpi_path_step *out);

/** Name of an enum upmu_mpi_pattern, "late-sender"; "?" for unknown ones. */
UPMU_API const char *upmu_mpi_pattern_name(int pattern);

/** A message between two recorded ranks. */
struct upmu_mpi_message {
    size_t size;           /**< in: sizeof(struct upmu_mpi_message); out: bytes filled */
    size_t job;            /**< index for upmu_mpi_job_at() */
    int32_t source;        /**< rank in MPI_COMM_WORLD of the sender */
    int32_t destination;   /**< of the receiver */
    uint32_t send_process; /**< index of the sender's process in the recording, as upmu_overview_process_at() has it */
    uint32_t receive_process; /**< of the receiver's */
    int32_t send_tid;         /**< thread that called the function that began the send */
    int32_t receive_tid;      /**< thread that called the function in which the receive was completed */
    uint64_t send_ns;    /**< begin of that function, nanoseconds since 1970; of persistent requests, of their start */
    uint64_t receive_ns; /**< end of that function */
    uint64_t bytes;      /**< UPMU_NO_VALUE: not known */
    uint64_t comm;       /**< communicator, as in struct upmu_trace_mpi */
    int32_t tag;         /**< of the message */
    int32_t reserved;    /**< 0 */
};
#define UPMU_MPI_MESSAGE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_message, 80)
/** Message `index`, of those that were received, in no order. */
UPMU_API UPMU_CHECKED int upmu_mpi_message_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_message *out);

/** Why ranks wait for each other. */
enum upmu_mpi_deadlock_kind {
    UPMU_MPI_DEADLOCK_CYCLE = 1,      /**< each waits for a message, or the arrival, of the next one */
    UPMU_MPI_DEADLOCK_COLLECTIVE = 2, /**< they are in different collective calls */
    UPMU_MPI_DEADLOCK_KNOT = 3,       /**< with receives from any rank: each that could send waits as well */
    UPMU_MPI_DEADLOCK_LOCK = 4,      /**< a thread waits for a lock that another one of the rank holds in an MPI call */
    UPMU_MPI_DEADLOCK_FINALIZED = 5, /**< a rank waits for one that has left MPI_Finalize() */
};

/**
 * Ranks that wait for each other permanently, at the end of the recording or now. What is not known counts as able to continue:
 * ranks that lost events, messages under way, sends that MPI may have buffered, threads that are not recorded, and processes that ended in
 * another way than by MPI_Finalize().
 */
struct upmu_mpi_deadlock {
    size_t size;      /**< in: sizeof(struct upmu_mpi_deadlock); out: bytes filled */
    size_t job;       /**< index for upmu_mpi_job_at() */
    int32_t kind;     /**< enum upmu_mpi_deadlock_kind */
    int32_t reserved; /**< 0 */
    size_t n_threads; /**< threads that wait for each other */
    size_t n_behind;  /**< threads that wait for these: indices from `n_threads` on */
};
#define UPMU_MPI_DEADLOCK_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_deadlock, 40)
/** Deadlock `index`. */
UPMU_API UPMU_CHECKED int upmu_mpi_deadlock_at(const struct upmu_mpi *mpi, size_t index, struct upmu_mpi_deadlock *out);

/** A thread of a deadlock. */
struct upmu_mpi_deadlock_thread {
    size_t size;       /**< in: sizeof(struct upmu_mpi_deadlock_thread); out: bytes filled */
    uint32_t process;  /**< index of the rank's process in the recording, as upmu_overview_process_at() has it */
    int32_t rank;      /**< in MPI_COMM_WORLD */
    int32_t pid;       /**< process id */
    int32_t tid;       /**< thread id */
    const char *host;  /**< host name */
    const char *name;  /**< "MPI_Recv"; NULL: it waits for a lock or another thread */
    uint64_t comm;     /**< communicator of the call, as in struct upmu_trace_mpi */
    uint64_t sequence; /**< of a collective call its number on `comm`; else 0 */
    int32_t peer;      /**< of the call: a rank of `comm`, or enum upmu_mpi_special */
    int32_t tag;       /**< of the call, or enum upmu_mpi_special */
    int32_t cause;     /**< the rank in MPI_COMM_WORLD that it waits for; -1: none, or several */
    uint32_t n_causes; /**< how many of those that it waits for wait themselves */
    uint64_t object;   /**< address of the lock it waits for; of a join the pthread_t; 0 in an MPI call */
    int32_t wait_kind; /**< the kind of event that began that wait (enum upmu_trace_kind); 0 in an MPI call */
    int32_t holder;    /**< id of the thread that holds the lock, or is joined; 0: unknown */
    uint64_t since_ns; /**< begin of the call or wait, nanoseconds since 1970 */
    uint64_t site;     /**< its call site, for upmu_overview_symbol_at() */
    uint32_t stack;    /**< its call stack, for upmu_overview_frame_at(); 0: none */
    uint32_t behind;   /**< 1: it waits for the deadlock without being part of it */
};
#define UPMU_MPI_DEADLOCK_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_mpi_deadlock_thread, 112)
/** Thread `k` of deadlock `index`. */
UPMU_API UPMU_CHECKED int upmu_mpi_deadlock_thread_at(const struct upmu_mpi *mpi, size_t index, size_t k,
                                                      struct upmu_mpi_deadlock_thread *out);

/** Name of an enum upmu_mpi_deadlock_kind, "message-cycle"; "?" for unknown ones. */
UPMU_API const char *upmu_mpi_deadlock_name(int kind);

/** Repeated search for deadlocks across the ranks of this host while they run. */
struct upmu_mpi_watch;

/**
 * Watch the ranks of a recording, later ones included.
 * @param watch out: to be closed with upmu_mpi_watch_close(); NULL on failure
 * @param dir   path of the directory
 * @return 0; UPMU_E_INVAL (NULL); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_mpi_watch_open(struct upmu_mpi_watch **watch, const char *dir);

/**
 * See whether ranks have stopped to record events; if some have for a second, read the recording. About ten calls per second are usual;
 * reading takes at most a twentieth of the time. Each deadlock is reported once.
 * @param mpi out: with 1 the recording, of which at least one deadlock is new; to be closed with upmu_mpi_close()
 * @return 1: there is a deadlock; 0: none; UPMU_E_NOMEM; UPMU_E_INVAL (NULL).
 */
UPMU_API UPMU_CHECKED int upmu_mpi_watch_poll(struct upmu_mpi_watch *watch, struct upmu_mpi **mpi);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_mpi_watch_close(struct upmu_mpi_watch *watch);

UPMU_END_DECLS

#endif

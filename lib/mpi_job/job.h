/* SPDX-License-Identifier: MIT */
/** @file What upmu/mpi.h keeps of a recording. */
#ifndef UPMU_MPI_JOB_JOB_H
#define UPMU_MPI_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "trace/format/mpi_calls.h"
#include "upmu/mpi.h"
#include "upmu/trace.h"

/** `sequence` of MPI_Finalize(), which is collective on MPI_COMM_WORLD. */
#define JOB_FINALIZE UINT64_MAX

/** Half a message: a send or a receive. */
struct job_half {
    uint32_t job; /**< set before they are matched */
    uint64_t comm;
    int32_t source, destination, tag; /**< ranks of `comm` */
    uint32_t rank;       /**< that recorded it: index into `ranks`, until all are read that of the process */
    uint64_t posted;     /**< time at which it was begun */
    uint64_t begin, end; /**< of the call that could wait for it; end 0: none has */
    uint32_t call;       /**< that call */
    bool dropped;        /**< canceled, or failed */
};

/** A rank's part of a collective call. */
struct job_part {
    uint32_t job; /**< set before they are matched */
    uint64_t comm, sequence;
    uint32_t rank; /**< index into `ranks` */
    int32_t root;  /**< a rank of `comm` */
    uint64_t begin, end;
    uint32_t call;
};

/** A communicator of a rank. */
struct job_comm {
    uint64_t comm;
    int32_t rank, size;
};

/** A call that has not returned. */
struct job_open {
    uint64_t begin; /**< 0: none */
    uint64_t comm, sequence, request;
    uint32_t call;
    int32_t peer, tag;
};

struct job_thread {
    pid_t tid;
    struct job_open open;
};

struct job_call {
    uint64_t calls, ns, bytes;
};

struct job_rank {
    uint32_t process; /**< of the trace */
    uint64_t job_id;
    uint32_t job;
    int32_t rank, size;
    int32_t wrapped;
    char *library, *host;
    pid_t pid, init_tid;
    uint64_t begin, end, last; /**< end 0: it did not call MPI_Finalize() */
    uint64_t mpi_ns, wait_ns;  /**< of the thread that called MPI_Init() */
    uint64_t calls, sent, sent_bytes, received, received_bytes, unknown_bytes;
    bool complete;
    uint32_t in_call;
    struct job_call call[MPI_CALL_NUMBERS];
    struct job_comm *comms;
    size_t n_comms, cap_comms;
    struct job_thread *threads;
    size_t n_threads, cap_threads;
};

/** A wait of one call. */
struct job_wait {
    uint32_t rank, cause; /**< indices into `ranks` */
    uint64_t begin, ns;   /**< of the call, of the wait */
    uint32_t call;
    int32_t pattern;
};

struct upmu_mpi {
    struct job_rank **ranks;
    size_t n_ranks, cap_ranks;
    struct job_half *sends, *receives;
    size_t n_sends, cap_sends, n_receives, cap_receives;
    struct job_part *parts;
    size_t n_parts, cap_parts;
    struct job_wait *waits;
    size_t n_waits, cap_waits;
    struct upmu_mpi_job *jobs;
    size_t n_jobs, cap_jobs;
    struct upmu_mpi_call *calls;
    size_t n_calls, cap_calls;
    struct upmu_mpi_wait *rows;
    size_t n_rows, cap_rows;
    uint32_t *rank_of_process; /**< index into `ranks`; UINT32_MAX: none */
    size_t n_processes;
};

/** Space for one more in an array; what is new is zero. @return the new element; NULL without memory, with the message. */
void *job_grow(void *array, size_t *n, size_t *cap, size_t bytes);

/** Read the events. @return 0; an error. */
int job_read(struct upmu_mpi *m, const char *dir);
/** Rank of a process in a communicator; NULL: not recorded. */
const struct job_comm *job_comm_find(const struct job_rank *r, uint64_t comm);

/** Match sends and receives, and collective calls; add their waits. @return 0; UPMU_E_NOMEM. */
int job_match_messages(struct upmu_mpi *m);
int job_match_collectives(struct upmu_mpi *m);
/** Add a wait, clipped to the call [begin, end]. @return 0; UPMU_E_NOMEM. */
int job_add_wait(struct upmu_mpi *m, const struct job_wait *w, uint64_t until, uint64_t end);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Wait-for graph of the threads of an MPI job, solved by deadlock/graph/and_or.h. */
#ifndef UPMU_MPI_JOB_WAITING_H
#define UPMU_MPI_JOB_WAITING_H

#include "deadlock/graph/and_or.h"
#include "mpi_job/job.h"

/** What a node is. */
enum waiting_kind {
    WAITING_RANK,   /**< a process: one of its threads must continue */
    WAITING_THREAD, /**< a thread in an MPI call, or at a lock */
    WAITING_OTHER,  /**< any of several ranks, or all ranks missing from a collective call */
};

struct waiting_node {
    enum waiting_kind kind;
    uint32_t rank;                     /**< index into the ranks of the recording */
    const struct job_thread *thread;   /**< in an MPI call */
    const struct wait_file_slot *slot; /**< or at a lock */
    bool any;                          /**< one of several targets suffices */
    bool mismatch;                     /**< other ranks are in a different collective call */
    uint32_t finalized;                /**< 1 + index of a target rank that has called MPI_Finalize; 0: none */
};

struct waiting {
    struct upmu_mpi *m;
    struct ao_graph graph;
    struct ao_node *nodes;
    size_t n_nodes, cap_nodes;
    struct ao_edge *edges;
    size_t n_edges, cap_edges;
    struct waiting_node *info; /**< by node */
    size_t n_info, cap_info;
    struct map members;  /**< (communicator and job, rank there): index of the rank */
    struct map arrivals; /**< (communicator and job, number of the collective call): node for the missing ranks */
    bool no_memory;
};

/** Build and solve the graph. @return 0; UPMU_E_NOMEM. Call waiting_free() in either case. */
int waiting_build(struct waiting *w, struct upmu_mpi *m);
void waiting_free(struct waiting *w);

/** Whether a call begun at `begin` counts as waiting: the process is known to be alive 1 s later, or `alive_ns` is unknown. */
bool waiting_lasts(const struct job_rank *r, uint64_t begin);

#endif

/* SPDX-License-Identifier: MIT */
/** @file Which threads of a job wait, and for what: a graph for deadlock/graph/and_or.h. */
#ifndef UPMU_MPI_JOB_WAITING_H
#define UPMU_MPI_JOB_WAITING_H

#include "deadlock/graph/and_or.h"
#include "mpi_job/job.h"

/** What a node is. */
enum waiting_kind {
    WAITING_RANK,   /**< a process: one of its threads must continue */
    WAITING_THREAD, /**< a thread in an MPI call, or at a lock */
    WAITING_OTHER,  /**< any of several ranks, or all that a collective call lacks */
};

struct waiting_node {
    enum waiting_kind kind;
    uint32_t rank;                     /**< index into the ranks of the recording */
    const struct job_thread *thread;   /**< in an MPI call */
    const struct wait_file_slot *slot; /**< or at a lock */
    bool any, mismatch;                /**< one of several would do; ranks are in another call instead */
    uint32_t over;                     /**< 1 + index of a rank that makes no call anymore; 0: none */
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
    struct map arrivals; /**< (communicator and job, number of the collective call): node of those that are missing */
    bool no_memory;
};

/** Build the graph. @return 0; UPMU_E_NOMEM. To be freed in any case. */
int waiting_build(struct waiting *w, struct upmu_mpi *m);
void waiting_free(struct waiting *w);

/** Whether a call that began then lasts: it is not of the last second, unless that is not known. */
bool waiting_lasts(const struct job_rank *r, uint64_t begin);

#endif

/* SPDX-License-Identifier: MIT */
/** @file State of upmu/mpi.h: the MPI calls, messages and waits of a recording. */
#ifndef UPMU_MPI_JOB_JOB_H
#define UPMU_MPI_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/wait_state_file.h"
#include "base/map.h"
#include "trace/format/mpi_calls.h"
#include "upmu/mpi.h"
#include "upmu/trace.h"

/** `sequence` of MPI_Finalize(), which is collective on MPI_COMM_WORLD. */
#define JOB_FINALIZE UINT64_MAX

/** Identity of a piece of a rank's time, by which it is compared with pieces of other ranks. */
struct job_key {
    uint32_t same;   /**< the job's first equal key, of this or another process */
    uint32_t region; /**< 1 + index into `names`; 0: outside of regions */
    uint32_t call;   /**< outside of regions: the MPI call in or before which the time is; 0: none */
    bool inside;     /**< in the call, not before it */
    uint32_t process, stack;
    uint64_t site; /**< of the call */
};

/** A period of the thread that called MPI_Init(), with one key. */
struct job_piece {
    uint64_t begin, end, ns; /**< `ns` is without polls */
    uint32_t key;            /**< index into `keys` */
};

/** An MPI call of that thread. The calls are numbered from 1 by begin. */
struct job_node {
    uint64_t begin, end; /**< end 0: it has not returned */
    uint64_t before_ns;  /**< time outside of MPI before it */
    uint64_t ideal;      /**< begin without a network, see replay.c */
    uint32_t rank;       /**< as in struct job_half */
    uint32_t group;      /**< of a collective call: 1 + index into `groups` */
    bool all;            /**< it ends once all calls of its group have begun */
    bool kept;           /**< the cause of its wait is unknown: a replay keeps its duration */
};

/** A call `node` that cannot end before call `on` has begun. */
struct job_edge {
    uint32_t node, on;
};

/** A probe that has matched a message, which MPI_Mrecv() or MPI_Imrecv() receives. */
struct job_probe {
    uint64_t begin, end;
    uint64_t received; /**< begin of that call; 0: none has begun */
    uint32_t call, node;
};

/** Half a message: a send or a receive. */
struct job_half {
    uint32_t job; /**< set before halves are matched */
    uint64_t comm;
    int32_t source, destination, tag; /**< ranks of `comm` */
    uint32_t rank;         /**< that recorded it: index into `ranks`, until all are read that of the process */
    uint64_t posted;       /**< time at which it was begun; of a receive after a probe, that of the probe */
    uint64_t begin, end;   /**< of the call that waited for it; end 0: none has */
    uint32_t call;         /**< the call that waited for it, or while none has, the one that posted it */
    uint64_t request;      /**< 0: it is complete when its call returns */
    uint64_t bytes;        /**< of a receive, once it is complete */
    pid_t tid;             /**< thread that posted the send, or completed the receive */
    bool dropped;          /**< canceled, or failed */
    bool open;             /**< of a call that has not returned */
    bool matched;          /**< the other half is known */
    bool probed;           /**< the message is matched by a probe, and its receive has not begun */
    uint32_t probe;        /**< of such a receive: 1 + index into `probes` */
    uint32_t made, waited; /**< calls that posted it and waited for it: numbers in `nodes`; 0: none */
};

/** Both halves of a message that was received. */
struct job_message {
    uint32_t send, receive; /**< indices into `sends` and `receives` */
    uint32_t wait;          /**< 1 + index into `waits` of the receiver's wait, until these are sorted; 0: none */
};

/** A segment of a critical path. */
struct job_step {
    uint32_t rank; /**< index into `ranks` */
    uint64_t begin, end;
};

/** A nonblocking collective call. */
struct job_pending {
    uint32_t rank; /**< as in struct job_half */
    uint32_t call;
    uint64_t request, comm, sequence;
    int32_t root;
    bool done;
};

/** A rank's part of a collective call. */
struct job_part {
    uint32_t job; /**< set before they are matched */
    uint64_t comm, sequence;
    uint32_t rank; /**< index into `ranks` */
    int32_t root;  /**< a rank of `comm` */
    uint64_t begin, end;
    uint32_t call;
    uint32_t node; /**< 0: none */
};

/** A communicator of a rank. */
struct job_comm {
    uint64_t comm;
    int32_t rank, size;
    uint64_t last; /**< number of the last collective call that the rank began on it */
};

/** A call that has not returned. */
struct job_open {
    uint64_t begin; /**< 0: none */
    uint64_t comm, sequence, request;
    uint32_t call;
    int32_t peer, tag;
    uint32_t stack;
    uint64_t site;
    uint32_t node; /**< 0: none */
};

enum { JOB_REGIONS_MAX = 32, NS_PER_S = 1000000000 };

struct job_thread {
    pid_t tid;
    struct job_open open;
    uint32_t region[JOB_REGIONS_MAX]; /**< open ones, as in struct job_key; deeper ones count as the last of these */
    uint32_t depth;
};

/** The thread that called MPI_Init(), since then. */
struct job_lane {
    uint64_t since, polls_ns; /**< begin of the piece that is open, and polls in it */
    uint64_t before_ns;       /**< time outside of MPI since the last call */
    bool several;             /**< other threads made calls */
    struct job_piece *pieces;
    size_t n_pieces, cap_pieces;
};

/** A standard send that lasts so many seconds is blocked, even if it is not known whether its process ran. */
enum { JOB_LASTS_S = 10 };

/** State of a process, from sources other than its events. */
struct job_evidence {
    uint64_t alive_ns;           /**< last time at which it was alive; 0: not known */
    bool running;                /**< it is alive now */
    bool ran;                    /**< its threads ran since, or sleep: none is only descheduled */
    uint64_t ran_ns;             /**< the same was found of calls begun by then, and saved; 0: never */
    bool has_slots;              /**< there are wait states */
    struct wait_state_file file; /**< of its threads */
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
    int32_t thread_level;
    bool finalized;   /**< MPI_Finalize() has returned */
    bool world;       /**< MPI_Init() has returned */
    int32_t sessions; /**< that are open */
    bool has_gaps;    /**< some of its events are missing */
    struct job_evidence evidence;
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
    struct job_lane lane;
};

/** A wait of one call. */
struct job_wait {
    uint32_t rank, cause; /**< indices into `ranks` */
    uint64_t begin;       /**< of the call, with which the wait begins */
    uint64_t ns;          /**< length of the wait */
    uint32_t call;
    int32_t pattern;
};

/** Ranks that wait for each other: `n` of `deadlock_threads` from `first` on, and `n_behind` more. */
struct job_deadlock {
    uint32_t job;
    int32_t kind;
    uint32_t first, n, n_behind;
};

/** A thread of a job_deadlock. */
struct job_deadlock_thread {
    uint32_t rank; /**< index into `ranks` */
    pid_t tid;
    struct job_open open; /**< its MPI call; `begin` 0: it waits for a lock or thread instead */
    uint64_t object;      /**< the lock or thread */
    int32_t kind;         /**< enum upmu_trace_kind of the wait for it */
    pid_t holder;         /**< of the lock */
    uint64_t since_ns, site;
    uint32_t stack;
    int32_t cause;     /**< rank that it waits for; -1: several */
    uint32_t n_causes; /**< number of blocked ranks that it waits for */
    bool behind;       /**< it waits for the deadlocked ranks without being one of them */
};

struct upmu_mpi {
    uint64_t from_ns, to_ns; /**< the stretch; 0 and UINT64_MAX: the whole recording */
    struct job_rank **ranks;
    size_t n_ranks, cap_ranks;
    struct job_half *sends, *receives;
    size_t n_sends, cap_sends, n_receives, cap_receives;
    struct job_probe *probes;
    size_t n_probes, cap_probes;
    struct job_message *messages;
    size_t n_messages, cap_messages;
    struct job_pending *pending;
    size_t n_pending, cap_pending;
    struct job_deadlock *deadlocks;
    size_t n_deadlocks, cap_deadlocks;
    struct job_deadlock_thread *deadlock_threads;
    size_t n_deadlock_threads, cap_deadlock_threads;
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
    struct upmu_mpi_partner *partners; /**< by rank and partner */
    size_t n_partners, cap_partners;
    struct job_step *steps; /**< critical paths, one job after the other */
    size_t n_steps, cap_steps;
    struct upmu_mpi_path *paths;
    size_t n_paths, cap_paths;
    struct upmu_mpi_delay *delays;
    size_t n_delays, cap_delays;
    char **names; /**< of regions */
    size_t n_names, cap_names;
    struct job_key *keys;
    size_t n_keys, cap_keys;
    struct job_node *nodes; /**< that with number n at n - 1 */
    size_t n_nodes, cap_nodes;
    struct job_edge *edges;
    size_t n_edges, cap_edges;
    uint64_t *groups; /**< latest ideal begin of a collective call's parts */
    size_t n_groups, cap_groups;
    uint32_t *rank_of_process; /**< index into `ranks`; UINT32_MAX: none */
    size_t n_processes;
};

/** Set the message. @return UPMU_E_NOMEM. */
int job_no_memory(void);

/** A time cut to the stretch. */
uint64_t job_cut(const struct upmu_mpi *m, uint64_t ns);
/** The part of a time from `begin` to `end` that is in the stretch. */
uint64_t job_within(const struct upmu_mpi *m, uint64_t begin, uint64_t end);
/** Whether it has a part, or a moment, in the stretch. */
bool job_touches(const struct upmu_mpi *m, uint64_t begin, uint64_t end);
/** Of an amount that is spread evenly from `begin` to `end`, what is in the stretch. Parts of stretches that meet add up. */
uint64_t job_share(const struct upmu_mpi *m, uint64_t amount, uint64_t begin, uint64_t end);
/** A row of struct upmu_mpi_path or upmu_mpi_delay about a key in a rank: the fields that both have. */
#define JOB_ROW(type, m, r, k)                                          \
    ((type){.job = (r)->job,                                            \
            .rank = (r)->rank,                                          \
            .inside = (k)->inside,                                      \
            .region = (k)->region ? (m)->names[(k)->region - 1] : NULL, \
            .name = (k)->call ? mpi_call_rows[(k)->call].name : NULL,   \
            .process = (r)->process,                                    \
            .stack = (k)->stack,                                        \
            .site = (k)->site})

/** Space for one more in an array; what is new is zero. @return the new element; NULL without memory, with the message. */
void *job_grow(void *array, size_t *n, size_t *cap, size_t bytes);

/** Find the ranks that wait for each other permanently, with `evidence` of them. @return 0; UPMU_E_NOMEM. */
int job_find_deadlocks(struct upmu_mpi *m);
/** Whether the threads of a running process ran, or sleep, since it is watched. */
typedef bool job_ran_fn(void *arg, pid_t pid);
/** Fill the evidence of each rank; `ran` may be NULL. It stays zero for a process of which nothing is found. */
void job_read_evidence(struct upmu_mpi *m, const char *dir, job_ran_fn *ran, void *arg);
/** Save, for readers after the end of the process, that the rank ran since its last event and recorded nothing for a second. */
void job_save_ran(const struct upmu_mpi *m, const char *dir, const struct job_rank *r);
/** upmu_mpi_open() with more evidence. */
int job_open_dir(struct upmu_mpi **mpi, const char *dir, job_ran_fn *ran, void *arg);
/** As that, of a stretch. */
int job_open_between(struct upmu_mpi **mpi, const char *dir, uint64_t from_ns, uint64_t to_ns, job_ran_fn *ran,
                     void *arg);
/** Class (MPI_CLASS_BARRIER, MPI_CLASS_FROM_ROOT, ...) of a collective call; of a nonblocking one, that of its blocking form. */
int job_collective_class(uint32_t call);

/** Read the events. @return 0; an error. */
int job_read(struct upmu_mpi *m, const char *dir);
/** The rank's communicator with id `comm`; NULL: not recorded. */
const struct job_comm *job_comm_find(const struct job_rank *r, uint64_t comm);

/** Match sends and receives, and collective calls; add their waits. @return 0; UPMU_E_NOMEM. */
int job_match_messages(struct upmu_mpi *m);
int job_match_collectives(struct upmu_mpi *m);
/** Whether the time from its post to its completion has a part in the stretch. */
bool job_half_touches(const struct upmu_mpi *m, const struct job_half *h);
/** Add wait `w`, from its begin to `until` or the call's `end`, whichever is first. None if that is empty, or if the rank waits for
 *  itself. @return 0; UPMU_E_NOMEM. */
int job_add_wait(struct upmu_mpi *m, const struct job_wait *w, uint64_t until, uint64_t end);

/** End of a rank: its call of MPI_Finalize(), or its last event. */
uint64_t job_rank_end(const struct job_rank *r);

/** Builder of the lanes of all ranks: each function adds an event to that of `r`. @return 0; UPMU_E_NOMEM. */
struct lanes {
    struct upmu_mpi *m;
    struct map names, keys; /**< index by hash, and by (process, site) and call */
};
void lanes_free(struct lanes *l);
int lane_region(struct lanes *l, struct job_rank *r, struct job_thread *t, const struct upmu_trace_event *e);
int lane_enter(struct lanes *l, struct job_rank *r, struct job_thread *t, const struct upmu_trace_event *e);
int lane_leave(struct lanes *l, struct job_rank *r, struct job_thread *t, uint64_t end);
void lane_poll(struct job_rank *r, const struct upmu_trace_event *e);
/** To be called after the last event. */
int lanes_finish(struct lanes *l, const struct upmu_trace *trace);
/** First piece of a rank that ends after `time`; past the last one: none. */
size_t job_piece_after(const struct job_lane *lane, uint64_t time);
/** The call with a number. */
struct job_node *job_node(struct upmu_mpi *m, uint32_t number);
/** `node` cannot end before `on` has begun; numbers of calls, of which each may be 0. @return 0; UPMU_E_NOMEM. */
int job_add_edge(struct upmu_mpi *m, uint32_t node, uint32_t on);
/** Keep the duration of call `node` in the replay, because the cause of its wait is unknown; 0: no call. */
void job_keep_duration(struct upmu_mpi *m, uint32_t node);

/** Fill in the efficiencies that need a replay, of the stretch. @return 0; UPMU_E_NOMEM. */
int job_replay(struct upmu_mpi *m);
/** Find the causes of the waits in the stretch, which may be before it. @return 0; UPMU_E_NOMEM. */
int job_find_delays(struct upmu_mpi *m);
/** Find the unrecorded ranks that sent or received messages of which one half is missing. @return 0; UPMU_E_NOMEM. */
int job_find_partners(struct upmu_mpi *m);
/** Find the critical path of each job, and cut it to the stretch. @return 0; UPMU_E_NOMEM. */
int job_find_paths(struct upmu_mpi *m);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Table of MPI calls: what each is called, and where its arguments are. No mpi.h is needed.
 *
 * A row is X(number, Name, name, NAME, arguments, class, comm, peer, tag, count, type, request, status): the names as in C and
 * Fortran, the number of arguments in C, the class, and the positions of arguments from 1 on, 0 = none. `peer` is the destination,
 * source or root, `count` and `type` what this rank sends, or receives if it sends nothing. Rows C() have other
 * arguments in Fortran; those of rows L() have a second form in C with large counts, as MPI_Send_c(). Numbers are part of the trace format: rows are only added at the end.
 */
#ifndef UPMU_TRACE_MPI_CALLS_H
#define UPMU_TRACE_MPI_CALLS_H

#include <stdint.h>

/** What a call does. */
enum mpi_class {
    MPI_CLASS_NONE,
    MPI_CLASS_INIT,
    MPI_CLASS_FINALIZE,
    MPI_CLASS_SEND, /**< returns when the buffer may be used again */
    MPI_CLASS_RECV,
    MPI_CLASS_SENDRECV,
    MPI_CLASS_PROBE,
    MPI_CLASS_ISEND,
    MPI_CLASS_IRECV,
    MPI_CLASS_ISENDRECV,
    MPI_CLASS_SEND_INIT, /**< persistent requests */
    MPI_CLASS_RECV_INIT,
    MPI_CLASS_START,
    MPI_CLASS_STARTALL,
    MPI_CLASS_REQUEST_FREE,
    MPI_CLASS_CANCEL,
    MPI_CLASS_WAIT,
    MPI_CLASS_WAITALL,
    MPI_CLASS_WAITANY,
    MPI_CLASS_WAITSOME,
    MPI_CLASS_TEST,
    MPI_CLASS_TESTALL,
    MPI_CLASS_TESTANY,
    MPI_CLASS_TESTSOME,
    MPI_CLASS_IPROBE,
    MPI_CLASS_BARRIER,
    MPI_CLASS_FROM_ROOT,  /**< broadcast, scatter */
    MPI_CLASS_TO_ROOT,    /**< reduce, gather */
    MPI_CLASS_ALL_TO_ALL, /**< no rank returns before all have begun */
    MPI_CLASS_SCAN,
    MPI_CLASS_NEIGHBOR,
    MPI_CLASS_ICOLLECTIVE, /**< collectives with a request */
    MPI_CLASS_COMM,        /**< makes a communicator, its last argument */
    MPI_CLASS_COMM_OTHER,  /**< makes a communicator that is not followed */
    MPI_CLASS_COMM_FREE,
    MPI_CLASS_RMA,
    MPI_CLASS_IO,
    MPI_CLASS_OTHER,
    MPI_CLASS_SESSION, /**< begins or ends a session */
    MPI_CLASS_COUNTED, /**< housekeeping: counted only */
};

/* clang-format off */
#define MPI_CALLS(X, C, L) \
    C(1, Init, init, INIT, 2, INIT, 0, 0, 0, 0, 0, 0, 0) \
    C(2, Init_thread, init_thread, INIT_THREAD, 4, INIT, 0, 0, 0, 0, 0, 0, 0) \
    X(3, Finalize, finalize, FINALIZE, 0, FINALIZE, 0, 0, 0, 0, 0, 0, 0) \
    X(4, Abort, abort, ABORT, 2, OTHER, 1, 0, 0, 0, 0, 0, 0) \
    L(5, Send, send, SEND, 6, SEND, 6, 4, 5, 2, 3, 0, 0) \
    L(6, Bsend, bsend, BSEND, 6, SEND, 6, 4, 5, 2, 3, 0, 0) \
    L(7, Ssend, ssend, SSEND, 6, SEND, 6, 4, 5, 2, 3, 0, 0) \
    L(8, Rsend, rsend, RSEND, 6, SEND, 6, 4, 5, 2, 3, 0, 0) \
    L(9, Recv, recv, RECV, 7, RECV, 6, 4, 5, 2, 3, 0, 7) \
    L(10, Mrecv, mrecv, MRECV, 5, RECV, 0, 0, 0, 0, 0, 0, 5) \
    L(11, Sendrecv, sendrecv, SENDRECV, 12, SENDRECV, 11, 4, 5, 2, 3, 0, 12) \
    L(12, Sendrecv_replace, sendrecv_replace, SENDRECV_REPLACE, 9, SENDRECV, 8, 4, 5, 2, 3, 0, 9) \
    X(13, Probe, probe, PROBE, 4, PROBE, 3, 1, 2, 0, 0, 0, 4) \
    X(14, Mprobe, mprobe, MPROBE, 5, PROBE, 3, 1, 2, 0, 0, 0, 5) \
    L(15, Isend, isend, ISEND, 7, ISEND, 6, 4, 5, 2, 3, 7, 0) \
    L(16, Ibsend, ibsend, IBSEND, 7, ISEND, 6, 4, 5, 2, 3, 7, 0) \
    L(17, Issend, issend, ISSEND, 7, ISEND, 6, 4, 5, 2, 3, 7, 0) \
    L(18, Irsend, irsend, IRSEND, 7, ISEND, 6, 4, 5, 2, 3, 7, 0) \
    L(19, Irecv, irecv, IRECV, 7, IRECV, 6, 4, 5, 2, 3, 7, 0) \
    L(20, Imrecv, imrecv, IMRECV, 5, IRECV, 0, 0, 0, 0, 0, 5, 0) \
    L(21, Send_init, send_init, SEND_INIT, 7, SEND_INIT, 6, 4, 5, 2, 3, 7, 0) \
    L(22, Bsend_init, bsend_init, BSEND_INIT, 7, SEND_INIT, 6, 4, 5, 2, 3, 7, 0) \
    L(23, Ssend_init, ssend_init, SSEND_INIT, 7, SEND_INIT, 6, 4, 5, 2, 3, 7, 0) \
    L(24, Rsend_init, rsend_init, RSEND_INIT, 7, SEND_INIT, 6, 4, 5, 2, 3, 7, 0) \
    L(25, Recv_init, recv_init, RECV_INIT, 7, RECV_INIT, 6, 4, 5, 2, 3, 7, 0) \
    X(26, Start, start, START, 1, START, 0, 0, 0, 0, 0, 1, 0) \
    X(27, Startall, startall, STARTALL, 2, STARTALL, 0, 0, 0, 1, 0, 2, 0) \
    X(28, Request_free, request_free, REQUEST_FREE, 1, REQUEST_FREE, 0, 0, 0, 0, 0, 1, 0) \
    X(29, Cancel, cancel, CANCEL, 1, CANCEL, 0, 0, 0, 0, 0, 1, 0) \
    X(30, Wait, wait, WAIT, 2, WAIT, 0, 0, 0, 0, 0, 1, 2) \
    X(31, Waitall, waitall, WAITALL, 3, WAITALL, 0, 0, 0, 1, 0, 2, 3) \
    X(32, Waitany, waitany, WAITANY, 4, WAITANY, 0, 0, 0, 1, 0, 2, 4) \
    X(33, Waitsome, waitsome, WAITSOME, 5, WAITSOME, 0, 0, 0, 1, 0, 2, 5) \
    X(34, Test, test, TEST, 3, TEST, 0, 0, 0, 0, 0, 1, 3) \
    X(35, Testall, testall, TESTALL, 4, TESTALL, 0, 0, 0, 1, 0, 2, 4) \
    X(36, Testany, testany, TESTANY, 5, TESTANY, 0, 0, 0, 1, 0, 2, 5) \
    X(37, Testsome, testsome, TESTSOME, 5, TESTSOME, 0, 0, 0, 1, 0, 2, 5) \
    X(38, Iprobe, iprobe, IPROBE, 5, IPROBE, 3, 1, 2, 0, 0, 0, 5) \
    X(39, Improbe, improbe, IMPROBE, 6, IPROBE, 3, 1, 2, 0, 0, 0, 6) \
    X(40, Barrier, barrier, BARRIER, 1, BARRIER, 1, 0, 0, 0, 0, 0, 0) \
    L(41, Bcast, bcast, BCAST, 5, FROM_ROOT, 5, 4, 0, 2, 3, 0, 0) \
    L(42, Scatter, scatter, SCATTER, 8, FROM_ROOT, 8, 7, 0, 5, 6, 0, 0) \
    L(43, Scatterv, scatterv, SCATTERV, 9, FROM_ROOT, 9, 8, 0, 6, 7, 0, 0) \
    L(44, Gather, gather, GATHER, 8, TO_ROOT, 8, 7, 0, 2, 3, 0, 0) \
    L(45, Gatherv, gatherv, GATHERV, 9, TO_ROOT, 9, 8, 0, 2, 3, 0, 0) \
    L(46, Reduce, reduce, REDUCE, 7, TO_ROOT, 7, 6, 0, 3, 4, 0, 0) \
    L(47, Allgather, allgather, ALLGATHER, 7, ALL_TO_ALL, 7, 0, 0, 2, 3, 0, 0) \
    L(48, Allgatherv, allgatherv, ALLGATHERV, 8, ALL_TO_ALL, 8, 0, 0, 2, 3, 0, 0) \
    L(49, Alltoall, alltoall, ALLTOALL, 7, ALL_TO_ALL, 7, 0, 0, 2, 3, 0, 0) \
    L(50, Alltoallv, alltoallv, ALLTOALLV, 9, ALL_TO_ALL, 9, 0, 0, 0, 0, 0, 0) \
    L(51, Alltoallw, alltoallw, ALLTOALLW, 9, ALL_TO_ALL, 9, 0, 0, 0, 0, 0, 0) \
    L(52, Allreduce, allreduce, ALLREDUCE, 6, ALL_TO_ALL, 6, 0, 0, 3, 4, 0, 0) \
    L(53, Reduce_scatter, reduce_scatter, REDUCE_SCATTER, 6, ALL_TO_ALL, 6, 0, 0, 0, 0, 0, 0) \
    L(54, Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, 6, ALL_TO_ALL, 6, 0, 0, 3, 4, 0, 0) \
    L(55, Scan, scan, SCAN, 6, SCAN, 6, 0, 0, 3, 4, 0, 0) \
    L(56, Exscan, exscan, EXSCAN, 6, SCAN, 6, 0, 0, 3, 4, 0, 0) \
    L(57, Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, 7, NEIGHBOR, 7, 0, 0, 2, 3, 0, 0) \
    L(58, Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, 8, NEIGHBOR, 8, 0, 0, 2, 3, 0, 0) \
    L(59, Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, 7, NEIGHBOR, 7, 0, 0, 2, 3, 0, 0) \
    L(60, Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 9, NEIGHBOR, 9, 0, 0, 0, 0, 0, 0) \
    L(61, Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, 9, NEIGHBOR, 9, 0, 0, 0, 0, 0, 0) \
    X(62, Ibarrier, ibarrier, IBARRIER, 2, ICOLLECTIVE, 1, 0, 0, 0, 0, 2, 0) \
    L(63, Ibcast, ibcast, IBCAST, 6, ICOLLECTIVE, 5, 4, 0, 2, 3, 6, 0) \
    L(64, Iscatter, iscatter, ISCATTER, 9, ICOLLECTIVE, 8, 7, 0, 5, 6, 9, 0) \
    L(65, Iscatterv, iscatterv, ISCATTERV, 10, ICOLLECTIVE, 9, 8, 0, 6, 7, 10, 0) \
    L(66, Igather, igather, IGATHER, 9, ICOLLECTIVE, 8, 7, 0, 2, 3, 9, 0) \
    L(67, Igatherv, igatherv, IGATHERV, 10, ICOLLECTIVE, 9, 8, 0, 2, 3, 10, 0) \
    L(68, Ireduce, ireduce, IREDUCE, 8, ICOLLECTIVE, 7, 6, 0, 3, 4, 8, 0) \
    L(69, Iallgather, iallgather, IALLGATHER, 8, ICOLLECTIVE, 7, 0, 0, 2, 3, 8, 0) \
    L(70, Iallgatherv, iallgatherv, IALLGATHERV, 9, ICOLLECTIVE, 8, 0, 0, 2, 3, 9, 0) \
    L(71, Ialltoall, ialltoall, IALLTOALL, 8, ICOLLECTIVE, 7, 0, 0, 2, 3, 8, 0) \
    L(72, Ialltoallv, ialltoallv, IALLTOALLV, 10, ICOLLECTIVE, 9, 0, 0, 0, 0, 10, 0) \
    L(73, Ialltoallw, ialltoallw, IALLTOALLW, 10, ICOLLECTIVE, 9, 0, 0, 0, 0, 10, 0) \
    L(74, Iallreduce, iallreduce, IALLREDUCE, 7, ICOLLECTIVE, 6, 0, 0, 3, 4, 7, 0) \
    L(75, Ireduce_scatter, ireduce_scatter, IREDUCE_SCATTER, 7, ICOLLECTIVE, 6, 0, 0, 0, 0, 7, 0) \
    L(76, Ireduce_scatter_block, ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, 7, ICOLLECTIVE, 6, 0, 0, 3, 4, 7, 0) \
    L(77, Iscan, iscan, ISCAN, 7, ICOLLECTIVE, 6, 0, 0, 3, 4, 7, 0) \
    L(78, Iexscan, iexscan, IEXSCAN, 7, ICOLLECTIVE, 6, 0, 0, 3, 4, 7, 0) \
    L(79, Ineighbor_allgather, ineighbor_allgather, INEIGHBOR_ALLGATHER, 8, ICOLLECTIVE, 7, 0, 0, 2, 3, 8, 0) \
    L(80, Ineighbor_allgatherv, ineighbor_allgatherv, INEIGHBOR_ALLGATHERV, 9, ICOLLECTIVE, 8, 0, 0, 2, 3, 9, 0) \
    L(81, Ineighbor_alltoall, ineighbor_alltoall, INEIGHBOR_ALLTOALL, 8, ICOLLECTIVE, 7, 0, 0, 2, 3, 8, 0) \
    L(82, Ineighbor_alltoallv, ineighbor_alltoallv, INEIGHBOR_ALLTOALLV, 10, ICOLLECTIVE, 9, 0, 0, 0, 0, 10, 0) \
    L(83, Ineighbor_alltoallw, ineighbor_alltoallw, INEIGHBOR_ALLTOALLW, 10, ICOLLECTIVE, 9, 0, 0, 0, 0, 10, 0) \
    X(84, Comm_dup, comm_dup, COMM_DUP, 2, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(85, Comm_dup_with_info, comm_dup_with_info, COMM_DUP_WITH_INFO, 3, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(86, Comm_split, comm_split, COMM_SPLIT, 4, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(87, Comm_split_type, comm_split_type, COMM_SPLIT_TYPE, 5, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(88, Comm_create, comm_create, COMM_CREATE, 3, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(89, Comm_create_group, comm_create_group, COMM_CREATE_GROUP, 4, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(90, Cart_create, cart_create, CART_CREATE, 6, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(91, Cart_sub, cart_sub, CART_SUB, 3, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(92, Graph_create, graph_create, GRAPH_CREATE, 6, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(93, Dist_graph_create, dist_graph_create, DIST_GRAPH_CREATE, 9, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(94, Dist_graph_create_adjacent, dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT, 10, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(95, Intercomm_create, intercomm_create, INTERCOMM_CREATE, 6, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(96, Intercomm_merge, intercomm_merge, INTERCOMM_MERGE, 3, COMM, 1, 0, 0, 0, 0, 0, 0) \
    X(97, Comm_idup, comm_idup, COMM_IDUP, 3, ICOLLECTIVE, 1, 0, 0, 0, 0, 3, 0) \
    C(98, Comm_spawn, comm_spawn, COMM_SPAWN, 8, COMM_OTHER, 6, 0, 0, 0, 0, 0, 0) \
    C(99, Comm_spawn_multiple, comm_spawn_multiple, COMM_SPAWN_MULTIPLE, 9, COMM_OTHER, 7, 0, 0, 0, 0, 0, 0) \
    C(100, Comm_accept, comm_accept, COMM_ACCEPT, 5, COMM_OTHER, 4, 0, 0, 0, 0, 0, 0) \
    C(101, Comm_connect, comm_connect, COMM_CONNECT, 5, COMM_OTHER, 4, 0, 0, 0, 0, 0, 0) \
    X(102, Comm_free, comm_free, COMM_FREE, 1, COMM_FREE, 1, 0, 0, 0, 0, 0, 0) \
    X(103, Comm_disconnect, comm_disconnect, COMM_DISCONNECT, 1, COMM_FREE, 1, 0, 0, 0, 0, 0, 0) \
    L(104, Put, put, PUT, 8, RMA, 0, 4, 0, 2, 3, 0, 0) \
    L(105, Get, get, GET, 8, RMA, 0, 4, 0, 2, 3, 0, 0) \
    L(106, Accumulate, accumulate, ACCUMULATE, 9, RMA, 0, 4, 0, 2, 3, 0, 0) \
    L(107, Get_accumulate, get_accumulate, GET_ACCUMULATE, 12, RMA, 0, 7, 0, 2, 3, 0, 0) \
    X(108, Fetch_and_op, fetch_and_op, FETCH_AND_OP, 7, RMA, 0, 4, 0, 0, 0, 0, 0) \
    X(109, Compare_and_swap, compare_and_swap, COMPARE_AND_SWAP, 7, RMA, 0, 5, 0, 0, 0, 0, 0) \
    X(110, Win_fence, win_fence, WIN_FENCE, 2, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(111, Win_lock, win_lock, WIN_LOCK, 4, RMA, 0, 2, 0, 0, 0, 0, 0) \
    X(112, Win_lock_all, win_lock_all, WIN_LOCK_ALL, 2, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(113, Win_unlock, win_unlock, WIN_UNLOCK, 2, RMA, 0, 1, 0, 0, 0, 0, 0) \
    X(114, Win_unlock_all, win_unlock_all, WIN_UNLOCK_ALL, 1, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(115, Win_flush, win_flush, WIN_FLUSH, 2, RMA, 0, 1, 0, 0, 0, 0, 0) \
    X(116, Win_flush_all, win_flush_all, WIN_FLUSH_ALL, 1, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(117, Win_flush_local, win_flush_local, WIN_FLUSH_LOCAL, 2, RMA, 0, 1, 0, 0, 0, 0, 0) \
    X(118, Win_flush_local_all, win_flush_local_all, WIN_FLUSH_LOCAL_ALL, 1, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(119, Win_start, win_start, WIN_START, 3, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(120, Win_complete, win_complete, WIN_COMPLETE, 1, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(121, Win_post, win_post, WIN_POST, 3, RMA, 0, 0, 0, 0, 0, 0, 0) \
    X(122, Win_wait, win_wait, WIN_WAIT, 1, RMA, 0, 0, 0, 0, 0, 0, 0) \
    L(123, Win_create, win_create, WIN_CREATE, 6, RMA, 5, 0, 0, 0, 0, 0, 0) \
    L(124, Win_allocate, win_allocate, WIN_ALLOCATE, 6, RMA, 4, 0, 0, 0, 0, 0, 0) \
    L(125, Win_allocate_shared, win_allocate_shared, WIN_ALLOCATE_SHARED, 6, RMA, 4, 0, 0, 0, 0, 0, 0) \
    X(126, Win_free, win_free, WIN_FREE, 1, RMA, 0, 0, 0, 0, 0, 0, 0) \
    C(127, File_open, file_open, FILE_OPEN, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    X(128, File_close, file_close, FILE_CLOSE, 1, IO, 0, 0, 0, 0, 0, 0, 0) \
    X(129, File_sync, file_sync, FILE_SYNC, 1, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(130, File_read, file_read, FILE_READ, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(131, File_read_all, file_read_all, FILE_READ_ALL, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(132, File_read_at, file_read_at, FILE_READ_AT, 6, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(133, File_read_at_all, file_read_at_all, FILE_READ_AT_ALL, 6, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(134, File_write, file_write, FILE_WRITE, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(135, File_write_all, file_write_all, FILE_WRITE_ALL, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(136, File_write_at, file_write_at, FILE_WRITE_AT, 6, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(137, File_write_at_all, file_write_at_all, FILE_WRITE_AT_ALL, 6, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(138, File_read_shared, file_read_shared, FILE_READ_SHARED, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(139, File_write_shared, file_write_shared, FILE_WRITE_SHARED, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(140, File_read_ordered, file_read_ordered, FILE_READ_ORDERED, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    L(141, File_write_ordered, file_write_ordered, FILE_WRITE_ORDERED, 5, IO, 0, 0, 0, 0, 0, 0, 0) \
    C(142, File_set_view, file_set_view, FILE_SET_VIEW, 6, IO, 0, 0, 0, 0, 0, 0, 0) \
    X(143, Comm_rank, comm_rank, COMM_RANK, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(144, Comm_size, comm_size, COMM_SIZE, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(145, Comm_group, comm_group, COMM_GROUP, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(146, Comm_compare, comm_compare, COMM_COMPARE, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(147, Comm_get_attr, comm_get_attr, COMM_GET_ATTR, 4, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(148, Comm_set_attr, comm_set_attr, COMM_SET_ATTR, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(149, Type_size, type_size, TYPE_SIZE, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(150, Type_commit, type_commit, TYPE_COMMIT, 1, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(151, Type_free, type_free, TYPE_FREE, 1, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(152, Type_contiguous, type_contiguous, TYPE_CONTIGUOUS, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(153, Type_vector, type_vector, TYPE_VECTOR, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(154, Type_create_hvector, type_create_hvector, TYPE_CREATE_HVECTOR, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(155, Type_indexed, type_indexed, TYPE_INDEXED, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(156, Type_create_hindexed, type_create_hindexed, TYPE_CREATE_HINDEXED, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(157, Type_create_struct, type_create_struct, TYPE_CREATE_STRUCT, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(158, Type_create_resized, type_create_resized, TYPE_CREATE_RESIZED, 4, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(159, Type_create_subarray, type_create_subarray, TYPE_CREATE_SUBARRAY, 7, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(160, Type_get_extent, type_get_extent, TYPE_GET_EXTENT, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(161, Type_dup, type_dup, TYPE_DUP, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(162, Op_create, op_create, OP_CREATE, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(163, Op_free, op_free, OP_FREE, 1, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(164, Group_incl, group_incl, GROUP_INCL, 4, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(165, Group_excl, group_excl, GROUP_EXCL, 4, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(166, Group_free, group_free, GROUP_FREE, 1, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(167, Group_rank, group_rank, GROUP_RANK, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(168, Group_size, group_size, GROUP_SIZE, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(169, Group_translate_ranks, group_translate_ranks, GROUP_TRANSLATE_RANKS, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(170, Get_count, get_count, GET_COUNT, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(171, Get_elements, get_elements, GET_ELEMENTS, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    C(172, Pack, pack, PACK, 7, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    C(173, Unpack, unpack, UNPACK, 7, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(174, Pack_size, pack_size, PACK_SIZE, 4, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(175, Cart_coords, cart_coords, CART_COORDS, 4, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(176, Cart_rank, cart_rank, CART_RANK, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(177, Cart_shift, cart_shift, CART_SHIFT, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(178, Cart_get, cart_get, CART_GET, 5, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(179, Dims_create, dims_create, DIMS_CREATE, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(180, Initialized, initialized, INITIALIZED, 1, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(181, Finalized, finalized, FINALIZED, 1, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(182, Buffer_attach, buffer_attach, BUFFER_ATTACH, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(183, Buffer_detach, buffer_detach, BUFFER_DETACH, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(184, Request_get_status, request_get_status, REQUEST_GET_STATUS, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(185, Session_init, session_init, SESSION_INIT, 3, SESSION, 0, 0, 0, 0, 0, 0, 0) \
    X(186, Session_finalize, session_finalize, SESSION_FINALIZE, 1, SESSION, 0, 0, 0, 0, 0, 0, 0) \
    X(187, Psend_init, psend_init, PSEND_INIT, 9, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(188, Precv_init, precv_init, PRECV_INIT, 9, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(189, Pready, pready, PREADY, 2, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(190, Pready_range, pready_range, PREADY_RANGE, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(191, Pready_list, pready_list, PREADY_LIST, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(192, Parrived, parrived, PARRIVED, 3, COUNTED, 0, 0, 0, 0, 0, 0, 0) \
    X(193, Comm_idup_with_info, comm_idup_with_info, COMM_IDUP_WITH_INFO, 4, ICOLLECTIVE, 1, 0, 0, 0, 0, 4, 0) \
    L(194, Isendrecv, isendrecv, ISENDRECV, 12, ISENDRECV, 11, 4, 5, 2, 3, 12, 0) \
    L(195, Isendrecv_replace, isendrecv_replace, ISENDRECV_REPLACE, 9, ISENDRECV, 8, 4, 5, 2, 3, 9, 0) \
    C(196, Comm_create_from_group, comm_create_from_group, COMM_CREATE_FROM_GROUP, 5, COMM, 0, 0, 0, 0, 0, 0, 0) \
    C(197, Intercomm_create_from_groups, intercomm_create_from_groups, INTERCOMM_CREATE_FROM_GROUPS, 8, COMM, 0, 0, 0, 0, 0, 0, 0) \
    X(198, Barrier_init, barrier_init, BARRIER_INIT, 3, OTHER, 1, 0, 0, 0, 0, 0, 0) \
    L(199, Bcast_init, bcast_init, BCAST_INIT, 7, OTHER, 5, 0, 0, 0, 0, 0, 0) \
    L(200, Scatter_init, scatter_init, SCATTER_INIT, 10, OTHER, 8, 0, 0, 0, 0, 0, 0) \
    L(201, Scatterv_init, scatterv_init, SCATTERV_INIT, 11, OTHER, 9, 0, 0, 0, 0, 0, 0) \
    L(202, Gather_init, gather_init, GATHER_INIT, 10, OTHER, 8, 0, 0, 0, 0, 0, 0) \
    L(203, Gatherv_init, gatherv_init, GATHERV_INIT, 11, OTHER, 9, 0, 0, 0, 0, 0, 0) \
    L(204, Reduce_init, reduce_init, REDUCE_INIT, 9, OTHER, 7, 0, 0, 0, 0, 0, 0) \
    L(205, Allgather_init, allgather_init, ALLGATHER_INIT, 9, OTHER, 7, 0, 0, 0, 0, 0, 0) \
    L(206, Allgatherv_init, allgatherv_init, ALLGATHERV_INIT, 10, OTHER, 8, 0, 0, 0, 0, 0, 0) \
    L(207, Alltoall_init, alltoall_init, ALLTOALL_INIT, 9, OTHER, 7, 0, 0, 0, 0, 0, 0) \
    L(208, Alltoallv_init, alltoallv_init, ALLTOALLV_INIT, 11, OTHER, 9, 0, 0, 0, 0, 0, 0) \
    L(209, Alltoallw_init, alltoallw_init, ALLTOALLW_INIT, 11, OTHER, 9, 0, 0, 0, 0, 0, 0) \
    L(210, Allreduce_init, allreduce_init, ALLREDUCE_INIT, 8, OTHER, 6, 0, 0, 0, 0, 0, 0) \
    L(211, Reduce_scatter_init, reduce_scatter_init, REDUCE_SCATTER_INIT, 8, OTHER, 6, 0, 0, 0, 0, 0, 0) \
    L(212, Reduce_scatter_block_init, reduce_scatter_block_init, REDUCE_SCATTER_BLOCK_INIT, 8, OTHER, 6, 0, 0, 0, 0, 0, 0) \
    L(213, Scan_init, scan_init, SCAN_INIT, 8, OTHER, 6, 0, 0, 0, 0, 0, 0) \
    L(214, Exscan_init, exscan_init, EXSCAN_INIT, 8, OTHER, 6, 0, 0, 0, 0, 0, 0) \
    L(215, Neighbor_allgather_init, neighbor_allgather_init, NEIGHBOR_ALLGATHER_INIT, 9, OTHER, 7, 0, 0, 0, 0, 0, 0) \
    L(216, Neighbor_allgatherv_init, neighbor_allgatherv_init, NEIGHBOR_ALLGATHERV_INIT, 10, OTHER, 8, 0, 0, 0, 0, 0, 0) \
    L(217, Neighbor_alltoall_init, neighbor_alltoall_init, NEIGHBOR_ALLTOALL_INIT, 9, OTHER, 7, 0, 0, 0, 0, 0, 0) \
    L(218, Neighbor_alltoallv_init, neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT, 11, OTHER, 9, 0, 0, 0, 0, 0, 0) \
    L(219, Neighbor_alltoallw_init, neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT, 11, OTHER, 9, 0, 0, 0, 0, 0, 0)
/* clang-format on */

#define MPI_CALL_NUMBER(number, name, ...) MPI_CALL_##name = (number),
/** Numbers of calls: MPI_CALL_Send. */
enum mpi_call_number {
    MPI_CALL_NONE = 0,
    MPI_CALLS(MPI_CALL_NUMBER, MPI_CALL_NUMBER, MPI_CALL_NUMBER) MPI_CALL_NUMBERS
};
#undef MPI_CALL_NUMBER

/** `sequence` of a call that waits for several requests: how many of them are active, and how far the highest of their numbers is
 *  above the lowest, which is `request`. */
static inline uint64_t mpi_set_pack(uint32_t n, uint32_t span)
{
    return (uint64_t)span << 32 | n;
}

/** `sequence` of MPI_Sendrecv() and MPI_Isendrecv(): source and tag of what it receives, which fit as the top bit marks that they are there. */
#define MPI_SENDRECV_MARK (UINT64_C(1) << 63)
static inline uint64_t mpi_sendrecv_pack(int32_t source, int32_t tag)
{
    return MPI_SENDRECV_MARK | ((uint64_t)(uint32_t)source << 32 & ~MPI_SENDRECV_MARK) | (uint32_t)tag;
}
static inline int32_t mpi_sendrecv_source(uint64_t sequence)
{
    return (int32_t)((uint32_t)(sequence >> 32) << 1) >> 1; /* 31 bits with a sign */
}
static inline int32_t mpi_sendrecv_tag(uint64_t sequence)
{
    return (int32_t)(uint32_t)sequence;
}

enum { MPI_CALL_NAME_MAX = 40 };

/** A row of the table. Names are in it: a pointer would make the table data that each process relocates. */
struct mpi_call_row {
    char name[MPI_CALL_NAME_MAX]; /**< "MPI_Send"; empty: no such call */
    unsigned char arguments, class, comm, peer, tag, count, type, request, status;
};

/** By number, MPI_CALL_NUMBERS long. */
extern const struct mpi_call_row mpi_call_rows[];

#endif

#!/usr/bin/env bash
# Each reason for a wait, with its ranks and duration: of three delays of 50 ms the longest must be seen, whatever else runs.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -o waits "$here/waits.c"
# check PROGRAM PATTERN RANK CAUSE FUNCTION
check()
{
    head -c 4096 /dev/zero >shared
    record "w_$1" 2 ./waits shared "$1"
    "$upmu" report --mpi --json "w_$1" >json
    python3 - "$@" <<'PYTHON' || { "$upmu" report --mpi "w_$1"; fail "$1"; }
import json, sys
program, pattern, rank, cause, function = sys.argv[1:]
job, = json.load(open("json"))["jobs"]
found = [w for w in job["waits"] if w["pattern"] == pattern and w["max_ns"] >= 45e6]
assert [(w["rank"], w["cause"], w["function"]) for w in found] == [(int(rank), int(cause), function)], job["waits"]
assert not [w for w in job["waits"] if w["max_ns"] > w["ns"] or w["count"] > 3]
ranks = job["ranks_recorded"]
assert all(r["wait_ns"] <= r["mpi_ns"] <= r["time_ns"] and r["end"] == "finalized" for r in ranks), ranks
assert job["unmatched"] == job["reversed"] == job["partial"] == 0, job
PYTHON
}
check late-sender late-sender 1 0 MPI_Recv
check irecv late-sender 1 0 MPI_Wait
check wrong-order wrong-order 1 0 MPI_Recv
check late-receiver late-receiver 0 1 MPI_Ssend
check wait-at-barrier wait-at-barrier 0 1 MPI_Barrier
check wait-for-all wait-for-all 1 0 MPI_Allreduce
check late-broadcast late-broadcast 0 1 MPI_Bcast
check early-reduce early-reduce 0 1 MPI_Reduce
check early-scan early-scan 1 0 MPI_Scan
check wait-at-finalize wait-at-finalize 0 1 MPI_Finalize

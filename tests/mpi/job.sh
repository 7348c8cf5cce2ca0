#!/usr/bin/env bash
# The report of a job: messages with both halves, efficiencies by their definitions, and ranks that are killed in a call.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
record r 2 ./subject calls
"$upmu" report --mpi --json r >json
"$upmu" report --mpi r >text
python3 - <<'PYTHON' || fail "the report of $(cat json)"
import json
job, = json.load(open("json"))["jobs"]
assert (job["ranks"], job["world"], job["messages"]) == (2, 2, 60), job
assert job["unmatched"] == job["reversed"] == job["partial"] == 0, job
assert job["collectives"] == 7, job  # barrier, broadcast, finalize; and two in each rank's own communicator
ranks = job["ranks_recorded"]
assert [r["rank"] for r in ranks] == [0, 1]
assert [(r["sent"], r["sent_bytes"]) for r in ranks] == [(40, 8000 + 280 + 30 + 160), (20, 280 + 30)], ranks
assert [(r["received"], r["received_bytes"]) for r in ranks] == [(20, 280 + 30), (40, 8000 + 280 + 30 + 160)], ranks
useful = [r["useful_ns"] for r in ranks]
assert all(r["useful_ns"] + r["mpi_ns"] == r["time_ns"] for r in ranks)
time = job["end_ns"] - job["begin_ns"]
assert abs(job["parallel_efficiency"] - sum(useful) / 2 / time) < 1e-9
assert abs(job["load_balance"] - sum(useful) / 2 / max(useful)) < 1e-9
assert abs(job["communication_efficiency"] - max(useful) / time) < 1e-9
functions = {f["name"]: f for f in job["functions"]}
assert functions["MPI_Iprobe"]["calls"] == 100 and functions["MPI_Comm_rank"]["calls"] == 2
assert functions["MPI_Send"]["bytes"] == 8000
PYTHON
grep -q '2 of 2 ranks recorded' text || fail "$(cat text)"
grep -qE '^ +0 +' text || fail "no row of rank 0: $(cat text)"

# 10,000 requests at a time are all followed.
record flight 2 ./subject flight
is "lost events" 1 "$(grep -c ' of 2 processes .* 0 lost' flight.err)"
"$upmu" report --mpi --json flight >json
python3 - <<'PYTHON' || fail "the report of $(head -c 2000 json)"
import json
job, = json.load(open("json"))["jobs"]
calls = {f["name"]: f["calls"] for f in job["functions"]}
assert (job["messages"], job["unmatched"], job["partial"]) == (10000, 0, 0), job
assert (calls["MPI_Isend"], calls["MPI_Irecv"], calls["MPI_Wait"], calls["MPI_Waitall"]) == (10000, 10000, 10000, 2), calls
assert all(r["received_bytes"] == 40000 * r["rank"] for r in job["ranks_recorded"]), job["ranks_recorded"]
PYTHON

# Rank 1 kills itself while rank 0 waits for it: both are in the report, with what they were in.
run 2 "$upmu" record --mpi -o killed -- ./subject killed >out 2>err && fail "a killed rank ended with 0"
"$upmu" report --mpi --json killed >json
python3 - <<'PYTHON' || fail "the report of killed ranks: $(cat json)"
import json
job, = json.load(open("json"))["jobs"]
ranks = job["ranks_recorded"]
assert [(r["rank"], r["wrapped"]) for r in ranks] == [(0, True), (1, True)], ranks
assert ranks[1]["end"] == "killed" and ranks[1]["in_call"] is None, ranks
assert ranks[0]["end"] in ("killed", "exited") and ranks[0]["in_call"] == "MPI_Recv", ranks
PYTHON

# A recording without ranks is no job.
"$upmu" record -o none -- /bin/true 2>err
! "$upmu" report --mpi none >out 2>err || fail "a report of no job"
grep -q "upmu record --mpi" err || fail "no remedy: $(cat err)"

# A launcher that fails by itself: its message, and no guess about the library.
"$upmu" record --mpi -o refused -- "mpirun.$mpi" -no-such-option ./subject >out 2>err && fail "a launcher that fails ended with 0"
grep -q "nothing was recorded: mpirun.$mpi failed before a rank called MPI_Init()" err || fail "a launcher that fails: $(cat err)"

#!/usr/bin/env bash
# The job's table as the ranks have reduced it: equal to what the report finds in their traces, and with regions of all of them.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -D_GNU_SOURCE -o summary "$here/programs/summary.c" -ldl
ranks=3 # no power of 2
[ $mpi = openmpi ] || ranks=2 # those of MPICH do not give way to each other
record r $ranks ./summary
[ -s r/mpi-summary.txt ] || fail "no table: $(ls r)"
"$upmu" report --mpi --json r >json
python3 - $ranks <<'PYTHON' || fail "$(cat r/mpi-summary.txt) $(head -c 3000 json)"
import json, sys
ranks = int(sys.argv[1])
s = json.load(open("r/mpi-summary.json"))
job, = json.load(open("json"))["jobs"]
assert s["world"] == ranks and s["complete"] is True
assert (s["begin_ns"], s["end_ns"]) == (job["begin_ns"], job["end_ns"]), (s, job)
# A nanosecond is lost to rounding at each call.
rounding = sum(f["calls"] for f in job["functions"]) / min(r["useful_ns"] for r in job["ranks_recorded"])
for key in "parallel_efficiency", "load_balance", "communication_efficiency":
    assert abs(s[key] - job[key]) < 1e-5 + rounding, (key, s[key], job[key], rounding)
row = {(f["name"], f["metric"]): f for f in s["functions"]}
for f in job["functions"]:
    if f["name"] == "MPI_Finalize": # it has not ended when it is reduced
        continue
    calls = row[f["name"], "calls"]
    assert calls["sum"] == f["calls"], f
    assert row.get((f["name"], "bytes"), {"sum": 0})["sum"] == f["bytes"], f
    if f["ns"]:
        ns = row[f["name"], "ns"]
        assert abs(ns["sum"] - f["ns"]) <= 3 * f["calls"] + ranks, (ns, f)
        assert abs(ns["max"] - f["max_ns"]) <= 3 * f["calls"] + 1, (ns, f)
        assert abs(ns["mean"] * ns["ranks"] - ns["sum"]) < 1 + 1e-6 * ns["sum"]
        assert abs(ns["imbalance"] - (ns["max"] / ns["mean"] - 1)) < 1e-5, ns
assert (row["MPI_Send", "calls"]["ranks"], row["MPI_Send", "calls"]["max_rank"]) == (1, 0)
assert row["MPI_Comm_rank", "calls"]["ranks"] == ranks
useful = [r["useful_ns"] for r in job["ranks_recorded"]]
got, = [r for r in s["ranks"] if r["metric"] == "useful"]
for i, want in enumerate([max(useful), min(useful), sum(useful) / ranks]):
    assert abs([got["max"], got["min"], got["mean"]][i] - want) < 1000, (got, useful)
region = {(f["name"], f["metric"]): f for f in s["regions"]}
every = region["in all", "count"]
n = [10 + r for r in range(ranks)]
mean = sum(n) / ranks
assert (every["ranks"], every["sum"], every["min"], every["min_rank"], every["max"], every["max_rank"]) == \
    (ranks, sum(n), 10, 0, n[-1], ranks - 1), every
assert abs(every["deviation"] - (sum((x - mean) ** 2 for x in n) / ranks) ** 0.5) < 0.01, every
for r in range(ranks):
    own = region["only in %d" % r, "count"]
    assert (own["ranks"], own["sum"], own["max_rank"]) == (1, 1, r), own
assert region["in all", "ns"]["status"] == "exact"
PYTHON
grep -q '^MPI_Allreduce  *ns' r/mpi-summary.txt || fail "no row: $(cat r/mpi-summary.txt)"

# The table is incomplete if a rank could not record all of its regions.
record many 2 ./summary many
python3 -c 'import json; s = json.load(open("many/mpi-summary.json")); assert s["complete"] is False and len(s["regions"]) > 4000, len(s["regions"])' ||
    fail "a table without some of the regions: $(head -c 500 many/mpi-summary.json)"
is "warning of the table" 1 "$(grep -c 'left out' many/mpi-summary.txt)"

# A rank whose recording has ended still answers: the others end, without a table.
record ended 2 ./summary end
if grep -q 'no PR_SET_TSC' ended.out; then
    echo "a recording that ends early: skipped, because this machine has no PR_SET_TSC"
    exit 0
fi
[ ! -e ended/mpi-summary.txt ] || fail "a table without one of the ranks"
"$upmu" report ended >report
grep -q 'the program restricted its system calls' report || fail "the recording of rank 1 has not ended early: $(cat report)"

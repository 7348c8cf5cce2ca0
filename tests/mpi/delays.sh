#!/usr/bin/env bash
# Root causes of waits, through ranks that wait themselves; and serialization efficiency of ranks that compute one after the other.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -D_GNU_SOURCE -o delays "$here/programs/delays.c" -ldl
# job NAME RANKS: record it; its report is in `json`
job()
{
    head -c 4096 /dev/zero >shared
    record "d_$1" "$2" ./delays shared "$1"
    "$upmu" report --mpi --json "d_$1" >json
}

# Ranks 1 and 2 wait 50 ms for what rank 0 does in each of three rounds; rank 2 waits for rank 1.
for what in region plain; do
    job $what 3
    python3 - $what <<'PYTHON' || { "$upmu" report --mpi "d_$what"; fail "causes of $what"; }
import json, sys
job, = json.load(open("json"))["jobs"]
delays = job["delays"]
waits = sum(w["ns"] for w in job["waits"])
assert abs(sum(d["ns"] for d in delays) - waits) <= len(delays), (delays, waits)
if sys.argv[1] == "region":
    found = [d for d in delays if d["rank"] == 0 and d["region"] == "slow" and d["function"] is None]
else:
    found = [d for d in delays if (d["rank"], d["function"], d["inside"], d["caller"]) == (0, "MPI_Send", False, "chain")]
    assert found[0]["file"].endswith("delays.c"), found
assert len(found) == 1 and found[0]["ns"] >= 2 * 3 * 45e6 and found[0]["waits"] == 3, delays
assert found[0] == delays[0], delays
PYTHON
done
grep -qE '^ +0 .* before MPI_Send at chain delays.c:[0-9]+$' < <("$upmu" report --mpi d_plain) || fail "no call site in the text"
grep -qE '^ +0 .* region slow$' < <("$upmu" report --mpi d_region) || fail "no region in the text"

# The path is in rank 0 while it computes, then passes through the others: what they wait for is not on it.
rm -rf d_plain; job plain 3
"$upmu" report --mpi --json --top 1000 d_plain >json
python3 - <<'PYTHON' || { "$upmu" report --mpi d_plain; fail "critical path"; }
import json
job, = json.load(open("json"))["jobs"]
path, steps = job["critical_path"]["parts"], job["critical_path"]["steps"]
first = max(s["begin_ns"] for s in steps[:1])
assert len(steps) == job["critical_path"]["steps_all"] > 1
assert all(a["end_ns"] == b["begin_ns"] and a["rank"] != b["rank"] for a, b in zip(steps, steps[1:])), steps
assert steps[-1]["end_ns"] == job["end_ns"] and first >= job["begin_ns"], (steps, job)
assert sum(p["ns"] for p in path) == steps[-1]["end_ns"] - first, (path, steps)
mine, = [p for p in path if (p["rank"], p["function"], p["inside"]) == (0, "MPI_Send", False)]
assert mine["ns"] >= 3 * 50e6 and mine["caller"] == "chain" and mine["file"].endswith("delays.c"), path
assert mine == path[0] or mine["ns"] >= 0.9 * path[0]["ns"], path
# Of the two ranks that wait, nearly all of the time in the receive is not on the path.
received = sum(p["ns"] for p in path if p["function"] == "MPI_Recv" and p["inside"])
waited = sum(w["ns"] for w in job["waits"] if w["function"] == "MPI_Recv")
assert waited >= 2 * 3 * 45e6 and received < waited / 2, (path, waited)
PYTHON
grep -qE '^ +0 .* before MPI_Send at chain delays.c:[0-9]+$' < <("$upmu" report --mpi d_plain) || fail "no line on the path"

job alternate 2
python3 - <<'PYTHON' || { "$upmu" report --mpi d_alternate; fail "efficiencies"; }
import json
job, = json.load(open("json"))["jobs"]
time = job["end_ns"] - job["begin_ns"]
assert 6 * 50e6 <= job["ideal_ns"] <= time, job
assert abs(job["serialization_efficiency"] - job["useful_max_ns"] / job["ideal_ns"]) < 1e-9
assert abs(job["transfer_efficiency"] - job["ideal_ns"] / time) < 1e-9
assert abs(job["serialization_efficiency"] * job["transfer_efficiency"] - job["communication_efficiency"]) < 1e-9
# Neither rank's own time is that of both: neither can continue without the other.
useful = [r["useful_ns"] for r in job["ranks_recorded"]]
assert job["ideal_ns"] <= sum(useful) + 1000 and max(useful) >= 3 * 50e6, (job["ideal_ns"], useful)
PYTHON

#!/usr/bin/env bash
# Sessions are recorded from the first one on, also without MPI_Init(): messages, collective calls, and how ranks ended.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"
mpicc.$mpi -g -O1 -w -o sessions "$here/programs/sessions.c" 2>/dev/null || { echo "skipped, because $mpi has no sessions"; exit 77; }
ranks=2 # they spin
cat >check.py <<'PYTHON'
import json, sys
how, talks, ranks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
job, = json.load(open("json"))["jobs"]
ROUNDS = 3
rows = job["ranks_recorded"]
assert job["world"] == ranks and [r["rank"] for r in rows] == list(range(ranks)) and all(r["wrapped"] for r in rows), rows
assert (job["unmatched"], job["partial"], job["reversed"]) == (0, 0, 0), job
assert job["messages"] == 3 * ROUNDS * talks * ranks, job["messages"]
for r in rows:
    size = talks * sum(range(1, ROUNDS + 1))
    assert (r["sent"], r["received"], r["sent_bytes"]) == (3 * ROUNDS * talks, 3 * ROUNDS * talks, 21 * size), r
    # MPICH 4.0 has no status of MPI_Isendrecv().
    assert (r["received_bytes"], r["messages_of_unknown_size"]) == (size, 2 * ROUNDS * talks), r
    assert how == "killed" or (r["end"] == "finalized" and 0 < r["useful_ns"] <= r["time_ns"]), r
finalize = how == "world"
assert job["collectives"] == 2 * ROUNDS * talks + finalize + (how == "killed"), job["collectives"]
calls = {f["name"]: f["calls"] for f in job["functions"]}
sessions = {"several": 2, "twice": 2}.get(how, 1) * ranks
assert calls["MPI_Session_init"] == sessions and (how == "killed" or calls["MPI_Session_finalize"] == sessions), calls
if how == "killed":
    assert [(r["end"], r["in_call"]) for r in rows][1] == ("killed", None) and rows[0]["end"] == "killed", rows
PYTHON

for case in once:1 twice:1 several:4 world:4; do
    how=${case%:*}
    if [ "$how" = twice ] && ! run $ranks ./sessions twice >/dev/null 2>&1; then
        echo "sessions twice: skipped, because MPICH before 4.1 crashes when its first session begins again"
        continue
    fi
    record "r_$how" $ranks ./sessions "$how"
    "$upmu" report --mpi --json "r_$how" >json
    python3 check.py "$how" "${case#*:}" $ranks || fail "$how: $("$upmu" report --mpi "r_$how")"
    is "deadlocks of $how" "" "$("$upmu" deadlock "r_$how" | grep '^deadlock' || true)"
done
[ -z "$(ls r_*/mpi-summary* 2>/dev/null)" ] || fail "a table of a job with sessions, whose ranks exchange no messages"
"$upmu" record --mpi -o r_killed -- mpirun.$mpi -np $ranks ./sessions killed >out 2>err && fail "a killed job ended with 0"
"$upmu" report --mpi --json r_killed >json
python3 check.py killed 1 $ranks || fail "killed: $("$upmu" report --mpi r_killed)"

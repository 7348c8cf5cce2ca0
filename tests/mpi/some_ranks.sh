#!/usr/bin/env bash
# --ranks: the calls of some ranks are recorded, the others count theirs for the job's table; and what an idle rank needs on disk.
# shellcheck source=tests/mpi/lib.sh
. "$1/lib.sh"

mpicc.$mpi -g -O1 -w -o subject "$here/programs/subject.c"
launch=(mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1)
for list in "" 1- -1 2-1 every:0 every: a "1,,2" "1,"; do
    ! "$upmu" record --mpi --ranks "$list" -o bad -- true >out 2>err || fail "'$list' was taken for a list"
    grep -q -- '--ranks needs a list' err || fail "'$list': $(cat err)"
done

record all 4 ./subject calls
"$upmu" record --ranks 1,every:3 -o some -- "${launch[@]}" -np 4 ./subject calls >out 2>err || fail "status $?: $(cat err)"
for name in all some; do
    "$upmu" report --mpi --json $name >$name.json
done
"$upmu" report --mpi some >text
python3 - <<'PYTHON' || fail "$(cat text some/mpi-summary.txt)"
import json
whole, part = (json.load(open(f"{n}/mpi-summary.json")) for n in ("all", "some"))
assert (whole["recorded"], part["recorded"], part["world"], part["complete"]) == (4, 3, 4, True), part
rows = [{(f["name"], f["metric"]): (f["ranks"], f["sum"]) for f in s["functions"] if f["metric"] != "ns" and "probe" not in f["name"]} for s in (whole, part)]
assert rows[0] == rows[1] and len(rows[0]) > 20, rows
job, = json.load(open("some.json"))["jobs"]
found = {r["rank"]: r for r in job["ranks_recorded"]}
assert job["ranks"] == 3 and job["world"] == 4, job
assert sorted(r for r in found if found[r]["calls"]) == [0, 1, 3], found
assert [r for r in found if not found[r]["calls"]] in ([], [2]), found
assert job["messages"] == 60 and job["partners_not_recorded"] == [], job # those of ranks 0 and 1
assert job["partial"] > 0 and job["ideal_ns"] is None, job
PYTHON
grep -q '3 of 4 ranks recorded' text || fail "not in the report: $(cat text)"
grep -q 'not among the ranks to record' text || fail "no reason: $(cat text)"
is "events of rank 2" 0 "$("$upmu" dump some | awk -v tid="$("$upmu" dump some | sed -nE 's/.* ([0-9]+) [0-9]+ mpi-env .* rank=2 .*/\1/p' | head -1)" '$2 == tid && $4 ~ /^mpi-(enter|leave|request|comm|poll|start|count)$/' | wc -l)"
grep -q '3 of 4 ranks have their calls in traces' some/mpi-summary.txt || fail "not in the table: $(cat some/mpi-summary.txt)"

# Partners that are not recorded are named.
"$upmu" record --ranks 1 -o one -- "${launch[@]}" -np 2 ./subject calls >out 2>err || fail "status $?: $(cat err)"
"$upmu" report --mpi --json one >one.json
python3 - <<'PYTHON' || fail "$("$upmu" report --mpi one)"
import json
job, = json.load(open("one.json"))["jobs"]
assert job["partners_not_recorded"] == [{"rank": 1, "partner": 0, "sent": 20, "received": 40}], job["partners_not_recorded"]
assert job["unmatched"] == 60 and job["messages"] == 0, job
PYTHON
grep -qE '^ +1 +rank 0 +20 +40$' < <("$upmu" report --mpi one) || fail "no partner: $("$upmu" report --mpi one)"

# As a ring: what is left can be read, and the table has all.
"$upmu" record --mpi --ring 64K -o ring -- "${launch[@]}" -np 2 ./subject calls >out 2>err || fail "status $?: $(cat err)"
"$upmu" report --mpi --json ring | python3 -c 'import json, sys; j, = json.load(sys.stdin)["jobs"]; assert j["ranks"] == 2 and j["messages"] == 60, j' ||
    fail "ring"

# A rank that only starts and ends: at most 64 kB.
record idle 2 ./subject late
for dir in idle/*/*/; do
    kilobytes=$(du -sk "$dir" | cut -f1)
    [ "$kilobytes" -le 64 ] || fail "an idle rank needs $kilobytes kB: $(du -ak "$dir")"
done
[ "$(find idle -mindepth 1 -maxdepth 1 -type d | wc -l)" = 1 ] || fail "not a directory per host: $(ls idle)"
[ "$(find idle -mindepth 2 -maxdepth 2 -type d | wc -l)" = 2 ] || fail "not a directory per rank: $(ls idle/*)"

#!/usr/bin/env bash
# Programs that fork, or that end within a region: what was recorded until then is there.
# shellcheck source=tests/openmp/lib.sh
. "$1/lib.sh"

# number NAME: values of a member of the JSON document
number()
{
    python3 -c 'import json, sys; print(*(p[sys.argv[1]] for p in json.load(open("r.json"))["processes"]))' "$1"
}

# ends HOW: leaves the program's status in `status`. Whether the other thread has come to the barrier depends on the load.
ends()
{
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        status=0
        record r ./subject "$1" 2 1 || status=$?
        "$upmu" dump r >dump 2>dump.err || true # killed: the trace has no proper end
        ! grep -qE 'event=wait construct=(explicit-)?barrier ' dump || return 0
    done
    fail "the thread that waits at the end by $1 is not recorded"
}

for how in exit _exit KILL; do
    ends $how
    case $how in
        KILL) is "status of a killed program" 137 "$status" ;;
        *) is "status after $how" 0 "$status" ;;
    esac
    "$upmu" report --openmp --json r >r.json
    is "regions that had not ended by $how" 1 "$(number unfinished)"
    is "regions by $how" 2 "$(number regions_run)"
    is "events of unknown regions by $how" 0 "$(number strays)"
    "$upmu" report --openmp r >report
    grep -q "1 region had not ended" report || fail "the report does not have the unfinished region of $how"
    python3 - <<'EOF' || fail "$how: the wait of the other thread"
import json
process = json.load(open("r.json"))["processes"][0]
region = next(r for r in process["regions"] if r["unfinished"])
barriers = [c for c in process["constructs"] if c["construct"] in ("barrier", "explicit-barrier")]
assert [c["count"] for c in barriers] == [1], barriers
assert len(region["threads"]) == 2, region
for m in region["threads"]:
    assert m["time_ns"] == m["work_ns"] + m["wait_ns"], m
EOF
done

# A wait that has not ended when the process is killed has lasted until then: while the other thread holds the lock, for a second by
# its own clock. upmu record saw the process alive up to a moment before that.
status=0
record r ./subject holds 2 1 || status=$?
is "status of a killed holder" 137 "$status"
"$upmu" report --openmp --json r >r.json
python3 - "$(sed -n 's/^held //p' r.out)" <<'EOF' || fail "the wait of a killed thread: $(cat r.json)"
import json, sys
held = int(sys.argv[1])
process = json.load(open("r.json"))["processes"][0]
locks = [c for c in process["constructs"] if c["construct"] == "lock"]
lock = max(locks, key=lambda c: c["ns"])
assert len(locks) == 2 and lock["count"] == 1 and held / 10 <= lock["ns"] <= 2 * held, (held, locks)
region = next(r for r in process["regions"] if r["unfinished"])
waits = max(m["wait_ns"] for m in region["threads"])
assert held / 10 <= waits, (held, region)
EOF

record r ./subject forks 2 3 || fail "a program that forks ended with $?"
"$upmu" report --openmp --json r >r.json
is "processes" 2 "$(number pid | wc -w)"
is "regions of both processes" "1 7" "$(number regions_run | xargs -n1 | sort -n | xargs)"
is "runtimes" 2 "$(number runtime | grep -oE 'libgomp|LLVM OMP version' | wc -l)"

record r ./subject two 2 3 || fail "a program with two teams ended with $?"
"$upmu" report --openmp --json r >r.json
is "regions of two teams" 7 "$(number regions_run)"
is "events of unknown regions" 0 "$(number strays)"

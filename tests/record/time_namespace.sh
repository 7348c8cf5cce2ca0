# SPDX-License-Identifier: MIT
# Processes in time namespaces: their durations are right in a recording with their parent, and so are the kernel's records of them.
. "$(dirname "$0")/lib.sh"
unset UPMU_SCHED
apart="unshare --time --monotonic 1000000 --boottime 500000 --fork"
[ "$($apart sh -c 'head -1 /proc/self/timens_offsets' 2>err | awk '{print $2}')" = 1000000 ] ||
    skip "no time namespace can be made here: $(head -1 err)"

# holds FILE WHAT: a line of Python about the rows `t` of the threads that have waited, and about the whole, `d`.
holds() {
    python3 - "$1" "$2" <<'PYTHON' || fail "$1: $2"
import json, sys
d = json.load(open(sys.argv[1]))
t = [t for t in d["threads"] if t["blocked_ns"]]
if not (t and eval(sys.argv[2])):
    sys.exit(str([(t["name"], t["begin_ns"], t["end_ns"], t["blocked_ns"], t["sched"]) for t in d["threads"]]))
PYTHON
}

# The measured time brackets all lifetimes of both processes.
begin=$(date +%s%N)
# shellcheck disable=SC2086
expect 0 "$UPMU" record -o both $apart "$WORKER" 20
took=$(($(date +%s%N) - begin))
expect 0 "$UPMU" report --json both
cp out both.json
holds both.json 'len(d["processes"]) == 2'
holds both.json "all(0 <= t['blocked_ns'] <= t['end_ns'] - t['begin_ns'] <= $took for t in d['threads'])"
holds both.json "max(t['end_ns'] for t in d['threads']) - min(t['begin_ns'] for t in d['threads']) <= $took"
holds both.json 'max(p["clock_hz"] for p in d["processes"]) < 1.001 * min(p["clock_hz"] for p in d["processes"])'

# By its id a recorded process is found from outside of its time namespace, and from within another one.
# seen DIR COMMAND...: `ctl PID status` of a process that `sleep 600` in DIR is, by COMMAND
seen() {
    local dir=$1 pid=
    shift
    until pid=$("$UPMU" ctl "$dir" status 2>/dev/null | sed -n 's/^process \([0-9]*\): running.*/\1/p') && [ -n "$pid" ]; do sleep 0.1; done
    expect 0 "$@" "$UPMU" ctl "$pid" status
    has out "process $pid: running"
    kill "$pid"
    wait || true
}
# shellcheck disable=SC2086
$apart "$UPMU" record -o inside sleep 600 >/dev/null 2>&1 &
seen inside env
"$UPMU" record -o outside sleep 600 >/dev/null 2>&1 &
# shellcheck disable=SC2086
seen outside $apart

# The whole recording within one: what runs is not blocked at the same time.
# shellcheck disable=SC2086
expect 0 $apart "$UPMU" record --sched -o within "$WORKER" 20
expect 0 "$UPMU" report --json within
cp out within.json
note=$(python3 -c 'import json; print(json.load(open("within.json"))["processes"][0]["sched_note"] or "")')
[ -z "$note" ] || skip "$note"
holds within.json 'all(t["sched"]["blocked_ns"] > 20000000 and t["sched"]["voluntary"] >= 20 for t in t)'
finish

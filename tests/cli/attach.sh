# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $work and $LOAD are the script's
# Helpers of the scripts that attach to running processes: a load that waits, and when a counter is at work. Sourced after lib.sh.

# load_start THREADS PAGES: a process whose threads wait; $load is its id. load_go lets it work and end.
load_start() {
    rm -f "$work/go" "$work/ready"
    mkfifo "$work/go"
    : >"$work/ready"
    "$LOAD" faults "$1" "$2" <"$work/go" >"$work/ready" &
    load=$!
    exec 7>"$work/go"
    wait_until 60 grep -q ready "$work/ready" || fail "load did not start"
    # All threads sleep: what is counted from now on is their work.
    wait_until 60 threads_sleep "$load" || fail "the threads of the load do not sleep"
}
threads_sleep() {
    ! grep -q . < <(cat "/proc/$1"/task/*/stat | grep -v ') S ')
}
load_go() {
    echo go >&7
    exec 7>&-
    wait "$load" || fail "load failed"
}

# events_held PID: how many perf events it has open.
events_held() {
    find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | wc -l
}
# counting PID N: wait until the process has N events open, and waits for what it counts.
counting() {
    wait_until 60 holds "$1" "$2" || fail "process $1 never had $2 events open"
    wait_until 60 threads_sleep "$1" || fail "process $1 does not wait"
}
holds() {
    [ "$(events_held "$1")" -ge "$2" ]
}

# total FILE EVENT: its value in a JSON report.
total() {
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
d = [json.loads(l) for l in open(sys.argv[1])][-1] if sys.argv[1].endswith("lines") else json.load(open(sys.argv[1]))
print(next(e["value"] for e in d["events"] if e["name"].split(":")[0] == sys.argv[2]))
PYTHON
}

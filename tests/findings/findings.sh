# SPDX-License-Identifier: MIT
# Findings of programs with one built-in trouble each, first in every view; none of healthy programs.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || {
    echo "skipped, because a sanitizer's runtime must be loaded before anything that is preloaded"
    exit 77
}

# record NAME OPTION...: records the program NAME, started by the command `launch`; its report as JSON is in "$work/NAME.json"
launch=()
record() {
    local name=$1
    shift
    "${launch[@]}" "$UPMU" record "$@" -o "$work/$name" -- timeout -s KILL 20 "$TROUBLES" "$name" >"$work/record" 2>&1 ||
        grep -q " lost" "$work/record" || { fail "recording $name"; cat "$work/record" >&2; }
    "$UPMU" report --json "$work/$name" >"$work/$name.json" || fail "report of $name"
}

# first NAME PYTHON: the first finding of NAME is `f`, and its object `o`
first() {
    json "$work/$1.json" "
import re
assert d['findings'], 'no finding in $1'
f = d['findings'][0]
o = d['objects'][f['object']]['name'] if f['object'] is not None else None
$2"
    "$UPMU" report "$work/$1" >"$work/out" && has out "Findings"
}

record long
first long '
assert f["kind"] == "section" and o == "ledger", f
assert "write_ledger troubles.c:" in f["text"] and "half as long" in f["text"], f["text"]
assert re.search(r"held \d[\d.]+ ms at a time \(at most \d[\d.]+ ms\)", f["text"]), f["text"]
assert 140e6 < f["gain_ns"] < 0.55 * f["run_ns"], f # 40 holds of 8 ms, and what a busy machine adds
assert f["end_ns"] > f["begin_ns"] > 0 and f["site"]["functions"][0]["function"] == "write_ledger", f
assert "of that time in sleep" in f["text"], f["text"]'

# The command that is printed below a finding works whatever the name of the recording is.
cp -r "$work/long" "$work/Ada's notes"
"$UPMU" report "$work/Ada's notes" >"$work/out" || fail "report of Ada's notes"
command=$(grep -m1 -oE '^ +upmu report --view timeline .*' "$work/out")
(PATH=$(dirname "$UPMU"):$PATH && eval "$command") >"$work/rows" 2>"$work/err" || fail "'$command': $(cat "$work/err")"
grep -q '^Timeline of .*ledger' < <(tr '\n' ' ' <"$work/rows") || fail "'$command' does not show the lock"

# Names of C++ in a sentence have no arguments.
"$UPMU" record -o "$work/names" -- "$NAMES" >"$work/record" 2>&1 || fail "recording names"
"$UPMU" report --json "$work/names" >"$work/names.json" || fail "report of names"
first names 'assert " in shop::Ledger<...>::operator()() names.cpp:" in f["text"], f["text"]'

# One lock for unrelated data: the finding has the lock, and the report both call sites that wait for each other.
record shared
first shared '
assert f["kind"] == "section" and o == "ledger" and f["gain_ns"] > 0.2 * f["run_ns"], f
sites = {s["site"]["functions"][0]["function"]: s for s in d["objects"][f["object"]]["sites"] if s["site"]}
assert {"update_prices", "update_stock"} <= set(sites), sites.keys()
assert all(sites[name]["blocked_ns"] > 0 for name in ("update_prices", "update_stock")), sites'

record io
first io '
assert f["kind"] == "io" and o == "ledger", f
assert "read_ledger troubles.c:" in f["text"] and "of that time in read; without that" in f["text"], f["text"]
assert 0.6 < f["gain_ns"] / f["run_ns"] < 1, f
ledger = d["objects"][f["object"]]
assert ledger["call_kind"] == "read" and 0.5 < ledger["call_ns"] / ledger["timed_holds_ns"] <= 1, ledger'

# The same with fsync(): where the disk is fast, it takes no time.
! grep -qx tmpfs <(stat -f -c %T .) && record saved && first saved '
assert f["kind"] == "io" and o == "ledger" and "save_ledger troubles.c:" in f["text"], f
assert re.search(r", \d+ % of that time in write or fsync; without that while it is held, the run would be ", f["text"]), f["text"]'

record herd
first herd '
f, = [f for f in d["findings"] if f["kind"] == "herd"]
o = d["objects"][f["object"]]
assert o["name"] == "ready" and "turner troubles.c:" in f["text"] and f["gain_ns"] is not None, (o, f)
assert o["in_vain"] > 2 * o["broadcasts"] > 100 and str(o["in_vain"]) in f["text"], (o, f)'

# Each look in vain takes 2 ms in which no other thread can look; the 96 looks that are not in vain remain.
for _ in 1 2 3 4 5; do # on a busy machine the thread that can continue may be woken first most times
    rm -rf "${work:?}/slow_herd"
    record slow_herd
    if grep -q '"kind": "herd"' "$work/slow_herd.json"; then break; fi
done
first slow_herd '
f, = [f for f in d["findings"] if f["kind"] == "herd"]
vain = d["objects"][f["object"]]["in_vain"]
assert 0.5 * vain * 2e6 < f["gain_ns"] <= f["run_ns"] - 96 * 2e6, (f, vain)
assert re.search(r"; the run would be [\d.]+ m?s \([\d.]+ %\) shorter$", f["text"]), f["text"]'

# A broadcast after which each thread has work wakes none in vain.
record gather
json "$work/gather.json" '
ready, = [o for o in d["objects"] if o["name"] == "ready"]
assert ready["broadcasts"] == 15 and ready["in_vain"] == 0, ready
assert all(f["kind"] != "herd" for f in d["findings"]), d["findings"]'

for _ in 1 2 3 4 5; do # where a wakeup takes a millisecond, other programs have the CPUs
    rm -rf "${work:?}/relay"
    record relay
    if grep -q '"kind": "hand-over"' "$work/relay.json"; then break; fi
done
first relay 'assert f["kind"] == "hand-over" and f["gain_ns"] > 0.2 * f["run_ns"], f'

record barrier
first barrier '
assert f["kind"] == "imbalance" and o == "gate", f
# One of four is 50 ms later than the others in each of 5 rounds: 37.5 ms later than the mean.
assert 150e6 < f["gain_ns"] < 250e6 and re.search(r"; it works [34]\d\d ms, [12]\d\d ms more than the mean;", f["text"]), f
assert d["threads"][f["thread"]]["name"] == "stage" and "in 5 of 5 rounds" in f["text"], f'

# Threads that waited before are none of the acquisitions.
record late_barrier --paused
first late_barrier '
assert f["kind"] == "imbalance" and o == "gate" and f["gain_ns"] < 0.9 * f["run_ns"], f'

record join
first join '
assert f["kind"] == "imbalance" and o is None, f
assert 220e6 < f["gain_ns"] < 320e6 and "4 threads" in f["text"], f
assert re.search(r"works 4\d\d ms, 2\d\d ms more than the mean, and ends 3\d\d ms after", f["text"]), f["text"]'

# On a CPU that other programs use, threads of equal work end and arrive at different times, which is no imbalance of the program.
busy=()
trap 'kill "${busy[@]}" 2>/dev/null; rm -rf "$work"' EXIT
for _ in 1 2 3; do
    taskset -c 0 sh -c 'while :; do :; done' &
    busy+=($!)
done
launch=(taskset -c 0)
for name in fair fair_rounds unfair unfair_rounds; do record "$name"; done
kill "${busy[@]}"
launch=()
for name in fair fair_rounds; do json "$work/$name.json" "assert d['findings'] == [], d['findings']"; done
if [ -r /proc/self/schedstat ]; then
    "$UPMU" report "$work/fair" >"$work/out" && has out "of 1 CPUs: other programs, or a limit of their group, had the rest"
fi
first unfair '
assert f["kind"] == "imbalance" and 0.3 < f["gain_ns"] / f["run_ns"] < 0.7, f
assert re.search(r"works 4\d\d ms, 22\d ms more than the mean", f["text"]), f["text"]'
first unfair_rounds '
assert f["kind"] == "imbalance" and o == "gate" and 0.3 < f["gain_ns"] / f["run_ns"] < 0.8, f
assert re.search(r"; it works 4\d\d ms, 2[67]\d ms more than the mean;", f["text"]), f["text"]'

# More threads than CPUs. Where other programs take more than a quarter of its CPUs, they are the cause. Each thread's time is that of the
# kernel at its end; with --sched, that of each switch.
[ ! -r /proc/self/schedstat ] || record crowd
[ ! -r /proc/self/schedstat ] || json "$work/crowd.json" '
import os
threads = [t for t in d["threads"] if t["name"] == "cruncher"]
assert len(threads) == 12 and all(90e6 < t["cpu_ns"] < 150e6 for t in threads), threads
run = d["totals"]["end_ns"] - d["totals"]["begin_ns"]
cpus, used = len(os.sched_getaffinity(0)), sum(t["cpu_ns"] for t in threads) / run
ready = sum(t["ready_ns"] or 0 for t in threads) / run
found = [f for f in d["findings"] if f["kind"] == "no-cpu"]
if cpus <= 4:
    assert len(found) == 1 if used > 0.8 * cpus else used > 0.7 * cpus or not found, (used, ready, d["findings"])
    assert ready > 3 or used < 0.7 * cpus, (ready, used)
assert all(f["gain_ns"] is None and "threads are ready to run" in f["text"] for f in found), found'
rm -rf "${work:?}/crowd"

# All threads on one CPU.
if "$UPMU" record --sched -o "$work/probe" -- true >/dev/null 2>&1 &&
    ! grep -q "no context switches" < <("$UPMU" report "$work/probe"); then
    # Where other programs take more than a quarter of its CPUs, they are the cause.
    record crowd --sched
    json "$work/crowd.json" '
import os
pid = next(t["pid"] for t in d["threads"] if t["name"] == "cruncher")
threads = [t for t in d["threads"] if t["pid"] == pid]
run = max(sum(t["sched"][k + "_ns"] for k in ("running", "preempted", "blocked", "unknown")) for t in threads)
used = sum(t["sched"]["running_ns"] for t in threads) / run / len(os.sched_getaffinity(0))
found = [f for f in d["findings"] if f["kind"] == "no-cpu"]
assert (len(found) == 1 if used > 0.8 else used > 0.7 or not found), (used, d["findings"])
assert all(f["gain_ns"] is None for f in found), found'
else
    echo "crowd: skipped, because context switches cannot be recorded here"
fi

timeout -s KILL 2 "$UPMU" record -o "$work/deadlock" -- "$TROUBLES" deadlock >"$work/record" 2>&1
pkill -KILL -f "^$TROUBLES deadlock"
"$UPMU" report --json "$work/deadlock" >"$work/deadlock.json" || fail "report of deadlock"
first deadlock '
assert f["kind"] == "deadlock" and f["gain_ns"] is None, f
assert "`ledger`" in f["text"] and "`drawer`" in f["text"] and "crossed troubles.c:" in f["text"], f["text"]'

# A trouble is there in each run; what a loaded machine does to a healthy program is not.
for name in rare owned queue even rounds; do
    for _ in 1 2 3 4 5; do
        rm -rf "${work:?}/$name"
        record "$name" -m all
        "$UPMU" report "$work/$name" >"$work/out"
        ! grep -q Findings "$work/out" || continue
        json "$work/$name.json" "assert d['findings'] == [], d['findings']"
        continue 2
    done
    fail "$name has findings"
    cat "$work/out" >&2
done
finish

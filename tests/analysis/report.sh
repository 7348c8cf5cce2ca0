# SPDX-License-Identifier: MIT
# upmu report on a recording whose waits are known, and on what is no whole recording.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || {
    echo "skipped, because a sanitizer's runtime must be loaded before anything that is preloaded"
    exit 77
}

record() {
    "$UPMU" record --mode "$1" -o "$work/$2" -- "$SCENE" >/dev/null 2>"$work/record" || {
        fail "recording in mode $1 ended with $?"; cat "$work/record" >&2
    }
}

for mode in contended holders all; do
    record $mode $mode
    expect 0 "$UPMU" report "$work/$mode"
    empty err
    has out "the till"
    has out "pay_at_till scene.c:"
    has out "keep_till scene.c:"
    has out "customer"
    has out "blocked others"
    has out "0 lost"
    has out "overhead:"
    has out "shopping"
    has out "Waits between threads"
    has out "Critical path"
    has out "on disk:"
    expect 0 "$UPMU" report --json "$work/$mode"
    DIR="$work/$mode" json "$work/out" '
till = [o for o in d["objects"] if o["name"] == "the till"]
assert len(till) == 1, "one till"
till = till[0]
assert till["type"] == "mutex" and till["acquisitions"] == 2 and till["contended"] == 1 and till["counts_exact"]
assert till["waits"]["count"] == 1 and 40e6 < till["waits"]["total_ns"] < d["paths"][0]["end_ns"] - d["paths"][0]["begin_ns"], till["waits"]
names = {t["tid"]: t["name"] for t in d["threads"]}
wait = till["longest"]
assert names[wait["waiter"]] == "customer" and names[wait["holder"]] == "keeper", names
def functions(place): return [f["function"] for f in place["functions"]]
assert functions(wait["waiter_site"])[0] == "pay_at_till", wait["waiter_site"]
assert functions(wait["holder_site"])[0] == "keep_till", wait["holder_site"]
assert all(f["line"] for f in wait["waiter_site"]["functions"])
stack = [f for p in wait["waiter_stack"] for f in functions(p)]
assert stack[:2] == ["pay_at_till", "customer"], stack
customer = [t for t in d["threads"] if t["name"] == "customer"][0]
assert customer["waits"]["mutex"]["total_ns"] == till["waits"]["total_ns"] and customer["waits"]["mutex"]["count"] == 1
assert customer["blocked_ns"] == sum(w["total_ns"] for w in customer["waits"].values()), customer
# Of two arrivals at the barrier the first one waits.
barrier = [o for o in d["objects"] if o["type"] == "barrier"][0]
assert (barrier["acquisitions"], barrier["contended"], barrier["waits"]["count"], barrier["rounds"]) == (2, 1, 1, 1), barrier
assert sorted((t["contended"], t["waits"]["count"], t["last"]) for t in barrier["threads"]) == [(0, 0, 1), (1, 1, 0)], barrier
joiner = [t for t in d["threads"] if t["pid"] == t["tid"]][0]
assert joiner["waits"]["join"]["count"] == 2
users = {names[u["tid"]]: u for u in till["threads"]}
assert users["keeper"]["blocked"] == 1 and users["keeper"]["blocked_ns"] == till["waits"]["total_ns"]
shopping = [r for r in d["regions"] if r["name"] == "shopping"][0]
assert shopping["count"] == 1 and shopping["wall_ns"] >= till["waits"]["total_ns"]
assert d["totals"]["lost"] == 0 and d["totals"]["unmatched"] == 0 and d["damages"] == []
# Every thread records its context switches at its end; the cost of recording is given, and below the run time.
assert all(t["switches"]["status"] == "exact" for t in d["threads"] if t["ended"]), d["threads"]
assert any(t["ended"] and t["switches"]["value"] > 0 for t in d["threads"])
# The keeper kept the customer waiting, and its section is what the program lasted for: without it that would be over
# sooner by about as long, with half of it by half.
pairs = {(names[p["waiter"]], names.get(p["other"])): p for p in d["pairs"]}
assert pairs[("customer", "keeper")]["total_ns"] >= till["waits"]["total_ns"], pairs
assert ("keeper", None) not in pairs and ("customer", None) not in pairs, pairs
path = d["paths"][0]
length = path["end_ns"] - path["begin_ns"]
assert path["run_ns"] + path["wake_ns"] + path["unknown_ns"] == length, path
# No wait for a thread has an unknown end: the rest is what the threads sleep.
naps = [o for o in path["objects"] if o["type"] == "call"]
assert path["unknown_ns"] == sum(o["unknown_ns"] for o in naps) > 40e6 and [o["name"] for o in naps] == ["sleep"], path
steps = path["steps"]
assert steps[0]["begin_ns"] == path["begin_ns"] and steps[-1]["end_ns"] == path["end_ns"]
assert all(a["end_ns"] == b["begin_ns"] for a, b in zip(steps, steps[1:])), steps
assert "keeper" in [names[s["thread"]] for s in steps], steps
on_path = [o for o in path["objects"] if o["name"] == "the till"][0]
assert 40e6 < on_path["held_ns"] <= path["run_ns"] + path["unknown_ns"], on_path
assert 40e6 < on_path["gain_ns"] <= on_path["held_ns"], on_path
assert 20e6 < on_path["gain_half_ns"] < on_path["gain_ns"], on_path
process = d["processes"][0]
assert 0 < process["compact_event_cost_ps"] and 0 < process["event_cost_ps"] and 0 < process["stack_cost_ps"]
import os, subprocess
used = int(subprocess.run(["du", "-sB1", os.environ["DIR"]], capture_output=True, check=True, text=True).stdout.split()[0])
assert d["totals"]["disk_bytes"] == used > 0, (d["totals"]["disk_bytes"], used)
assert 0 < d["totals"]["own_cost_ns"] < d["totals"]["lifetime_ns"]
assert 0 < process["clock_error_ns"] < 1e6, process
'
done
# With every acquisition and release on record all holds are known, and the long one is as long as it was.
json "$work/out" '
till = [o for o in d["objects"] if o["name"] == "the till"][0]
assert till["holds_complete"] and till["holds"] == 2, till
assert 50e6 <= till["hold_max_ns"] < d["paths"][0]["end_ns"] - d["paths"][0]["begin_ns"], till
'

# Counts alone do not show when a thread began and ended, and which threads waited at a barrier.
record counts counts
expect 0 "$UPMU" report "$work/counts"
grep -Eq '^ *(held|0x[0-9a-f]+) +barrier +2 +0x' "$work/out" || fail "waits at a barrier that were not counted"
expect 0 "$UPMU" report --json "$work/counts"
json "$work/out" '
assert any(t["begin_ns"] == t["end_ns"] for t in d["threads"]), d["threads"] # of one that has counts of its end only
barrier = [o for o in d["objects"] if o["type"] == "barrier"][0]
assert barrier["acquisitions"] == 2 and barrier["contended"] is None, barrier
assert [t["contended"] for t in barrier["threads"]] == [None, None], barrier
'

# Waits that time out are among the waits of a lock, as their time is.
"$UPMU" record -o "$work/timed" -- "$SCENE" timed >/dev/null 2>"$work/record" || fail "recording timeouts ended with $?"
expect 0 "$UPMU" report "$work/timed"
grep -Eq '^ *the till +mutex +1 +2 +[0-9]' "$work/out" || { fail "waits that timed out"; grep 'the till' "$work/out" >&2; }

# Counters asked for count each thread over its whole life, in a program with regions or without.
"$UPMU" record -e task-clock,page-faults,context-switches -o "$work/counted" -- "$SCENE" >/dev/null 2>"$work/record" ||
    fail "recording with counters ended with $?"
expect 0 "$UPMU" report "$work/counted"
has out "Counters of threads"
expect 0 "$UPMU" report --json "$work/counted"
json "$work/out" '
assert len(d["threads"]) == 3 and d["totals"]["unmatched"] == 0 and d["totals"]["threads"] == 3
for t in d["threads"]:
    counters = {c["name"]: c for c in t["counters"]}
    assert list(counters) == ["task-clock", "page-faults", "context-switches"], counters
    assert all(c["sum"]["status"] == "exact" for c in counters.values()), counters
    assert 0 < counters["task-clock"]["sum"]["value"] < t["end_ns"] - t["begin_ns"]
    # Of its whole life, and not only since it was counted.
    assert t["switches"]["status"] == "exact"
    assert t["switches"]["value"] >= counters["context-switches"]["sum"]["value"]
life = [r for r in d["regions"] if r["name"] == "(thread)"][0]
assert life["count"] == 3 and life["unfinished"] == 0
for i, c in enumerate(life["counters"]):
    assert c["sum"]["value"] == sum(t["counters"][i]["sum"]["value"] for t in d["threads"]), c
'

expect 0 "$UPMU" report --top 1 "$work/all"
has out "more (--top N shows N of each)"
expect 0 "$UPMU" report --json --top 1 "$work/all"
json "$work/out" 'assert len(d["threads"]) == 1 and len(d["objects"]) == 1 and d["totals"]["threads"] == 3'

# The order of locks is the one asked for.
for by in wait hold path; do
    expect 0 "$UPMU" report --sort $by "$work/all"
    [ "$by" != path ] || has out "Locks, by hold time on the critical path"
    expect 0 "$UPMU" report --json --sort $by "$work/all"
    BY=$by json "$work/out" '
import os
on_path = {o["address"]: o["held_ns"] for o in d["paths"][0]["objects"]}
key = {"wait": lambda o: o["waits"]["total_ns"], "hold": lambda o: o["hold_ns"],
       "path": lambda o: on_path.get(o["address"], 0)}[os.environ["BY"]]
calls = [o["type"] == "call" for o in d["objects"]]
assert calls == sorted(calls) or os.environ["BY"] != "wait", "what calls wait for comes after all locks"
ranks = [key(o) for o in d["objects"] if o["type"] != "call" or os.environ["BY"] != "wait"]
assert ranks == sorted(ranks, reverse=True) and ranks[0] > 0, ranks
'
done
expect 2 "$UPMU" report --sort size "$work/all"
has err "wait, hold, path"

# A deadlock that a signal ended: both threads wait at the end, each with the holder of its lock.
"$UPMU" record -o "$work/stuck" -- "$SCENE" stuck >/dev/null 2>&1
[ $? -eq 142 ] || fail "the deadlock was not ended by its alarm"
expect 0 "$UPMU" report "$work/stuck"
has out "still waiting at the end, for at least"
has out "without a proper end"
expect 0 "$UPMU" report --json "$work/stuck"
json "$work/out" '
waits = [o["longest"] for o in d["objects"] if o["waits"]["unfinished"]]
assert len(waits) == 2 and all(w["unfinished"] for w in waits), waits
assert waits[0]["waiter"] == waits[1]["holder"] and waits[0]["holder"] == waits[1]["waiter"], waits
assert d["totals"]["unfinished"] == 2
'

# The program was built anew since: its names would be another program's.
mkdir "$work/moved"
cp "$SCENE" "$work/moved/scene"
"$UPMU" record -o "$work/foreign" -- "$work/moved/scene" >/dev/null 2>&1 || fail "recording of the copy"
cp "$UPMU" "$work/moved/scene"
expect 0 "$UPMU" report "$work/foreign"
has out "scene+0x"
has_not out "pay_at_till"
expect 0 "$UPMU" report --json "$work/foreign"
has out "is not the file that was recorded"

# Not a recording, or a part of one.
expect 1 "$UPMU" report "$work/nowhere"
has err "nowhere"
empty out
mkdir "$work/empty"
expect 1 "$UPMU" report "$work/empty"
empty out
echo text >"$work/file"
expect 1 "$UPMU" report "$work/file"
empty out
cp -r "$work/all" "$work/damaged"
find "$work/damaged" -type f ! -name metadata ! -name '*control*' ! -name '.*' -size +1k |
    while read -r stream; do
        printf '\377\377\377\377\377\377\377\377' | dd of="$stream" bs=1 seek=8 conv=notrunc 2>/dev/null
    done
expect 1 "$UPMU" report "$work/damaged"
has err "damaged:"
has out "damaged:"
expect 1 "$UPMU" report --json "$work/damaged"
json "$work/out" 'assert d["damages"]'

# An empty file, as a copy to a full disk leaves one, is reported although no stream is damaged.
cp -r "$work/all" "$work/emptied"
for stream in "$work"/emptied/*/stream_*; do
    [ ! -s "$stream" ] || emptied=$stream
done
: >"$emptied"
expect 1 "$UPMU" report "$work/emptied"
has err "packets of events"
expect 1 "$UPMU" dump "$work/emptied"
has err "are missing"

expect 2 "$UPMU" report
expect 2 "$UPMU" report --top 0 "$work/all"
expect 2 "$UPMU" report --top x "$work/all"
expect 2 "$UPMU" report "$work/all" "$work/all"
# Time on the path that is neither work nor a recorded wait.
"$UPMU" record -e task-clock -o "$work/clocked" -- "$SCENE" >/dev/null 2>"$work/record" || fail "recording ended with $?"
expect 0 "$UPMU" report "$work/clocked"
has out " in total, but is on the path for "
has out "waits that are"
# Progress of reading a long recording: few calls, never beyond the end.
"$UPMU" record --mode all -o "$work/many" -- "$SCENE" many 2 100000 >/dev/null 2>"$work/record" || fail "recording ended with $?"
python3 - "$(dirname "$UPMU")/../../lib/libupmu_analysis.so" "$work/many" <<'PYTHON' || fail "progress"
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
calls = []
progress = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)(lambda arg, done, all: calls.append((done, all)))

class Opts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("debug_dir", ctypes.c_char_p), ("progress", type(progress)), ("arg", ctypes.c_void_p)]

overview, opts = ctypes.c_void_p(), Opts(ctypes.sizeof(Opts), None, progress, None)
assert library.upmu_overview_open(ctypes.byref(overview), sys.argv[2].encode(), ctypes.byref(opts)) == 0
library.upmu_overview_close(overview)
assert 3 <= len(calls) <= 20 and calls == sorted(calls), calls
assert all(0 < done <= all and all >= 400000 for done, all in calls), calls
PYTHON
# Many processes, most of them helpers of a script: the few with most records, and how many there are besides.
expect 0 "$UPMU" record -o "$work/script" -- bash -c "for i in 1 2 3 4 5 6 7 8; do /bin/true; done; \"$SCENE\""
expect 0 "$UPMU" report "$work/script"
[ "$(grep -c '^  process .*, kernel' "$work/out")" -eq 5 ] || fail "not five processes: $(grep '^  process ' "$work/out")"
grep -q "^  process .*: $SCENE" "$work/out" || fail "that with most records is not among them: $(grep '^  process ' "$work/out")"
has out "more processes without lost events"
finish

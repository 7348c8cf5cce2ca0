#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Samples where perf_event is refused: by timers of the CPU time of threads.
#     timers.sh UPMU WITHOUT_PERF
set -euo pipefail
upmu=$1 without_perf=$2
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin

for err in EACCES EPERM ENOSYS; do
    "$without_perf" "$err" -- "$upmu" record -F 999 -o "probe-$err" -- true 2>err || fail "$err: $(cat err)"
    [ "$(grep -c '^upmu: .*; each thread gets a timer of its CPU time instead' err)" -eq 1 ] || fail "$err: $(cat err)"
done
"$without_perf" EPERM -- "$upmu" record -F 999 -e page-faults -o other -- true 2>err && fail "timers for page faults"
grep -q 'timer' err && fail "timers for page faults: $(cat err)"

# A program that handles signals, sleeps and ends its threads does the same as without.
"$without_perf" EPERM -- "$upmu" record -F 999 -o recording -- ./subject shares 2 1500 >truth 2>err || fail "record: $(cat err)"
"$upmu" report --samples --json recording >json
"$upmu" report --samples recording >text
for line in ', 999 per second, in [23] threads of 1 process, by timers of CPU time$' ' CPU time are in the samples' ' seventy subject.c$'; do
    grep -q "$line" text || fail "the text has no line '$line': $(cat text)"
done
grep -q 'in the kernel' text && fail "a share of the kernel is not known: $(cat text)"
"$upmu" export -f folded --of wall -o wall recording
[ -s wall ] || fail "no graph of wall time"
python3 - <<'PY'
import json, platform
d = json.load(open("json"))
truth = {w[1]: int(w[2]) for w in (line.split() for line in open("truth")) if w[0] == "share"}
f = {x["name"]: x for x in d["functions"]}
# The two workers, and the main thread if it was sampled while it created them.
threads = [t for t in d["thread_list"] if t["samples"] > 0]
workers = [t for t in threads if t["tid"] != t["pid"]]
assert len(workers) == 2 and len(threads) <= 3, threads
assert sum(t["weight"] for t in workers) > 0.95 * d["weight"], threads
assert f", in {len(threads)} threads of 1 process," in open("text").read(), threads
assert d["source"] == "timer" and d["unit"] == "ns" and d["ended"] and not d["with_kernel"], d
assert d["samples"] > 200, d["samples"]  # 100 ticks a second are the fewest that kernels have
assert d["weight"] == sum(x["self_weight"] for x in d["functions"]) == d["paths"][0]["weight"]
assert abs(d["count"] - sum(truth.values())) < 0.05 * d["count"], (d["count"], truth)
assert 0.95 * d["count"] < d["weight"] < 1.02 * d["count"], (d["weight"], d["count"])
if platform.machine() == "x86_64":
    share = f["seventy"]["weight"] / (f["seventy"]["weight"] + f["thirty"]["weight"])
    want = truth["seventy"] / (truth["seventy"] + truth["thirty"])
    assert abs(share - want) < 0.12, (share, want)  # 300 samples or more: a standard deviation is 0.027
    assert d["stacks"]["whole"] > 0.95 * d["samples"], d["stacks"]
    # The code that the kernel maps into processes has names, as the clock that the program reads; what it does not export has none.
    vdso = [x for x in d["functions"] if x["module"] == "linux-vdso.so.1"]
    assert not vdso or any("clock_gettime" in (x["name"] or "") for x in vdso), vdso
PY

# Threads that live for a little more than one period are sampled anywhere in their life: 120 samples, a standard deviation of 4 %.
"$without_perf" EPERM -- "$upmu" record -F 33 -o brief -- ./subject brief 120 36 >truth 2>err || fail "brief: $(cat err)"
"$upmu" report --samples --json brief >json
python3 - <<'PY'
import json, platform
d = json.load(open("json"))
truth = {w[1]: int(w[2]) for w in (line.split() for line in open("truth"))}
f = {x["name"]: x["weight"] for x in d["functions"]}
if platform.machine() == "x86_64":
    share = f.get("seventy", 0) / (f.get("seventy", 0) + f["thirty"])
    want = truth["seventy"] / (truth["seventy"] + truth["thirty"])
    assert abs(share - want) < 0.2, (share, want)
PY

"$without_perf" EPERM -- "$upmu" record -F 999 -o forked -- ./subject forks 300 >truth 2>err || fail "forks: $(cat err)"
"$upmu" report --samples forked >text
grep -q ' parent_work subject.c$' text || fail "the parent's work: $(cat text)"

# A program that waits for all signals does not get that of its timer.
"$without_perf" EPERM -- "$upmu" record -F 999 -o waited -- ./subject signals 100 >text 2>err || fail "signals: $(cat text err)"

# One that resets all signals continues, and is sampled until it handles them itself; it then gets none that it did not send.
for ms in 200 201; do
    "$without_perf" EPERM -- "$upmu" record -F 999 -o "reset-$ms" -- ./subject actions "$ms" >text 2>err || fail "actions: $(cat text err)"
    "$upmu" report --samples "reset-$ms" >text
    grep -q ' seventy subject.c$' text || fail "no samples after signals were reset: $(cat text)"
done

# The most samples that -F accepts are not refused by the timers.
"$without_perf" EPERM -- "$upmu" record -F 100000 -o most -- ./subject deep 100 >text 2>err || fail "-F 100000: $(cat text err)"
"$upmu" report --samples most >text
grep -q " compute subject.c\| deep25 subject.c" text || fail "-F 100000: $(cat text)"

# A variable that is wrong is named.
UPMU_SYNC_CPU_SAMPLES=often "$upmu" record -o wrong -- true 2>err && fail "samples 'often'"
grep -q 'UPMU_SYNC_CPU_SAMPLES=often is not a number from 1 to 100000' err || fail "$(cat err)"

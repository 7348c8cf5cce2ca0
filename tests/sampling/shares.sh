#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shares of samples against the program's own clocks, in the report and in all exports.
#     shares.sh UPMU
set -euo pipefail
upmu=$1
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin
sampled

"$upmu" record -F 4999 -o recording -- ./subject shares 2 600 >truth 2>err || fail "record: $(cat err)"
grep -q '^upmu: [0-9]* samples, [0-9]* lost$' err || fail "$(cat err)"
"$upmu" report --samples --json recording >json
"$upmu" report --samples recording >text
for line in '^Samples of recording: [0-9]* of task-clock, 4999 per second, in ' ' CPU time are in the samples' \
    '^  call stacks by frame pointers: ' ' seventy subject.c$' '^Hottest path: ' '^Call tree: ' '^Threads$'; do
    grep -q "$line" text || fail "the text has no line '$line': $(cat text)"
done
"$upmu" export -f folded -o folded recording
"$upmu" export -f speedscope -o speedscope recording
"$upmu" export -f pprof -o pprof recording
"$upmu" export -f firefox -o firefox recording
"$upmu" export -f flamegraph -o flamegraph recording
"$upmu" export -f callgrind --of samples -o callgrind recording
grep -q 'CPU time, by samples' flamegraph && grep -q '^events: cpu_ns samples$' callgrind && grep -qa thirty pprof ||
    fail "an export lacks something"
python3 - <<'PY'
import json
d = json.load(open("json"))
truth = {w[1]: int(w[2]) for w in (line.split() for line in open("truth")) if w[0] == "share"}
f = {x["name"]: x for x in d["functions"]}
share = f["seventy"]["weight"] / (f["seventy"]["weight"] + f["thirty"]["weight"])
want = truth["seventy"] / (truth["seventy"] + truth["thirty"])
assert abs(want - 0.7) < 0.05, truth
assert d["samples"] > 3000, d["samples"]
assert abs(share - want) < 0.04, (share, want)  # 6000 samples: a standard deviation is 0.006
source = open(f["compute"]["file"]).read().split("\n")
assert "sink += (unsigned long)i" in source[f["compute"]["line"] - 1] or "for (int i" in source[f["compute"]["line"] - 1], f["compute"]
# Nearly all of its samples are in what is inlined there; its own ones are beside it.
assert "compute(ns)" in source[f["seventy"]["line"] - 1] or f["seventy"]["self_samples"] > 0, f["seventy"]
assert d["ended"] and d["unit"] == "ns" and d["source"] == "perf" and d["damages"] == 0
assert d["samples"] == sum(x["self_samples"] for x in d["functions"]) == d["paths"][0]["samples"]
assert d["weight"] == sum(x["self_weight"] for x in d["functions"]) == d["paths"][0]["weight"]
assert d["stacks"]["whole"] + d["stacks"]["cut"] + d["stacks"]["broken"] == d["samples"]
# The event's own count agrees with the program's clocks, and samples with it, unless some were lost or in the kernel.
assert d["count"] > 0.98 * sum(truth.values()), (d["count"], truth)
assert d["weight"] < 1.05 * d["count"]
threads = [t for t in d["thread_list"] if t["samples"] > 0.1 * d["samples"]]
assert len(threads) == 2, threads
folded = [line.rsplit(" ", 1) for line in open("folded")]
assert sum(int(n) for _, n in folded) == d["weight"]
speed = json.load(open("speedscope"))
assert sum(sum(p["weights"]) for p in speed["profiles"]) == d["weight"]
fox = json.load(open("firefox"))
assert abs(sum(sum(t["samples"]["weight"]) for t in fox["threads"]) - d["weight"] / 1e6) < 1
assert sum(t["samples"]["length"] for t in fox["threads"]) == d["samples"]
for t in fox["threads"]:
    assert t["samples"]["time"] == sorted(t["samples"]["time"])
    assert t["samples"]["length"] < 100 or t["samples"]["time"][-1] - t["samples"]["time"][0] > 100, "samples have no times"
below = sum(int(n) for s, n in folded if ";shares_run;" in s and ";seventy" in s)
assert below > 0.98 * f["seventy"]["weight"], below  # a first instruction has no frame yet
PY

# A program without symbols has a row for each function, by its unwind information.
strip -o bare subject
"$upmu" record -F 4999 -o stripped -- ./bare shares 1 300 >truth 2>err || fail "record: $(cat err)"
"$upmu" report --samples --json stripped >json
python3 - <<'PY'
import json
d = json.load(open("json"))
own = sorted((x["self_weight"] for x in d["functions"] if (x["module"] or "").endswith("/bare") and not x["name"]), reverse=True)
assert len(own) >= 2 and len(own) < 8, own
assert abs(own[0] / (own[0] + own[1]) - 0.7) < 0.06, own
PY

# Threads whose recorder creates a thread for each piece of a file, hundreds a second, keep their samples.
"$upmu" record -m all -F 999 -o pieces -- ./subject pairs 500 >truth 2>err || fail "record: $(cat err)"
"$upmu" report --samples --json pieces >json
python3 - <<'PY' || exit 1
import json
d, used = json.load(open("json")), int(open("truth").read().split()[1])
most = sorted((t["weight"] for t in d["thread_list"]), reverse=True)[:2]
assert sum(most) > 0.85 * used or d["lost"] or not d["with_kernel"], (most, used)
PY

# Threads that end before their first sample are not lost samples, and the report has the reason.
"$upmu" record -F 100 -o short -- ./subject shares 200 1 >truth 2>err || fail "record: $(cat err)"
"$upmu" report --samples --json short >json
"$upmu" report --samples short >text
python3 - <<'PY' || exit 1
import json
d, text = json.load(open("json")), open("text").read()
if d["weight"] < 0.5 * d["count"] and d["with_kernel"]:
    missed = not (d["lost"] or d["throttled"] or d["unwritten"] or d["damages"])
    assert ("; threads ended before their next sample: use a higher -F.\n  No sample is in the first period of a thread" in text) == missed, text
    assert ("; the rest was lost" in text) != missed, text
PY

"$upmu" record -o plain -- true 2>err
"$upmu" report --samples plain 2>err && fail "a recording without samples"
grep -q "\"plain\" has no samples. Record with 'upmu record -F 999'; a snapshot contains none" err || fail "$(cat err)"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One graph of wall time: samples and waits of a thread add up to its life, and no sample is inside a wait.
#     wall.sh UPMU
set -euo pipefail
upmu=$1
# shellcheck source=tests/sampling/lib.sh
. "$(dirname "$0")/lib.sh"
begin
sampled

"$upmu" record -F 1999 -o recording -- ./subject locks 400 2>err || fail "$(cat err)"
"$upmu" export -f folded --of wall recording >folded
"$upmu" report --json recording >report
"$upmu" export -f flamegraph --of wall -o graph.svg recording
grep -q 'Wall time: samples and waits' graph.svg || fail "the flame graph has no title"
python3 - <<'PY'
import json, re
report = json.load(open("report"))
rows = [line.rsplit(" ", 1) for line in open("folded")]
roots = {}
for stack, ns in rows:
    frames = stack.split(";")
    roots.setdefault(int(frames[0].rsplit(" ", 1)[1]), []).append((frames[1:], int(ns)))
workers = 0
for t in report["threads"]:
    parts = roots.get(t["tid"])
    if not parts:
        continue
    total = sum(ns for _, ns in parts)
    waits = sum(ns for frames, ns in parts if frames[-1].startswith("wait for"))
    computed = sum(ns for frames, ns in parts if "under_lock" in frames and not frames[-1].startswith("wait for"))
    if computed == 0:
        continue
    workers += 1
    assert abs(waits - t["blocked_ns"]) <= 1000 + t["blocked_ns"] // 1000, (waits, t["blocked_ns"])
    life = t["end_ns"] - t["begin_ns"] if "end_ns" in t else t["lifetime_ns"]
    assert abs(total - life) <= life // 50, (total, life)
    assert 0.5 * 400e6 < computed < 1.2 * 400e6, computed
    # A wait is below the function that locks, as its samples are.
    assert any(frames[-1].startswith("wait for mutex") and "under_lock" in frames for frames, _ in parts) or waits == 0, parts
assert workers == 2, roots.keys()
PY
# Stretches that meet have as much as the whole, and each the waits of its report.
"$upmu" export -f folded --of wall --from 0 --to 0.3 recording >first
"$upmu" export -f folded --of wall --from 0.3 recording >second
"$upmu" report --json --from 0 --to 0.3 recording >first.json
"$upmu" report --json --from 0.3 recording >second.json
python3 - <<'PY'
import json

def parts(name):
    out = {}
    for line in open(name):
        stack, ns = line.rsplit(" ", 1)
        frames = stack.split(";")
        waits, other = out.get(int(frames[0].rsplit(" ", 1)[1]), (0, 0))
        wait = int(ns) if frames[-1].startswith("wait for") else 0
        out[int(frames[0].rsplit(" ", 1)[1])] = waits + wait, other + int(ns) - wait
    return out

total = {}
for name in "first", "second":
    found = parts(name)
    for t in json.load(open(name + ".json"))["threads"]:
        waits, other = found.get(t["tid"], (0, 0))
        assert abs(waits - t["blocked_ns"]) <= 1000 + t["blocked_ns"] // 1000, (name, t["tid"], waits, t["blocked_ns"])
        life = t["end_ns"] - t["begin_ns"] if "end_ns" in t else t["lifetime_ns"]
        assert abs(waits + other - life) <= life // 20 + 2000000, (name, t["tid"], waits + other, life)
        a, b = total.get(t["tid"], (0, 0))
        total[t["tid"]] = a + waits, b + other
for tid, (waits, other) in ((t, x) for t, x in parts("folded").items() if t in total):  # others have samples only
    assert abs(total[tid][0] - waits) <= 2000, (tid, total[tid], waits)
    assert abs(total[tid][1] - other) <= other // 20 + 2000000, (tid, total[tid], other)
PY
# Each reason has its color; a thread that waits for nearly all of its life can be folded.
cat >idle.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int done;
static void *idle(void *arg)
{
    pthread_mutex_lock(&m);
    while (!done)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, idle, NULL);
    for (volatile unsigned i = 0; i < 300000000u; i++)
        ;
    usleep(200000);
    pthread_mutex_lock(&m);
    done = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    return 0;
}
C
gcc -O1 -g idle.c -o idle -pthread
"$upmu" record -F 999 -o idles -- ./idle 2>err || fail "$(cat err)"
"$upmu" export -f flamegraph --of wall -o idles.svg idles
"$upmu" export -f flamegraph --of waits -o waits.svg idles
python3 - <<'PY'
import re
svg = open("idles.svg").read()
boxes = re.findall(r'<g data-x="[^"]*" data-w="[^"]*" data-d="(\d+)"( data-i="1")? data-n="([^"]*)".*?fill="#(..)(..)(..)"', svg)
color = {n: tuple(int(c, 16) for c in rgb) for _, _, n, *rgb in boxes}
assert [n.split()[0] for _, i, n, *_ in boxes if i] == ["idle"], boxes
assert "fold 1 idle thread (i)" in svg and ">sleep</text>" in svg and ">preempted, not recorded</text>" in svg
cond = next(c for n, c in color.items() if n.startswith("wait for cond"))
sleep = next(c for n, c in color.items() if n == "wait for sleep")
assert cond[2] > cond[1] > cond[0] and min(sleep) > 0xb0, (cond, sleep)
assert color["main"][0] > color["main"][1] > color["main"][2], color["main"]
rest = [c for n, c in color.items() if n.startswith("[preempted")]
assert all(max(c) - min(c) < 0x10 for c in rest), rest
assert "idle thread" not in open("waits.svg").read()
PY

! "$upmu" export -f chrome --of wall recording >/dev/null 2>err || fail "chrome is not a profile"
grep -q 'is not a profile' err || fail "$(cat err)"

# Samples before exec() are those of the program before, whether it has recorded events or not: no row has more than its life.
for stage in named quiet; do
    "$upmu" record -F 1999 -o "execs-$stage" -- ./subject execs 400 "$stage" 2>err || fail "$(cat err)"
    "$upmu" export -f folded --of wall "execs-$stage" >"$stage.folded"
    "$upmu" report --json "execs-$stage" >"$stage.json"
done
python3 - <<'PY'
import json
for stage in "named", "quiet":
    rows = {}
    for line in open(stage + ".folded"):
        stack, ns = line.rsplit(" ", 1)
        frames = stack.split(";")
        row = rows.setdefault(frames[0].rsplit(" ", 1)[0], {"all": 0, "seventy": 0, "thirty": 0})
        row["all"] += int(ns)
        for name in {"seventy", "thirty"} & set(frames):
            row[name] += int(ns)
    after = rows.pop("after")
    before = rows.pop("named" if stage == "named" else "before exec()")
    assert after["seventy"] == 0 and 300e6 < after["thirty"] < 480e6, (stage, after)
    assert before["thirty"] == 0 and 300e6 < before["seventy"] < 480e6, (stage, before)
    lives = {t["name"]: t["end_ns"] - t["begin_ns"] for t in json.load(open(stage + ".json"))["threads"]}
    # Dynamic linking precedes the life of a thread, in both programs, and what follows the last event.
    assert after["all"] <= lives["after"] + 50e6, (stage, after, lives)
    assert stage == "quiet" or before["all"] <= lives["named"] + 50e6, (stage, before, lives)
PY

# Time in which recording was stopped is a frame of its own, and no wait that is not recorded. The main thread only joins.
"$upmu" record -F 1999 -o stops -- ./subject locks 400 2>err &
until grep -q '"tid"' < <("$upmu" report --json stops 2>/dev/null); do sleep 0.01; done
"$upmu" ctl stops stop >/dev/null
sleep 0.2
"$upmu" ctl stops start >/dev/null
wait $! || fail "$(cat err)"
"$upmu" export -f folded --of wall stops >stops.folded
"$upmu" report --json stops >stops.json
python3 - <<'PY'
import json
report = json.load(open("stops.json"))
stopped = report["processes"][0]["stopped_ns"]
assert stopped > 190e6, stopped
graph = {}
for line in open("stops.folded"):
    stack, ns = line.rsplit(" ", 1)
    frames = stack.split(";")
    graph.setdefault(int(frames[0].rsplit(" ", 1)[1]), []).append((frames[-1], int(ns)))
for t in report["threads"]:
    frame = sum(ns for name, ns in graph[t["tid"]] if name == "[while recording was stopped]")
    assert frame <= stopped, (frame, stopped)
    total, life = sum(ns for _, ns in graph[t["tid"]]), t["end_ns"] - t["begin_ns"]
    assert abs(total - life) <= life // 20 + 10e6, (t["tid"], total, life)
    if t["tid"] == t["pid"]:
        assert frame > stopped * 0.9, (frame, stopped)
PY

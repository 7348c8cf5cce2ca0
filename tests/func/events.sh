#!/usr/bin/env bash
# Mode trace: each call and each return is in the events, in proper nesting, also in rings and of programs that were killed.
#     events.sh SOURCES UPMU
set -euo pipefail
sources=$1 upmu=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export DEBUGINFOD_URLS=
library=$(dirname "$upmu")/../../lib/libupmu_func.so.0
read -r cc _ < <(compilers) || { echo "skipped, because there is neither gcc nor clang"; exit 77; }
"$cc" -g -O2 -finstrument-functions "$sources/subject.c" -o subject -pthread -ldl
for which in first second; do
    "$cc" -g -O2 -fPIC -shared -finstrument-functions -DFUNCTION=${which}_plugin "$sources/plugin.c" -o "$which.so"
done
cat >loop.c <<'C'
__attribute__((noinline)) static void leaf(int spin)
{
    for (int i = 0; i <= spin; i++)
        __asm__ volatile("");
}
__attribute__((noinline)) static void work(int n, int spin)
{
    for (int i = 0; i < n; i++)
        leaf(spin);
}
int main(int argc, char **argv)
{
    (void)argv;
    work(argc > 2 ? 20000 : argc > 1 ? 100000 : 300000, argc > 2 ? 1000 : 0);
    return 0;
}
C
"$cc" -g -O2 -finstrument-functions loop.c -o loop
# 32,766 call paths: each function of a level calls both of the next one.
{
    echo '__attribute__((noinline)) static void a0(void) { __asm__ volatile(""); }'
    echo '__attribute__((noinline)) static void b0(void) { __asm__ volatile(""); }'
    for i in $(seq 13); do
        for name in a b; do
            echo "__attribute__((noinline)) static void $name$i(void) { a$((i - 1))(); b$((i - 1))(); __asm__ volatile(\"\"); }"
        done
    done
    echo 'int main(void) { a13(), b13(); return 0; }'
} >paths.c
"$cc" -g -O2 -finstrument-functions paths.c -o paths
cat >judge.py <<'PY'
"""judge.py NAME=WHAT...: the events in NAME.chrome are properly nested in each thread, and are the calls of NAME.json."""
import json, sys
def judge(name, what):
    d, events = json.load(open(name + ".json")), json.load(open(name + ".chrome"))["traceEvents"]
    stacks, calls, last, depth, begun, short = {}, {}, 0, 0, {}, 0
    for e in events:
        if e["ph"] not in "BE":
            continue
        assert e["ts"] >= last, (name, "not in time order", e)
        last = e["ts"]
        stack = stacks.setdefault((e["pid"], e["tid"]), [])
        thread = e["pid"], e["tid"]
        if e["ph"] == "E" and begun.get(thread) is not None and e["ts"] - begun[thread] <= 0.05:
            short += 1
        begun[thread] = e["ts"] if e["ph"] == "B" and e.get("cat") == "function" else None
        if e["ph"] == "B":
            stack.append((e.get("cat"), e["name"]))
            if e["cat"] == "function":
                calls[e["name"]] = calls.get(e["name"], 0) + 1
                depth = max(depth, len(stack))
        else:
            stack.pop()
    assert not any(stacks.values()), (name, "calls without an end", stacks)
    recorded = {}
    for f in d["functions"]:
        recorded[f["name"]] = recorded.get(f["name"], 0) + f["calls"]
    if what == "whole":  # every call
        assert calls == recorded, (name, calls, recorded)
    if what in ("whole", "many"):  # and none was made up; an export may have the longest of many only
        assert d["events"] == 2 * d["calls"] and d["inferred_events"] == 0, (name, d["events"], d["calls"], d["inferred_events"])
        assert d["rings"] == 0
    if what == "open":  # calls that had not returned end with the recording
        assert calls == recorded and d["inferred_events"] == d["open"] > 0, (name, calls, recorded, d["inferred_events"])
    if what == "ring":  # the last calls; those around them were begun before
        assert d["rings"] == 1 and d["event_bytes"] <= 1 << 20 and d["inferred_events"] >= 2, d["event_bytes"]
        assert calls["main"] == calls["work"] == 1 and 57000 < calls["leaf"] < 131072, calls
    if what != "killed":
        assert d["events_lost"] == 0, (name, d["events_lost"])
    # 16 bytes a call, 8 of a short one without calls; a block of 65536 bytes begins with a time, and each thread has a block
    bytes = 16 * d["calls"] - 8 * (short if what == "whole" else 0)
    assert d["event_bytes"] <= 1.01 * bytes + 4096 * d["threads"] + 65536, (name, d["event_bytes"], d["calls"], short)
    longest = [c["ns"] for c in d["longest"]]
    assert longest == sorted(longest, reverse=True) and longest, longest
for argument in sys.argv[1:]:
    judge(*argument.split("="))
PY

# traced NAME WHAT PROGRAM [ARG...]
traced()
{
    local name=$1 what=$2
    shift 2
    "$upmu" record --function-events -o "$name" -- "$@" >"$name.out" 2>err || [ "$what" = open ] ||
        fail "record $name: $(cat err)"
    "$upmu" report --functions --json "$name" >"$name.json"
    "$upmu" export -f chrome -o "$name.chrome" "$name" 2>err || fail "export $name: $(cat err)"
    judged+=("$name=$what")
}
judged=()

for mode in jump jump_beside other_stack threads many_threads forks; do
    traced $mode whole ./subject $mode
done
traced plugins whole ./subject plugins ./first.so ./second.so
traced ends open ./subject ends
traced killed open ./subject killed
traced leaves whole ./loop few
traced slow whole ./loop few slow
traced tree whole ./paths
UPMU_FUNC_RING=1 traced ring ring ./loop
# Signal handlers interrupt the hooks anywhere; elsewhere than on x86-64 their events may be overwritten.
if [ "$(uname -m)" = x86_64 ]; then
    traced storm many ./subject storm
fi
"$upmu" export -f perfetto -o x threads
grep -qa thread_step x || fail "no functions for Perfetto"
"$upmu" report --functions threads >text
grep -q '^  events of each call: 3[0-9]* in ' text || fail "$(cat text)"
grep -q '^Longest calls (TIME' text || fail "$(cat text)"
"$upmu" report --functions ring >text
grep -q 'oldest events were overwritten (UPMU_FUNC_RING): 1' text || fail "$(cat text)"

"$upmu" export -f chrome --from 0.0002 -o window ring 2>err || fail "a window in calls: $(cat err)"
python3 -c 'import json
b = [e for e in json.load(open("window"))["traceEvents"] if e["ph"] == "B"]
assert [e["name"] for e in b[:2]] == ["main", "work"] and b[0]["ts"] >= 200, b[:2]'

# A stretch has the calls that are in it, as the timeline does.
"$upmu" record --function-events -o recursion -- ./subject recursion >/dev/null 2>&1
"$upmu" export -f chrome -o recursion.chrome recursion
for name in recursion threads forks plugins; do
    python3 "$sources/stretch.py" "$upmu" $name $name.chrome || fail "a stretch of $name"
done
"$upmu" report --functions --from 0.001 --to 0.002 recursion >text
grep -q '^Functions of recursion from 0.001 to 0.002 s: [0-9]* calls of ' text || fail "$(cat text)"
! "$upmu" report --functions --from 1000 recursion 2>err || fail "a stretch after the end"
grep -q 'begins at 1000.* s, after the last call' err || fail "$(cat err)"
"$upmu" report --functions --json --diff --from 0.001 --to 0.002 recursion recursion >json
python3 -c 'import json
d = json.load(open("json"))
assert d["old"]["to_ns"] - d["new"]["from_ns"] == 10**6 and all(f["old"] == f["new"] for f in d["functions"])'

# Functions that are not selected have no events.
UPMU_FUNC_BELOW=^even "$upmu" record --function-events -o selected -- ./subject recursion >/dev/null 2>&1
"$upmu" report --functions --json selected >selected.json
python3 -c 'import json
d = json.load(open("selected.json"))
assert d["events"] == 2 * d["calls"] == 2 * 60002 and d["skipped"] == 21893, (d["events"], d["calls"])'

python3 judge.py "${judged[@]}"
python3 -c 'import json
d = json.load(open("slow.json")) # some leaves are interrupted, and take too long
assert d["event_bytes"] < 12 * d["calls"], (d["event_bytes"], d["calls"])
d = json.load(open("tree.json"))
assert d["calls"] == 32766 + 1, d["calls"]'

# Short calls have no events, and the trees have them; deep functions are their callers' time.
UPMU_FUNC_MIN=1s "$upmu" record --function-events -o short -- ./loop 2>/dev/null
"$upmu" report --functions --json short >short.json
UPMU_FUNC_DEPTH=2 "$upmu" record --function-events -o deep -- ./subject recursion >/dev/null 2>&1
"$upmu" report --functions --json deep >deep.json
python3 - <<'PY'
import json
d = json.load(open("short.json"))  # a call around the begin of a block keeps its events
assert d["calls"] == 300002 and d["events_short"] + d["events"] / 2 == 300002 and d["events"] < 200, (d["calls"], d["events"])
d = json.load(open("deep.json"))
assert {f["name"]: f["calls"] for f in d["functions"]} == {"main": 1, "recursion": 1}, d["functions"]
assert d["skipped"] == 81893 and d["events"] == 4, (d["skipped"], d["events"])
PY

# Recordings of version 5, which had two words for each call, of version 6, where all leaves had equally many bits, and none of others.
cp -r tree version
python3 - "$upmu" <<'PY'
import array, glob, json, struct, subprocess, sys
LEAF, EXIT, LONG = 1 << 30, 1 << 31, 1 << 29
def report(version):
    for path in glob.glob("version/*/.functions") + glob.glob("version/*/.functions_[0-9]*"):
        with open(path, "r+b") as f:
            f.seek(8 if path.endswith(".functions") else 80)
            f.write(struct.pack("=I", version))
    return json.loads(subprocess.run([sys.argv[1], "report", "--functions", "--json", "version"], stdout=subprocess.PIPE).stdout or "{}")
def names():
    subprocess.run([sys.argv[1], "export", "-f", "chrome", "-o", "names", "version"], check=True, stderr=subprocess.DEVNULL)
    return [(e["ph"], e.get("name")) for e in json.load(open("names"))["traceEvents"] if e["ph"] in "BE"]
new, calls = report(7), names()
assert new["calls"] > 0 and report(5) == new, "version 5"
assert not report(4).get("calls") and not report(8).get("calls"), "another version"
changed = set()
for path in glob.glob("version/*/.functions_events_*"):
    words = array.array("Q", open(path, "rb").read())
    for i, word in enumerate(words):
        what = word >> 32
        if what & (EXIT | LEAF) == LEAF and what < 0x7ffffffe:
            bits = 13 if what & LONG else 21
            ticks, node = (what & ~(LEAF | LONG)) >> bits, what & ((1 << bits) - 1)
            words[i] = (LEAF | min(ticks, 254) << 22 | node) << 32 | word & 0xffffffff
            changed.add(bits)
    open(path, "wb").write(words.tobytes())
assert changed == {13, 21}, changed
old = report(6)
assert (old["calls"], old["events"], names()) == (new["calls"], new["events"], calls), "version 6"
PY

# The words of a file may be anything.
cp -r threads damaged
python3 - <<'PY'
import glob, random
random.seed(1)
for path in glob.glob("damaged/*/.functions_events_*"):
    b = bytearray(open(path, "rb").read())
    for i in range(0, len(b), 97):
        b[i] = random.randrange(256)
    open(path, "wb").write(b)
PY
"$upmu" report --functions --json damaged >damaged.json
"$upmu" export -f chrome -o damaged.chrome damaged
python3 judge.py damaged=killed
rm damaged/*/.functions_events_0
! "$upmu" report --functions damaged >/dev/null 2>err || fail "a file is gone"
grep -q 'cannot read ".*functions_events_0": No such file' err || fail "$(cat err)"

# A full disk: calls are counted, and their events are lost.
(ulimit -f 24000 && UPMU_FUNC_RING=30 UPMU_FUNC_MODE=trace UPMU_TRACE=full LD_PRELOAD=$library ./subject frames >/dev/null)
"$upmu" report --functions --json full >full.json
python3 -c 'import json
d = json.load(open("full.json"))
assert d["events"] == 0 and d["events_lost"] == 2 * d["calls"] > 0, (d["events_lost"], d["calls"])'

for wrong in UPMU_FUNC_RING=0 UPMU_FUNC_RING=x; do
    env $wrong UPMU_FUNC_MODE=trace LD_PRELOAD="$library" ./subject frames 2>err >/dev/null
    grep -q "UPMU_FUNC_RING=${wrong#*=} is not a number of MiB from 1 to" err || fail "$(cat err)"
done
UPMU_FUNC_DEPTH=0 UPMU_FUNC_MODE=tree LD_PRELOAD=$library ./subject frames 2>err >/dev/null
grep -q 'UPMU_FUNC_DEPTH=0 is not a number from 1 on' err || fail "$(cat err)"
UPMU_FUNC_MIN=5 UPMU_FUNC_MODE=tree LD_PRELOAD=$library ./subject frames 2>err >/dev/null
grep -q 'UPMU_FUNC_MIN needs UPMU_FUNC_MODE=trace' err || fail "$(cat err)"
for wrong in x -1 1h 1.5.s; do
    UPMU_FUNC_MIN=$wrong UPMU_FUNC_MODE=trace LD_PRELOAD=$library ./subject frames 2>err >/dev/null
    grep -q "UPMU_FUNC_MIN=$wrong is not a duration" err || fail "$(cat err)"
done
UPMU_FUNC_RING=1 UPMU_FUNC_MODE=tree LD_PRELOAD=$library ./subject frames 2>err >/dev/null
grep -q 'UPMU_FUNC_RING needs UPMU_FUNC_MODE=trace' err || fail "$(cat err)"

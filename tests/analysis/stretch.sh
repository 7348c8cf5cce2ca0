# SPDX-License-Identifier: MIT
# upmu report --from --to: every sum is that of the stretch, cut at its ends.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
record() {
    local name=$1
    shift
    "$UPMU" record -o "$work/$name" "$@" >/dev/null 2>"$work/record" || fail "recording $name ended with $?"
}
record scene-all -m all -e page-faults -- "$SCENE"
record busy-all -m all -e page-faults -- "$SCENE" busy 300
record busy-holders -- "$SCENE" busy 300
"$UPMU" record -F 997 -o "$work/samples" -- python3 -c 'sum(i * i for i in range(3000000))' >/dev/null 2>&1 || fail "recording samples ended with $?"
sampled=()
if "$UPMU" report --samples "$work/samples" >/dev/null 2>&1; then
    sampled=("$work/samples")
else
    echo "samples: skipped, because none can be taken here"
fi
python3 "$HERE/stretch.py" "$UPMU" "$work/scene-all" "$work/busy-all" "$work/busy-holders" "${sampled[@]}" || fail "a stretch is wrong"
# Stretches that meet add up: waits that are left or cut short, holds that end with their thread, deadlocks, a process that becomes another.
record execed -- bash -c '"$0"; exec "$0"' "$LEFT"
for mode in all holders; do
    record left-$mode -m $mode -- "$LEFT"
    "$UPMU" record -m $mode -o "$work/killed-$mode" -- "$LEFT" killed >/dev/null 2>&1
    "$UPMU" record -m $mode -o "$work/stuck-$mode" -- "$SCENE" stuck >/dev/null 2>&1
done
meeting=("$work"/{left,killed,stuck}-{all,holders} "$work/execed" "$work/scene-all" "$work/busy-all" "$work/busy-holders")
if "$UPMU" record --sched -o "$work/sched" -- "$SCENE" busy 300 >/dev/null 2>&1; then meeting+=("$work/sched"); fi
python3 "$HERE/adjacent.py" "$UPMU" "${meeting[@]}" || fail "stretches that meet do not add up to the whole"
expect 0 "$UPMU" report --from 0.1 --to 0.2 "$work/busy-all"
has out "from 0.1 to 0.2 s: "
expect 2 "$UPMU" report --from 2 --to 1 "$work/busy-all"
expect 0 "$UPMU" report --json --from 0.1 --to 0.2 "$work/busy-all"
cp "$work/out" "$work/stretch.json"
expect 0 "$UPMU" report --json --diff --from 0.1 --to 0.2 "$work/scene-all" "$work/busy-all"
python3 - "$work/out" "$work/stretch.json" <<'PYTHON' || fail "the difference of two stretches"
import json, sys
d, new = (json.load(open(f)) for f in sys.argv[1:])
for side in "old", "new":
    assert d[side]["from_ns"] == d[side]["begin_ns"] + 10**8 and d[side]["to_ns"] == d[side]["begin_ns"] + 2 * 10**8, d[side]
assert d["new"]["events"] == new["totals"]["events"]
blocked = sum(x["new"]["blocked_ns"] for x in d["threads"] if x["new"])
assert blocked == sum(t["blocked_ns"] for t in new["threads"]) > 0, blocked
assert sum(x["new"]["waits"] for x in d["locks"] if x["new"]) == sum(o["waits"]["count"] + o["waits"]["unfinished"] for o in new["objects"])
PYTHON
expect 0 "$UPMU" report --diff --from 0.1 --to 0.2 "$work/scene-all" "$work/busy-all"
has out "busy-all from 0.1 to 0.2 s: "
expect 1 "$UPMU" report --diff --from 1000 "$work/scene-all" "$work/busy-all"
has err "the old recording: the time window begins at"
expect 2 "$UPMU" report --view deadlock --from 0.1 "$work/busy-all"
has err "'--view timeline' has the waits of a stretch"
finish

# SPDX-License-Identifier: MIT
# upmu report --diff against the reports of both recordings.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

"$UPMU" record -e page-faults -o "$work/old" -- "$SCENE" >/dev/null 2>&1 || fail "the old recording ended with $?"
"$UPMU" record -e page-faults -o "$work/new" -- "$SCENE" busy 600 >/dev/null 2>&1 || fail "the new recording ended with $?"
for r in old new; do
    expect 0 "$UPMU" report --json "$work/$r"
    cp "$work/out" "$work/$r.json"
done
expect 0 "$UPMU" report --json --diff "$work/old" "$work/new"
python3 - "$work/out" "$work/old.json" "$work/new.json" <<'PYTHON' || fail "the difference"
import json, sys
d, old, new = (json.load(open(f)) for f in sys.argv[1:])
assert d["schema"] == "upmu-diff" and d["old"]["events"] == old["totals"]["events"] and d["new"]["lost"] == 0

def named(list, name):
    found = [x for x in list if x["name"] == name]
    assert len(found) == 1, (name, found)
    return found[0]

# The till has a name, so it is the same one although it lies elsewhere in each run.
till = named(d["locks"], "the till")
for side, report in ("old", old), ("new", new):
    true = named(report["objects"], "the till")
    assert till[side]["waits"] == true["waits"]["count"] and till[side]["waited_ns"] == true["waits"]["total_ns"], till
    on_path = [o for p in report["paths"] for o in p["objects"] if o["name"] == "the till"]
    assert till[side]["held_on_path_ns"] == sum(o["held_ns"] for o in on_path), till
assert till["new"]["waits"] > till["old"]["waits"]
# Others go by their variable: the barrier is not in the new run.
barrier = [x for x in d["locks"] if x["type"] == "barrier"]
assert len(barrier) == 1 and barrier[0]["new"] is None and barrier[0]["name"] == "held", barrier
for name in "main", "keeper", "customer":
    thread = named(d["threads"], name)
    for side, report in ("old", old), ("new", new):
        mine = [t for t in report["threads"] if (t["name"] or "main") == name]
        assert thread[side]["threads"] == len(mine) == 1
        assert thread[side]["blocked_ns"] == mine[0]["blocked_ns"], thread
        assert thread[side]["lifetime_ns"] == mine[0]["end_ns"] - mine[0]["begin_ns"], thread
changes = [abs(x["new"]["blocked_ns"] - x["old"]["blocked_ns"]) for x in d["threads"]]
assert changes == sorted(changes, reverse=True), changes
shopping = named(d["regions"], "shopping")
assert shopping["new"] is None and shopping["old"]["count"] == 1, shopping
life = named(d["regions"], "(thread)")
faults = named(d["counters"], "(thread): page-faults")
for side, report in ("old", old), ("new", new):
    true = named(report["regions"], "(thread)")
    assert life[side] == {"count": true["count"], "wall_ns": true["wall_ns"]}, life
    assert faults[side]["sum"] == named(true["counters"], "page-faults")["sum"], faults
PYTHON

expect 0 "$UPMU" report --diff "$work/old" "$work/new"
grep -q "the till  *mutex .* +" "$work/out" || fail "the till's change in the text"
grep -q "shopping .* gone" "$work/out" || fail "the region that is gone in the text"
# A recording is no different from itself.
expect 0 "$UPMU" report --diff "$work/old" "$work/old"
if grep -E '[+-][0-9.]+ %|new$|gone' "$work/out"; then
    fail "a recording differs from itself"
fi

expect 2 "$UPMU" report --diff "$work/old"
expect 2 "$UPMU" report "$work/old" "$work/new"
expect 2 "$UPMU" report --diff "$work/old" "$work/new" "$work/new"
expect 2 "$UPMU" report --diff --view regions "$work/old" "$work/new"
expect 1 "$UPMU" report --diff "$work/old" "$work/nowhere"
has err "nowhere"
empty out
finish

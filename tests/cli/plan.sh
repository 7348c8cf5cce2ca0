# SPDX-License-Identifier: MIT
# upmu plan: groups, counters, multiplexing and refusals, on other CPUs.
. "$(dirname "$0")/lib.sh"

# Two events on one counter are multiplexed; the third shares a group with the first.
expect 0 "$UPMU" plan --cpu sw831 -e cycles,instructions,branch-misses
has out "Sunway core3B"
has out "The groups are multiplexed"
grep -Eq '^ *1 +cycles +cpu +0 .* 1/2$' "$work/out" || { fail "cycles of core3B"; show >&2; }
grep -Eq '^ *1 +branch-misses +cpu +1 .* 1/2$' "$work/out" || { fail "branch-misses of core3B"; show >&2; }
grep -Eq '^ *2 +instructions +cpu +0 .* 1/2$' "$work/out" || { fail "instructions of core3B"; show >&2; }

expect 0 "$UPMU" plan --cpu sw831 -e cycles:u,branch-misses:k --json
json "$work/out" '
assert d["schema"] == "upmu-plan" and d["groups"] == 2 and d["proven"] and d["cpu"]["name"] == "core3b"
e = d["entries"]
assert [x["role"] for x in e] == ["event", "event", "filler"], e
assert e[2]["group"] == e[e[2]["event"]]["group"] and e[2]["counter"] == "1", e
'
# A pair of counters, and an event asked for twice.
expect 0 "$UPMU" plan --cpu zen3 -e rf03,cycles,cycles --json
json "$work/out" '
e = d["entries"]
assert d["groups"] == 1 and e[0]["counter"] == "0 and 1" and e[2]["with"] == 1, e
assert e[1]["counter"] == e[2]["counter"] and e[1]["counter"] not in ("0", "1"), e
assert all(x["multiplexed"] == 1 for x in e), e
'
expect 0 "$UPMU" plan --cpu zen3 -e cycles,cycles
has out "counted once for cycles"
# What nothing can count is refused, with the reason; the rest is planned.
expect 0 "$UPMU" plan --cpu 3a1000 -e dtlb-walk,cycles,branches,instructions,page-faults
has out "not counted: dtlb-walk: "
grep -Eq '^ *1 +cycles +cpu +0 ' "$work/out" || { fail "cycles of GS464"; show >&2; }
grep -Eq '^ *1 +instructions +cpu +1 ' "$work/out" || { fail "instructions of GS464"; show >&2; }
grep -Eq '^ *2 +branches +cpu +0 ' "$work/out" || { fail "branches of GS464"; show >&2; }
grep -Eq '^ *3 +page-faults +software .* all$' "$work/out" || { fail "page-faults"; show >&2; }
expect 0 "$UPMU" plan --cpu 3a1000 -e dtlb-walk --json
json "$work/out" '
e = d["entries"][0]
assert d["groups"] == 0 and e["group"] is None and e["reason"] and e["cause"] and e["pmu"] is None, e
'
expect 0 "$UPMU" plan --cpu skylake -e r0300,r0400,cycles
has out "fixed 2"
has out "not counted: r0400: "
# On this machine, whatever it is.
expect 0 "$UPMU" plan -e page-faults,task-clock
grep -Eq '^ *1 +task-clock ' "$work/out" || { fail "software events share a group"; show >&2; }

expect 1 "$UPMU" plan --cpu zen3 -e cylces
has err "did you mean 'cycles'?"
expect 1 "$UPMU" plan --cpu nosuch -e cycles
has err "no CPU 'nosuch'"
for list in ' , ' ''; do
    expect 2 "$UPMU" plan -e "$list"
    has err "upmu plan: -e needs the name of an event; 'upmu list' prints them"
    has_not err upmu_plan_open
done
expect 2 "$UPMU" plan
expect 2 "$UPMU" plan -e cycles -e instructions
finish

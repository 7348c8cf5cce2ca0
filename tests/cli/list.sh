# SPDX-License-Identifier: MIT
# upmu list: names, encodings, the trial, patterns, and the forms for programs.
. "$(dirname "$0")/lib.sh"

expect 0 env TERM=xterm "$UPMU" list
grep -Eq '^task-clock +ns +software:0x1 +verified +exact' "$work/out" || { fail "no line for task-clock"; show >&2; }
grep -Eq '^ipc +instructions / cycles' "$work/out" || fail "no line for ipc"
has_not out $'\033'

# A part of a name, wildcards, upper case, and the names of perf and PAPI.
expect 0 "$UPMU" list PAGE-
has out page-faults
has_not out task-clock
expect 0 "$UPMU" list 'page-*'
has out page-faults
expect 1 "$UPMU" list 'age-*'
expect 0 "$UPMU" list PAPI_TOT_CYC
grep -q '^cycles ' "$work/out" || { fail "PAPI_TOT_CYC does not find cycles"; show >&2; }
expect 0 "$UPMU" list ipc
has out ipc
has_not out EVENT
expect 0 "$UPMU" list r1a8
has out r1a8
expect 0 "$UPMU" list page-faults:u
has out page-faults:u

expect 1 "$UPMU" list cyles
has err "did you mean 'cycles'?"
empty out
expect 1 "$UPMU" list --metrics cycles
has err "no metric matches"

expect 0 "$UPMU" list --metrics
has out ipc
has_not out EVENT

# The trial agrees with a real count; absent events have no encoding, and 0 would be one.
expect 0 "$UPMU" list --json
cp "$work/out" "$work/list.json"
json "$work/list.json" '
assert d["schema"] == "upmu-list"
events = {e["name"]: e for e in d["events"]}
assert len(events) == len(d["events"]) > 50, "names are not unique, or too few"
assert events["page-faults"]["countable"] is True and events["page-faults"]["config"] == 2
for e in events.values():
    assert e["match"] in ("exact", "approximate", "absent"), e
    absent = e["match"] == "absent"
    assert (e["config"] is None) == (e["encoding"] is None) == (e["type"] is None) == absent, e
    assert (e["cause"] is None) == (e["reason"] is None) == e["countable"], e
    assert not (absent and e["countable"]), e
for e in d["events"] + d["metrics"]:
    assert e["trial"] == ("refused" if not e["countable"] else "not seen" if e["seen"] == 0 else "verified"), e
assert events["page-faults"]["trial"] == "verified" and events["page-faults"]["seen"] > 0
# Nothing is repaired or emulated by an x86 kernel: these open there, and must not pass for seen.
import platform
if platform.machine() == "x86_64":
    assert events["emulation-faults"]["trial"] == "not seen" and events["emulation-faults"]["seen"] == 0
assert any(m["name"] == "ipc" and m["formula"] for m in d["metrics"])
'
for counted in true false; do
    name=$(python3 -c '
import json, sys
wanted = sys.argv[2] == "true"
print(next((e["name"] for e in json.load(open(sys.argv[1]))["events"]
            if e["countable"] is wanted and e["match"] != "absent" and "/" not in e["name"]), ""))
' "$work/list.json" $counted)
    [ -n "$name" ] || continue
    expect 0 "$UPMU" stat --json -o "$work/stat.json" -e "$name" true
    json "$work/stat.json" "assert (d['events'][0]['value'] is not None) == ('$counted' == 'true'), d['events'][0]"
done

expect 0 "$UPMU" list --no-probe --json
json "$work/out" 'assert all(e["countable"] is None and e["trial"] is None and e["seen"] is None and e["cause"] is None for e in d["events"] + d["metrics"])'
expect 0 "$UPMU" list --no-probe
has_not out "COUNTS HERE"

for args in "" --metrics; do
    expect 0 "$UPMU" list --csv $args
    python3 -c '
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
assert len(rows) > 3 and len({len(r) for r in rows}) == 1, "rows of different length"
' "$work/out" || fail "list --csv $args"
done
finish

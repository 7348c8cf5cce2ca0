# SPDX-License-Identifier: MIT
# upmu stat on a hybrid CPU: the sum, then its parts; no parts with a single core type.
. "$(dirname "$0")/../lib.sh"

expect 0 "$STAT_KINDS" text
grep -Eq '^ *1030 +cycles +exact$' "$work/out" || { fail "the sum"; show >&2; }
grep -Eq '^ *1000 +on cpu_core +exact$' < <(grep -A1 -E ' cycles ' "$work/out") || { fail "its first part"; show >&2; }
grep -Eq '^ *30 +on cpu_atom +exact$' "$work/out" || { fail "its second part"; show >&2; }
[ "$(grep -c ' on cpu_' "$work/out")" = 2 ] || { fail "parts of what has none"; show >&2; }
expect 0 "$STAT_KINDS" text twice
grep -Eq '^ *1100 +on cpu_core +\+- ' "$work/out" || { fail "a part's mean and spread"; show >&2; }
expect 0 "$STAT_KINDS" json
json "$work/out" '
e = {x["name"]: x for x in d["events"]}
assert e["cycles"]["value"] == 1030
assert e["cycles"]["kinds"] == [{"pmu": "cpu_core", "value": 1000}, {"pmu": "cpu_atom", "value": 30}], e
assert "kinds" not in e["page-faults"], e
'
expect 0 "$STAT_KINDS" json twice
json "$work/out" 'assert [k["value"] for k in d["events"][0]["kinds"]] == [1100, 40], d'
finish

# SPDX-License-Identifier: MIT
# Locks and sleeps of libupmu itself, when the first regions begin, are not those of the program.
. "$(dirname "$0")/lib.sh"

expect 0 "$UPMU" record -o trace -- "$OWN_CALLS"
expect 0 "$UPMU" report --json trace
python3 - out <<'PYTHON' || fail "calls by libupmu itself: $(cat err)"
import json, sys
d = json.load(open(sys.argv[1]))
assert len(d["regions"]) > 0, "no regions: this test tests nothing"
assert [o for o in d["objects"] if o["type"] != "thread"] == [], d["objects"]
PYTHON
expect 0 "$UPMU" dump trace
! grep 'call-block\|once' out || fail "calls by libupmu itself"
finish

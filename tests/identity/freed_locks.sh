# SPDX-License-Identifier: MIT
# A lock is not named by the call that ended it: without another one it has its address only.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

for mode in holders counts all; do
    rm -rf "$work/rec"
    expect 0 "$UPMU" record -m "$mode" --sample none -o "$work/rec" -- "$BIN/identity_freed"
    expect 0 "$UPMU" report --json "$work/rec"
    python3 - "$work/out" "$mode" <<'PYTHON' || fail "names in mode $mode"
import json, sys
locks = [o for o in json.load(open(sys.argv[1]))["objects"] if o["type"] == "mutex"]
assert len(locks) == 2 and all(o["acquisitions"] == 1 and o["address"] for o in locks), locks
assert not any("destroy_it" in (o["name"] or "") for o in locks), [o["name"] for o in locks]
if sys.argv[2] == "all":
    assert all(o["name"].startswith("first use work freed.cpp:") for o in locks), [o["name"] for o in locks]
else:
    assert all(o["named_by"] == "address" and o["name"] is None and o["group"] is None for o in locks), locks
PYTHON
    expect 0 "$UPMU" report "$work/rec"
    has_not out "destroy_it"
done
finish

# SPDX-License-Identifier: MIT
# A wait that pthread_cancel() ends was for the thread that canceled: in the waits between threads and on the critical path.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -m all -o "$work/canceled" -- "$CANCELED" >/dev/null 2>&1 || fail "recording ended with $?"
expect 0 "$UPMU" report --json "$work/canceled"
python3 - "$work/out" <<'END' || fail "the canceling thread is not known: $(cat "$work/out")"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
main = report["processes"][0]["pid"]
pairs = [(p["waiter"], p["other"]) for p in report["pairs"] if p["waiter"] != main]
assert pairs and all(other == main for _, other in pairs), pairs
assert any(s["from"] == main and s["thread"] == pairs[0][0] for s in report["paths"][0]["steps"]), report["paths"]
END
finish

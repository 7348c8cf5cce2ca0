# SPDX-License-Identifier: MIT
# Static locks have names of their own behind unnamed members and base classes, also where types are in units of their own:
# the way to them as far as it is known, and an offset from there.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

for program in nested nested_units nested_units4; do
    rm -rf "$work/rec"
    expect 0 "$UPMU" record -m all -o "$work/rec" -- "$BIN/identity_$program"
    expect 0 "$UPMU" report --json --group-locks 0 "$work/rec"
    python3 - "$work/out" <<'PYTHON' || fail "names of $program"
import json, re, sys
objects = [o for o in json.load(open(sys.argv[1]))["objects"] if o["type"] == "mutex" and o["named_by"] == "variable"]
names = sorted(o["name"] for o in objects)
known = {f"stripes[{i}]" for i in range(3)} | {f"grid[{i}][{k}]" for i in range(3) for k in range(2)}
known |= {f"shards[{i}].mutex" for i in range(3)} | {"plain[0].mutex", "plain[2].mutex", "pair.first", "pair.second"}
known |= {f"both[{i}].{name}" for i in range(2) for name in ("First::lock", "Second::lock", "own")}
known |= {"optional.mutex", "twice.Left::First::lock", "twice.Right::First::lock", "last.own", "last.more"}
others = [name for name in names if name not in known]
assert known <= set(names), known - set(names)
assert len(names) == len(set(names)), names
# Members of a tuple have no names, and the place of a virtual base class is in a table of the program.
assert [re.sub("0x[0-9a-f]+", "N", name) for name in others] == ["last+N", "tuple", "tuple+N"], others
PYTHON
done
finish

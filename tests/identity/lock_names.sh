# SPDX-License-Identifier: MIT
# A lock is called by its static variable with the member, by where it was created, or by where it was first used; its
# call sites are in the program, not in wrappers, with and without optimization.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

for level in O0 O2; do
    cp "$BIN/identity_locks_$level" "$work/locks"
    rm -rf "$work/rec"
    expect 0 "$UPMU" record -o "$work/rec" -- "$work/locks"
    expect 0 "$UPMU" report --json "$work/rec"
    python3 - "$work/out" <<'PYTHON' || fail "names at -$level"
import json, sys
objects = [o for o in json.load(open(sys.argv[1]))["objects"] if o["type"] == "mutex" and o["waits"]["count"]]
by_name = {o["name"]: o for o in objects}
for name, by in (("pool[3].lock", "variable"), ("app::g_state.mutex", "variable"), ("local()::in_function", "variable")):
    assert by_name[name]["named_by"] == by, (name, by_name[name]["named_by"])
caches = [o for o in objects if o["named_by"] == "created"]
assert len(caches) == 3 and len({o["name"] for o in caches}) == 3, [o["name"] for o in caches]
assert {o["group"] for o in caches} == {caches[0]["group"]} and caches[0]["group"].startswith("Cache::Cache locks.cpp:")
unnamed = [o for o in objects if o["named_by"] == "first use"]
assert len(unnamed) == 1 and unnamed[0]["name"].startswith("first use use_unnamed locks.cpp:"), unnamed
assert all(o["address"] for o in objects)
def line(site): # the first function that is no wrapper
    return [f for f in site["functions"] if not f["wrapper"]][0]
# Where the holder's stack is known, its call site is behind the wrapper, too, although several functions call that.
both = by_name["both"]
blocked = [f["function"] for s in both["sites"] if s["blocked"] and s["site"] for f in s["site"]["functions"] if not f["wrapper"]]
assert {"use_both", "use_both_otherwise"} & set(blocked), both["sites"]
if both["longest"]["holder_stack"]:
    assert line(both["longest"]["holder_site"])["function"].startswith("use_both"), both["longest"]
for o in objects:
    if o is both:
        continue
    waited = [s for s in o["sites"] if s["waits"]["count"] or s["blocked"] and s["site"]] # of waiters, and of holders as far as known
    assert waited, o["name"]
    for s in waited:
        at = line(s["site"])
        assert at["function"].startswith("use_") and at["file"].endswith("locks.cpp"), (o["name"], s)
    held = o["longest"]["holder_site"]
    assert not held or [f for f in held["functions"] if not f["wrapper"]], (o["name"], held)
PYTHON
    expect 0 "$UPMU" report --group-locks 2 "$work/rec"
    has out "(3)"
    expect 0 "$UPMU" report "$work/rec"
    grep -Eq "use_state(\\(\\))? locks.cpp:" "$work/out" || fail "the line of use_state() is not named"
    has out "Cache::Cache locks.cpp:"
    expect 0 "$UPMU" export -f gcc -o "$work/gcc" "$work/rec"
    grep -q "locks.cpp:.*app::g_state.mutex" "$work/gcc" || fail "no name in the messages of -$level"
    grep -Eq "locks.cpp:.*mutex Cache::Cache locks.cpp:[0-9]+ \(3\): " "$work/gcc" || fail "no fold in the messages of -$level"
    expect 0 "$UPMU" report --view timeline --lock "pool[3].lock" "$work/rec"

    # Without debug information there are names and offsets.
    objcopy --strip-debug "$work/locks" "$work/stripped"
    rm -rf "$work/rec"
    expect 0 "$UPMU" record -o "$work/rec" -- "$work/stripped"
    expect 0 "$UPMU" report "$work/rec"
    has out "app::g_state+0x"
    has out "pool+0x"
    strip "$work/stripped"
    rm -rf "$work/rec"
    expect 0 "$UPMU" record -o "$work/rec" -- "$work/stripped"
    expect 0 "$UPMU" report "$work/rec"
    has out "static stripped+0x"
done
finish

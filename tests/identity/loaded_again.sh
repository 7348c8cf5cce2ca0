# SPDX-License-Identifier: MIT
# The static lock of a library that is loaded again and again is one row, that of another library with a lock of that name another
# one; each load is an object of its own in JSON.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

# rows NAME: rows of the table of locks whose object begins so, as "KIND ACQUIRED", behind the number of objects
rows() {
    awk -v name="$1" '/^[^ ]/ { locks = /^Locks/ }
        locks && index($0, "  " name) == 1 { number = match($0, /\([0-9]+\)/) ? substr($0, RSTART, RLENGTH) : ""
            sub(/.*  mutex/, "mutex"); print number $1, $2 }' "$work/out"
}

cp "$FIRST" "$work/first.so"
cp "$SECOND" "$work/second.so"
for kind in whole stripped; do
    name=library_lock
    if [ $kind = stripped ]; then
        strip "$work/first.so" "$work/second.so"
        name=static
    fi
    rm -rf "$work/rec"
    expect 0 "$UPMU" record -m all -o "$work/rec" -- "$PROGRAM" "$work/first.so" "$work/second.so"
    expect 0 "$UPMU" report --json "$work/rec"
    python3 - "$work/out" $name <<'PYTHON' || fail "objects of $kind libraries"
import collections, json, sys
locks = [o for o in json.load(open(sys.argv[1]))["objects"] if o["type"] == "mutex" and o["name"].startswith(sys.argv[2])]
assert [o["acquisitions"] for o in locks] == [1] * 24, locks
assert sorted(collections.Counter(o["variable"] for o in locks).values()) == [12, 12], locks
PYTHON
    expect 0 "$UPMU" report "$work/rec"
    [ "$(rows $name)" = $'(12)mutex 12\n(12)mutex 12' ] || fail "rows of $kind libraries: $(cat "$work/out")"
    expect 0 "$UPMU" report --group-locks 0 --top 30 "$work/rec"
    [ "$(rows $name | sort | uniq -c | tr -s ' ')" = " 24 mutex 1" ] || fail "rows of $kind libraries without groups: $(cat "$work/out")"
done
finish

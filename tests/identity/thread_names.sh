# SPDX-License-Identifier: MIT
# A thread has the name it was given, by itself or another thread, else that of its function: in every output.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

names="main by-itself by-prctl worker_main by-another"
expect 0 "$UPMU" record -o "$work/rec" -- "$THREADS"
expect 0 "$UPMU" report --json "$work/rec"
cp "$work/out" "$work/json"
json "$work/json" 'assert sorted(t["name"] for t in d["threads"]) == sorted("'"$names"'".split()), d["threads"]'
json "$work/json" 'assert all(u["name"] for o in d["objects"] for u in o["threads"]), "threads of objects have names"'
expect 0 "$UPMU" report "$work/rec"
for name in $names; do
    has out " $name "
done
expect 0 "$UPMU" report --view timeline --thread by-another "$work/rec"
expect 0 "$UPMU" report --view timeline --thread worker_main "$work/rec"
expect 0 "$UPMU" export -f chrome -o "$work/chrome" "$work/rec"
expect 0 "$UPMU" export -f csv -o "$work/csv" "$work/rec"
for name in by-another worker_main; do
    grep -q "\"$name [0-9]" "$work/chrome" || fail "no $name in the timeline"
    grep -q "$name [0-9]" "$work/csv" || fail "no $name in the table"
done

# A deadlock, while it lasts and afterwards.
"$UPMU" top --json -i 0.1 -o "$work/stuck" -- "$THREADS" deadlock >"$work/top" 2>"$work/err" &
watcher=$!
# shellcheck disable=SC2317
reported() { grep -q "2 threads wait for each other" "$work/top"; }
wait_until 60 reported || fail "deadlock not reported: $(tail -n 1 "$work/top")"
live=$(grep "2 threads wait for each other" "$work/top" | tail -n 1)
for name in by-another worker_main; do
    grep -q "$name" <<<"$live" || fail "no $name in the deadlock of top: $live"
done
expect 3 "$UPMU" deadlock "$work/stuck"
has out "(by-another)"
has out "(worker_main)"
expect 3 "$UPMU" deadlock --json "$work/stuck"
json "$work/out" 'assert sorted(t["name"] for t in d["deadlocks"][0]["threads"][:2]) == ["by-another", "worker_main"], d["deadlocks"]'
kill -ALRM "$(pgrep -P "$watcher")"
wait "$watcher"
expect 3 "$UPMU" deadlock "$work/stuck"
has out "(by-another)"
has out "(worker_main)"
finish

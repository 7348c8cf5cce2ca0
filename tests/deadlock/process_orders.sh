#!/usr/bin/env bash
# Contradicting lock orders of processes that are recorded together.
#
#     process_orders.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
fail() {
    echo "FAILED: $1"
    exit 1
}

# orders CASE STATUS CLASS: the exit status, and the class of the only cycle; "none": there is no cycle
orders() {
    local rc=0
    "$upmu" record -o "$dir/$1" -- "$program" "$1" >"$dir/out" 2>&1 || fail "$1: $(cat "$dir/out")"
    text=$("$upmu" deadlock "$dir/$1") || rc=$?
    [ $rc -eq "$2" ] || fail "$1: status $rc, not $2: $text"
    if [ "$3" = none ]; then
        ! grep -q '^lock order' <<<"$text" || fail "$1: expected no cycle: $text"
    else
        [ "$(grep -c '^lock order' <<<"$text")" -eq 1 ] || fail "$1: expected one cycle: $text"
        grep -q "^lock order \[$3\]" <<<"$text" || fail "$1: expected $3: $text"
    fi
}

# Both processes with their stacks; a lock has the name that one of them has, and both addresses are there.
orders inverted 3 inversion
grep -q '^lock order \[inversion\] across processes:' <<<"$text" || fail "inverted: $text"
[ "$(grep -Eo '^  process [0-9]+' <<<"$text" | sort -u | wc -l)" -eq 2 ] || fail "not of two processes: $text"
[ "$(grep -c ' inverted at .*process_orders.c:' <<<"$text")" -ge 2 ] || fail "stacks: $text"
"$upmu" deadlock -j "$dir/inverted" >"$dir/json" || [ $? -eq 3 ]
python3 - "$dir/json" <<'EOF'
import json, sys
cycle, = json.load(open(sys.argv[1]))["lock_order"]["cycles"]
x, y = cycle["acquisitions"]
assert x["pid"] != y["pid"] and cycle["pid"] == x["pid"], cycle
assert x["acquires"]["address"] != y["holds"]["address"], "mapped at one address"
EOF
orders gated 0 gated
orders ordered 0 ordered
orders again 3 inversion
orders in_turn 0 ordered
orders grandchild 0 ordered
orders by_system 0 ordered
orders beside_system 3 inversion
orders by_popen 0 ordered
orders beside_popen 3 inversion
orders by_spawn 0 ordered
orders beside_spawn 3 inversion
orders twice 3 inversion
orders robust 3 inversion
orders copies 0 none
orders replaced 0 none
rm -rf "$dir"

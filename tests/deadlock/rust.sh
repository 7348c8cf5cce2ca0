#!/usr/bin/env bash
# Demangled names of a deadlocked Rust program, in legacy and v0 mangling.
#
#     rust.sh UPMU SOURCE DIR
set -euo pipefail
upmu=$1 source=$2 dir=$3

command -v rustc >/dev/null || { echo "skipped, because there is no rustc"; exit 77; }

fail() {
    echo "FAILED: $mangling: $1"
    exit 1
}

prints() { grep -Eq -- "$1" "$dir/out" || fail "not found: $1 in: $(cat "$dir/out")"; }

mkdir -p "$dir"
for mangling in legacy v0; do
    rm -rf "$dir/rec" "$dir/reported" "$dir/printed"
    rustc -g -C opt-level=1 -C symbol-mangling-version=$mangling -o "$dir/crossed" "$source" 2>"$dir/err" ||
        rustc -g -C opt-level=1 -o "$dir/crossed" "$source" 2>"$dir/err" || fail "rustc: $(cat "$dir/err")"
    "$upmu" record -o "$dir/rec" --deadlocks "$dir/reported" -- "$dir/crossed" >"$dir/printed" 2>"$dir/err" &
    recorder=$!
    for _ in $(seq 1200); do
        if grep -q '^deadlock \[' "$dir/reported" 2>/dev/null; then break; fi
        kill -0 $recorder 2>/dev/null || fail "it ended: $(cat "$dir/err")"
        sleep 0.05
    done
    pid=$(head -1 "$dir/printed")
    kill -9 "$pid"
    wait $recorder || true
    rc=0
    "$upmu" deadlock "$dir/rec" >"$dir/out" 2>"$dir/err" || rc=$?
    [ $rc -eq 3 ] || fail "upmu deadlock: $rc: $(cat "$dir/out" "$dir/err")"
    prints '^deadlock \[no-wake\]'
    prints 'crossed::bank::Account<(T|u32)>>?::move_to at .*/crossed\.rs:[0-9]+'
    prints 'crossed::main at .*/crossed\.rs:[0-9]+'
    prints 'crossed::main::\{(\{closure\}|closure#0)\}'
    grep -Eq '17h[0-9a-f]{16}|_R[A-Z][A-Za-z]|\$LT\$' < <(grep -E '^ *#' "$dir/out") && fail "a mangled name: $(cat "$dir/out")"
done
rm -rf "$dir"

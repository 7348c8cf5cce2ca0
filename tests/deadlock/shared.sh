#!/usr/bin/env bash
# Deadlocks between processes that are recorded together.
#
#     shared.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"
recorder=

# end: all processes of the case, which are those of the recorder's session
end() {
    kill -9 -- "-$recorder" 2>/dev/null || true
    wait "$recorder" 2>/dev/null || true
}
fail() {
    echo "FAILED: $1"
    end
    exit 1
}

# finds CASE KIND COUNT: so many deadlocks of that kind are reported while they last
finds() {
    local rc=0 text=
    setsid "$upmu" record -o "$dir/$1" -- "$program" "$1" >"$dir/out" 2>&1 &
    recorder=$!
    for _ in $(seq 100); do
        rc=0
        text=$("$upmu" deadlock "$dir/$1" 2>/dev/null) || rc=$?
        [ $rc -ne 3 ] || break
        sleep 0.2
    done
    [ "$(grep -c "^deadlock \[$2\]" <<<"$text")" -eq "$3" ] || fail "$1: expected $3 x $2: $text"
    end
}
finds mutexes cross-process 2
finds rwlocks cross-process 2
finds killed owner-ended 1

# A holder that sleeps.
setsid "$upmu" record -o "$dir/held" -- "$program" held >"$dir/out" 2>&1 &
recorder=$!
sleep 1.5
for _ in 1 2 3; do
    rc=0
    text=$("$upmu" deadlock "$dir/held" 2>/dev/null) || rc=$?
    [ $rc -eq 0 ] || fail "held: status $rc: $text"
done
wait "$recorder" || fail "held: $(cat "$dir/out")"
rm -rf "$dir"

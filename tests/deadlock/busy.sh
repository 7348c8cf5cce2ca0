#!/usr/bin/env bash
# No deadlock is reported for threads that wake each other, stopped or killed at any time.
#
#     busy.sh UPMU BUSY DIR         one of them: busy.sh --one UPMU BUSY DIR GAME
set -euo pipefail
# Built with AddressSanitizer, the library is preloaded before the sanitizer's own; and programs end with what they have.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"

stops=4 kills=6

fail() {
    echo "FAILED: $game: $1"
    exit 1
}

begin() {
    rm -rf "$dir/rec" "$dir/reported" "$dir/pid"
    "$upmu" record --limit 1M -o "$dir/rec" --deadlocks "$dir/reported" -- "$busy" "$game" "$dir/pid" 2>"$dir/err" &
    recorder=$!
    until [ -s "$dir/pid" ]; do
        kill -0 $recorder 2>/dev/null || fail "it ended: $(cat "$dir/err")"
        sleep 0.01
    done
    pid=$(cat "$dir/pid")
    sleep "0.0$((RANDOM % 9 + 1))"
}

# Nothing is found: no deadlock, no stall, no wait.
end() {
    local text rc=0
    kill -9 "$pid"
    wait $recorder || true
    [ ! -s "$dir/reported" ] || fail "a deadlock reported while it $1: $(cat "$dir/reported")"
    text=$("$upmu" deadlock "$dir/rec" 2>&1) || rc=$?
    [ $rc -eq 0 ] || fail "status $rc after it was killed: $text"
    if grep -E '^(deadlock|stalled|waiting)' <<<"$text"; then fail "found after it was killed"; fi
}

one() {
    upmu=$1 busy=$2 dir=$3/$4 game=$4
    mkdir -p "$dir"
    begin
    for ((i = 0; i < stops; i++)); do
        kill -STOP "$pid"
        sleep 0.4 # the recorder checks several times
        kill -CONT "$pid"
        sleep "0.0$((RANDOM % 9 + 1))"
    done
    end "was stopped"
    for ((i = 0; i < kills; i++)); do
        begin
        end "ran"
    done
    echo "ok $game"
}

if [ "$1" = --one ]; then
    shift
    one "$@"
    exit 0
fi
rm -rf "$3"
games="sem cond barrier futex"
case ${SANITIZED-} in
*thread*)
    games="barrier futex"
    echo "sem and cond are left out, because ThreadSanitizer's own functions precede the library's there"
    ;;
esac
printf '%s\n' $games | xargs -P 4 -L 1 bash "$0" --one "$1" "$2" "$3"

#!/usr/bin/env bash
# The id of a recorded process gives what the directory of the recording gives, also where the first thread or another process
# of the recording has ended.
#
#     by_pid.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"

# by_pid CASE KIND
by_pid() {
    local rc=0 text='' pid recorder
    "$upmu" record -o "$dir/$1" -- "$program" "$1" "$dir/$1.pid" >"$dir/out" 2>&1 &
    recorder=$!
    for _ in $(seq 100); do
        sleep 0.1
        [ -s "$dir/$1.pid" ] || continue
        rc=0
        text=$("$upmu" deadlock "$(cat "$dir/$1.pid")" 2>&1) || rc=$?
        [ $rc -ne 3 ] || break
    done
    pid=$(cat "$dir/$1.pid")
    # shellcheck disable=SC2046 # one word per child
    kill -9 "$pid" $(cat "/proc/$pid/task/"*/children 2>/dev/null) 2>/dev/null || true
    wait "$recorder" || true
    if [ $rc -ne 3 ] || ! grep -q "^deadlock \[$2\]" <<<"$text"; then
        echo "FAILED: $1: status $rc: $text"
        exit 1
    fi
}

by_pid first_thread_ended owner-ended
by_pid px_killed owner-ended
by_pid px_private_holder_not_forked owner-ended # its child
rm -rf "$dir"

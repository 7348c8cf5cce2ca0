#!/usr/bin/env bash
# Deadlocks of processes that are not recorded, by the id of a process.
#
#     unrecorded.sh UPMU PROGRAM DIR
set -euo pipefail
upmu=$1 program=$2 dir=$3
rm -rf "$dir"
mkdir -p "$dir"

# end PID: and its children, and theirs
end() {
    local child
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do end "$child"; done
    kill -9 "$1" 2>/dev/null || true
}

# unrecorded CASE KIND [WHAT]: WHAT is in the text, too. Of a KIND "-" there must be none, while the case lasts.
unrecorded() {
    local rc=0 text='' pid
    "$program" "$1" "$dir/$1.pid" >"$dir/out" 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        sleep 0.1
        [ -s "$dir/$1.pid" ] || continue
        rc=0
        text=$("$upmu" deadlock "$pid" 2>&1) || rc=$?
        [ $rc -ne 3 ] || break
        [ "$2" != - ] || kill -0 $pid 2>/dev/null || return 0
    done
    end $pid
    wait $pid 2>/dev/null || true
    if [ "$2" = - ] || ! grep -q "^deadlock \[$2\]" <<<"$text" || ! grep -q "${3:-}" <<<"$text"; then
        echo "FAILED: $1: status $rc: $text"
        exit 1
    fi
}

unrecorded stream_of_ended owner-ended 'lock of the stream 0x[0-9a-f]*, held by a thread that has ended'
unrecorded first_thread_ended owner-ended
unrecorded px_mutex cross-process
unrecorded px_waitpid cross-process 'waits for the end of process'
unrecorded px_shell cross-process
unrecorded px_robust -
unrecorded px_held_long -
unrecorded idle_pool -
rm -rf "$dir"

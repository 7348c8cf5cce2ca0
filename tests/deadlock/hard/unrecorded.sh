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

# unrecorded CASE KIND [WHAT]: WHAT is in the text, too. Of a KIND "-" there must be none, while the case lasts. Where no holder can be
# known, the kind is all-asleep, which is not certain.
unrecorded() {
    local rc=0 text='' pid word=deadlock status=3
    if [ "$2" = all-asleep ]; then word=stalled status=4; fi
    "$program" "$1" "$dir/$1.pid" >"$dir/out" 2>&1 &
    pid=$!
    for _ in $(seq 100); do
        sleep 0.1
        [ -s "$dir/$1.pid" ] || continue
        rc=0
        text=$("$upmu" deadlock "$pid" 2>&1) || rc=$?
        [ $rc -ne $status ] || break
        if [ "$2" = - ] && [ $rc -eq 4 ]; then break; fi
        [ "$2" != - ] || kill -0 $pid 2>/dev/null || return 0
    done
    end $pid
    wait $pid 2>/dev/null || true
    if [ "$2" = - ] || ! grep -q "^$word \[$2\]" <<<"$text" || ! grep -q "${3:-}" <<<"$text"; then
        echo "FAILED: $1: status $rc: $text"
        exit 1
    fi
}

unrecorded stream_of_ended owner-ended 'lock of the stream 0x[0-9a-f]*, held by a thread that has ended'
unrecorded first_thread_ended owner-ended
unrecorded typed_owner_ended owner-ended
unrecorded px_private_holder_not_forked owner-ended # its child
unrecorded px_killed owner-ended "held by a thread that has ended"
unrecorded px_mutex cross-process
unrecorded px_waitpid cross-process 'waits for the end of process'
unrecorded px_shell cross-process
unrecorded px_robust -
unrecorded px_held_long -
unrecorded idle_pool -
unrecorded px_sem_lost all-asleep
unrecorded px_reader_waits all-asleep # the reader waits for the end of its child
unrecorded px_wait_with_alarm -
unrecorded px_cond_lost all-asleep
unrecorded px_rwlock cross-process
unrecorded px_post_late -
unrecorded px_sem_by_descriptor -
rm -rf "$dir"

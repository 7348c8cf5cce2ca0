# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Helpers of the scripts in this folder, beside those of the command's tests.
# The file that is read sets work; who reads this one uses pid.
# shellcheck disable=SC1090,SC2154,SC2034
. "$CLI_LIB"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
cd "$work" || exit 1
unset UPMU_EVENTS UPMU_TRACE UPMU_SYNC UPMU_SYNC_STACKS UPMU_SYNC_SAMPLE UPMU_SYNC_REQUESTS UPMU_SYNC_NO_CALLS UPMU_TRACE_POLICY UPMU_TRACE_PACKET UPMU_SNAPSHOT_ON UPMU_REPORT LD_PRELOAD

# count DIR TEXT: events of the recording, one a line beginning with the kind, that hold the text.
count() {
    "$DUMP" "$1" >"$work/dump" || fail "the recording $1 cannot be read"
    grep -cF -e "$2" "$work/dump"
}

# at_least N DIR TEXT
at_least() {
    local n
    n=$(count "$2" "$3")
    [ "$n" -ge "$1" ] || fail "$n instead of at least $1 times '$3' in $2"
}

# none DIR TEXT
none() {
    [ "$(count "$1" "$2")" -eq 0 ] || fail "'$2' in $1"
}

# begin OPTIONS...: record the worker in the background, until finish_worker; leaves $recorder and $pid.
begin() {
    rm -f "$work/end" "$work/out"
    "$UPMU" record "$@" -- "$WORKER" "$work/end" >"$work/out" 2>"$work/err" &
    recorder=$!
    wait_until 60 grep -q ready "$work/out" || fail "the worker did not start"
    pid=$(pgrep -P "$recorder")
}

finish_worker() {
    touch "$work/end"
    wait "$recorder" || fail "the recorder ended with $?: $(cat "$work/err")"
}

# with_tracefs COMMAND...: with tracefs in /sys/kernel/tracing, where it may be mounted already
with_tracefs() {
    unshare -m sh -c 'mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing || exit; exec "$@"' sh "$@"
}

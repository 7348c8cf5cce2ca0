# SPDX-License-Identifier: MIT
# Where a recording goes, and what it never overwrites.
. "$(dirname "$0")/lib.sh"

expect 0 "$UPMU" record -- "$WORKER" 3
made=$(ls -d upmu-record-record_worker-[0-9]*)
[ -d "$made" ] || fail "no directory of the default name: $(ls)"
has err "in $made ("
has err "; next: upmu report $made"
[ "$(stat -c %a "$made")" = 700 ] || fail "others may look into it"

mkdir empty
expect 0 "$UPMU" record -o empty "$WORKER" 3
expect 1 "$UPMU" record -o empty touch ran
has err "empty is not empty"
[ ! -e ran ] || fail "the command ran without being recorded"
expect 1 "$UPMU" record -o out touch ran
has err "cannot use out as"
expect 1 "$UPMU" record -o no/such/place touch ran
has err "cannot create the directory no/such/place: No such file or directory"
[ ! -e ran ] || fail "the command ran without being recorded"

# A command that is not there leaves no directory.
expect 127 "$UPMU" record -o never no-such-command
[ ! -e never ] || fail "a directory for nothing"

# A read-only place, for whom that means something.
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 500 closed
    expect 1 "$UPMU" record -o closed/trace touch ran
    has err "Permission denied"
fi

# A command that empties its environment runs without the library: an error message, and not status 0.
expect 1 "$UPMU" record -o bare -- sh -c 'unset LD_PRELOAD UPMU_TRACE UPMU_SYNC; rm -rf bare/*'
has err "nothing was recorded"
finish

#!/usr/bin/env bash
# Programs that restrict their system calls or time stamps: their output and status stay, and what was recorded before is kept.
set -euo pipefail
bin=$1 lib=$2 upmu=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# acquisitions DIR: counted or recorded
acquisitions()
{
    "$bin/sync_dump" "$1" | awk '/^acquire/ { n++ } END { print n + 0 }'
}

for kind in kill libc allow errors child strict tsc null; do
    bare=0
    "$bin/sync_restricted" $kind >"$scratch/bare" || bare=$?
    if [ $bare -eq 77 ]; then
        echo "$kind: not supported here"
        continue
    fi
    [ $bare -eq 0 ] || fail "$kind, bare: status $bare"
    for mode in contended all; do
        dir=$scratch/$kind.$mode
        status=0
        record "$dir" $mode timeout 60 "$bin/sync_restricted" $kind >"$scratch/out" 2>"$scratch/err" || status=$?
        [ $status -eq 0 ] || fail "$kind, $mode: status $status, $(head -3 "$scratch/err")"
        cmp "$scratch/bare" "$scratch/out" || fail "$kind, $mode: another output"
        "$upmu" report "$dir" >"$scratch/report" || fail "$kind, $mode: the recording cannot be read"
        case $kind in
        kill | libc | child | strict | tsc) expected=1 ;;
        *) expected=0 ;;
        esac
        found=$(grep -c 'the program restricted its system calls' "$scratch/report" || true)
        [ "$kind" = errors ] || [ "$found" -ge 1 ] || [ $expected -eq 0 ] || fail "$kind, $mode: the report does not show why it ended"
        [ "$found" -eq 0 ] || [ $expected -eq 1 ] || fail "$kind, $mode: the recording has ended"
    done
    n=$(acquisitions "$scratch/$kind.all")
    case $kind in
    kill | libc | tsc | child) [ "$n" -ge 6000 ] || fail "$kind: $n acquisitions of 6000" ;;
    strict) [ "$n" -ge 2000 ] || fail "$kind: $n acquisitions of 2000" ;;
    allow | null) [ "$n" -ge 126000 ] || fail "$kind: $n acquisitions of 126000" ;;
    esac
    echo "$kind: $n acquisitions recorded"
done

# state KIND: what `upmu doctor` finds of it, without recording
state()
{
    "$upmu" doctor --json -- "$bin/sync_restricted" "$1" 2>"$scratch/err" |
        python3 -c 'import json, sys; print([f["state"] for f in json.load(sys.stdin)["findings"] if f["topic"] == "seccomp"][0])'
}

reason=$("$upmu" doctor -- "$bin/sync_restricted" null 2>&1 >"$scratch/out" || true)
case $reason in
*"cannot trace"* | *"does not report system calls"*) echo "upmu doctor: not tried, because $reason" ;;
*)
    # A filter installed by inline assembly is not seen by the recorder, but by this.
    kinds=(kill:missing libc:missing strict:missing child:missing errors:limited allow:ok null:ok)
    bare=0
    "$bin/sync_restricted" asm >/dev/null || bare=$?
    [ $bare -eq 77 ] || kinds+=(asm:missing) # 77: the program has no such instruction for this machine
    text=$("$upmu" doctor -- "$bin/sync_restricted" libc 2>/dev/null || true)
    grep -q 'recording ends there' <<<"$text" || fail "upmu doctor of a filter installed by syscall(): $text"
    text=$("$upmu" doctor -- "$bin/sync_restricted" asm 2>/dev/null || true)
    [ $bare -eq 77 ] || grep -q 'does not come from the C library: a recorded process would be ended for ' <<<"$text" ||
        fail "upmu doctor of a filter installed by inline assembly: $text"
    for pair in "${kinds[@]}"; do
        found=$(state "${pair%:*}" || true)
        [ "$found" = "${pair#*:}" ] || fail "upmu doctor finds '$found' of ${pair%:*}"
    done
    # The command's output and signals are its own, and a command that fails is no finding.
    status=0
    "$upmu" doctor -- sh -c 'kill -USR1 $$; echo unreached' >"$scratch/out" 2>"$scratch/err" || status=$?
    if [ $status -ne 0 ] || ! grep -q 'ended by signal 10' "$scratch/out"; then
        fail "upmu doctor: status $status, $(cat "$scratch/out")"
    fi
    "$upmu" doctor -- no-such-command 2>"$scratch/err" || status=$?
    [ $status -eq 127 ] || fail "upmu doctor of no command: status $status"
    ;;
esac

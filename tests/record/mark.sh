# SPDX-License-Identifier: MIT
# Marks from outside: each comes into the trace once, whole, between the events of its time.
. "$(dirname "$0")/lib.sh"

for mode in contended all; do
    begin --mode $mode -o $mode
    expect 0 "$UPMU" ctl "$pid" mark "first of $mode"
    empty err
    long=$(printf 'x%.0s' $(seq 255))
    expect 0 "$UPMU" ctl $mode mark "$long"
    expect 1 "$UPMU" ctl $mode mark "${long}y"
    has err "1 to 255 are possible"
    expect 1 "$UPMU" ctl $mode mark ""
    # Many at once: a full mailbox is an error, and each mark sent without an error is recorded.
    for i in $(seq 20); do
        ("$UPMU" ctl "$pid" mark "crowd-$i." 2>/dev/null && echo "crowd-$i." >>sent.$mode) &
        senders[i]=$!
    done
    wait "${senders[@]}"
    finish_worker
    [ "$(count $mode "first of $mode")" -eq 1 ] || fail "the first mark: $(count $mode "first of $mode") times"
    [ "$(count $mode "$long")" -eq 1 ] || fail "the long mark"
    [ -s sent.$mode ] || fail "no mark of the crowd was sent"
    while read -r text; do
        [ "$(count $mode "$text")" -eq 1 ] || fail "mark $text: $(count $mode "$text") times"
    done <sent.$mode
    [ "$(count $mode crowd-)" -eq "$(wc -l <sent.$mode)" ] || fail "marks whose sending failed are recorded"
    # Not at the end, by the last event, but where they were sent.
    count $mode . >/dev/null
    sed -n "/first of $mode/,\$p" dump | grep -c '^acquired' >after
    [ "$(cat after)" -gt 5 ] || fail "$(cat after) acquisitions behind the first mark"
done

# An idle process: the mark waits, a second one is refused, and the end of the process takes it along.
mkfifo pipe
"$UPMU" record -o idle -- cat <pipe >out 2>err &
exec 9>pipe
wait_until 60 "$UPMU" ctl idle status >/dev/null 2>&1 || fail "cat did not start"
expect 0 "$UPMU" ctl idle mark "while idle"
has err "with the next event of the process"
expect 1 "$UPMU" ctl idle mark "another"
has err "has not written the previous mark yet"
exec 9>&-
wait
[ "$(count idle "while idle")" -eq 1 ] || fail "the mark that waited is not there"
[ "$(count idle another)" -eq 0 ] || fail "a refused mark is there"
finish

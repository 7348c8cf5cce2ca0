# SPDX-License-Identifier: MIT
# What a command is under upmu record: what it is without, and recorded.
. "$(dirname "$0")/lib.sh"

expect 0 "$UPMU" record -o one -- "$WORKER" 20
[ "$(cat out)" = ready ] || fail "the output is not the command's: $(cat out)"
[ "$(wc -l <err)" -eq 1 ] || fail "more than one line: $(cat err)"
grep -qE '^upmu: [0-9]+ records of 1 process and 2 threads, 0 lost, in one \([0-9.e+]+ [KM]iB, [0-9.e+]+ [KM]iB per thread; memory [0-9.e+]+ [KM]iB, [0-9.e+]+ [KM]iB per thread\); next: upmu report one$' err ||
    fail "summary: $(cat err)"
at_least 1 one "create pid"
at_least 1 one "block pid"
events=$(sed 's/upmu: \([0-9]*\) .*/\1/' err)
[ "$events" -gt 20 ] || fail "$events events printed"

# Mode, stacks and events reach the library.
expect 0 "$UPMU" record --mode all -o all "$WORKER" 20
# Each kind of event has its own fields, and no other.
"$UPMU" dump -j one | python3 -c '
import json, sys
events = json.load(sys.stdin)["events"]
of = lambda kind: [e for e in events if e["kind"] == kind]
block, start, counts, exits = of("lock-block"), of("thread-start"), of("lock-counts"), of("thread-exit")
assert block and all({"holder", "holder_site", "holder_since_ns"} <= e.keys() for e in block), block
assert start and all(e["peer"] > 0 for e in start) and not any("peer" in e for e in block), start
assert counts and all(e["acquisitions"] >= e["contended"] and e["thread"] > 0 for e in counts), counts
assert exits and all("switches" in e and "peer" not in e for e in exits), exits
' || fail "fields of events: $("$UPMU" dump one)"
at_least 20 all "release pid"
expect 0 "$UPMU" record -m counts -o counts "$WORKER" 20
none counts "block pid"
at_least 1 counts "counts pid"
expect 0 "$UPMU" record --paused -o paused "$WORKER" 20
none paused "block pid"
expect 0 "$UPMU" report paused
grep -qF "recording was never started: 'upmu ctl paused start' starts it while the program runs" out ||
    fail "a recording that was never started: $(cat out)"
! grep -qx Threads out || fail "a table without rows: $(cat out)"
expect 0 "$UPMU" report -v timeline paused
grep -qF "  recording was never started: 'upmu ctl paused start'" out || fail "its timeline: $(cat out)"
rm -f out
(wait_until 60 grep -q ready out; sleep 0.1; touch later) &
expect 0 "$UPMU" record -e task-clock -o values "$REGIONS" later
wait
[ "$(wc -l <err)" -eq 1 ] || fail "a table of events: $(cat err)"
grep -q 'round.*task-clock' < <("$UPMU" dump values) || fail "the regions of the program have no counters"

# Status, arguments, input, environment.
for n in 0 1 77 255; do expect $n "$UPMU" record -o status$n -- sh -c "exit $n"; done
expect 0 "$UPMU" record -o words -- printf '%s|' 'a b' '' -- '*'
[ "$(cat out)" = 'a b||--|*|' ] || fail "arguments: $(cat out)"
"$UPMU" record -o input cat <"$WORKER" 2>/dev/null | cmp -s - "$WORKER" || fail "input and output pass through"
expect 0 "$UPMU" record -o name sh -c 'echo $0' named
[ "$(cat out)" = named ] || fail "arguments of sh"

# The summary is one write, beside whatever else writes to the terminal: a pipe in packet mode keeps writes apart.
python3 - "$UPMU" <<'PYTHON' || fail "the summary is written in pieces"
import os, subprocess, sys
r, w = os.pipe2(os.O_DIRECT)
subprocess.run([sys.argv[1], "record", "-o", "one_write", "true"], stderr=w, check=True)
os.close(w)
packets = []
while packet := os.read(r, 65536):
    packets.append(packet)
assert len(packets) == 1 and packets[0].startswith(b"upmu: ") and packets[0].endswith(b"report one_write\n"), packets
PYTHON

# A preload of the user's stays, and comes before ours.
libz=$(ldd "$UPMU" | sed -n 's/.*=> \(.*libz\.so[^ ]*\).*/\1/p')
expect 0 env LD_PRELOAD="$libz" "$UPMU" record -o preload sh -c 'echo $LD_PRELOAD'
case $(cat out) in "$libz":/*libupmu_sync.so.0) ;; *) fail "LD_PRELOAD is $(cat out)" ;; esac

# Several processes of a command, forked and executed, are one recording; each has its directory.
expect 0 "$UPMU" record -o tree sh -c '"$1" 5 & "$1" 5; wait' sh "$WORKER"
has err "of 3 processes"
[ "$(find tree -name metadata | wc -l)" -eq 3 ] || fail "directories: $(find tree)"

# A command that changes its directory still finds the recording; a script is recorded through its interpreter.
mkdir sub
expect 0 "$UPMU" record -o moved sh -c 'cd sub && "$1" 5' sh "$WORKER"
has err "of 2 processes"
[ -z "$(ls sub)" ] || fail "something in sub"
printf '#!/bin/sh\nexec "%s" 5\n' "$WORKER" >script
chmod +x script
expect 0 "$UPMU" record -o script_trace ./script
has err "of 2 processes" # the shell, and what it became by exec
expect 0 "$UPMU" report script_trace
has out "until it became another program (exec)"
has_not out "without a proper end"
expect 0 "$UPMU" dump script_trace
empty err
printf '"%s" 5\n' "$WORKER" >plain
chmod +x plain
expect 0 "$UPMU" record -o plain_trace ./plain
has err "of 2 processes"
finish

# SPDX-License-Identifier: MIT
# upmu stat COMMAND: exit status, streams, formats, and events without a number.
. "$(dirname "$0")/../lib.sh"
# This event has no number anywhere: it happens in the kernel only, and :u leaves the kernel out.
never=context-switches:u

for code in 0 1 2 3 126 127 255; do
    expect $code "$UPMU" stat -e task-clock sh -c "exit $code"
    has err task-clock
done
for signal in TERM KILL SEGV; do
    # The limit keeps the shell from leaving a core file in the current folder.
    expect $((128 + $(kill -l $signal))) sh -c 'ulimit -c 0; exec "$@"' sh "$UPMU" stat -e task-clock sh -c "kill -$signal \$\$"
    has err task-clock
done
expect 127 "$UPMU" stat no-such-command-here
has err "No such file"
expect 127 "$UPMU" stat /no/such/command
expect 126 "$UPMU" stat /etc/passwd
has err "Permission denied"
mkdir "$work/folder"
expect 126 "$UPMU" stat "$work/folder"
expect 1 "$UPMU" stat -e no-such-event-here true
empty out
expect 1 "$UPMU" stat -e cyles true
has err "did you mean 'cycles'?"
# Of several runs the first that failed counts: here they end with 0, 5 and 10.
expect 5 "$UPMU" stat -r 3 -e task-clock sh -c "echo x >>'$work/ran'; exit \$(((\$(wc -l <'$work/ran') - 1) * 5))"

# The command's streams are its own.
expect 0 "$UPMU" stat sh -c 'cat; echo more; echo complaint >&2' <<<"input"
[ "$(cat "$work/out")" = $'input\nmore' ] || fail "the command's output changed: $(cat "$work/out")"
has err complaint
expect 0 "$UPMU" stat -o "$work/report" sh -c 'echo complaint >&2'
[ "$(cat "$work/err")" = complaint ] || fail "the report is not in the file alone"
grep -q page-faults "$work/report" || fail "no report in the file"
expect 0 ls /proc/self/fd
cp "$work/out" "$work/descriptors"
for to in "" "-o $work/report"; do
    # shellcheck disable=SC2086
    expect 0 "$UPMU" stat $to -e task-clock ls /proc/self/fd
    cmp -s "$work/out" "$work/descriptors" || { fail "the command inherits descriptors"; show >&2; }
done

# An event without a number: reported once with its reason, null in JSON, never 0.
expect 0 env TERM=xterm "$UPMU" stat -e "page-faults,$never" true
[ "$(grep -c "happens only in the kernel" "$work/err")" -eq 1 ] || { fail "reason"; show >&2; }
grep -Eq "^ +[0-9]+ +page-faults +exact" "$work/err" || { fail "no line for page-faults"; show >&2; }
! grep -Eq "^ +0 .*$never" "$work/err" || fail "$never is shown as 0"
has_not err $'\033'
expect 0 "$UPMU" stat --json -o "$work/json" -e "page-faults,$never,task-clock" sh -c 'exit 0'
json "$work/json" "
assert d['schema'] == 'upmu-stat' and d['runs'] == 1 and d['exit_status'] == 0
assert d['target'] == {'kind': 'command', 'argv': ['sh', '-c', 'exit 0']}
faults, never, clock = d['events']
assert faults['status'] == 'exact' and faults['value'] > 10 and faults['cause'] is None
assert faults['enabled_ns'] == faults['running_ns'] > 0
assert never['name'] == '$never' and never['value'] is None and never['status'] == 'unsupported'
assert never['cause'] and never['reason']
assert clock['unit'] == 'ns' and clock['value'] > 10000
assert 0 < clock['value'] * 1e-9 < d['elapsed_s'] * 1.05, (clock, d['elapsed_s'])
metrics = {m['name']: m for m in d['metrics']}
rate = metrics['page-faults-per-second']
assert rate['status'] == 'exact' and abs(rate['value'] * d['elapsed_s'] / faults['value'] - 1) < 1e-3, rate
"

# CSV: the fields of perf stat -x, in their order, with and without -r.
expect 0 "$UPMU" stat --csv -o "$work/csv" -e "task-clock,page-faults,$never" true
expect 0 "$UPMU" stat -r 3 --csv -o "$work/csv3" -e "task-clock,page-faults,$never" true
python3 - "$work/csv" "$work/csv3" "$never" <<'PYTHON' || fail "CSV"
import csv, sys
for path, spread in ((sys.argv[1], 0), (sys.argv[2], 1)):
    clock, faults, never = list(csv.reader(open(path)))
    assert len(clock) == len(faults) == len(never) == 7 + spread, (clock, never)
    assert 0.01 < float(clock[0]) < 1000 and clock[1:3] == ["msec", "task-clock"]
    assert float(faults[0]) > 10 and faults[1:3] == ["", "page-faults"]
    assert int(faults[3 + spread]) > 0 and faults[4 + spread] == "100.00"
    assert never[0] == "<not supported>" and never[2] == sys.argv[3] and never[3 + spread] == "0"
    assert not spread or all(r[3].endswith("%") for r in (clock, faults, never))
PYTHON
expect 0 "$UPMU" stat -r 2 --json -o "$work/json" -e "page-faults,$never" true
json "$work/json" "
assert d['runs'] == 2 and d['events'][0]['deviation'] >= 0 and d['events'][0]['value'] > 10
assert d['events'][1]['value'] is None and d['events'][1]['deviation'] is None
"

# One group or nothing: on core3B two events of one counter are refused with the reason before anything runs. The machine is
# a recorded one, on which no event can be opened: what fits gets as far as that.
core3b=$MACHINES/sunway_sw3231
expect 1 env UPMU_FSROOT="$core3b" "$UPMU" stat --together -e cycles,instructions touch "$work/together"
has err "'cycles' and 'instructions' cannot all be counted at the same time"
has err "core3B"
has err "both need counter 0"
[ ! -e "$work/together" ] || fail "the command ran"
expect 0 env UPMU_FSROOT="$core3b" "$UPMU" stat --together -e cycles,branch-misses,task-clock true
has err "refused: cycles, branch-misses"
has_not err "same time"
expect 0 env UPMU_FSROOT="$core3b" "$UPMU" stat -e cycles,instructions true
has_not err "same time"
expect 0 "$UPMU" stat --together -e task-clock,page-faults touch "$work/together"
[ -e "$work/together" ] || fail "the command did not run"
finish

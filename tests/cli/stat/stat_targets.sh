# SPDX-License-Identifier: MIT
# upmu stat of several processes, single threads, CPUs, and commands as a time: each is counted, nothing twice, and what is no
# target is an error.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../attach.sh"
"$UPMU" stat -e page-faults:u -t $$ --for 0.01 >"$work/out" 2>&1 || skip "no thread can be counted here: $(cat "$work/out")"

# ------------------------------------------------------------------------------------------------- processes
# Each thread by itself, and all: the sum of the threads is the total, and what another upmu counted at the same time.
load_start 8 500
"$UPMU" stat --per-thread --json -o "$work/each" -e page-faults,task-clock -p $load &
each=$!
"$UPMU" stat --json -o "$work/all" -e page-faults,task-clock -p $load &
all=$!
counting $each 18
counting $all 18
load_go
wait $each || fail "stat --per-thread ended with $?"
wait $all || fail "stat -p ended with $?"
json "$work/each" "
assert len(d['members']) == 9 and d['instances'] == 9, d
for i, e in enumerate(d['events']):
    parts = [m['events'][i]['value'] or 0 for m in d['members']]
    assert sum(parts) == e['value'], (e, parts)
touched = sorted(m['events'][0]['value'] for m in d['members'])
assert all(500 <= n < 600 for n in touched[1:]), touched
assert {m['id'] for m in d['members']} >= {$load} and all(m['name'].endswith('-%d' % m['id']) for m in d['members'])
"
[ "$(total "$work/each" page-faults)" = "$(total "$work/all" page-faults)" ] ||
    fail "page-faults: $(total "$work/each" page-faults) per thread, $(total "$work/all" page-faults) in all"

# Two processes, and a third that is left alone.
load_start 2 300
first=$load
exec 8>&7
mkfifo "$work/go2"
"$LOAD" faults 3 300 <"$work/go2" >"$work/ready2" &
second=$!
exec 9>"$work/go2"
wait_until 60 grep -q ready "$work/ready2" || fail "the second load did not start"
wait_until 60 threads_sleep $second || fail "the second load does not sleep"
"$UPMU" stat --json -o "$work/json" -e page-faults -p $first,$second &
upmu=$!
counting $upmu 7
"$LOAD" touch 1000
echo go >&8
echo go >&9
exec 7>&- 8>&- 9>&-
wait $first $second
wait $upmu || fail "stat of two processes ended with $?"
json "$work/json" "
assert d['target'] == {'kind': 'process', 'pids': [$first, $second]} and d['instances'] == 7, d
assert 1500 <= d['events'][0]['value'] < 1900, d
"

# --------------------------------------------------------------------------------------------------- threads
load_start 4 400
mapfile -t tids < <(find "/proc/$load/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n)
one=${tids[1]} two=${tids[2]}
expect 1 "$UPMU" stat -p "$one" -e page-faults
has err "$one is a thread of process $load, not a process"
has err "-t $one"
"$UPMU" stat --json -o "$work/one" -e page-faults -t "$one" &
a=$!
"$UPMU" stat --json -o "$work/two" -e page-faults -t "$one,$two" &
b=$!
counting $a 1
counting $b 2
load_go
wait $a || fail "stat -t ended with $?"
wait $b || fail "stat -t of two ended with $?"
json "$work/one" "
assert d['target'] == {'kind': 'thread', 'tid': $one} and d['instances'] == 1, d
assert 400 <= d['events'][0]['value'] < 500, d
"
json "$work/two" "
assert d['target'] == {'kind': 'thread', 'tids': [$one, $two]}, d
assert 800 <= d['events'][0]['value'] < 1000, d
"

# ------------------------------------------------------------------------------------------- what is not there
sleep 0 &
dead=$!
wait $dead
sleep 600 &
alive=$!
for which in -p -t; do
    expect 1 timeout 60 "$UPMU" stat $which $dead -e page-faults
    has err $dead
    expect 1 timeout 60 "$UPMU" stat $which $alive,$dead -e page-faults
    expect 1 timeout 60 "$UPMU" stat --per-thread $which $alive,$dead -e page-faults
    has err $dead
done
# A zombie has ended: after its parent became another program, which does not wait for it.
# shellcheck disable=SC2016 # of the child
(sh -c 'until [ "$(cat "/proc/$PPID/comm")" = sleep ]; do sleep 0.01; done' & echo $! >"$work/zombie"; exec sleep 600) &
parent=$!
wait_until 60 grep -q . "$work/zombie" || fail "no zombie"
zombie=$(cat "$work/zombie")
wait_until 60 grep -q '^State:.Z' "/proc/$zombie/status" || fail "it is no zombie"
expect 1 timeout 60 "$UPMU" stat -p "$zombie" -e page-faults
kill $parent

# ------------------------------------------------------------------------------------- a command as the time
expect 7 "$UPMU" stat -p $alive -e page-faults --json -o "$work/json" sh -c 'sleep 0.2; exit 7'
json "$work/json" "
assert d['exit_status'] == 7 and 0.2 <= d['elapsed_s'] < 60 and d['target']['argv'][0] == 'sh', d
assert d['events'][0]['value'] in (None, 0) and d['user_s'] is None, d
"
expect 127 "$UPMU" stat -p $alive no-such-command-here
expect 126 "$UPMU" stat -p $alive /etc/passwd
kill $alive

# -------------------------------------------------------------------------------------------- what is inherited
"$UPMU" stat --json -o "$work/with" -e page-faults sh -c '"$0" touch 2000; true' "$LOAD" || fail "stat"
"$UPMU" stat -i --json -o "$work/without" -e page-faults sh -c '"$0" touch 2000; true' "$LOAD" || fail "stat -i"
[ "$(total "$work/with" page-faults)" -gt 2000 ] || fail "children are not counted"
[ "$(total "$work/without" page-faults)" -lt 1000 ] || fail "children are counted with -i"

# ------------------------------------------------------------------------------------------------------ CPUs
run "$UPMU" stat -a --json -o "$work/json" -e task-clock --for 0.3
if [ "$status" -eq 0 ]; then
    cpus=$(getconf _NPROCESSORS_ONLN)
    expect 0 "$UPMU" stat -a -A --json -o "$work/json" -e task-clock,page-faults -- "$LOAD" touch 3000
    json "$work/json" "
assert d['instances'] == $cpus == len(d['members']) and d['target']['kind'] == 'cpu', d
for i, e in enumerate(d['events']):
    assert sum(m['events'][i]['value'] for m in d['members']) == e['value'], d
assert d['events'][1]['value'] >= 3000, d
assert d['members'][0]['name'] == 'CPU%d' % d['members'][0]['id'], d
clock = d['events'][0]['value'] * 1e-9
assert 0.9 * $cpus * d['elapsed_s'] <= clock <= 1.1 * $cpus * d['elapsed_s'], d
"
    last=$((cpus - 1))
    expect 0 "$UPMU" stat -C "0-$last" --json -o "$work/json" -e task-clock --for 0.1
    json "$work/json" "assert d['instances'] == $cpus, d"
    # What runs on one CPU is counted there.
    expect 0 "$UPMU" stat -C 0 --json -o "$work/json" -e page-faults -- taskset -c 0 "$LOAD" touch 5000
    json "$work/json" "assert d['events'][0]['value'] >= 5000, d"
    expect 1 timeout 60 "$UPMU" stat -C 0,99999 --for 1
    has err 99999
else
    has err paranoid
fi

# ----------------------------------------------------------------------------------------------------- formats
expect 0 "$UPMU" stat -x ';' -o "$work/csv" -e page-faults true
grep -Eq '^[0-9]+;;page-faults;[0-9]+;100.00;;$' "$work/csv" || fail "-x: $(cat "$work/csv")"
expect 0 "$UPMU" stat -x '\t' --append -o "$work/csv" -e page-faults true
[ "$(wc -l <"$work/csv")" -eq 2 ] || fail "--append: $(cat "$work/csv")"
grep -q $'\t\tpage-faults\t' < <(tail -n 1 "$work/csv") || fail "a tab between fields: $(cat "$work/csv")"
expect 0 "$UPMU" stat -v -e page-faults true
grep -Eq "page-faults +exact, on a counter [0-9]+ of [0-9]+ ns" "$work/err" || { fail "-v"; show >&2; }
finish

# SPDX-License-Identifier: MIT
# upmu stat -p and -C: running processes with many threads, ends, limits, processes that are not there or not ours.
. "$(dirname "$0")/../lib.sh"

# Counting has begun when upmu waits on the process's descriptor (or, on kernels without pidfd, after a while).
is_counting() {
    grep -q . < <(find "/proc/$1/fd" -lname '*pidfd*' 2>/dev/null)
}
wait_counting() {
    case $(uname -r) in
    [1-4].* | 5.[0-2].*) sleep 1 ;;
    *) wait_until 60 is_counting "$1" || fail "upmu never began to count" ;;
    esac
}

# Eight threads that wait: their faults come after upmu attached, and each page is counted once.
mkfifo "$work/go"
"$LOAD" faults 8 1000 <"$work/go" >"$work/ready" &
load=$!
exec 7>"$work/go"
wait_until 60 grep -q ready "$work/ready" || fail "load did not start"
"$UPMU" stat --json -o "$work/json" -e page-faults,task-clock -p $load &
upmu=$!
wait_counting $upmu
echo go >&7
wait $load || fail "load failed"
wait $upmu || fail "upmu stat -p ended with $?"
json "$work/json" "
assert d['target'] == {'kind': 'process', 'pid': $load} and d['instances'] == 9, d
faults = d['events'][0]
assert faults['status'] == 'exact' and 8000 <= faults['value'] <= 8500, faults
assert d['exit_status'] is None and d['user_s'] is None
"
exec 7>&-

# Eight busy threads: the CPU time counted is at least what the kernel books for the process while it is certainly counted,
# and at most what it books from before that until after. What the machine's host takes is in the counter alone.
ticks() {
    sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}
stolen() {
    awk '$1 == "cpu" { print $9 }' /proc/stat
}
now() {
    date +%s.%N
}
"$LOAD" spin 8 600 >"$work/ready" &
load=$!
wait_until 60 grep -q ready "$work/ready" || fail "load did not start"
began=$(now) outer=$(ticks $load) steal=$(stolen)
"$UPMU" stat --json -o "$work/json" -e task-clock -p $load &
upmu=$!
wait_counting $upmu
inner=$(ticks $load)
sleep 1
inner=$(($(ticks $load) - inner))
kill -TERM $upmu
wait $upmu || fail "upmu stat -p ended with $? after a signal"
outer=$(($(ticks $load) - outer)) steal=$(($(stolen) - steal))
json "$work/json" "
second = $(getconf CLK_TCK)
counted = d['events'][0]['value'] * 1e-9
assert 1 <= d['elapsed_s'] <= $(now) - $began, d['elapsed_s']
assert $inner / second - 0.05 <= counted <= ($outer + $steal) / second + 0.05, (counted, $inner, $outer, $steal)
"
began=$(now)
expect 0 timeout 60 "$UPMU" stat --json -o "$work/json" -e task-clock -p $load --for 0.2
json "$work/json" "assert 0.2 <= d['elapsed_s'] <= $(now) - $began, d['elapsed_s']"
# The end of the process is the end of the counting.
began=$(now)
"$UPMU" stat --json -o "$work/json" -e task-clock -p $load &
upmu=$!
wait_counting $upmu
kill $load
wait $load
wait $upmu || fail "the end of the process is not the end of the counting: status $?"
json "$work/json" "assert 0 < d['elapsed_s'] <= $(now) - $began, d['elapsed_s']"

# Ctrl-C, here as a signal to upmu alone: the report comes, the process lives.
# The process must be past its exec and asleep before it is counted, or it has something to count.
is_asleep() {
    [ "$(cat "/proc/$1/comm")" = sleep ] && grep -q '^State:.S' "/proc/$1/status" &&
        grep -q nanosleep "/proc/$1/wchan"
}
sleep 600 &
sleeping=$!
wait_until 60 is_asleep $sleeping || sleep 1 # kernels without /proc/PID/wchan
"$UPMU" stat --csv -o "$work/csv" -e task-clock,page-faults -p $sleeping &
upmu=$!
wait_counting $upmu
kill -TERM $upmu
wait $upmu || fail "stat -p ended with $? after a signal"
[ "$(wc -l <"$work/csv")" -eq 2 ] || fail "no report after a signal"
grep -q '^<not counted>,msec,task-clock,0,' "$work/csv" || fail "a process that slept has a number: $(cat "$work/csv")"
kill -0 $sleeping || fail "the counted process was hit by our signal"
kill $sleeping

wait $sleeping
expect 1 timeout 60 "$UPMU" stat -p $sleeping
has err "no process $sleeping"
expect 1 timeout 60 "$UPMU" stat -C 99999 --for 1
has err "99999"

# A CPU: its clock always runs. Without the right to count it, the refusal is reported.
began=$(now)
run timeout 60 "$UPMU" stat --json -o "$work/json" -e task-clock -C 0 --for 0.5
if [ "$status" -eq 0 ]; then
    json "$work/json" "
assert d['target'] == {'kind': 'cpu', 'cpu': 0}
clock = d['events'][0]
assert 0.499 <= clock['value'] * 1e-9 <= $(now) - $began and 0.5 <= d['elapsed_s'] <= $(now) - $began, d
assert abs(clock['value'] - clock['enabled_ns']) < 0.01 * clock['enabled_ns'], d
"
else
    has err paranoid
fi
finish

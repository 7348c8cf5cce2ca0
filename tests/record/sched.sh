# SPDX-License-Identifier: MIT
# upmu record --sched and --kernel-locks, and what counters count while locks are held: what reaches the report.
. "$(dirname "$0")/lib.sh"
unset UPMU_SCHED UPMU_KERNEL_LOCKS UPMU_SYNC_COUNTERS

# in_json FILE PROGRAM: a line of Python about the document `d`.
in_json() {
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print($2)" "$1"
}

# Counters while locks are held and waited for: the worker sleeps while holding the mutex. Its first thread must not be
# through before the second one has begun.
expect 0 "$UPMU" record -e context-switches,page-faults -o counted "$WORKER" 200
expect 0 "$UPMU" report --sort held:context-switches counted
grep -q '^Locks, by the counter while they were held' out || fail "the order is not printed: $(cat out)"
grep -q '^Counters while locks were held, as far as they were read, by context-switches' out || fail "no counters of holds"
grep -q '^Counters while objects were waited for, as far as they were read, by context-switches' out ||
    fail "no counters of waits"
expect 0 "$UPMU" report --json counted
[ "$(in_json out "all(o['held']['counters'][0]['sum']['value'] >= o['held']['times'] for o in d['objects'] \
    if o['type'] == 'mutex' and o['held'])")" = True ] || fail "a hold in which the thread slept has no switch"
[ "$(in_json out "sum(o['waited']['times'] for o in d['objects'] if o['waited'])")" -gt 0 ] || fail "no wait is counted"
expect 1 "$UPMU" report --sort held:no-such counted
grep -q 'no such counter was recorded' err || fail "no error message: $(cat err)"
expect 2 "$UPMU" report --sort nonsense counted
expect 0 "$UPMU" record -o plain "$WORKER" 5
expect 0 "$UPMU" report plain
! grep -q '^Counters while' out || fail "counters that were not requested"

# Switches: the worker sleeps most of the time.
expect 0 "$UPMU" record --sched -o ran "$WORKER" 20
expect 0 "$UPMU" report --json ran
note=$(in_json out "d['processes'][0]['sched_note'] or ''")
[ -z "$note" ] || skip "$note"
[ "$(in_json out "all(t['sched'] and t['sched']['blocked_ns'] > 20000000 and t['sched']['voluntary'] >= 20 \
    for t in d['threads'])")" = True ] || fail "a sleeping thread is not blocked: $(cat out)"
grep -q ' sched-out "" cpu=' < <("$UPMU" dump ran) || fail "no switch in the list of events"

# Without the right to read tracepoints a message gives the reason, and the rest is recorded.
[ "$(id -u)" -eq 0 ] && with_tracefs true 2>err ||
    skip "tracefs cannot be mounted here, so there are no tracepoints: $(head -1 err)"
expect 0 unshare -m sh -c 'mount -t tmpfs none /sys/kernel && "$0" record --kernel-locks -o without "$1" 20' \
    "$UPMU" "$WORKER"
[ "$(grep -c "^upmu: waits for the kernel's locks are not recorded: .*Mount tracefs" err)" -eq 1 ] ||
    fail "upmu record does not give the reason once: $(cat err)"
expect 0 "$UPMU" report without
grep -q "waits for the kernel's locks are not recorded" out || fail "the reason is not printed: $(cat out)"
expect 0 with_tracefs "$UPMU" record --kernel-locks -o with "$WORKER" 50
expect 0 "$UPMU" report --json with
[ "$(in_json out "d['processes'][0]['sched_note']")" = None ] || fail "tracepoints are refused: $(cat out)"
[ "$(in_json out "sum(w['count'] for w in d['wake_ups'])")" -gt 10 ] ||
    fail "the two threads wake each other at every release: $(in_json out "d['wake_ups']")"
finish

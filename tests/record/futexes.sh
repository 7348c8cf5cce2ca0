# SPDX-License-Identifier: MIT
# Waits for futexes that no wrapper sees: counted where the kernel's tracepoints can be read, else unknown, with the reason.
. "$(dirname "$0")/lib.sh"
unset UPMU_SCHED UPMU_KERNEL_LOCKS UPMU_SYNC_COUNTERS

# in_json PROGRAM: a line of Python about the document `d` in the file out.
in_json() {
    python3 -c "import json, sys; d = json.load(open('out')); print($1)"
}

# unknown DIR REASON: there is no number, and the reason is printed.
unknown() {
    expect 0 "$UPMU" report "$1"
    grep -q "^  *futex waits that are not traced: unknown, because .*$2" out || fail "$1: not the reason: $(cat out)"
    expect 0 "$UPMU" report --json "$1"
    [ "$(in_json "d['processes'][0]['futexes']['not_recorded']")" = None ] || fail "$1: a number that was not counted"
    [ "$(in_json "all(t['futexes'] is None for t in d['threads'])")" = True ] || fail "$1: numbers of threads"
}

expect 0 "$UPMU" record -o unasked "$FUTEXES"
unknown unasked "upmu record --sched"

expect 0 "$UPMU" record --sched -o probe "$FUTEXES"
expect 0 "$UPMU" report --json probe
note=$(in_json "d['processes'][0]['sched_note'] or ''")
[ -z "$note" ] || skip "$note"
[ "$(id -u)" -eq 0 ] && with_tracefs true 2>err ||
    skip "tracefs cannot be mounted here, so there are no tracepoints: $(head -1 err)"
expect 0 unshare -m sh -c 'mount -t tmpfs none /sys/kernel && "$0" record --sched -o without "$1"' "$UPMU" "$FUTEXES"
unknown without "no tracefs"

with_tracefs test -e /sys/kernel/tracing/events/syscalls/sys_enter_futex ||
    skip "this kernel has no tracepoints of system calls"
expect 0 with_tracefs "$UPMU" record --sched -o with "$FUTEXES"
read -r unseen n_unseen < <(sed -n 's/^unseen //p' out)
read -r seen n_seen < <(sed -n 's/^seen //p' out)
expect 0 "$UPMU" report --json with
[ "$(in_json "d['processes'][0]['futexes']['threads_unknown']")" = 0 ] || fail "not counted: $(cat out)"
# of THREAD FIELD
of() {
    in_json "next(t['futexes'] for t in d['threads'] if t['tid'] == $1)['$2']"
}
# The C library may wait for locks of its own now and then.
outside=$(($(of "$unseen" waits) - $(of "$unseen" recorded)))
[ "$outside" -ge "$n_unseen" ] && [ "$outside" -le $((n_unseen + 20)) ] ||
    fail "$outside unseen waits of $n_unseen: $(cat out)"
outside=$(($(of "$seen" waits) - $(of "$seen" recorded)))
[ "$(of "$seen" recorded)" -ge "$n_seen" ] || fail "fewer than $n_seen recorded waits: $(cat out)"
[ "$outside" -le 20 ] || fail "$outside recorded waits are reported as not recorded: $(cat out)"
[ "$(in_json "d['processes'][0]['futexes']['not_recorded']")" -ge "$n_unseen" ] || fail "threads do not add up"
expect 0 "$UPMU" report with
grep -q "outside of recorded waits (thread $unseen: " out || fail "the text does not name the thread: $(cat out)"
grep -q ' futex-counts .* waits=[0-9]* recorded=' < <("$UPMU" dump with) || fail "no count in the list of events"
finish

# SPDX-License-Identifier: MIT
# The holder of a process-shared lock is the thread of the other process, not one of the waiter's.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

expect 0 "$UPMU" record -o "$work/rec" -- "$SHARED"
expect 0 "$UPMU" report --json "$work/rec"
json "$work/out" "
threads = {(t['pid'], t['tid']): t for t in d['threads']}
assert len(threads) == len(d['threads']) == d['totals']['threads'] == 2, d['threads']
assert all(pid == tid and t['begin_ns'] < t['end_ns'] and t['events'] for (pid, tid), t in threads.items()), threads
assert d['totals']['lifetime_ns'] == sum(t['end_ns'] - t['begin_ns'] for t in threads.values()), d['totals']
mutexes = [o for o in d['objects'] if o['type'] == 'mutex' and o['waits']['count']]
parent = min(threads.values(), key=lambda t: t['begin_ns'])['tid']
child = max(threads.values(), key=lambda t: t['begin_ns'])['tid']
assert [(o['longest']['waiter'], o['longest']['holder']) for o in mutexes] == [(child, parent)], mutexes"
expect 0 "$UPMU" report "$work/rec"
has out "2 processes, 2 threads"
finish

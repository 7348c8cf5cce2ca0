# SPDX-License-Identifier: MIT
# A barrier that processes share: a thread of another process may end a wait, and no finding blames a thread of the waiter's.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

expect 0 "$UPMU" record -o "$work/rec" -- "$BARRIER"
expect 0 "$UPMU" report --json "$work/rec"
json "$work/out" "
barriers = [o for o in d['objects'] if o['type'] == 'barrier']
assert len(barriers) == 2 and all(o['rounds'] == 5 for o in barriers), barriers
assert not [f for f in d['findings'] if f['kind'] == 'imbalance'], d['findings']
waited = max(barriers, key=lambda o: o['waits']['total_ns'])
path = next(p for p in d['paths'] if p['pid'] == waited['pid'])
on_path = next(o for o in path['objects'] if o['type'] == 'barrier')
assert on_path['unknown_ns'] > waited['waits']['total_ns'] / 2, (on_path, waited)
assert path['run_ns'] + path['unknown_ns'] <= path['end_ns'] - path['begin_ns'], path"
finish

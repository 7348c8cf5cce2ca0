# SPDX-License-Identifier: MIT
# A semaphore that is used as a lock has hold times and holders, and may be a finding; one that is a signal has none.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
cd "$work" || exit 1

for mode in holders all; do
    expect 0 "$UPMU" record --mode $mode -o $mode -- "$SEMAPHORES"
    expect 0 "$UPMU" report --json $mode
    json out "
by_name = {o['name']: o for o in d['objects'] if o['type'] == 'semaphore'}
table, turn = by_name['table'], by_name['turn']
# Releases while no thread waits are not recorded.
assert 3 * 20 / 2 <= table['holds'] <= 3 * 20, table['holds']
assert 2e6 <= table['hold_ns'] / table['holds'] < 60e6, table['hold_ns']
held = [s for s in table['sites'] if s['blocked']]
assert held and all(s['site']['functions'][0]['function'] == 'update_table' for s in held), table['sites']
# Between two holds a waiter finds no holder.
assert sum(s['blocked'] for s in held) >= table['waits']['count'] / 2 > 0, table
def functions(stack):
    return [f['functions'][0]['function'] for f in stack[:2]]
longest = table['longest']
for stack in ('waiter_stack', 'holder_stack', 'release_stack'):
    if longest[stack]: # the holder is not known between two holds, its stack only where it is copied
        assert functions(longest[stack]) == ['update_table', 'use_table'], longest
assert turn['holds'] + turn['partial_holds'] == 0 and not any(s['blocked'] for s in turn['sites']), turn
found = [f['text'] for f in d['findings'] if 'table' in f['text'].split('(')[0]]
assert found and 'update_table' in found[0] and 'in sleep' in found[0], d['findings']
assert not [f for f in d['findings'] if 'turn' in f['text']], d['findings']"
    expect 0 "$UPMU" report $mode
    sed -n '/^Locks/,/^$/p' out >locks
    grep -Eq 'table +semaphore .* ms' locks || fail "the semaphore is not among the locks of mode $mode"
    ! grep -q turn locks || fail "a signal is among the locks of mode $mode"
done

# In mode contended holds have no times.
expect 0 "$UPMU" record --mode contended -o contended -- "$SEMAPHORES"
expect 0 "$UPMU" report --json contended
json out "
assert all(o['holds'] == 0 for o in d['objects'] if o['type'] == 'semaphore'), d['objects']"
finish

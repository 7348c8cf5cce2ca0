# SPDX-License-Identifier: MIT
# Who is only recorded pays for no event: the page that counts a thread's switches is there from its first region on. The
# switches of the region, and of the thread's life, are the kernel's all the same.
. "$(dirname "$0")/lib.sh"
expect 0 "$UPMU" record -o "$work/trace" -- "$LATE_PAGE"
read -r before within asleep inner outer life <"$work/out"
[ "$before" -eq 0 ] || fail "$before pages of events before the first region"
[ "$within" -le 1 ] || fail "$within pages of events of one thread with regions"
[ "$asleep" -ge 20 ] || fail "only $asleep switches in 20 sleeps"
expect 0 "$UPMU" report --json "$work/trace"
json "$work/out" "
(region,) = [r for r in d['regions'] if r['name'] == 'region']
(counted,) = [c for c in region['counters'] if c['name'] == 'context-switches']
(thread,) = [t for t in d['threads'] if t['tid'] != t['pid']]
assert counted['sum']['status'] == thread['switches']['status'] == 'exact', (counted, thread)
assert $inner <= counted['sum']['value'] <= $outer, (counted, $inner, $outer)
assert $life <= thread['switches']['value'], (thread, $life)
"
finish

# SPDX-License-Identifier: MIT
# A ring keeps the latest of a program whose events would fill much more, and every reader reports the gap.
. "$(dirname "$0")/lib.sh"

"$UPMU" record --mode all --ring 64K -o trace -- "$WORKER" 1200 >out 2>err || fail "the command ended with status $?"
for stream in trace/*/stream_????; do
    [ "$(stat -c %s "$stream")" -le $((64 * 1024)) ] || fail "a ring of $(stat -c %s "$stream") bytes"
done
overwritten=$("$UPMU" report --json trace | sed -n 's/.*"overwritten": *\([0-9]*\).*/\1/p' | head -1)
[ "${overwritten:-0}" -gt 0 ] || fail "nothing was overwritten: this test tests nothing"
"$UPMU" report trace >report || fail "no report"
grep -q "$overwritten older events were overwritten" report || { fail "the report has no gap"; cat report >&2; }
# What the kernel has counted for the whole life of a thread is not compared with the part of it that is left.
grep -q '>= [0-9.]* [mu]\?s *|' report || { fail "no thread's life is longer than what is left of it"; cat report >&2; }
"$UPMU" report --json trace | python3 -c '
import json, sys
d = json.load(sys.stdin)
cut = [t for t in d["threads"] if not t["started"] and t["tid"] != t["pid"]]
assert cut, d["threads"]
for t in cut:
    assert t["cpu_ns"] is None and t["ready_ns"] is None and t["switches"]["value"] is None, t
for t in d["threads"]:
    assert t["cpu_ns"] is None or t["cpu_ns"] <= t["end_ns"] - t["begin_ns"], t
' || fail "sums of whole lives"
"$DUMP" trace >dump || fail "not readable"
! grep -q 'frames=4294967295' dump || fail "a stack is missing that an event names"
[ "$(grep -c "^[ab].*frames=[1-9]" dump)" -gt 100 ] || fail "no events with stacks are left"
if command -v babeltrace2 >/dev/null; then
    babeltrace2 trace >text 2>warnings || fail "babeltrace2 does not read it"
    [ "$(grep -c -v -E ' (stack|module|own_cost): ' text)" -eq "$(grep -c -v -E '^(module|process)' dump)" ] ||
        fail "babeltrace2 reads another number of events"
    grep -q discarded warnings || fail "babeltrace2 reports no gap"
fi

for size in 63K 17G 1T ring 0 -1M 1MB ''; do
    expect 2 "$UPMU" record --ring "$size" true
done
env UPMU_TRACE=other UPMU_TRACE_POLICY=ring:1k UPMU_SYNC=all LD_PRELOAD="$PRELOAD" "$WORKER" 10 >out 2>err ||
    fail "an invalid policy ends the program"
has err "UPMU_TRACE_POLICY=ring:1k: the size of a ring"
[ ! -e other ] || [ -z "$(ls -A other)" ] || fail "and there is a trace"
finish

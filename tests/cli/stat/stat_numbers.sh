# SPDX-License-Identifier: MIT
# upmu stat COMMAND counts right: faults of touched pages to the page, CPU time, children, threads, switches.
. "$(dirname "$0")/../lib.sh"

# faults WORDS...: page faults of the command.
faults() {
    "$UPMU" stat --json -o "$work/json" -e page-faults "$@" >/dev/null || fail "'$*' failed"
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["events"][0]["value"])' "$work/json"
}

# near WHAT GOT LOW HIGH
near() {
    awk -v x="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(x >= l && x <= h) }' || fail "$1: $2 is not within $3 ... $4"
}

# agree FILE: task-clock and the CPU time that the kernel accounts.
agree() {
    python3 - "$1" <<'PYTHON'
import json, sys
d = json.load(open(sys.argv[1]))
used = d["user_s"] + d["sys_s"]
sys.exit(abs(d["events"][0]["value"] * 1e-9 - used) >= 0.02 + 0.02 * used)
PYTHON
}

few=$(faults "$LOAD" touch 1000)
many=$(faults "$LOAD" touch 6000)
# 5,000 pages more; besides them only the page tables' luck at start-up differs.
near "faults of 5000 pages" $((many - few)) 4950 5050
children=$(faults sh -c '"$0" touch 1000; "$0" touch 1000 & wait' "$LOAD")
near "faults of two children" "$children" $((2 * few - 100)) $((2 * few + 2000))
[ "$children" -ge 2000 ] || fail "children are not counted"
threads=$(echo go | faults "$LOAD" faults 8 1000)
near "faults of 8 threads" "$threads" 8000 9000

# What the machine's host takes of the CPU is in perf's clock alone: then it is measured again.
for _ in 1 2 3 4 5 6; do
    began=$(date +%s.%N)
    "$UPMU" stat --json -o "$work/json" -e task-clock,context-switches "$LOAD" spin 1 0.5 >/dev/null || fail "spin failed"
    ended=$(date +%s.%N)
    ! agree "$work/json" || break
done
agree "$work/json" || fail "task-clock is not the CPU time: $(cat "$work/json")"
json "$work/json" "
clock, switches = d['events']
assert 0.5 <= d['elapsed_s'] <= $ended - $began, (d['elapsed_s'], $ended - $began)
metrics = {m['name']: m['value'] for m in d['metrics']}
assert abs(metrics['cpus-used'] - clock['value'] * 1e-9 / d['elapsed_s']) < 1e-3, metrics
"
# With the right to count in kernel mode (root), the sleeps are counted.
"$UPMU" stat --json -o "$work/json" -e context-switches sh -c 'for i in 1 2 3 4 5; do sleep 0.01; done' || fail "sleep"
json "$work/json" "
s = d['events'][0]
assert (s['status'] == 'exact' and s['value'] >= 5) or (s['status'] == 'refused' and s['value'] is None), s
"
# The mean of several runs lies where the single runs lie.
"$UPMU" stat -r 5 --json -o "$work/json" -e page-faults "$LOAD" touch 1000 || fail "repeat"
json "$work/json" "
assert d['runs'] == 5 and abs(d['events'][0]['value'] - $few) < 50 and d['events'][0]['deviation'] < 50, d['events']
"
finish

#!/usr/bin/env bash
# fork, _Fork, vfork, posix_spawn, daemon and exec: each process that works with threads has a trace of its own, with its own events alone and
# all of them; a child that only passes by writes nothing.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for mode in all contended; do
    record "$scratch/$mode" $mode "$bin/sync_fork" >"$scratch/workers" || fail "$mode: status $?"
    expect "$scratch/workers" 8 '^worker '
    events "$scratch/$mode" "$scratch/$mode.txt"
    # The first process works, then executes itself: two recordings of one process id.
    processes=$(grep -c '^process' "$scratch/$mode.txt")
    [ "$processes" -eq 7 ] || fail "$mode: $processes recordings instead of 7"
    # In each recording both threads counted their 100 pairs, once for each line of work.
    totals=$(awk '/^counts/ && / type=1 / { delete v; for (i = 2; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
        key = v["pid"] " " v["tid"] " " v["object"]
        if (v["count"] > last[key]) { sum[v["pid"]] += v["count"] - last[key]; last[key] = v["count"] } }
        END { for (p in sum) print p, sum[p] }' "$scratch/$mode.txt")
    while read -r _ pid; do
        n=$(awk -v p="$pid" '$1 == p { print $2 }' <<<"$totals")
        times=$(count "$scratch/workers" "^worker $pid\$")
        [ "${n:-0}" -ge $((200 * times)) ] && [ "${n:-0}" -le $((200 * times + 2)) ] ||
            fail "$mode: process $pid worked $times times and counted ${n:-nothing}"
    done <"$scratch/workers"
    expect "$scratch/$mode.txt" 0 '^misuse'
    # Every thread's events carry the id of its own process: starts name a creator that has events there too.
    awk '/^start/ { for (i = 2; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
        if (v["peer"] != v["pid"]) exit 1 }' "$scratch/$mode.txt" || fail "$mode: a thread started by another process"
done

# A child that cannot make its files is counted in the recording of its parent.
record "$scratch/away" all "$bin/sync_fork" away "$scratch/away" "$scratch/parent" >"$scratch/workers" || fail "away: status $?"
expect "$scratch/workers" 2 '^worker '
events "$scratch/parent" "$scratch/parent.txt"
expect "$scratch/parent.txt" 1 '^process .* filtered=0 failed=1 '
echo "children record only themselves"

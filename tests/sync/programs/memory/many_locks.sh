#!/usr/bin/env bash
# A million mutexes: each acquisition is counted for its lock, and nothing is lost.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../../common.sh"

record "$scratch/trace" contended "$bin/sync_many_locks" 40 >"$scratch/out" || fail "status $?"
read -r _ acquired <"$scratch/out"
events "$scratch/trace" "$scratch/events"
# The counts of a thread and lock go up; the last ones are the sum.
read -r locks counted < <(awk '/^counts/ { split($13, n, "="); last[$3 $5] = n[2] }
    END { for (t in last) sum += last[t]; print length(last), sum + 0 }' "$scratch/events")
[ "$counted" -eq "$acquired" ] || fail "$counted of $acquired acquisitions are counted"
[ "$locks" -eq 1500000 ] || fail "there are counts of $locks locks of threads"
echo "a million mutexes are counted"

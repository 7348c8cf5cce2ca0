#!/usr/bin/env bash
# examples/sync_linked, spinlock and read_trace: the two first record, the third reads what they recorded.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bin=$1

# record NAME TEXT: the example exits with 0, prints TEXT, and leaves a trace that read_trace can read
record()
{
    UPMU_TRACE=$scratch/$1 "$bin/$1" >"$scratch/printed" || fail "$1 ended with status $?"
    grep -q -x "$2" "$scratch/printed" || fail "$1 printed: $(cat "$scratch/printed")"
    "$bin/read_trace" "$scratch/$1" >"$scratch/$1.txt" || fail "the trace of $1 cannot be read"
}

# total_of NAME [LOCK]: acquisitions of the lock and number of threads. Of a thread's running counts the last is used.
total_of()
{
    awk -v lock="${2-}" '$1 == "thread" && $3 == "took" && (lock == "" || $4 == lock) { last[$2] = $5 }
        END { for (t in last) { n += last[t]; threads++ } print n + 0, "by", threads + 0 }' "$scratch/$1.txt"
}

record sync_linked '4 threads took the lock 100 times each'
lock=$(awk '/is called "disk lock"/ { print $2 }' "$scratch/sync_linked.txt")
[ "$(total_of sync_linked "$lock")" = "400 by 4" ] || fail "400 acquisitions of $lock in: $(grep took "$scratch/sync_linked.txt")"
grep -q "waits for $lock, held by thread [1-9]" "$scratch/sync_linked.txt" || fail "no thread waited for $lock"
[ "$(grep -c "waits for $lock" "$scratch/sync_linked.txt")" = "$(grep -c "has $lock" "$scratch/sync_linked.txt")" ] ||
    fail "not every wait for $lock ended"

# A program that reads its own recording while it is written.
mkdir "$scratch/subscribe"
(cd "$scratch/subscribe" && "$bin/subscribe") >"$scratch/printed" || fail "subscribe ended with status $?"
grep -q -x '20 or more waits, 0 dropped' "$scratch/printed" && grep -q '^most waited for: .*the till, [1-9][0-9]* us' "$scratch/printed" ||
    fail "subscribe printed: $(cat "$scratch/printed")"
rmdir "$scratch/subscribe" || fail "subscribe, whose recording is in memory, wrote files"

record spinlock 'the sum is 74250000'
[ "$(total_of spinlock)" = "15000 by 3" ] || fail "15000 acquisitions by 3 threads: $(cat "$scratch/spinlock.txt")"

! "$bin/read_trace" "$scratch/nowhere" 2>"$scratch/err" || fail "a trace that is not there was read"
grep -q nowhere "$scratch/err" || fail "the message does not name it: $(cat "$scratch/err")"

#!/usr/bin/env bash
# Exact counts and fields of every type of event: preloaded, linked, and both at once.
set -euo pipefail
bin=$1 lib=$2
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

check_all()
{
    local f=$1
    expect "$f" 3 '^create .*result=0'
    expect "$f" 3 '^start .*peer=[1-9]'
    expect "$f" 4 '^exit '
    expect "$f" 2 '^join '
    # The first thread still ran when it was joined.
    grep -q '^join .*peer=[1-9]' "$f" || fail "no join has the thread it waits for"
    expect "$f" 2 '^joined .*result=0'
    expect "$f" 1 '^detach .*result=0'
    expect "$f" 1 '^thread_name .*name=waiter$'
    expect "$f" 2 '^init .*type=1 '
    expect "$f" 1 '^init .*type=2 '
    expect "$f" 1 '^init .*type=3 '
    expect "$f" 1 '^destroy .*type=1 '
    expect "$f" 1 '^destroy .*type=2 '
    expect "$f" 1 '^destroy .*type=3 '
    expect "$f" 3 '^block .*type=1 .*peer=[1-9]'
    expect "$f" 3 '^block .*type=1 .*holder_site=[1-9a-f]'
    expect "$f" 1 '^acquired .*type=1 result=0'
    expect "$f" 2 '^failed .*type=1 result=110'
    expect "$f" 1 '^block .*type=3 .*peer=0'
    expect "$f" 1 '^acquired .*type=3 result=0'
    expect "$f" 1 '^misuse .*type=1 result=0'
    expect "$f" 3 '^cond_wait .*object2=[1-9a-f]'
    expect "$f" 1 '^cond_wake .*result=0'
    expect "$f" 2 '^cond_wake .*result=110'
    expect "$f" 1 '^cond_signal '
    expect "$f" 1 '^cond_broadcast '
    expect "$f" 1 '^process .*complete=1 lost=0'
    # Waits, creations and joins have call stacks.
    expect "$f" 0 '^(block|cond_wait|create|join|cond_signal) .*frames=0 '
    grep -q '^module .*build_id=[0-9a-f]{8,} .*kinds' -E "$f" || fail "the program is not among the modules"
}

check_mode_all()
{
    expect "$1" 4 '^acquire .*type=1 '
    expect "$1" 4 '^release .*type=1 '
    expect "$1" 2 '^acquire .*type=3 '
    expect "$1" 3 '^sem_post '
}

one()
{
    local name=$1 mode=$2
    shift 2
    "$@" >"$scratch/out" || fail "$name, $mode: the program ended with status $?"
    grep -q '^kinds: all done$' "$scratch/out" || fail "$name, $mode: it printed $(cat "$scratch/out")"
    events "$scratch/$name-$mode" "$scratch/$name-$mode.txt"
    check_all "$scratch/$name-$mode.txt"
    [ "$mode" != all ] || check_mode_all "$scratch/$name-$mode.txt"
}

for mode in all contended holders; do
    one preloaded $mode record "$scratch/preloaded-$mode" $mode "$bin/sync_kinds_plain"
    one linked $mode env UPMU_TRACE="$scratch/linked-$mode" UPMU_SYNC=$mode "$bin/sync_kinds_linked"
    one both $mode record "$scratch/both-$mode" $mode "$bin/sync_kinds_linked"
done

# Counts are exact in every mode: main 3 locks and 2 semaphores, the others 1 lock, 1 semaphore, 1 lock. (What libgcc runs
# once, when a thread is unwound, is not theirs.)
for mode in all contended holders counts; do
    record "$scratch/counts-$mode" $mode "$bin/sync_kinds_plain" >/dev/null
    events "$scratch/counts-$mode" "$scratch/counts.txt"
    total=$(awk '/^counts/ && !/type=9 / { for (i = 2; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
        who = (v["peer"] > 0 ? v["peer"] : v["tid"]) " " v["object"]
        last[who] = v["count"]; wait[who] = v["contended"] }
        END { for (k in last) { n += last[k]; w += wait[k] } print n, w }' "$scratch/counts.txt")
    [ "$total" = "8 2" ] || fail "mode $mode counts $total acquisitions and waits instead of 8 2"
    [ $mode != counts ] || expect "$scratch/counts.txt" 0 '^(block|acquire|release|cond|create|init)'
done
# Paused: everything is ready, and nothing is recorded.
record "$scratch/paused" paused "$bin/sync_kinds_plain" >/dev/null
events "$scratch/paused" "$scratch/paused.txt"
expect "$scratch/paused.txt" 0 '^[a-z_]+ .* tid='
expect "$scratch/paused.txt" 1 '^process '
echo "every kind of event: preloaded, linked and both at once, in 4 modes"

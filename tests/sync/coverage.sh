#!/usr/bin/env bash
# coverage.sh BIN LIB TABLE UPMU PLUGIN: the table of the documentation is what the library does. Every function in it is taken
# over by the library and every function the library takes over is in it; a call of each yields the events of its row, all
# of them and no other, in modes all, holders and contended. Calls that need not wait, after the mark "ready", yield none.
set -euo pipefail
bin=$1 lib=$2 table=$3 upmu=$4 plugin=$5
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# rows COLUMN: "function event" for each event of that column, "function" alone for each row
rows()
{
    awk -F'|' -v column="$1" '/^\| `/ {
        gsub(/[`\t]/, " ")
        split($2, name, " ")
        print name[1]
        n = split($column, event, " ")
        for (i = 1; i <= n; i++)
            print name[1], event[i]
    }' "$table" | sort
}

rows 3 | awk 'NF == 1' >"$scratch/listed"
[ "$(uniq -d "$scratch/listed" | wc -l)" -eq 0 ] || fail "listed twice: $(uniq -d "$scratch/listed")"
nm -D --defined-only "$preload" | awk '$2 == "T" { sub("@.*", "", $3); print $3 }' |
    grep -v -E '^(upmu_.*|dl_iterate_phdr|pipe2|prctl|sigprocmask|sigaction|signal|_Z.*)$' | sort -u >"$scratch/exported"
diff "$scratch/listed" "$scratch/exported" >"$scratch/diff" || fail "$table and the library differ:
$(cat "$scratch/diff")"

! grep -qx tmpfs <(stat -f -c %T .) || { echo "skipped, because fsync() never waits on a file system in memory"; exit 77; }

# check MODE COLUMN: the events of the main thread between a mark with a function's name and the next one
check()
{
    local mode=$1 column=$2
    record "$scratch/$mode" "$mode" "$bin/sync_coverage" "$plugin" >"$scratch/out" || fail "mode $mode: status $?"
    grep -qx 'coverage: all done' "$scratch/out" || fail "mode $mode: it printed $(cat "$scratch/out")"
    record "$scratch/$mode" "$mode" "$bin/sync_calls" >"$scratch/out" || fail "mode $mode: status $?"
    grep -qx 'calls: all done' "$scratch/out" || fail "mode $mode: it printed $(cat "$scratch/out")"
    events "$scratch/$mode" "$scratch/$mode.txt"
    "$upmu" dump "$scratch/$mode" >"$scratch/dump" || fail "mode $mode: the trace cannot be read"
    awk '$2 != $3 || $4 == "lock-counts" { next }
         $4 == "mark" { gsub("\"", "", $5); name = $5; if (name != "-" && name != "ready") print name; next }
         name == "ready" { print "ready", $4; next }
         name != "" && name != "-" && $4 != "lock-order" { print name, $4 }' "$scratch/dump" | sort -u >"$scratch/seen"
    rows "$column" >"$scratch/wanted"
    diff "$scratch/wanted" "$scratch/seen" >"$scratch/diff" || fail "mode $mode: the table (<) and the events (>) differ:
$(cat "$scratch/diff")"
}

"$bin/sync_coverage" "$plugin" >/dev/null || fail "untraced: status $?"
check all 3
check holders 4
check contended 4

# The report has every type of object and of wait, and an end for each beginning.
"$upmu" report --json "$scratch/all" >"$scratch/report" || fail "the report: status $?"
for type in mutex "condition variable" semaphore rwlock "spin lock" barrier once futex thread call; do
    grep -q "\"type\": \"$type\"" "$scratch/report" || fail "the report has no $type"
done
for kind in mutex cond sem join rwlock spin barrier once futex sleep poll signal read write child; do
    grep -q "\"$kind\": {\"count\": [1-9]" "$scratch/report" || fail "the report has no wait of kind $kind"
done
grep -q '"unmatched": 0' "$scratch/report" || fail "waits do not match: $(grep -m1 unmatched "$scratch/report")"
grep -q ' lock-block .* held-by-reader' "$scratch/dump" || fail "no thread waited for a reader"

# What was waited for, by its descriptor; and who ended the wait, where another thread of the process can have done it.
for object in "read pipe [0-9]+" "read eventfd [0-9]+" "read socket [0-9]+" "poll pipe [0-9]+" "poll epoll [0-9]+" \
    "write pipe [0-9]+" "write socket [0-9]+" sleep poll signal "child process"; do
    grep -qE "\"name\": \"$object\"" "$scratch/report" || fail "the report has no $object"
done
for call in "call_kind=4 .*descriptor_type=2" "call_kind=4 .*descriptor_type=6" "call_kind=3 .*descriptor=-1"; do
    grep -qE " call-return .*$call.* waker=[1-9]" "$scratch/dump" || fail "no waker of $call"
done

# Without them: nothing but the rest.
UPMU_SYNC_NO_CALLS=1 record "$scratch/none" all "$bin/sync_calls" >"$scratch/out" || fail "without calls: status $?"
"$upmu" dump "$scratch/none" >"$scratch/dump" || fail "without calls: the trace cannot be read"
! grep -q ' call-' "$scratch/dump" || fail "without calls: $(grep -m1 ' call-' "$scratch/dump")"
grep -q ' thread-join ' "$scratch/dump" || fail "without calls: nothing was recorded"
echo "$(wc -l <"$scratch/listed") functions yield the events of the table in all modes"

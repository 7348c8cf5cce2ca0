#!/usr/bin/env bash
# coverage.sh BIN LIB TABLE UPMU PLUGIN: the table of the documentation is what the library does. Every function in it is taken
# over by the library and every function the library takes over is in it; a call of each yields the events of its row, all
# of them and no other, in mode all and in mode contended.
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
    grep -v -E '^(upmu_.*|dl_iterate_phdr)$' | sort -u >"$scratch/exported"
diff "$scratch/listed" "$scratch/exported" >"$scratch/diff" || fail "$table and the library differ:
$(cat "$scratch/diff")"

# check MODE COLUMN: the events of the main thread between a mark with a function's name and the next one
check()
{
    local mode=$1 column=$2
    record "$scratch/$mode" "$mode" "$bin/sync_coverage" "$plugin" >"$scratch/out" || fail "mode $mode: status $?"
    grep -qx 'coverage: all done' "$scratch/out" || fail "mode $mode: it printed $(cat "$scratch/out")"
    events "$scratch/$mode" "$scratch/$mode.txt"
    "$upmu" dump "$scratch/$mode" >"$scratch/dump" || fail "mode $mode: the trace cannot be read"
    awk '$2 != $3 || $4 == "lock-counts" { next }
         $4 == "mark" { gsub("\"", "", $5); name = $5; if (name != "-") print name; next }
         name != "" && name != "-" && $4 != "lock-order" { print name, $4 }' "$scratch/dump" | sort -u >"$scratch/seen"
    rows "$column" >"$scratch/wanted"
    diff "$scratch/wanted" "$scratch/seen" >"$scratch/diff" || fail "mode $mode: the table (<) and the events (>) differ:
$(cat "$scratch/diff")"
}

"$bin/sync_coverage" "$plugin" >/dev/null || fail "untraced: status $?"
check all 3
check contended 4

# The report has every type of object and of wait, and an end for each beginning.
"$upmu" report --json "$scratch/all" >"$scratch/report" || fail "the report: status $?"
for type in mutex "condition variable" semaphore rwlock "spin lock" barrier once futex thread; do
    grep -q "\"type\": \"$type\"" "$scratch/report" || fail "the report has no $type"
done
for kind in mutex cond sem join rwlock spin barrier once futex; do
    grep -q "\"$kind\": {\"count\": [1-9]" "$scratch/report" || fail "the report has no wait of kind $kind"
done
grep -q '"unmatched": 0' "$scratch/report" || fail "waits do not match: $(grep -m1 unmatched "$scratch/report")"
grep -q ' lock-block .* held-by-reader' "$scratch/dump" || fail "no thread waited for a reader"
echo "$(wc -l <"$scratch/listed") functions yield the events of the table in both modes"

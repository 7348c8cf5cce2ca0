#!/usr/bin/env bash
# Counts the instructions of the hot paths by callgrind and compares them with instructions.csv: load and noise do not
# change them.
#
#     bench/instructions/instructions.sh PROGRAM COMPILER [update]     PROGRAM: bench_instructions_subject; `update` writes the counts to the table
#
# Exit status: 0 at most 5 % more than in the table, 1 more, 77 no counts of this compiler are in the table.
set -euo pipefail
program=$1 compiler=$2 update=${3-}
table=$(dirname "${BASH_SOURCE[0]}")/instructions.csv
few=20000 many=60000
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# total PATH REPETITIONS: instructions of the whole program
total()
{
    rm -rf "$scratch/recording"
    mkdir "$scratch/recording"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" "$scratch/recording" 2>"$scratch/log" ||
        { cat "$scratch/log"; exit 1; }
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$scratch/log"
}

skip()
{
    echo "skipped, because $*"
    exit 77
}

command -v valgrind >/dev/null || skip "valgrind is not installed"
[ "$update" = update ] || grep -q "^\"$compiler\"," "$table" || skip "$table has no counts of $compiler"

failed=0
: >"$scratch/rows"
while IFS= read -r path; do
    now=$((($(total "$path" $many) - $(total "$path" $few)) / (many - few)))
    before=$(sed -n "s/^\"$compiler\",\"$path\",//p" "$table")
    verdict=
    if [ -n "$before" ] && [ $((now * 100)) -gt $((before * 105)) ]; then
        verdict="MORE THAN 5 % ABOVE"
        failed=1
    fi
    printf '%-30s %6d instructions, %6s in the table  %s\n' "$path" "$now" "${before:-none}" "$verdict"
    echo "\"$compiler\",\"$path\",$now" >>"$scratch/rows"
    [ "$update" = update ] || [ -n "$before" ] || failed=1
done < <("$program")
if [ "$update" = update ]; then
    { grep -v "^\"$compiler\"," "$table" 2>/dev/null || echo 'compiler,path,instructions'; cat "$scratch/rows"; } >"$scratch/table"
    cp "$scratch/table" "$table"
    exit 0
fi
if [ $failed -ne 0 ]; then
    echo "FAILED: a hot path has grown. If that is intended, run: bench/instructions/instructions.sh $program '$compiler' update"
    exit 1
fi

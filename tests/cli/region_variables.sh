# SPDX-License-Identifier: MIT
# The variables that switch regions on are obeyed by the program that a command starts, not by the command itself.
. "$(dirname "$0")/lib.sh"
"$TRACED" "$work/trace" end || fail "traced program"
export UPMU_EVENTS=task-clock UPMU_REPORT=text UPMU_OUTPUT="$work/report" UPMU_TRACE="$work/made"

for words in "list" "dump $work/trace" "export -f jsonl $work/trace" "--version"; do
    # shellcheck disable=SC2086
    expect 0 "$UPMU" $words
    empty err
    [ ! -e "$work/report" ] || { fail "'$words' wrote a report of regions"; rm -f "$work/report"; }
    [ ! -e "$work/made" ] || { fail "'$words' recorded itself"; rm -rf "$work/made"; }
done

# by_program WHAT: the report is that of the traced program.
by_program() {
    grep -q '^outer ' "$work/report" || fail "$1: the report is not the program's: $(cat "$work/report")"
    rm -f "$work/report"
}

expect 0 "$UPMU" stat -e task-clock "$TRACED" "$work/other" end
by_program "stat"
if [ -z "${SANITIZED-}" ]; then # a sanitizer's runtime must be loaded before anything that is preloaded
    unset UPMU_TRACE
    expect 0 "$UPMU" record -o "$work/recorded" "$TRACED" "$work/other" end
    by_program "record"
    unset UPMU_OUTPUT
    expect 0 "$UPMU" report "$work/recorded"
    empty err
fi
finish

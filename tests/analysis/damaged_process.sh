# SPDX-License-Identifier: MIT
# A process whose files are damaged hides no other one: every command shows what can be read, names what cannot, and ends
# with 1. So does a process that was killed while it started.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record -m all -o "$work/scene" -- "$SCENE" >/dev/null 2>&1 || fail "recording ended with $?"
process=$(basename "$(dirname "$work"/scene/*/metadata)")
commands=("report" "report --json" "report --view timeline" "report --view regions" "report --html $work/page.html" "deadlock" "dump"
    "export -f jsonl" "export -f chrome" "export -f folded")

# several NAME: a recording of two processes, the second one a copy
several() {
    rm -rf "${work:?}/$1"
    cp -r "$work/scene" "$work/$1"
    cp -r "$work/$1/$process" "$work/$1/second"
}

# rest NAME WORDS: all commands show the first process of the recording, and report WORDS for the second
rest() {
    local words
    for words in "${commands[@]}"; do
        # shellcheck disable=SC2086
        expect 1 "$UPMU" $words "$work/$1"
        has err "second"
        grep -q "$2" "$work/err" || fail "'$words' of $1 does not print '$2': $(cat "$work/err")"
        case $words in
            *html*) grep -q "</html>" "$work/page.html" || fail "no page of $1" ;;
            report* | dump | export*) grep -q "the till\|shopping" "$work/out" || fail "'$words' of $1 shows nothing of the other process" ;;
            *) [ -s "$work/out" ] || fail "'$words' of $1 shows nothing" ;;
        esac
    done
    expect 0 "$UPMU" export -f jsonl "$work/scene"
    cp "$work/out" "$work/alone"
    expect 1 "$UPMU" export -f jsonl "$work/$1"
    cmp -s "$work/alone" "$work/out" || fail "the events of the other process of $1 are not all there"
}

several junk
echo "no metadata" >"$work/junk/second/metadata"
rest junk "not the metadata of a libupmu trace"
several empty
: >"$work/empty/second/metadata"
rest empty "not the metadata of a libupmu trace"
several cut
truncate -s 700 "$work/cut/second/metadata"
rest cut "metadata"
several newer
sed -i 's/schema_major = [0-9]*/schema_major = 9999/' "$work/newer/second/metadata"
rest newer "is newer than"
# Killed between its control file and its metadata, and with a control file that has no content yet.
for stage in control empty_control; do
    several "$stage"
    rm "$work/$stage"/second/{metadata,stream_*}
    [ "$stage" = control ] || : >"$work/$stage/second/.control"
    touch -d '1 minute ago' "$work/$stage/second/.control" # while it starts, a process that runs looks like this
    rest "$stage" "cut off while it started"
    expect 0 "$UPMU" repair "$work/$stage"
    rm -r "${work:?}/$stage/$process"
    for words in "${commands[@]}" repair; do
        # shellcheck disable=SC2086
        expect 1 "$UPMU" $words "$work/$stage"
        has err "cut off while it started"
        # shellcheck disable=SC2086
        expect 1 "$UPMU" $words "$work/$stage/second"
        has err "cut off while it started"
    done
done
# All of them damaged: an error, not an empty report.
several none
echo x >"$work/none/second/metadata"
echo x >"$work/none/$process/metadata"
expect 1 "$UPMU" report "$work/none"
empty out
has err "not the metadata"
finish

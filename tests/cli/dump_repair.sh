# SPDX-License-Identifier: MIT
# upmu dump and upmu repair on traces of a program whose events are known: ended, and killed.
. "$(dirname "$0")/lib.sh"
regions=$((4 * 100 * 2)) # threads, rounds, regions

"$TRACED" "$work/ended" end || fail "traced program ended with $?"
expect 0 "$UPMU" dump "$work/ended"
empty err
cp "$work/out" "$work/text"
[ "$(awk '$4 == "begin"' "$work/text" | wc -l)" -eq $regions ] || fail "begins"
[ "$(awk '$4 == "end"' "$work/text" | wc -l)" -eq $regions ] || fail "ends"
[ "$(awk '$4 == "mark"' "$work/text" | wc -l)" -eq 1 ] || fail "marks"
[ "$(wc -l <"$work/text")" -eq $((2 * regions + 1)) ] || fail "one line per event"
grep -qF '"inner \"quoted\""' "$work/text" || fail "quotes in a name"
grep -qF '"half\nway"' "$work/text" || fail "a line break in a mark"
grep -Eq ' begin "outer" page-faults(:u)?=[0-9]+ context-switches:u=\[unsupported: ' "$work/text" || {
    fail "counters of a line"; head -3 "$work/text" >&2
}
# Time never runs backwards, and is this hour's.
awk '$1 < last { exit 1 } { last = $1 }' "$work/text" || fail "the lines are not in the order of time"
awk -v now="$(date +%s)" 'NR == 1 { exit !($1 > now - 3600 && $1 <= now + 1) }' "$work/text" || fail "wrong time"

expect 0 "$UPMU" dump --json "$work/ended"
python3 -m json.tool <"$work/out" >/dev/null || fail "json.tool"
json "$work/out" "
assert d['schema'] == 'upmu-dump' and len(d['events']) == 2 * $regions + 1 and d['damages'] == []
assert len(d['processes']) == 1 and d['processes'][0]['complete'] and d['processes'][0]['lost'] == 0
assert d['processes'][0]['events'] == len(d['events'])
assert len({e['tid'] for e in d['events']}) >= 2 and len({e['pid'] for e in d['events']}) == 1
first = next(e for e in d['events'] if e['kind'] == 'begin')
faults, switches = first['values']
assert faults['status'] == 'exact' and faults['value'] >= 0
assert switches['status'] == 'unsupported' and switches['value'] is None and switches['cause']
assert [e['time_ns'] for e in d['events']] == sorted(e['time_ns'] for e in d['events'])
assert any(e['name'] == 'inner \"quoted\"' for e in d['events'])
"

"$TRACED" "$work/killed" kill
[ $? -eq 137 ] || fail "the killed program was not killed"
expect 0 "$UPMU" dump "$work/killed"
has err "no proper end"
[ "$(wc -l <"$work/out")" -eq $((2 * regions + 2)) ] || fail "events of a killed program: $(wc -l <"$work/out")"
cp "$work/out" "$work/before"

# Killed while its file grew: a last packet of zeros, for which other readers refuse the whole trace.
stream=$(find "$work/killed" -type f ! -name metadata ! -name control -size +1k | head -1)
truncate -s +4096 "$stream"
expect 0 "$UPMU" dump "$work/killed"
cmp -s "$work/out" "$work/before" || fail "the unfinished packet changed the events"
if command -v babeltrace2 >/dev/null && babeltrace2 "$work/killed" >/dev/null 2>&1; then
    fail "babeltrace2 reads an unfinished packet: this test tests nothing any more"
fi
expect 0 "$UPMU" repair "$work/killed"
has out "1 process checked"
has out "1 stream trimmed by 4096 bytes"
expect 0 "$UPMU" repair "$work/killed"
has out "nothing to trim"
expect 0 "$UPMU" dump "$work/killed"
cmp -s "$work/out" "$work/before" || fail "repair changed the events"
if command -v babeltrace2 >/dev/null; then
    for dir in ended killed; do
        lines=$("$UPMU" dump "$work/$dir" 2>/dev/null | wc -l)
        theirs=$(babeltrace2 "$work/$dir" | wc -l)
        [ "$lines" -eq "$theirs" ] || fail "babeltrace2 reads $theirs events of $dir, upmu $lines"
    done
fi

for what in dump repair; do
    expect 1 "$UPMU" $what "$work/nowhere"
    has err "nowhere"
    empty out
    mkdir -p "$work/empty"
    expect 1 "$UPMU" $what "$work/empty"
done

# Damage is reported, the rest is shown, and the exit status is 1.
cp -r "$work/ended" "$work/damaged"
stream=$(find "$work/damaged" -type f ! -name metadata ! -name control -size +1k | head -1)
printf '\377\377\377\377\377\377\377\377' | dd of="$stream" bs=1 seek=8 conv=notrunc 2>/dev/null
expect 1 "$UPMU" dump "$work/damaged"
[ -s "$work/err" ] || fail "damage is not reported"
finish

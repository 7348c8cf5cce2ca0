# SPDX-License-Identifier: MIT
# Write errors are reported on standard error and by the exit status; a closed pipe is no error.
. "$(dirname "$0")/lib.sh"
[ -c /dev/full ] || skip "there is no /dev/full"

"$TRACED" "$work/trace" end || fail "traced program"
for words in "help" "help stat" "stat --help" "--version" "list" "list --json" "list --csv" "doctor" "doctor --json" \
             "dump $work/trace" "dump --json $work/trace" "repair $work/trace"; do
    # shellcheck disable=SC2086
    "$UPMU" $words >/dev/full 2>"$work/err"
    status=$?
    [ $status -eq 1 ] || fail "'$words' to a full disk ended with $status"
    grep -q "No space left" "$work/err" || fail "'$words' to a full disk printed: $(cat "$work/err")"
    # shellcheck disable=SC2086
    "$UPMU" $words >&- 2>"$work/err"
    status=$?
    [ $status -eq 1 ] || fail "'$words' to a closed descriptor ended with $status"
    [ -s "$work/err" ] || fail "'$words' to a closed descriptor printed nothing"
done
expect 1 "$UPMU" stat -o /dev/full -e task-clock true
has err "No space left"
expect 5 "$UPMU" stat -o /dev/full -e task-clock sh -c 'exit 5'
has err "No space left"
expect 1 "$UPMU" stat -o "$work/no/such/folder" sh -c "touch '$work/ran'"
has err "no/such/folder"
[ ! -e "$work/ran" ] || fail "the command ran although its report had nowhere to go"

# "-" is standard output in every command that writes a file; a directory cannot be there.
mkdir "$work/empty" && cd "$work/empty" || exit 1
expect 0 "$UPMU" export -f jsonl -o - "$work/trace"
cp "$work/out" "$work/as_dash"
expect 0 "$UPMU" export -f jsonl "$work/trace"
cmp -s "$work/out" "$work/as_dash" && [ -s "$work/out" ] || fail "export -o - wrote something else"
expect 0 "$UPMU" report --html - "$work/trace"
has out "</html>"
expect 0 "$UPMU" stat -o - -e task-clock true
has out "task-clock"
empty err
expect 0 "$UPMU" gather -o -
tar tf "$work/out" >/dev/null || fail "gather -o - is no archive"
expect 2 "$UPMU" record -o - true
has err "cannot be written to standard output"
[ -z "$(ls -A .)" ] || fail "-o - made $(ls -A .)"
cd "$OLDPWD" || exit 1

# quiet WORDS...: into a reader that takes one line and leaves, with SIGPIPE as it is and ignored.
quiet() {
    "$UPMU" "$@" 2>"$work/err" | head -1 >"$work/out"
    [ ! -s "$work/err" ] || fail "'$*' complains about a reader that left: $(cat "$work/err")"
    [ "$(wc -l <"$work/out")" -eq 1 ] || fail "'$*' | head -1"
    (trap '' PIPE; "$UPMU" "$@" 2>"$work/err") | head -1 >"$work/out"
    [ ! -s "$work/err" ] || fail "'$*' complains about a reader that left: $(cat "$work/err")"
}
quiet list
quiet list --json
quiet dump "$work/trace"
quiet dump --json "$work/trace"
finish

# SPDX-License-Identifier: MIT
# upmu top without a terminal names the remedy and fails: for a process, a command, a recording, and an unknown terminal.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

sleep 600 &
process=$!
expect 0 "$UPMU" record -o "$work/rec" -- true
for of in "-p $process" "-- true" "$work/rec"; do
    # shellcheck disable=SC2086
    expect 1 env TERM=xterm "$UPMU" top $of </dev/null
    has err "upmu top needs a terminal; use --json for programs"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "top $of: $(cat "$work/err")"
done
in_terminal() { script -qec "$1" /dev/null </dev/null >"$work/seen"; }
rc=0
in_terminal "env TERM=nonsense $UPMU top -p $process" || rc=$?
[ "$rc" -eq 1 ] || fail "an unknown terminal: exit status $rc: $(cat "$work/seen")"
grep -q "unknown terminal type 'nonsense' (TERM); use --json" "$work/seen" || fail "unknown terminal: $(cat "$work/seen")"
kill "$process"
finish

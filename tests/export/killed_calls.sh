# SPDX-License-Identifier: MIT
# Calls of functions and waits that a killed process left open: the times of a thread never decrease, though those of waits are by another clock.
# shellcheck source=lib.sh
. "$HERE/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
"$UPMU" record --function-events -o "$work/calls" -- "$KILLED_CALLS" >/dev/null 2>"$work/record" || [ $? -eq 137 ] || fail "recording ended with $?"
python3 "$HERE/killed_calls.py" earlier "$work/calls" || fail "no thread was in a call"
expect 0 "$UPMU" export -f chrome -o "$work/chrome" "$work/calls"
python3 "$HERE/killed_calls.py" check "$work/chrome" || fail "times decrease"
finish

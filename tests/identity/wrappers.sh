# SPDX-License-Identifier: MIT
# Functions that the file of UPMU_WRAPPERS lists are no call sites; a bad line is refused.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

cp "$BIN/identity_locks_O0" "$work/locks"
expect 0 "$UPMU" record -o "$work/rec" -- "$work/locks"
expect 0 "$UPMU" report "$work/rec"
grep -Eq "use_state(\\(\\))? locks.cpp:" "$work/out" || fail "the line of use_state() is not named"
printf '# our own\n\nfunction:^use_state\n' >"$work/wrappers"
expect 0 env UPMU_WRAPPERS="$work/wrappers" "$UPMU" report "$work/rec"
grep -Eq "use_state(\\(\\))? locks.cpp:[0-9]*: waited" "$work/out" && fail "a listed wrapper is a call site"
printf 'use_state\n' >"$work/wrappers"
expect 1 env UPMU_WRAPPERS="$work/wrappers" "$UPMU" report "$work/rec"
has err "line 1"
finish

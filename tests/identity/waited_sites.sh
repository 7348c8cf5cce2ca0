# SPDX-License-Identifier: MIT
# A hold that began with a wait has the call site of the wait, though several functions wait through one wrapper.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

for mode in holders contended all; do
  expect 0 "$UPMU" record -m "$mode" -o "$work/$mode" -- "$BIN/identity_waited"
  expect 0 "$UPMU" report "$work/$mode"
  for function in first_waits second_waits; do
    grep -Eq "^ *$function(\\(\\))? waited.cpp:[0-9]*: waited .*; held [0-9]" "$work/out" ||
      fail "mode $mode: the hold after the wait in $function() is at another call site"
  done
done
finish

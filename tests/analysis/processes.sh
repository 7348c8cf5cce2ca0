# SPDX-License-Identifier: MIT
# upmu report on a recording of many processes: each row names its process, and what is the same of all is printed once.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"

cat >"$work/many.sh" <<'SCRIPT'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do sleep 0.2 & done
wait
SCRIPT
"$UPMU" record -e page-faults -o "$work/many" -- bash "$work/many.sh" >/dev/null 2>&1 || fail "recording ended with $?"
expect 0 "$UPMU" report "$work/many"
empty err
once() {
    [ "$(grep -c -- "$1" "$work/out")" -eq 1 ] || { fail "not once: $1"; show >&2; }
}
at_most() {
    [ "$(grep -c -- "$2" "$work/out")" -le "$1" ] || { fail "more than $1 times: $2"; show >&2; }
}
once '^  futex waits that are not traced: unknown'
at_most 1 'threads had no CPU'
once '^Counters of threads'
at_most 10 '^  process [0-9]* ([a-z]*): .* running'
grep -qE '^ +([0-9]+)  main  \1 \(sleep\) ' "$work/out" || fail "no process of a thread: $(cat "$work/out")"
# All their sleeps are one row, with the sum; each its own without groups. A sleep may last longer, never shorter.
grep -qE '^  sleep \(14\) +call  sleep +14 +(2\.[89]|[3-9]\.|[1-9][0-9]+\.)[0-9]+ s ' "$work/out" || fail "no sum of sleeps: $(cat "$work/out")"
expect 0 "$UPMU" report --group-locks 0 --top 40 "$work/many"
[ "$(grep -cE '^  sleep +call +[0-9]+ \(sleep\) +1 +([2-9][0-9]{2}\.[0-9] ms|[0-9.]+ s) ' "$work/out")" -eq 14 ] ||
    fail "not 14 sleeps: $(cat "$work/out")"

# Threads are in the order of their time in waits over all processes: the last one, which waits longest, is among the first ten.
"$UPMU" record -o "$work/late" -- bash -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.01; done; sleep 0.6; :' >/dev/null 2>&1 ||
    fail "recording of many before one ended with $?"
expect 0 "$UPMU" report "$work/late"
grep -qE ' sleep ([6-9][0-9]{2}\.[0-9]+ ms|[0-9.]+ s) ' < <(sed -n '/^Threads/,/^$/p' "$work/out") ||
    fail "the longest wait is missing: $(cat "$work/out")"

# Of many processes that end without their recorder, as by a signal, a few are listed, the others counted.
"$UPMU" record -o "$work/killed" -- bash -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do bash -c "sleep 0; kill -9 \$\$"; done; :' >/dev/null 2>&1
expect 0 "$UPMU" report "$work/killed"
[ "$(grep -c 'without a proper end (killed' "$work/out")" -le 11 ] || fail "all killed processes are listed: $(head -60 "$work/out")"
has out "more processes without a proper end"

# Of one process there is no such column.
"$UPMU" record -o "$work/one" -- "$SCENE" >/dev/null 2>&1 || fail "recording of one ended with $?"
expect 0 "$UPMU" report "$work/one"
has_not out PROCESS
finish

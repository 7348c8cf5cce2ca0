#!/usr/bin/env bash
# Work and waits of threads are those that the programs themselves have measured, and every construct is named.
# shellcheck source=tests/openmp/lib.sh
. "$1/lib.sh"

# The overview has none of it, and refers to the view that has.
record r ./subject loops 2 4
grep -q "see upmu report --openmp" < <("$upmu" report r) || fail "the overview does not refer to the view of OpenMP"
grep -q '"openmp": [1-9]' < <("$upmu" report --json r) || fail "no events of OpenMP in the totals"

# What is measured beside the program's own clock depends on the load: a few attempts.
for what in imbalance barriers loops guided critical locks ordered tasks nested reduction; do
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        record r ./subject $what 2 4 || { cat r.err >&2; fail "$what ended with $?"; }
        ! grep -q wrong r.out || fail "$what: $(grep wrong r.out)"
        "$upmu" report --openmp --json r >r.json
        python3 "$here/check.py" "$runtime" $what 2 4 r.json r.out "$here/subject.c" 2>check.err && break
        grep -q "^again" check.err || { cat check.err >&2; exit 1; }
        [ "$attempt" -lt 10 ] || { cat check.err >&2; fail "$what: not in ten attempts"; }
    done
    python3 "$here/stretch.py" "$upmu" r || fail "$what: a stretch is wrong"
done
"$upmu" report --openmp --from 0.001 --to 0.002 r >r.text
grep -q '^OpenMP of r from 0.001 to 0.002 s, process' r.text || fail "a stretch is not named: $(head -1 r.text)"

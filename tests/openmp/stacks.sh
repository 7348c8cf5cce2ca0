#!/usr/bin/env bash
# Call stacks of threads within constructs, as the program was written, with the runtime, and as executed.
# shellcheck source=tests/openmp/lib.sh
. "$1/lib.sh"

for flags in "-O0 -g" "-O2 -g" "-O2 -g -fno-omit-frame-pointer"; do
    # shellcheck disable=SC2086 # flags are words
    "$compiler" $flags -fopenmp -o stacks "$here/stacks.c" -lpthread
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        record r ./stacks || { cat r.err >&2; fail "ended with $?"; }
        for how in user expert machine; do
            "$upmu" export -f folded --of waits --stacks $how r >profile
            python3 "$here/stacks.py" $how "$runtime" "$here/stacks.c" profile 2>check.err || break
        done
        [ -s check.err ] || break
        if ! grep -q "^again" check.err || [ "$attempt" -eq 10 ]; then
            cat check.err >&2
            fail "with $flags, $how"
        fi
    done
    "$upmu" export -f folded --of waits r >default
    "$upmu" export -f folded --of waits --stacks user r >profile
    cmp default profile || fail "the default is not user"
    # The report and the timeline have the same.
    line=$(grep -n 'line of simple ' "$here/stacks.c" | cut -d: -f1)
    "$upmu" report --view timeline --json --top 1000 r >rows
    grep -q "simple, OMP parallel region from line \($line\|$((line + 2))\)" rows || fail "the timeline: no construct"
    "$upmu" report --json --stacks machine r >json
    ! grep -q '"[^"]*OMP ' json || fail "the report has constructs in stacks as executed"
done

# Names of C++ are those of the source.
if [ "$runtime" = libgomp ] && command -v g++ >/dev/null; then
    printf '#include <unistd.h>\nnamespace ns { void f(int n) {\n#pragma omp parallel num_threads(2)\nusleep(n); } }\nint main() { ns::f(2000); }\n' >names.cc
    g++ -O0 -g -fopenmp -o names names.cc
    record r ./names
    "$upmu" export -f folded --of waits r >profile
    grep -q 'ns::f(int), OMP parallel region from line [34]' profile || fail "C++: $(cat profile)"
fi

# Nothing changes without OpenMP.
cat >plain.c <<'EOF2'
#include <unistd.h>
static void GOMP_like(void) { usleep(1000); }
int main(void) { GOMP_like(); return 0; }
EOF2
"$compiler" -O0 -g -o plain plain.c
record p ./plain
"$upmu" export -f folded --of waits p >user
"$upmu" export -f folded --of waits --stacks machine p >executed
cmp user executed || fail "stacks of a program without OpenMP differ"
grep -q GOMP_like user || fail "a function of the program is left out"

! "$upmu" report --stacks all r 2>err || fail "an unknown word is accepted"
grep -q "one of user, expert and machine, not 'all'" err || fail "message: $(cat err)"
! "$upmu" report --heap --stacks user r 2>err || fail "--stacks is accepted where it has no effect"

#!/usr/bin/env bash
# Calls of instrumented programs are recorded exactly, whatever way functions are entered and left.
#     calls.sh SOURCES LIBRARIES
set -euo pipefail
sources=$1 libs=$2
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
[ -n "$(compilers)" ] || { echo "skipped, because there is neither gcc nor clang"; exit 77; }

# run NAME PROGRAM [ARG...]: preloaded
run()
{
    local name=$1
    shift
    UPMU_FUNC_CSV=$name LD_PRELOAD=$libs/libupmu_func.so.0 "$@" >"$name.out" 2>"$name.err" || fail "$name: status $?"
    [ ! -s "$name.err" ] || fail "$name: $(cat "$name.err")"
    judge "$name:" "$name" "$name.out"
}

# selected NAME VARIABLE=PATTERNS <LINES: the calls of mode recursion that are recorded then
selected()
{
    cat >"$1.lines"
    env "$2" UPMU_FUNC_CSV="$1" LD_PRELOAD="$libs/libupmu_func.so.0" "./subject_$cc" recursion >/dev/null
    judge "$1:" "$1" "$1.lines"
}

while read -r cc cxx; do
    "$cc" -g -O2 -finstrument-functions "$sources/subject.c" -o "subject_$cc" -pthread -ldl
    for mode in recursion jump jump_same jump_beside frames storm other_stack threads many_threads ends; do
        run "$cc.$mode" "./subject_$cc" "$mode"
    done
    run "$cc.forks" "./subject_$cc" forks
    child=$(sed -n 's/^child //p' "$cc.forks.out")
    sed -n 's/^in-child //p' "$cc.forks.out" >child.out
    judge "$cc.forks, child:" "$cc.forks.$child" child.out

    # A process without hooks, here a shell, leaves its child's files alone.
    UPMU_FUNC_CSV=shell LD_PRELOAD=$libs/libupmu_func.so.0 sh -c "./subject_$cc frames; exit 0" >shell.out
    judge "$cc.shell:" shell shell.out
    UPMU_FUNC_NODES=64 UPMU_FUNC_CSV=full LD_PRELOAD=$libs/libupmu_func.so.0 "./subject_$cc" paths >/dev/null 2>full.err
    grep -q '^libupmu: functions: [1-9][0-9]* calls were lost, and are not in the CSV files' full.err || fail "$(cat full.err)"

    selected "$cc.exclude" UPMU_FUNC_EXCLUDE='leaf,nothing:fib' <<'LINES'
none leaf
calls fib 21891
edge odd even 20000
LINES
    selected "$cc.include" UPMU_FUNC_INCLUDE='^fib$,subject_*:^odd' <<'LINES'
calls fib 21891
calls odd 20000
edge (thread) fib 1
edge odd odd 19999
none even
none main
LINES
    selected "$cc.below" UPMU_FUNC_BELOW=even <<'LINES'
calls even 20001
edge (thread) even 1
edge even leaf 20001
edge odd even 20000
none fib
none main
LINES

    for which in first second; do
        "$cc" -g -O2 -fPIC -shared -finstrument-functions -DFUNCTION=${which}_plugin "$sources/plugin.c" \
            -o "$which.$cc.so"
    done
    run "$cc.plugins" "./subject_$cc" plugins "./first.$cc.so" "./second.$cc.so"
    run "$PWD/$cc.elsewhere" "./subject_$cc" plugin_elsewhere "./first.$cc.so"
    # A host that is not instrumented itself.
    "$cc" -g -O2 "$sources/subject.c" -o "host_$cc" -pthread -ldl
    run "$cc.host" "./host_$cc" plugins "./first.$cc.so" "./second.$cc.so"
    ! grep -q main "$cc.host.functions.csv" || fail "the host is not instrumented"

    "$cxx" -g -O2 -finstrument-functions "$sources/throws.cpp" -o "throws_$cc"
    run "$cc.throws" "./throws_$cc"

    # Linked in, without and with the variables.
    "$cc" -g -O2 -finstrument-functions "$sources/subject.c" -o "linked_$cc" -pthread -ldl \
        -L"$libs" -lupmu_func -Wl,-rpath,"$libs" -Wl,-rpath-link,"$libs"
    UPMU_FUNC_CSV=linked "./linked_$cc" recursion >linked.out
    judge "$cc linked:" linked linked.out
    rm linked.*.csv
    "$cc" -g -O2 -finstrument-functions "$sources/subject.c" -o "static_$cc" -pthread -L"$libs" -l:libupmu_func.a \
        -l:libupmu.a -ldl -lm
    UPMU_FUNC_CSV=static "./static_$cc" recursion >static.out
    judge "$cc static:" static static.out
    rm static.*.csv
    "./linked_$cc" recursion >off.out
    cmp off.out linked.out
    [ -z "$(find . -newer linked.out -name '*.csv')" ] || fail "files without a variable"
done < <(compilers)

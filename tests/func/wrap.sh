#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Calls of functions that were built without hooks, chosen by name: all of them are recorded, with any arguments and results, from the
# program, its threads and plug-ins, however it is linked; exceptions and ends of threads pass them.
#     wrap.sh SOURCES LIBRARIES UPMU [CC [EMULATOR...]]     UPMU: the command, or none; CC: a cross compiler, whose programs EMULATOR runs
set -euo pipefail
sources=$1 libs=$2 upmu=$3 foreign=${4-}
emulator=("${@:5}")
# shellcheck source=tests/func/lib.sh
. "$sources/lib.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# run NAME PATTERNS PROGRAM [ARG...]: preloaded
run()
{
    local name=$1 patterns=$2
    shift 2
    if [ -n "$foreign" ]; then
        set -- "${emulator[@]}" -E "LD_PRELOAD=$libs/libupmu_func.so.0" "$@"
    else
        set -- env "LD_PRELOAD=$libs/libupmu_func.so.0" "$@"
    fi
    UPMU_FUNC_WRAP=$patterns UPMU_FUNC_CSV=$name "$@" >"$name.out" 2>"$name.err" || fail "$cc $name: status $? $(cat "$name.err")"
}

# C and C++ compilers
chosen()
{
    if [ -n "$foreign" ]; then
        echo "$foreign ${foreign%gcc}g++"
    else
        compilers
    fi
}

while read -r cc cxx; do
    "$cc" -g -O1 -fPIC -shared -DLIBRARY "$sources/wrapped.c" -o libwrapped.so
    "$cc" -g -O1 -fPIC -shared -DPLUGIN "$sources/wrapped.c" -o plugin.so -L. -lwrapped -Wl,-rpath,"$PWD"
    for variant in "-Wl,-z,lazy" "-Wl,-z,now" "-fno-plt" "-fno-pie -no-pie"; do
        # shellcheck disable=SC2086
        "$cc" -g -O1 $variant "$sources/wrapped.c" -o program -L. -lwrapped -Wl,-rpath,"$PWD" -pthread -ldl
        case $("$cc" -dumpmachine) in
            x86_64-* | aarch64-* | riscv64-* | loongarch64-* | mips64el-*) ;;
            *)
                run refused 'libwrapped:^wrapped_' ./program
                grep -q 'are recorded on x86-64, AArch64, RISC-V, LoongArch and MIPS of 64 bits only' refused.err || fail "$(cat refused.err)"
                exit 0
                ;;
        esac
        run "calls" 'libwrapped:^wrapped_' ./program ./plugin.so
        [ ! -s calls.err ] || fail "$cc $variant: $(cat calls.err)"
        judge "$cc $variant:" calls calls.out
    done
    # Functions that return twice are left alone, whatever the pattern is.
    run all 'libc:*jmp*,libwrapped:*sort*,libwrapped:*gemm$' ./program ./plugin.so
    [ "$(tail -n +2 all.functions.csv | cut -d, -f1 | sort | xargs)" = "wrapped_gemm wrapped_sort" ] || fail "$cc: $(cat all.functions.csv)"

    # Callers that have hooks are their callers; a library's own calls of another one are recorded, too.
    "$cc" -g -O1 -finstrument-functions "$sources/wrapped.c" -o hooked -L. -lwrapped -Wl,-rpath,"$PWD" -pthread -ldl
    run hooked 'libwrapped:^wrapped_,libc:^qsort$' ./hooked
    printf '%s\n' "edge main wrapped_gemm 1000" "edge thread wrapped_inside 1000" "edge wrapped_sort compare 5" >edges
    printf '%s\n' "edge wrapped_calls_back back 50" "edge back wrapped_calls_back 51" >>edges
    sed -i '/compare/d' edges
    judge "$cc hooked:" hooked edges
    grep -q '^wrapped_sort,qsort,1,' <(sed 's/__GI_qsort\|qsort_r/qsort/' hooked.edges.csv) || fail "$cc: $(cat hooked.edges.csv)"

    if command -v "$cxx" >/dev/null; then
        "$cxx" -g -O1 -fPIC -shared -DLIBRARY "$sources/wrapped.cpp" -o libthrows.so
        "$cxx" -g -O1 "$sources/wrapped.cpp" -o throws -L. -lthrows -Wl,-rpath,"$PWD"
        run throws 'libthrows:wrapped_throws' ./throws
        judge "$cc throws:" throws throws.out
    else
        echo "exceptions: skipped, because $cxx is not installed"
    fi

    # The allocator, which unwinders and this library call as well.
    "$cc" -g -O0 -finstrument-functions -x c - -o heap -pthread <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *use(void *arg)
{
    for (size_t i = 0; i < 1000; i++)
        free(malloc(1 + i % 100));
    return arg;
}
int main(void)
{
    pthread_t t;
    return pthread_create(&t, NULL, use, NULL) || use(NULL) || pthread_join(t, NULL);
}
END
    run heap 'libc:^malloc$,libc:^free$' ./heap
    got=$(awk -F, '$1 == "use" { print $2, $3 }' heap.edges.csv | sed 's/^[_A-Z]*\(libc_\)*//; s/^cfree/free/' | sort | xargs)
    [ "$got" = "free 2000 malloc 2000" ] || fail "$cc heap: $(cat heap.edges.csv)"

    # A library that is there, and no such call.
    run missing 'libwrapped:^nothing$' ./program
    grep -q 'no module calls a function of .*libwrapped.so that UPMU_FUNC_WRAP matches' missing.err || fail "$cc: $(cat missing.err)"
    [ ! -e missing.functions.csv ] || fail "$cc: $(cat missing.functions.csv)"

    if [ "$upmu" != none ]; then
        rm -rf recording
        "$upmu" record --wrap-calls 'libwrapped:*gemm*' -o recording -- ./program >/dev/null 2>err || fail "$cc record: $(cat err)"
        "$upmu" report --functions --json recording |
            python3 -c 'import json, sys
d = json.load(sys.stdin)
got = {f["name"]: f["calls"] for f in d["functions"]}
sys.exit(0 if got == {"wrapped_gemm": 1000} else f"{got}")' || fail "$cc report"
    fi
done < <(chosen)

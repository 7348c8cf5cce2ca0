#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scope.sh LIBDIR INCLUDE...: scope.c as C and C++, by gcc and clang, without and with optimization, with UPMU_DISABLE (then
# without the library), warnings as errors; and what must not compile does not.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
libdir=$1
shift
flags=(-Wall -Wextra -Wshadow -Wpedantic -Werror "${@/#/-I}" "-I$here")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LD_LIBRARY_PATH=$libdir

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

compile_and_run()
{
    "$@" "${flags[@]}" "$here/scope.c" -x none -L"$libdir" -lupmu -o "$scratch/on" || fail "does not compile: $*"
    "$scratch/on" || fail "$* changes what the program does"
    "$@" "${flags[@]}" -DUPMU_DISABLE "$here/scope.c" -o "$scratch/off" || fail "does not compile with UPMU_DISABLE: $*"
    "$scratch/off" || fail "$* -DUPMU_DISABLE changes what the program does"
}

# refused WHY CODE: the body of a function that neither form accepts
refused()
{
    printf '#include "upmu/region.h"\nvoid f(int x, const char *s);\nvoid f(int x, const char *s)\n{\n%s\n(void)x, (void)s;\n}\n' \
        "$2" >"$scratch/refused.c"
    local disable
    for disable in -DUPMU_ENABLE -DUPMU_DISABLE; do
        ! gcc -std=c11 "${@:3}" "$disable" "${flags[@]}" -fsyntax-only "$scratch/refused.c" 2>/dev/null ||
            fail "compiles with $disable: $1"
    done
}

for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    cxx=${compiler/gcc/g++} cxx=${cxx/clang/clang++}
    for options in "-std=c++11 -O0" "-std=c++14 -O2" "-std=c++17 -O0" "-std=c++20 -O2"; do
        # shellcheck disable=SC2086 # two words
        compile_and_run "$cxx" $options -x c++
    done
    compile_and_run "$compiler" -std=c11 -O0 -x c
    compile_and_run "$compiler" -std=c11 -O2 -x c
    compile_and_run "$compiler" -std=gnu17 -O3 -flto -fexceptions -x c
done

refused "a name that is no literal" 'UPMU_SCOPE(s);'
refused "a scope without a block" 'if (x) UPMU_SCOPE("x");'
refused "the block form of 0.1" 'UPMU_SCOPE("x") { x++; }'

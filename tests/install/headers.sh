#!/usr/bin/env bash
# Each public header compiles alone, first and last, as strict C11 and C++11, with the pedantic warnings as errors, with
# regions and with UPMU_DISABLE.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$1
warnings=(-pedantic -Wall -Wextra -Wconversion -Wcast-qual -Werror)

compile()
{
    "$@" -fsyntax-only -I"$tree/include" "${warnings[@]}" || fail "not accepted: $*"
}

headers=0
for header in "$tree"/include/upmu/*.h; do
    name=upmu/$(basename "$header")
    for disable in '' -DUPMU_DISABLE; do
        # Twice, since guards are part of compiling alone; a declaration, since ISO C wants one.
        printf '#include "%s"\n#include "%s"\nextern int unit_is_not_empty;\n' "$name" "$name" >"$scratch/alone.c"
        cp "$scratch/alone.c" "$scratch/alone.cpp"
        compile "$CC" -std=c11 -Wstrict-prototypes ${disable:+"$disable"} "$scratch/alone.c"
        compile "$CC" -std=gnu17 ${disable:+"$disable"} "$scratch/alone.c"
        compile "$CXX" -std=c++11 ${disable:+"$disable"} "$scratch/alone.cpp"
        compile "$CXX" -std=c++20 ${disable:+"$disable"} "$scratch/alone.cpp"
    done
    headers=$((headers + 1))
done
[ $headers -ge 5 ] || fail "only $headers headers in $tree/include/upmu"

# The scope form is the one that is more than a declaration.
for disable in '' -DUPMU_DISABLE; do
    compile "$CC" -std=c11 ${disable:+"$disable"} "$here/stranger.c"
    compile "$CXX" -std=c++11 -x c++ ${disable:+"$disable"} "$here/stranger.c"
done
echo "$headers headers compile alone"

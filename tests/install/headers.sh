#!/usr/bin/env bash
# Each public header compiles alone, first and last, as C11 and C++11 to C++23, with gcc and clang where they are installed,
# pedantic warnings as errors, with regions and with UPMU_DISABLE. No struct has the name of a function.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$1
warnings=(-Wpedantic -Wall -Wextra -Wshadow -Wconversion -Wcast-qual -Werror)

compile()
{
    "$@" -fsyntax-only -I"$tree/include" "${warnings[@]}" || fail "not accepted: $*"
}

# The build's compilers, and the others that are installed.
cc_all=("$CC") cxx_all=("$CXX") standards=(c++11 c++14 c++17 c++20 c++2b)
for other in gcc clang; do
    command -v $other >/dev/null && [ "$(command -v $other)" != "$(command -v "$CC")" ] && cc_all+=("$other")
done
for other in g++ clang++; do
    command -v $other >/dev/null && [ "$(command -v $other)" != "$(command -v "$CXX")" ] && cxx_all+=("$other")
done

accepts()
{
    "$1" -std="$2" -fsyntax-only -x c++ /dev/null 2>/dev/null
}

headers=0
for header in "$tree"/include/upmu/*.h; do
    name=upmu/$(basename "$header")
    for disable in '' -DUPMU_DISABLE; do
        # Twice, since guards are part of compiling alone; a declaration, since ISO C wants one.
        printf '#include "%s"\n#include "%s"\nextern int unit_is_not_empty;\n' "$name" "$name" >"$scratch/alone.c"
        cp "$scratch/alone.c" "$scratch/alone.cpp"
        compile "$CC" -std=c11 -Wstrict-prototypes ${disable:+"$disable"} "$scratch/alone.c"
        compile "$CXX" -std=c++11 ${disable:+"$disable"} "$scratch/alone.cpp"
    done
    headers=$((headers + 1))
done
for header in "$tree"/include/upmu/*.h; do
    echo "#include \"upmu/$(basename "$header")\""
done >"$scratch/together.c"
cp "$scratch/together.c" "$scratch/together.cpp"
for cc in "${cc_all[@]}"; do
    compile "$cc" -std=c11 "$scratch/together.c"
    compile "$cc" -std=gnu17 "$scratch/together.c"
done
for cxx in "${cxx_all[@]}"; do
    for standard in "${standards[@]}"; do
        ! accepts "$cxx" "$standard" || compile "$cxx" -std="$standard" "$scratch/together.cpp"
    done
done
[ $headers -ge 5 ] || fail "only $headers headers in $tree/include/upmu"

# The scope form is the one that is more than a declaration.
for disable in '' -DUPMU_DISABLE; do
    compile "$CC" -std=c11 ${disable:+"$disable"} "$here/stranger.c"
    compile "$CXX" -std=c++11 -x c++ ${disable:+"$disable"} "$here/stranger.c"
done
# In C++ a function hides the struct of its name.
cat "$tree"/include/upmu/*.h >"$scratch/all"
grep -oP '\bstruct \Kupmu_\w+' "$scratch/all" | sort -u >"$scratch/structs"
grep -oP '\bupmu_\w+(?=\()' "$scratch/all" | sort -u >"$scratch/functions"
both=$(comm -12 "$scratch/structs" "$scratch/functions")
[ -z "$both" ] || fail "a struct and a function have the same name: $both"
[ "$(wc -l <"$scratch/structs")" -gt 50 ] || fail "only $(wc -l <"$scratch/structs") structs are found"

echo "$headers headers compile alone"

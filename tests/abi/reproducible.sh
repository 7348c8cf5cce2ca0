#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# reproducible.sh SOURCE BUILD CC: the same source in two folders gives the same bytes; and a build with -flto in its flags
# has the symbols of BUILD.
set -euo pipefail
source=$1 build=$2 cc=$3
scratch=$(mktemp -d)
libraries=(libupmu.so libupmu.a libupmu_sync.so libupmu_sync.a)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# make FOLDER: a build of a copy of the source in it. Not cached: the compiler must see the folder.
make_in()
{
    mkdir -p "$1/source"
    cp -r "$source"/{CMakeLists.txt,LICENSE,cmake,data,include,lib} "$1/source"
    env -u CMAKE_C_COMPILER_LAUNCHER CCACHE_DISABLE=1 cmake -G Ninja -S "$1/source" -B "$1/build" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O0 -g" -DCMAKE_C_FLAGS=-flto \
        -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DUPMU_BUILD_ANALYSIS=OFF -DUPMU_BUILD_TESTS=OFF -DUPMU_BUILD_TOOLS=OFF \
        -DUPMU_BUILD_EXAMPLES=OFF -DUPMU_BUILD_BENCH=OFF -DUPMU_INSTALL=OFF -DUPMU_FOLDERS_AT_ONCE=ON >"$1/log" 2>&1 &&
        cmake --build "$1/build" --target "${libraries[@]/#/lib/}" >>"$1/log" 2>&1 || { tail -n 50 "$1/log"; fail "does not build in $1"; }
}

make_in "$scratch/a"
make_in "$scratch/another/and/longer"
for library in "${libraries[@]}"; do
    cmp "$scratch/a/build/lib/$library" "$scratch/another/and/longer/build/lib/$library" ||
        fail "$library depends on the folder it is built in"
    ! grep -q "$scratch" "$scratch/a/build/lib/$library" || fail "$library has the folder it was built in"
done

# dynamic FILE, global FILE: names that it exports, with versions
dynamic()
{
    nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort -u
}
global()
{
    nm --defined-only --extern-only "$1" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u
}
for library in libupmu libupmu_sync; do
    diff -u <(dynamic "$build/lib/$library.so") <(dynamic "$scratch/a/build/lib/$library.so") ||
        fail "-flto changes the dynamic symbols of $library.so"
    diff -u <(global "$build/lib/$library.a") <(global "$scratch/a/build/lib/$library.a") ||
        fail "-flto changes the names of $library.a"
done
echo "the same bytes in two folders; the same $(dynamic "$build/lib/libupmu_sync.so" | wc -l) names in libupmu_sync.so with -flto"

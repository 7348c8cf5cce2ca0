#!/usr/bin/env bash
# `cmake --install` obeys prefix and DESTDIR, installs what it should and nothing else, and the tree can be moved.
# Leaves the tree, moved away from where it was installed, for the other tests.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$1 tree=$2 libdir=$3 source=$4

DESTDIR=$scratch/stage cmake --install "$build" --prefix /opt/upmu >/dev/null
[ "$(find "$scratch/stage" -mindepth 1 -maxdepth 2 | LC_ALL=C sort | tr '\n' ' ')" = \
    "$scratch/stage/opt $scratch/stage/opt/upmu " ] || fail "DESTDIR and prefix are not obeyed: $(find "$scratch/stage")"

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
diff -r "$scratch/stage/opt/upmu" "$scratch/prefix" || fail "prefix and DESTDIR give different trees"

version=$(header_version "$scratch/prefix")
[ -n "$version" ] || fail "the headers have no version"
# Everything that lies there, and nothing else. Manual pages and the files of CMake's build types vary.
{
    echo bin/upmu
    (cd "$source/include" && find upmu -name '*.h' | sed 's,^,include/,')
    (cd "$source/bindings/cpp" && find upmu -name '*.hpp' | sed 's,^,include/,')
    (cd "$source/bindings/compat" && find upmu -name '*.h' | sed 's,^,include/,')
    (cd "$source/docs" && find guide zh -name '*.md' ! -path zh/README.md | sed 's,^,share/doc/upmu/,')
    echo include/upmu/fortran/upmu.f90
    echo include/upmu/version.h
    for lib in libupmu libupmu_analysis libupmu_func libupmu_sync; do
        printf '%s\n' "$libdir/$lib.a" "$libdir/$lib.so" "$libdir/$lib.so.0" "$libdir/$lib.so.$version"
    done
    printf '%s\n' "$libdir/libupmu_mpi.so.0" "$libdir/libupmu_mpi.so.$version" "$libdir/libupmu_omp.so.0" "$libdir/libupmu_omp.so.$version" "$libdir/libupmu_heap.so.0" "$libdir/libupmu_heap.so.$version"
    printf "$libdir/upmu/%s.so\n" elfutils curses
    printf "$libdir/%s\n" pkgconfig/upmu.pc pkgconfig/upmu-analysis.pc pkgconfig/upmu-{func,sync}.pc cmake/upmu/upmuConfig.cmake \
        cmake/upmu/upmuConfigVersion.cmake cmake/upmu/FindElfutils.cmake \
        cmake/upmu/upmu-{core,sync,func,analysis,analysis_static}.cmake
    printf 'share/%s\n' bash-completion/completions/upmu zsh/site-functions/_upmu fish/vendor_completions.d/upmu.fish
    printf 'share/doc/upmu/%s\n' LICENSE CHANGELOG.md protocol.schema.json {guide,events,exports,format,protocol,sync-coverage}.md
} | LC_ALL=C sort >"$scratch/expected"
(cd "$scratch/prefix" && find . ! -type d | sed 's,^\./,,' | grep -v -e '^share/man/man[13]/upmu' -e '/upmu-[a-z_]*-[a-z]*\.cmake$') |
    LC_ALL=C sort >"$scratch/found"
diff -u "$scratch/expected" "$scratch/found" || fail "the installed files are not those expected"

# Debug information included, but in debug builds, whose debugger wants the paths.
text=()
! grep -q '^CMAKE_BUILD_TYPE:.*=Debug' "$build/CMakeCache.txt" || text=(-I)
if grep -rl "${text[@]}" -e "$scratch" -e "$source/" -e "$build/" --exclude-dir=bin "$scratch/prefix"; then
    fail "these installed files name the place they were built or installed in"
fi

rm -rf "$tree"
mkdir -p "$(dirname "$tree")"
mv "$scratch/prefix" "$tree"
printed=$("$tree/bin/upmu" --version) || fail "the installed upmu does not run from a moved tree"
grep -qF "$version" <<<"$printed" || fail "upmu --version prints '$printed', the version of the headers is $version"

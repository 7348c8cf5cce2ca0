#!/usr/bin/env bash
# A stranger finds libupmu with pkg-config: in C and C++, shared, with the static library, wholly static, and opened
# at run time.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$1 libdir=$2
export PKG_CONFIG_PATH=$tree/$libdir/pkgconfig
export LD_LIBRARY_PATH=$tree/$libdir
words="works for a stranger"

# flags WORD...: what pkg-config answers, one flag a line
flags()
{
    pkg-config "$@" | xargs -n 1
}

mapfile -t shared < <(flags --cflags --libs upmu)
mapfile -t static < <(flags --static --cflags --libs upmu)
mapfile -t analysis < <(flags --cflags --libs upmu-analysis)
[ ${#shared[@]} -ge 3 ] || fail "pkg-config gave only: ${shared[*]}"

"$CC" -std=c11 "$here/stranger.c" -o "$scratch/c_shared" "${shared[@]}"
"$CXX" -std=c++11 -x c++ "$here/stranger.c" -x none -o "$scratch/cxx_shared" "${shared[@]}"
for program in c_shared cxx_shared; do
    runs "$scratch/$program" "$words"
    grep -q 'NEEDED.*\[libupmu\.so\.0\]' < <(readelf -d "$scratch/$program") || fail "$program does not need libupmu.so.0"
done

# The static library in an otherwise dynamic program, then a program without any shared library.
"$CC" -std=c11 "$here/stranger.c" -o "$scratch/c_static" "${static[@]/#-lupmu/-l:libupmu.a}"
"$CXX" -std=c++11 -x c++ "$here/stranger.c" -x none -o "$scratch/cxx_static" "${static[@]/#-lupmu/-l:libupmu.a}"
# The linker warns that a static program's dlopen (of libpfm4) needs the same C library at run time; that is known.
"$CC" -std=c11 -static "$here/stranger.c" -o "$scratch/c_all_static" "${static[@]}" 2>/dev/null
for program in c_static cxx_static c_all_static; do
    ! grep -q 'NEEDED.*libupmu' < <(readelf -d "$scratch/$program") || fail "$program needs the shared library"
    LD_LIBRARY_PATH='' runs "$scratch/$program" "$words"
done

# The shared library asks for no development files of others.
PKG_CONFIG_LIBDIR=$tree/$libdir/pkgconfig pkg-config --cflags --libs upmu-analysis >/dev/null ||
    fail "upmu-analysis needs the pkg-config files of other libraries"
mapfile -t analysis_static < <(flags --static --cflags --libs upmu-analysis)
analysis_static=("${analysis_static[@]/#-lupmu_analysis/-l:libupmu_analysis.a}")
"$CC" -std=c11 "$here/reader.c" -o "$scratch/reader_static" "${analysis_static[@]/%-lupmu/-l:libupmu.a}"
runs "$scratch/reader_static" "refused: "

"$CC" -std=c11 "$here/reader.c" -o "$scratch/reader" "${analysis[@]}"
runs "$scratch/reader" "refused: "

printf '%s\n' '#include <dlfcn.h>' '#include <stdio.h>' 'int main(void)' '{' \
    '    void *lib = dlopen("libupmu.so.0", RTLD_NOW | RTLD_LOCAL);' \
    '    const char *(*version)(void) = lib ? (const char *(*)(void))dlsym(lib, "upmu_version") : NULL;' \
    '    return version ? !printf("opened %s\n", version()) : 1;' '}' >"$scratch/opener.c"
"$CC" "$scratch/opener.c" -o "$scratch/opener" -ldl
runs "$scratch/opener" "opened "

# Without a UPMU_ variable nothing is printed but what the program prints; with them the report appears.
[ "$("$scratch/c_shared" 2>&1 | wc -l)" -eq 1 ] || fail "the library is not silent by default"
UPMU_REPORT=text UPMU_OUTPUT=$scratch/report "$scratch/c_static" >/dev/null
for name in "by name" "by handle" "by scope"; do
    grep -qF "$name" "$scratch/report" || fail "no region '$name' in the report of the static program"
done

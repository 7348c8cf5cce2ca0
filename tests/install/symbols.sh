#!/usr/bin/env bash
# The libraries export the names of their maps, which are those of the public headers, and nothing else; they need the C
# library only, and little of the static TLS block, so that dlopen works.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$1 libdir=$2 maps=$3
lib=$tree/$libdir

# same WHAT LEFT RIGHT: two lists of names are equal
same()
{
    diff -u <(LC_ALL=C sort -u <<<"$2") <(LC_ALL=C sort -u <<<"$3") || fail "$1"
}

# Names of a map, as NAME@@NODE.
map_symbols()
{
    awk '/^ *#/ { next } /^[A-Z_0-9.]+ \{/ { node = $1 }
        { for (i = 1; i <= NF; i++) if ($i ~ /^[a-z_][a-z_0-9]*;$/) print substr($i, 1, length($i) - 1) "@@" node }' "$1"
}

exported()
{
    # A version node is itself an absolute symbol (type A); it is not a name of the API.
    nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }'
}

# Names that a header exports: declared with default visibility.
declared()
{
    "$CC" -E -P -I"$tree/include" "$@" | tr '\n' ' ' |
        grep -oP 'visibility\("default"\)\)\)[^;{]*?\Kupmu_\w+(?= *[;(\[])'
}

needed()
{
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' || true
}

soname()
{
    readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}

# Bytes of thread-local storage that a library takes.
tls_bytes()
{
    printf '%d\n' "$(readelf -lW "$1" | awk '$1 == "TLS" { print $6 }')"
}

for name in libupmu libupmu_analysis libupmu_func libupmu_sync; do
    # Names that these two take over are those of the C library; tests/sync/library.sh has them of libupmu_sync.
    taken='^upmu_'
    [ $name != libupmu_sync ] ||
        taken='^(upmu_|pthread_|sem_|mtx_|cnd_|thrd_)|^(call_once|syscall|dl_iterate_phdr|dlclose|free|munmap)$|@Qt_[56]$|^_ZN4absl'
    [ $name != libupmu_func ] || taken='^upmu_|^(__cyg_profile_func_(enter|exit)|dlopen|dlclose)$'
    same "$name.so exports something else than its map" \
        "$(map_symbols "$maps/$name.map" | grep '^upmu_')" "$(exported "$lib/$name.so" | grep '^upmu_')"
    [[ $name = libupmu_@(sync|func) ]] || ! exported "$lib/$name.so" | grep -v '^upmu_' || fail "$name.so exports these, too"
    [ "$(soname "$lib/$name.so")" = "$name.so.0" ] || fail "SONAME of $name.so is $(soname "$lib/$name.so")"
    tls=$(tls_bytes "$lib/$name.so")
    [ "$tls" -le 64 ] || fail "$name.so takes $tls bytes of thread-local storage; 64 are allowed"
    # Private names of the static library would clash with those of a program.
    leaked=$(nm --defined-only --extern-only "$lib/$name.a" | awk 'NF == 3 { print $3 }' | grep -vE "$taken" |
        grep -vxF -f <(exported "$lib/$name.so" | sed 's/@.*//') || true)
    [ -z "$leaked" ] || fail "$name.a has global names that are not upmu's: $leaked"
done

# libupmu_mpi is preloaded only, and has MPI's names and longjmp()'s alone.
! exported "$lib/libupmu_mpi.so.0" | grep -vE '^(MPI_[A-Z]|mpi_[a-z])|^((_|sig)?longjmp|__longjmp_chk)$|^GLIBC_' || fail "libupmu_mpi.so.0 exports these, too"
[ "$(soname "$lib/libupmu_mpi.so.0")" = libupmu_mpi.so.0 ] || fail "SONAME of libupmu_mpi is $(soname "$lib/libupmu_mpi.so.0")"
tls=$(tls_bytes "$lib/libupmu_mpi.so.0")
[ "$tls" -le 64 ] || fail "libupmu_mpi.so takes $tls bytes of thread-local storage; 64 are allowed"
# So is libupmu_omp, with names of OpenMP's runtimes.
! exported "$lib/libupmu_omp.so.0" | grep -vE '^(GOMP_[a-z]|omp_[a-z]|ompt_start_tool$)|^GLIBC_' || fail "libupmu_omp.so.0 exports these, too"
[ "$(soname "$lib/libupmu_omp.so.0")" = libupmu_omp.so.0 ] || fail "SONAME of libupmu_omp is $(soname "$lib/libupmu_omp.so.0")"
tls=$(tls_bytes "$lib/libupmu_omp.so.0")
[ "$tls" -le 64 ] || fail "libupmu_omp.so takes $tls bytes of thread-local storage; 64 are allowed"
# And libupmu_heap, with those of the C library's allocator.
! exported "$lib/libupmu_heap.so.0" | grep -vE '^((c|m|re|v|pv)alloc|free|reallocarray|memalign|posix_memalign|aligned_alloc)$|^GLIBC_' ||
    fail "libupmu_heap.so.0 exports these, too"
[ "$(soname "$lib/libupmu_heap.so.0")" = libupmu_heap.so.0 ] || fail "SONAME of libupmu_heap is $(soname "$lib/libupmu_heap.so.0")"
tls=$(tls_bytes "$lib/libupmu_heap.so.0")
[ "$tls" -le 64 ] || fail "libupmu_heap.so takes $tls bytes of thread-local storage; 64 are allowed"

public=$(map_symbols "$maps/libupmu.map" | sed -n 's/@@UPMU_[0-9].*//p')
# Names that the headers NAME... declare, themselves or by what they include.
names_of()
{
    local headers=() name
    for name; do
        headers+=(-include "$tree/include/upmu/$name.h")
    done
    declared "${headers[@]}" -x c /dev/null | sort -u
}
mapfile -t all < <(basename -s .h "$tree"/include/upmu/*.h)
core=$(names_of upmu region overflow) sync=$(comm -23 <(names_of sync) <(names_of upmu region))
func=$(comm -23 <(names_of func) <(names_of upmu))
analysis=$(comm -23 <(names_of "${all[@]}") <(sort -u <<<"$core"$'\n'"$sync"$'\n'"$func"))
same "the headers declare something else than libupmu.map" "$public" "$core"
same "the headers declare something else than libupmu_analysis.map" \
    "$(map_symbols "$maps/libupmu_analysis.map" | sed 's/@@.*//')" "$analysis"
same "sync.h declares something else than libupmu_sync.map" \
    "$(map_symbols "$maps/libupmu_sync.map" | sed -n 's/@@UPMU_[0-9].*//p')" "$sync"
same "func.h declares something else than libupmu_func.map" \
    "$(map_symbols "$maps/libupmu_func.map" | sed -n 's/@@UPMU_[0-9].*//p')" "$func"

for needs in $(needed "$lib/libupmu.so"); do
    case $needs in
        libc.so.6 | libm.so.6) ;;
        *) fail "libupmu.so needs $needs; it may need the C library only" ;;
    esac
done
grep -qx libupmu.so.0 < <(needed "$lib/libupmu_analysis.so") || fail "libupmu_analysis.so does not name libupmu.so.0"

# Libraries of different releases do not load together: the node of what they share has the release in its name.
version=$(header_version "$tree")
printf 'UPMU_0.2 { };\nUPMU_PRIVATE_9.9.9 { global: upmu_*; };\n' >"$scratch/other.map"
exported "$lib/libupmu.so" | sed -n 's/@@.*/(void) { }/p' | sed 's/^/void /' >"$scratch/other.c"
"$CC" -w -shared -fPIC -Wl,-soname,libupmu.so.0 -Wl,--version-script="$scratch/other.map" "$scratch/other.c" \
    -o "$scratch/libupmu.so.0"
for name in libupmu_analysis libupmu_func libupmu_sync; do
    ! message=$(LD_LIBRARY_PATH=$scratch LD_PRELOAD=$lib/$name.so.0 /bin/true 2>&1) ||
        fail "$name loads with a libupmu of another release"
    grep -q "UPMU_PRIVATE_$version. not found" <<<"$message" || fail "the dynamic linker does not name the release: $message"
done

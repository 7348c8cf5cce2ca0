#!/usr/bin/env bash
# link.sh BIN LIB INCLUDES PC CC CXX: a program, a library of its own and a std::mutex user, built as strangers build: each
# one's locks are recorded, once, whether libupmu_sync is linked (with --as-needed too, and through pkg-config), preloaded,
# or both; and a second copy of the library in the process stays off.
set -euo pipefail
bin=$1 lib=$2 includes=$3 pc=$4 cc=$5 cxx=$6
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/link

for tool in pkg-config python3; do
    command -v $tool >/dev/null || { echo "skipped, because $tool is not installed"; exit 77; }
done
cd "$scratch"
"$cc" -O1 -shared -fPIC "$source/library.c" -o libone.so -pthread
"$cxx" -O1 -shared -fPIC "$source/library.cpp" -o libtwo.so -pthread
IFS=: read -r -a include_dirs <<<"$includes"

# build NAME LINK-FLAGS...
build()
{
    local name=$1
    shift
    "$cc" -O1 "${include_dirs[@]/#/-I}" "$source/main.c" -o "$name" "$@" -L. -lone -ltwo \
        -Wl,-rpath,"$scratch" -Wl,-rpath,"$lib" -pthread
}

# check NAME COMMAND...: each user of locks is seen, once; nothing outside begin and end
check()
{
    local name=$1
    shift
    UPMU_TRACE="$scratch/trace-$name" "$@" || fail "$name: status $?"
    events "$scratch/trace-$name" "$name.txt"
    expect "$name.txt" 1 '^process'
    for n in 11 22 33; do
        expect "$name.txt" 1 "^counts .* type=1 .*count=$n "
    done
    expect "$name.txt" 0 '^counts .*count=(1000|2000|66|44) '
}

build plain -L"$lib" -lupmu_sync -lupmu
build needed -Wl,--as-needed -L"$lib" -lupmu_sync -lupmu
mapfile -t flags < <(PKG_CONFIG_PATH=$pc pkg-config --define-variable=libdir="$lib" --libs upmu-sync | tr ' ' '\n' | grep .)
build through_pc -Wl,--as-needed "${flags[@]}"
static=('-Wl,--undefined=upmu_sync_begin,--export-dynamic' "$lib/libupmu_sync.a" "$lib/libupmu.a" -lm -ldl)
build static "${static[@]}"
! grep -q 'NEEDED.*libupmu' < <(readelf -d static) || fail "the static library needs a shared one"
for name in plain needed through_pc static; do
    check $name "./$name"
    # On top of the static one the preload stays off, but has a libupmu of its own, with a second, empty recording.
    [ $name = static ] || check $name-preloaded env LD_PRELOAD="$preload" "./$name"
done
echo "program, library and std::mutex: seen once each, linked in 4 ways and preloaded on top"

# A program that never calls us, preloaded; and linked by the flags of pkg-config, which keep the linker from leaving the
# library out. The lock of its library's constructor may come before us: 22 times or 23.
unaware()
{
    local name=$1 mode
    shift
    for mode in contended all; do
        UPMU_TRACE="$scratch/trace-$name-$mode" UPMU_SYNC=$mode "$@" || fail "$name, $mode: status $?"
        events "$scratch/trace-$name-$mode" "$name.txt"
        for n in 11 '(22|23)' 33; do
            expect "$name.txt" 1 "^counts .* type=1 .*count=$n "
        done
        [ $mode = all ] || continue
        for kind in acquire release; do
            n=$(count "$name.txt" "^$kind .*type=1 ")
            [ "$n" -eq 66 ] || [ "$n" -eq 67 ] || fail "$name: $n events $kind"
        done
    done
}
build stranger -DWITHOUT_UPMU
build kept_static -DWITHOUT_UPMU "${static[@]}"
build kept -DWITHOUT_UPMU -Wl,--as-needed "${flags[@]}"
unaware stranger env LD_PRELOAD="$preload" ./stranger
unaware kept ./kept
unaware kept_static ./kept_static
unaware kept-preloaded env LD_PRELOAD="$preload" ./kept
echo "and by the preload alone, or linked into a program that never calls it"

# A second copy: other bytes under another name, as another build would be.
python3 - "$(readlink -f "$preload")" copy.so <<'END'
import sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(data.replace(b"libupmu_sync.so.0\0", b"libupmu_copy.so.0\0"))
END
check copied env LD_PRELOAD="$scratch/copy.so" ./plain
# Both are asked to record from the start: only the first does, and what it sees it sees once.
UPMU_TRACE="$scratch/trace-two" UPMU_SYNC=all LD_PRELOAD="$scratch/copy.so" ./plain || fail "two copies: status $?"
events "$scratch/trace-two" two.txt
expect two.txt 1 '^process'
expect two.txt 1 '^counts .* count=2000 '
expect two.txt 1 '^counts .* count=11 '
expect two.txt 1 '^counts .* count=33 '
echo "a second copy stays off"

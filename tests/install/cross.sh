#!/usr/bin/env bash
# Cross builds: libupmu for another instruction set without a warning, installed, and used by programs that are cross built, too.
# cross.sh SOURCE DIR LIBS ISA [BUILD]; LIBS: folder of this machine's libraries; BUILD: a build for ISA with warnings as errors, which is
# used if it is there. The programs run if qemu-user is installed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source=$1 dir=$2 libs=$3 isa=$4 build=${5-} abi=gnu

case $isa in
aarch64) machine=AArch64 packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross" ;;
riscv64) machine=RISC-V packages="gcc-riscv64-linux-gnu libc6-dev-riscv64-cross" ;;
mips64el) machine=MIPS abi=gnuabi64 packages="gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross" ;;
*) fail "no cross build for $isa" ;;
esac
triplet=$isa-linux-$abi
gcc=$triplet-gcc
echo 'int main(void) { return 0; }' >"$scratch/empty.c"
if ! command -v "$gcc" >/dev/null || ! "$gcc" "$scratch/empty.c" -o "$scratch/empty" 2>/dev/null; then
    echo "skipped, because there is no cross compiler for $isa (Debian: $packages; scripts/deps.sh cross)"
    exit 77
fi

targets=(upmu_shared upmu_static upmu_sync_shared upmu_sync_static upmu_func_shared upmu_func_static upmu_mpi_shared upmu_omp_shared
    upmu_heap_shared)
mkdir -p "$dir"
tree=$dir/tree
configure()
{
    # -O0, and folders at once: what is looked at here does not depend on it.
    cmake -S "$source" -B "$dir" -DCMAKE_TOOLCHAIN_FILE="$source/cmake/toolchains/$isa.cmake" -DCMAKE_BUILD_TYPE= \
        -DCMAKE_C_FLAGS=-O0 -DCMAKE_INSTALL_LIBDIR=lib -DUPMU_WERROR=ON -DUPMU_BUILD_TESTS=OFF -DUPMU_BUILD_TOOLS=OFF \
        -DUPMU_BUILD_EXAMPLES=OFF -DUPMU_BUILD_BENCH=OFF -DUPMU_FOLDERS_AT_ONCE=ON
}
build_and_install()
{
    if [ ! -e "$build/build.ninja" ]; then
        configure && build=$dir || return 1
    fi
    exec 8>"${build%/*}/lock" # tests of the guests build there, too
    flock 8
    rm -rf "$tree"
    cmake --build "$build" --parallel 2 --target "${targets[@]}" && cmake --install "$build" --prefix "$tree"
}
build_and_install >"$dir/log" 2>&1 || { tail -n 40 "$dir/log"; fail "libupmu does not build for $isa"; }

# The libraries are of that machine, and export what those of this machine do.
exported() { readelf -W --dyn-syms "$1" | awk '$7 != "UND" && $5 != "LOCAL" && $8 ~ /^(upmu_|__cyg_)/ { print $8 }' | sort; }
for library in libupmu libupmu_sync libupmu_func; do
    grep -q "Machine:.*$machine" < <(readelf -h "$tree/lib/$library.so") || fail "$library.so is not of $machine"
    exported "$libs/$library.so" >"$scratch/here"
    exported "$tree/lib/$library.so" >"$scratch/there"
    [ -s "$scratch/here" ] || fail "$libs/$library.so exports nothing"
    diff "$scratch/here" "$scratch/there" || fail "$library exports other functions on $isa"
done

# A program finds the installed tree by pkg-config, as in the guide; the .pc files of this machine are out of sight.
export PKG_CONFIG_LIBDIR=$tree/lib/pkgconfig
mapfile -t shared < <(pkg-config --cflags --libs upmu | xargs -n 1)
mapfile -t static < <(pkg-config --static --cflags --libs upmu | xargs -n 1)
"$gcc" -std=c11 "$here/stranger.c" -o "$scratch/shared" "${shared[@]}"
"$gcc" -std=c11 -static "$here/stranger.c" -o "$scratch/static" "${static[@]}"
emulator=qemu-$isa
if ! command -v "$emulator" >/dev/null; then
    echo "built and linked for $isa; the programs do not run, because $emulator is not installed (Debian: qemu-user)"
    exit 0
fi
for program in shared static; do
    out=$("$emulator" -L "/usr/$triplet" -E LD_LIBRARY_PATH="$tree/lib" "$scratch/$program") ||
        fail "the $program program ended with status $? on $isa: $out"
    grep -qF "works for a stranger" <<<"$out" || fail "the $program program printed on $isa: $out"
done
echo "built, installed and used for $isa"

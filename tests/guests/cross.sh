# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034 # variables go from file to file
# Cross builds of libupmu with its tests, one folder per instruction set: the library with warnings as errors, the unit
# tests with a Check of the same instruction set, and the programs of the guests. Sourced after lib.sh.

# cross_tools ISA: sets $toolchain, the CMake file, and $emulator, the words before a foreign program; skips where
# compiler or emulator are not here
cross_tools()
{
    local isa=$1 triplet
    toolchain=$root/cmake/toolchains/$isa.cmake
    case $isa in
        aarch64)
            need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
            triplet=aarch64-linux-gnu
            ;;
        riscv64)
            need riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
            triplet=riscv64-linux-gnu
            ;;
        mips64el)
            need mips64el-linux-gnuabi64-gcc gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross
            triplet=mips64el-linux-gnuabi64
            ;;
        alpha)
            need alpha-linux-gnu-gcc gcc-alpha-linux-gnu libc6.1-dev-alpha-cross
            triplet=alpha-linux-gnu
            ;;
        *) fail "no cross build for '$isa'" ;;
    esac
    emulator="qemu-$isa;-L;/usr/$triplet"
}

# cross_check ISA: builds Check for the instruction set from Debian's source of it, once
cross_check()
{
    local isa=$1 prefix=$guests/check/$1 state
    [ ! -e "$prefix/ready" ] || return 0
    state=$(debian_state deb-src "$(dpkg --print-architecture)" "$(release)") ||
        skip "the Debian mirror of this machine does not give the list of its sources"
    rm -rf "$prefix"
    mkdir -p "$prefix/source"
    (cd "$prefix/source" && debian_apt "$state" apt-get source --download-only check) >/dev/null ||
        skip "the Debian mirror of this machine does not give the source of Check"
    tar -xf "$prefix"/source/check_*.orig.tar.* -C "$prefix/source" --strip-components=1
    logged "check-$isa-configure" cmake -G Ninja -S "$prefix/source" -B "$prefix/build" \
        -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCHECK_ENABLE_SUBUNIT=OFF -DCHECK_ENABLE_TESTS=OFF -DINSTALL_CHECKMK=OFF -DBUILD_TESTING=OFF \
        -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -Wno-dev ||
        fail "Check cannot be configured for $isa"
    logged "check-$isa-build" cmake --build "$prefix/build" --target install --parallel "$(nproc)" ||
        fail "Check cannot be built for $isa"
    touch "$prefix/ready"
}

# cross_build ISA TARGET...: leaves the build in $build
cross_build()
{
    local isa=$1
    shift
    build=$guests/$isa
    cross_tools "$isa"
    cross_check "$isa"
    PKG_CONFIG_LIBDIR=$guests/check/$isa/lib/pkgconfig logged "$isa-configure" \
        cmake -G Ninja -S "$root" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
        -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DUPMU_WERROR=ON \
        -DUPMU_BUILD_TESTS=ON -DUPMU_BUILD_TOOLS=OFF -DUPMU_BUILD_EXAMPLES=OFF -DUPMU_BUILD_BENCH=OFF ||
        fail "libupmu cannot be configured for $isa"
    logged "$isa-build" cmake --build "$build" --parallel "$(nproc)" --target "$@" ||
        fail "libupmu does not build for $isa without warnings"
}

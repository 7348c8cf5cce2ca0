# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034 # variables go from file to file
# Cross builds of libupmu with its tests, one folder per instruction set: the library with warnings as errors, the unit
# tests with a Check of the same instruction set, and the programs of the guests. Sourced after lib.sh.

# cross_tools ISA: sets $options, what CMake needs, and $emulator, the words before a foreign program; skips where
# compiler or emulator are not here
cross_tools()
{
    local isa=$1 sysroot
    options=("-DCMAKE_TOOLCHAIN_FILE=$root/cmake/toolchains/$isa.cmake")
    case $isa in
        aarch64)
            need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
            emulator="qemu-aarch64;-L;/usr/aarch64-linux-gnu"
            ;;
        riscv64)
            need riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
            emulator="qemu-riscv64;-L;/usr/riscv64-linux-gnu"
            ;;
        mips64el)
            need mips64el-linux-gnuabi64-gcc gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross
            emulator="qemu-mips64el;-cpu;Loongson-3A4000;-L;/usr/mips64el-linux-gnuabi64"
            ;;
        alpha)
            need alpha-linux-gnu-gcc gcc-alpha-linux-gnu libc6.1-dev-alpha-cross
            emulator="qemu-alpha;-L;/usr/alpha-linux-gnu"
            ;;
        loong64)
            need clang-19 clang-19 lld-19 llvm-19
            need ld.lld-19 clang-19 lld-19 llvm-19
            need llvm-objcopy-19 clang-19 lld-19 llvm-19
            loong64_sysroot
            emulator_tools qemu-user qemu-user # the release's own qemu lacks instructions of this C library
            options+=("-DCMAKE_SYSROOT=$sysroot")
            emulator="$tools/usr/bin/qemu-loongarch64;-L;$sysroot"
            ;;
        *) fail "no cross build for '$isa'" ;;
    esac
}

# Sets $sysroot to a folder with the C library of loong64, which Debian has in its unstable release alone.
loong64_sysroot()
{
    local state package file gcc why="the Debian mirror of this machine does not give the C library of loong64"
    sysroot=$guests/sysroots/loong64
    [ ! -e "$sysroot/ready" ] || return 0
    state=$(debian_state deb loong64 sid) || skip "$why"
    gcc=$(debian_depends "$state" gcc '^gcc-[0-9]+$')
    rm -rf "$sysroot"
    mkdir -p "$sysroot"
    for package in libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 "lib$gcc-dev" "$gcc-base"; do
        file=$(debian_package "$state" "$package") || skip "$why ($package)"
        dpkg-deb -x "$file" "$sysroot"
    done
    # What the packages leave to the base system: libraries are looked for from the root.
    for package in lib lib64; do
        [ -e "$sysroot/$package" ] || ln -s "usr/$package" "$sysroot/$package"
    done
    touch "$sysroot/ready"
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
        "${options[@]}" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCHECK_ENABLE_SUBUNIT=OFF -DCHECK_ENABLE_TESTS=OFF -DINSTALL_CHECKMK=OFF -DBUILD_TESTING=OFF \
        -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -Wno-dev ||
        fail "Check cannot be configured for $isa"
    logged "check-$isa-build" cmake --build "$prefix/build" --target install --parallel "$(nproc)" ||
        fail "Check cannot be built for $isa"
    rm -f "$prefix"/lib/libcheck.so* # into guests go static programs
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
        cmake -G Ninja -S "$root" -B "$build" "${options[@]}" \
        -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DUPMU_WERROR=ON \
        -DUPMU_BUILD_TESTS=ON -DUPMU_BUILD_TOOLS=OFF -DUPMU_BUILD_EXAMPLES=OFF -DUPMU_BUILD_BENCH=OFF -DUPMU_FOLDERS_AT_ONCE=ON ||
        fail "libupmu cannot be configured for $isa"
    logged "$isa-build" cmake --build "$build" --parallel "$(nproc)" --target "$@" ||
        fail "libupmu does not build for $isa without warnings"
}

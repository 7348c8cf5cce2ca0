#!/usr/bin/env bash
# Installs the Debian packages that building, demonstrating or testing libupmu needs; asks apt for what is missing only. For tests,
# also packages of npm, into build/npm, where npm is there.
#
#     scripts/deps.sh build|demo|test|soak|qtcreator|cross
#
# Installing needs root or sudo. UPMU_SKIP_DEPS=1 installs nothing, for systems other than Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build_packages=(gcc g++ libc6-dev cmake ninja-build libdw-dev libelf-dev libncurses-dev zlib1g-dev)
# libpfm4 and libunwind are opened at run time where they are found: native event names and call stacks.
demo_packages=("${build_packages[@]}" libbz2-dev pbzip2 babeltrace2 libpfm4 libunwind8)
# What the recorder is tried on. Debian starts the servers among them as it installs them; the tests start their own.
real_programs=(git libjemalloc2 libtcmalloc-minimal4 memcached nginx pigz rocksdb-tools redis-server sqlite3 xz-utils zstd)
test_packages=("${demo_packages[@]}" abigail-tools pkg-config check clang libclang-rt-14-dev clang-format clang-tidy shellcheck
    python3 python3-bt2 linux-perf libpapi-dev libpfm4-dev libseccomp-dev strace protobuf-compiler valgrind
    gfortran python3-jsonschema python3-numpy python3-pandas mandoc zsh fish
    debhelper dh-python fakeroot lintian mmdebstrap qtbase5-dev qt6-base-dev
    chromium gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
    gcc-mips64el-linux-gnuabi64 g++-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross qemu-system-arm qemu-user cpio
    openmpi-bin libopenmpi-dev eztrace mpich libmpich-dev otf2-tools python3-otf2 libomp-14-dev
    "${real_programs[@]}")
# Rules of accessibility for the pages, and the compiler that checks the extension of Visual Studio Code.
npm_packages=(axe-core@4.14.1 typescript@5.9.3 @types/node@18.19.130)
soak_packages=("${test_packages[@]}" default-jdk-headless ffmpeg hpcc lammps lammps-examples mariadb-server nodejs postgresql scalapack-mpi-test libfaketime libeatmydata1 liblttng-ust1 ruby p7zip-full php-cli lua5.4 guile-3.0 varnish mono-mcs mono-runtime)

# The plugin of Qt Creator, and a screen to drive it on; as large as all of the others together.
qtcreator_packages=("${build_packages[@]}" qtcreator qt6-base-dev qt6-webengine-dev libgl1-mesa-dri xvfb openbox)

# Cross builds (install.cross_*), which are skipped without them.
cross_packages=("${build_packages[@]}" pkg-config gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
    gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross qemu-user)

die()
{
    printf 'deps: %s\n' "$@" >&2
    exit 1
}

is_installed()
{
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

can_be_had()
{
    local candidate
    candidate=$(LC_ALL=C apt-cache policy "$1" | sed -n 's/^  Candidate: //p')
    [ -n "$candidate" ] && [ "$candidate" != "(none)" ]
}

# As root, through sudo where we are not; the caller has checked that one of them is possible.
as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

install_missing()
{
    local package missing=() unknown=()
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    echo "deps: missing: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        die "these packages are missing, and there is neither root nor sudo to install them with. As root, run:" \
            "    apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    fi
    as_root apt-get -qq -o DPkg::Lock::Timeout=120 update ||
        echo "deps: apt-get update failed; trying with the package lists that are there" >&2
    for package in "${missing[@]}"; do
        can_be_had "$package" || unknown+=("$package")
    done
    if [ ${#unknown[@]} -gt 0 ]; then
        die "no package source of this system has: ${unknown[*]}" \
            "Look at /etc/apt/sources.list* (Debian 12 \"main\" has them all) and at the network, then run this again."
    fi
    echo "deps: installing them"
    as_root apt-get -qq -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 install --no-install-recommends \
        "${missing[@]}" >/dev/null || die "apt-get could not install: ${missing[*]} (its own message is above)"
    for package in "${missing[@]}"; do
        is_installed "$package" || die "apt-get reported success, but $package is not installed"
    done
}

# Without them, the tests that need them are skipped.
install_npm()
{
    local package missing=()
    for package in "${npm_packages[@]}"; do
        [ -d "build/npm/node_modules/${package%@*}" ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v npm >/dev/null || { echo "deps: without npm (Debian: npm): ${missing[*]}"; return 0; }
    mkdir -p build/npm
    timeout 120 npm install --prefix build/npm --no-audit --no-fund --ignore-scripts --loglevel=error "${npm_packages[@]}" >/dev/null ||
        echo "deps: npm could not install: ${missing[*]}" >&2
}

main()
{
    local -a packages
    case ${1-} in
        build) packages=("${build_packages[@]}") ;;
        demo) packages=("${demo_packages[@]}") ;;
        test) packages=("${test_packages[@]}") ;;
        soak) packages=("${soak_packages[@]}") ;;
        qtcreator) packages=("${qtcreator_packages[@]}") ;;
        cross) packages=("${cross_packages[@]}") ;;
        *)
            echo "usage: scripts/deps.sh build|demo|test|soak|qtcreator|cross" >&2
            exit 2
            ;;
    esac
    if [ "${UPMU_SKIP_DEPS-}" = 1 ]; then
        echo "deps: not looked at, because UPMU_SKIP_DEPS=1"
        return
    fi
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        die "this is not a Debian system. Install what these packages contain, then run again with UPMU_SKIP_DEPS=1:" \
            "    ${packages[*]}"
    fi
    install_missing "${packages[@]}"
    [ "$1" != test ] || install_npm
    echo "deps: all ${#packages[@]} packages are there"
}

main "$@"

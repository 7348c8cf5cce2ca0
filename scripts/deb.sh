#!/usr/bin/env bash
# Debian packages of the tree, built from a copy, checked, and tried in a clean system.
#
#     scripts/deb.sh build OUT           packages into the folder OUT; needs debhelper, dh-python, fakeroot
#     scripts/deb.sh lint OUT            lintian over them: a warning is a failure
#     scripts/deb.sh try OUT CACHE       as root: installs them in a fresh Debian 12 and uses them; CACHE keeps that system as
#                                        bookworm.tar, made by mmdebstrap if it is not there
#
# Exit status: 0, 1 a fault, 77 it cannot be done here (it prints why).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

skip()
{
    echo "skipped, because $*"
    exit 77
}

need()
{
    local package=$1 program=$2
    command -v "$program" >/dev/null || skip "$program is not installed (Debian: $package)"
}

build()
{
    local out=$1
    need debhelper dh
    need dh-python dh_python3
    need fakeroot fakeroot
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    mkdir -p "$out" "$scratch/libupmu"
    # What git has, changes that are not committed included.
    (cd "$root" && git ls-files -z -co --exclude-standard | xargs -0 cp --parents -Pt "$scratch/libupmu" 2>/dev/null) ||
        (cd "$root" && tar -c --exclude=./build --exclude=./.git . | tar -xC "$scratch/libupmu")
    (cd "$scratch/libupmu" && env -u CFLAGS -u LDFLAGS DEB_BUILD_OPTIONS="parallel=${JOBS:-2} nocheck" dpkg-buildpackage -us -uc -b) \
        >"$out/build.log" 2>&1 || { tail -40 "$out/build.log"; exit 1; }
    rm -f "$out"/*.deb "$out"/*.changes "$out"/*.buildinfo
    mv "$scratch"/*.deb "$scratch"/*.changes "$scratch"/*.buildinfo "$out"
    ls "$out"
}

lint()
{
    need lintian lintian
    scratch=$(mktemp -d) # lintian leaves files in it
    trap 'rm -rf "$scratch"' EXIT
    TMPDIR=$scratch lintian --allow-root -EI --pedantic --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$1"/*.changes
}

in_system()
{
    chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@"
}

try()
{
    local out=$1 cache=$2
    need mmdebstrap mmdebstrap
    [ "$(id -u)" -eq 0 ] || skip "a system is unpacked and entered by root"
    mkdir -p "$cache"
    if [ ! -s "$cache/bookworm.tar" ]; then
        # gcc and libdw1 are there, so that what follows needs no network.
        mmdebstrap --quiet --variant=apt --mode=root --include=gcc,libc6-dev,pkgconf,python3,libdw1,libncursesw6 \
            bookworm "$cache/new.tar" || { rm -f "$cache/new.tar"; skip "mmdebstrap cannot make a Debian 12 here (its message is above)"; }
        mv "$cache/new.tar" "$cache/bookworm.tar"
    fi
    system=$(mktemp -d)
    trap 'rm -rf --one-file-system "$system"' EXIT
    tar -xf "$cache/bookworm.tar" -C "$system"
    mkdir -p "$system/packages" "$system/proc"
    cp "$out"/*.deb "$system/packages"
    rm -f "$system"/packages/*dbgsym*
    in_system sh -c 'dpkg -i /packages/*.deb' >"$system/log" 2>&1 || { cat "$system/log"; exit 1; }
    cp "$root/examples/regions.c" "$system/root"
    cat >"$system/root/use.sh" <<'END'
set -eux
cd /root
upmu --version
upmu list --cpu 3A6000 >/dev/null
cc regions.c $(pkg-config --cflags --libs upmu) -o regions
cc regions.c $(pkg-config --cflags --libs upmu-sync upmu-analysis) -o linked
UPMU_REPORT=text ./regions 2>&1 | grep region
upmu record -o trace -- ./regions
upmu report trace | grep Threads
upmu export -f arrow -o trace.arrows trace
test -e "$(pkg-config --variable=fortrandir upmu)/upmu.f90"
python3 -c 'import upmu; print(upmu.Recording("trace").threads)'
test -e /usr/share/man/man3/upmu_set_open.3.gz
dpkg --purge python3-upmu upmu-tools libupmu-dev libupmu-sync0 libupmu-func0 libupmu-mpi0 libupmu-omp0 libupmu-heap0 libupmu-analysis0 libupmu0 upmu-doc
test -z "$(find /usr -name '*upmu*' -not -path '*/__pycache__/*')"
END
    # /proc is that of this system: the recorder reads it.
    mount -t proc proc "$system/proc" 2>/dev/null || skip "/proc cannot be mounted in the fresh system"
    trap 'umount "$system/proc"; rm -rf --one-file-system "$system"' EXIT
    in_system sh /root/use.sh >"$system/log" 2>&1 || { cat "$system/log"; exit 1; }
    echo "installed, used and removed"
}

case ${1:-}:$# in
    build:2) build "$2" ;;
    lint:2) lint "$2" ;;
    try:3) try "$2" "$3" ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | head -n -1 >&2
        exit 2
        ;;
esac

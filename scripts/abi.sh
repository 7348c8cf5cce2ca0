#!/usr/bin/env bash
# Compares the ABI of the built libraries with the dumps in tests/abi, or writes these anew.
#
#     scripts/abi.sh check [BUILD]      BUILD: by default build/release, built by gcc with debug information
#     scripts/abi.sh update [BUILD]     after an intended change; describe it in the commit and CHANGELOG.md. From version
#                                       1.0 on it refuses changes that are not additions (CONTRIBUTING.md, ABI)
#
# ABI_MAJOR=N in the environment overrides the major version, to try that.
#
# Exit status: 0 no difference, 1 a difference, 77 it cannot be checked here (it prints why).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dumps=$root/tests/abi
libraries=(libupmu libupmu_sync libupmu_func libupmu_analysis)

skip()
{
    echo "skipped, because $*"
    exit 77
}

# dump LIBRARY OUT: what the public headers declare of it, without anything that depends on this machine or its build cache
dump()
{
    abidw --headers-dir "$headers" --drop-private-types --exported-interfaces-only \
        --suppressions "$scratch/private" --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed \
        --type-id-style hash --out-file "$2" "$1"
    sed -i "s|path='[./]*/lib/|path='lib/|; /<elf-symbol name='upmu_recorder_.* type='tls-type'/d" "$2"
    python3 "$root/scripts/abi_units.py" "$2"
}

mode=${1:-} build=${2:-$root/build/release}
case $mode in
    check | update) ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | head -n -1 >&2
        exit 2
        ;;
esac
[ "$(uname -m)" = x86_64 ] || skip "the dumps are of x86_64, this machine is $(uname -m)"
for tool in abidw abidiff; do
    command -v $tool >/dev/null || skip "$tool is not installed (Debian: abigail-tools)"
done
[ -e "$build/lib/libupmu.so" ] || { echo "abi.sh: $build/lib/libupmu.so is not built" >&2; exit 2; }
! grep -q '^UPMU_SANITIZE:.*=.' "$build/CMakeCache.txt" || skip "a sanitizer is in this build"
grep -q GCC < <(readelf -p .comment "$build/lib/libupmu.so") && ! grep -q clang < <(readelf -p .comment "$build/lib/libupmu.so") ||
    skip "the dumps are of gcc, and this build is of another compiler"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
headers=$scratch/include
cp -r "$root/include" "$headers"
cp "$build/include/upmu/version.h" "$headers/upmu"

# Left out: what only libraries of one release share, and the names of the C library that libupmu_sync takes over.
private=$(nm -D --defined-only "$build/lib/libupmu.so" | sed -n 's/.* \(upmu_.*\)@@UPMU_PRIVATE_.*/\1/p' | paste -sd '|')
printf '[suppress_function]\nsymbol_name_regexp = ^(%s)$\ndrop = yes\n[suppress_function]\nsymbol_name_not_regexp = ^upmu_\ndrop = yes\n' \
    "$private" >"$scratch/private"

major=${ABI_MAJOR:-$(sed -n 's/^#define UPMU_VERSION_MAJOR //p' "$headers/upmu/version.h")}
bad=0
for library in "${libraries[@]}"; do
    dump "$build/lib/$library.so" "$scratch/$library.abi"
    if [ "$mode" = update ]; then
        status=0
        abidiff "$dumps/$library.abi" "$scratch/$library.abi" >"$scratch/changes" || status=$?
        # Bit 8 of the exit status: an incompatible change, such as a removed function.
        if [ "$major" -ge 1 ] && [ $((status & 8)) -ne 0 ]; then
            cat "$scratch/changes"
            echo "$library: within a major version the ABI only grows; tests/abi/$library.abi is not changed" >&2
            bad=1
            continue
        fi
        cp "$scratch/$library.abi" "$dumps/$library.abi"
        continue
    fi
    status=0
    abidiff --harmless "$dumps/$library.abi" "$scratch/$library.abi" \
        >"$scratch/changes" || status=$?
    if [ $status -ne 0 ] || [ -s "$scratch/changes" ]; then
        cat "$scratch/changes"
        echo "$library: the ABI is not that of tests/abi/$library.abi (abidiff: $status). If it is meant to change:" \
            "scripts/abi.sh update"
        bad=1
    fi
done
# The declarations of the Python package are made from the same headers.
[ "$mode" = check ] || python3 "$root/bindings/python/generate.py"
exit $bad

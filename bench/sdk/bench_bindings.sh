#!/usr/bin/env bash
# What a region costs in C++, Fortran and Python while regions are off, by CPU time, and what the protocol's replies take.
#
#     bench/sdk/bench_bindings.sh BUILD [--short] [--no-bars] [--json] [--no-heading]
#
# --short: bars three times as high, a tenth of the requests. Exit status: 0 all bars met, 1 one missed, 77 nothing could be measured.
set -euo pipefail

build=${1:?usage: bench_bindings.sh BUILD [--short] [--no-bars] [--json] [--no-heading]}
shift
build=$(realpath "$build")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
slack=1 json=0 heading=1 requests=200
for option; do
    case $option in
    --short) slack=3 requests=20 ;;
    --no-bars) slack=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_bindings.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
includes=(-I"$root/include" -I"$build/include" -I"$root/bindings/cpp")
export LD_LIBRARY_PATH=$build/lib UPMU_LIBRARY=$build/lib PYTHONPATH=$root/bindings/python PYTHONDONTWRITEBYTECODE=1
missed=0 rows=0

# judge UNIT BARS: rows "NAME<tab>VALUE<tab>FLOOR" of the input against "NAME=BAR" lines; a name without a bar is not judged
judge()
{
    local unit=$1 bars=$2 name value floor bar verdict
    while IFS=$'\t' read -r name value floor; do
        bar=$(sed -n "s/^$name=//p" <<<"$bars")
        verdict=$(awk -v v="$value" -v bar="${bar:-0}" -v slack=$slack \
            'BEGIN { print slack * bar == 0 ? "not judged" : v <= bar * slack ? "met" : "MISSED" }')
        if [ $json -eq 1 ]; then
            printf '{"bench":"bindings","name":"%s","verdict":"%s","%s":%s,"beside":"%s","bar":%s,"slack":%s}\n' "$name" "$verdict" "$unit" \
                "$value" "${floor:-none}" "${bar:-null}" $slack
        else
            printf '%-44s %9s %42s %9s  %s\n' "$name" "$value $unit" "${floor:+beside $floor}" "${bar:-none}" "$verdict"
        fi
        [ "$verdict" != MISSED ] || missed=1
        rows=$((rows + 1))
    done
}

[ $json -eq 1 ] || [ $heading -eq 0 ] || printf '%-44s %9s %42s %9s  %s\n' what 'CPU time' floor bar verdict
if command -v "${CXX:-c++}" >/dev/null; then
    "${CXX:-c++}" -std=c++17 -O2 "${includes[@]}" "$here/off.cpp" -o "$scratch/cpp" -L"$build/lib" -lupmu
    judge ns $'C++ scope of a region, off=0.6\nC++ scope of a literal, off=0.6' < <("$scratch/cpp")
fi
if command -v gfortran >/dev/null; then
    (cd "$scratch" && gfortran -O2 "$root/bindings/fortran/upmu.f90" "$here/off.f90" -o fortran -L"$build/lib" -lupmu_sync -lupmu)
    judge ns $'Fortran handle, off=8' < <("$scratch/fortran")
fi
if command -v python3 >/dev/null; then
    judge ns $'Python context manager, off=150' < <(python3 "$here/off.py")
    scene=$build/tests/analysis/analysis_scene
    [ -x "$scene" ] || { echo "rows of the protocol: skipped, because the tests are not built" >&2; exit $missed; }
    judge ms $'protocol, next page of a view, p99=5\nprotocol, deadlocks, p99=5\nprotocol, status, p99=5' \
        < <(python3 "$here/protocol.py" "$build/tools/upmu/upmu" "$scene" $requests)
fi
[ $rows -gt 0 ] || { echo "bench_bindings skipped, because no compiler and no Python is installed"; exit 77; }
exit $missed

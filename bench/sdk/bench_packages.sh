#!/usr/bin/env bash
# CPU time of the ABI check, and of packages that are installed, used and removed in a fresh Debian 12.
#
#     bench/sdk/bench_packages.sh BUILD [--short] [--no-bars] [--json] [--no-heading]
#
# The packages and the archive of the fresh system are those that the test install.packages leaves in BUILD/packages (its
# DEB_CACHE_DIR is used, too). --short leaves them out. Exit status: 0 all bars met, 1 one missed, 77 skipped.
set -euo pipefail

build=${1:?usage: bench_packages.sh BUILD [--short] [--no-bars] [--json] [--no-heading]}
shift
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readings=5 slack=1 json=0 heading=1 short=0
for option; do
    case $option in
    --short) short=1 slack=3 ;;
    --no-bars) slack=0 ;;
    --json) json=1 ;;
    --no-heading) heading=0 ;;
    *)
        echo "bench_packages.sh: unknown option $option" >&2
        exit 2
        ;;
    esac
done
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=77

# print_row NAME BAR VERDICT SECONDS [WHY]
print_row()
{
    if [ $json -eq 1 ]; then
        printf '{"bench":"packages","name":"%s","verdict":"%s","cpu_seconds":%s,"bar":%s,"slack":%s}\n' "$1" "$3" "${4:-null}" "$2" $slack
    elif [ "$3" = skipped ]; then
        printf '%-44s skipped, because %s\n' "$1" "$5"
    else
        printf '%-44s %7s s %42s %7s s  %s\n' "$1" "$4" '' "$2" "$3"
    fi
}

# cpu_seconds COMMAND...: its CPU time with that of its children, in $seconds; its output in $output
cpu_seconds()
{
    local TIMEFORMAT='%U %S' spent rc=0
    spent=$({ time "$@" >"$output" 2>&1; } 2>&1) || rc=$?
    seconds=$(awk '{ printf "%.2f", $1 + $2 }' <<<"$spent")
    return $rc
}

# row NAME BAR READINGS COMMAND...: the least of some readings
row()
{
    local name=$1 bar=$2 times=$3 least='' rc i verdict
    shift 3
    for ((i = 0; i < times; i++)); do
        rc=0
        cpu_seconds "$@" || rc=$?
        if [ $rc -eq 77 ]; then
            print_row "$name" "$bar" skipped '' "$(sed -n 's/.*skipped, because //p' "$output" | head -n 1)"
            return
        elif [ $rc -ne 0 ]; then
            echo "bench_packages FAILED, because $* ended with $rc: $(tail -n 3 "$output")" >&2
            exit 1
        fi
        least=$(awk -v a="${least:-$seconds}" -v b="$seconds" 'BEGIN { print a < b ? a : b }')
    done
    verdict=$(awk -v s="$least" -v bar="$bar" -v slack=$slack \
        'BEGIN { print slack == 0 ? "not judged" : s <= bar * slack ? "met" : "MISSED" }')
    print_row "$name" "$bar" "$verdict" "$least"
    [ "$verdict" != MISSED ] || missed=1
    status=0
}

if [ $json -eq 0 ] && [ $heading -eq 1 ]; then
    printf '%-44s %9s %42s %9s  %s\n' what 'CPU time' '' bar verdict
fi
missed=0
row "ABI check" 5 $((short ? 1 : readings)) "$root/scripts/abi.sh" check "$build"
if [ $short -eq 0 ]; then
    name="a fresh Debian 12: unpack, install, use" cache=${DEB_CACHE_DIR:-$build/packages/system}
    if ! compgen -G "$build/packages/libupmu0_*.deb" >/dev/null || [ ! -s "$cache/bookworm.tar" ]; then
        print_row "$name" 60 skipped '' "$build/packages has no packages and no system (ctest -R install.packages makes them)"
    else
        row "$name" 60 1 "$root/scripts/deb.sh" try "$build/packages" "$cache"
    fi
fi
[ $missed -eq 0 ] || status=1
exit $status

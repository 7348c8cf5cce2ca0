#!/usr/bin/env bash
# Runs libupmu on other instruction sets, under emulation; the test suite runs the shortest of these only.
#
#     scripts/guests.sh [NAME...]     by default all
#     scripts/guests.sh list          their names
#
# What is downloaded and built is kept in build/release/guests. The last line is "N passed, N failed, N skipped", and the
# exit status is 0 only if nothing failed. What is missing on this machine is named by the test that is skipped for it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=build/release/guests
upmu=build/release/tools/upmu/upmu

# NAME, then the script of tests/guests and its arguments.
table="
arm64           arm64.sh $upmu
arm64-trixie    arm64.sh $upmu trixie
arm64-perf      arm64_perf.sh
riscv64         riscv64.sh $upmu
loongson3       loongson3.sh
loong64         loong64.sh
user-aarch64    foreign.sh aarch64
user-riscv64    foreign.sh riscv64
user-mips64el   foreign.sh mips64el
user-alpha      foreign.sh alpha
user-loong64    foreign.sh loong64
"

names()
{
    awk 'NF { print $1 }' <<<"$table"
}

# run NAME: its status
run()
{
    local -a words
    read -ra words <<<"$(awk -v name="$1" '$1 == name { $1 = ""; print }' <<<"$table")"
    bash "tests/guests/${words[0]}" "$folder" "${words[@]:1}"
}

main()
{
    local name status passed=0 failed=0 skipped=0
    if [ "${1-}" = list ]; then
        names
        return
    fi
    for name in "$@"; do
        if ! grep -qx -- "$name" < <(names); then
            echo "guests: there is no '$name'; scripts/guests.sh list names those there are" >&2
            exit 2
        fi
    done
    # shellcheck disable=SC2046 # one word each
    [ $# -gt 0 ] || set -- $(names)
    for name in "$@"; do
        printf '\n== %s\n' "$name"
        status=0
        run "$name" || status=$?
        case $status in
            0) passed=$((passed + 1)) ;;
            77) skipped=$((skipped + 1)) ;;
            *) failed=$((failed + 1)); echo "== $name FAILED" ;;
        esac
    done
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

main "$@"

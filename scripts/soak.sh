#!/usr/bin/env bash
# Runs programs by others under the recorder, also those too large for the test suite, some rounds each.
#
#     scripts/soak.sh [-n ROUNDS] [NAME...]     by default one round of all
#     scripts/soak.sh list                      their names
#
# Installs what is missing (scripts/deps.sh soak), builds with the release preset. Each script compares the output of
# the program with and without the recorder and inspects the recording. The last line is "N passed, N failed, N skipped", and
# the exit status is 0 only if nothing failed. docs/soak.md has the results.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$PWD/build/release
programs=(pbzip2 xz zstd pigz sqlite3 python3 git rocksdb jemalloc tcmalloc openmp ffmpeg java node)
servers=(redis memcached nginx postgresql mariadb)

# run NAME: its status
run()
{
    local server arguments=("$build/tests/sync" "$build/lib")
    for server in "${servers[@]}"; do
        if [ "$server" = "$1" ]; then
            bash "tests/real/$1.sh" "${arguments[@]}"
            return
        fi
    done
    bash tests/real/program.sh "${arguments[@]}" "$1" "$build/tests/real/real_openmp"
}

main()
{
    local rounds=1 name round status passed=0 failed=0 skipped=0
    local -a names=("${programs[@]}" "${servers[@]}")
    case ${1-} in
        list)
            printf '%s\n' "${names[@]}"
            return
            ;;
        -n)
            rounds=${2-}
            if ! [[ $rounds =~ ^[1-9][0-9]*$ ]]; then
                echo "soak: -n wants a number of rounds, not '$rounds'" >&2
                exit 2
            fi
            shift 2
            ;;
    esac
    for name in "$@"; do
        if ! printf '%s\n' "${names[@]}" | grep -x -- "$name" >/dev/null; then
            echo "soak: there is no '$name'; scripts/soak.sh list names those there are" >&2
            exit 2
        fi
    done
    [ $# -eq 0 ] || names=("$@")

    scripts/deps.sh soak
    cmake --preset release -DUPMU_BUILD_TESTS=ON >/dev/null
    cmake --build "$build" >"$build/soak-build.log" 2>&1 || { cat "$build/soak-build.log"; exit 1; }
    for round in $(seq "$rounds"); do
        for name in "${names[@]}"; do
            printf '\n== %s, round %s of %s\n' "$name" "$round" "$rounds"
            status=0
            SECONDS=0
            run "$name" || status=$?
            case $status in
                0) passed=$((passed + 1)) ;;
                77) skipped=$((skipped + 1)) ;;
                *) failed=$((failed + 1)) ;;
            esac
            echo "status $status after $SECONDS s"
        done
    done
    printf '\n%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    [ $failed -eq 0 ]
}

main "$@"

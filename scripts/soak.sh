#!/usr/bin/env bash
# Runs programs by others under the recorder, also those too large for the test suite, some rounds each, and attacks
# recorded programs: kills, limits, loads, preloads, failing system calls; measures what recording costs programs by others, and fuzzes
# the readers.
#
#     scripts/soak.sh [-n ROUNDS] [NAME...]     by default one round of all
#     scripts/soak.sh [-n ROUNDS] programs      other people's programs only
#     scripts/soak.sh [-n ROUNDS] attacks       attacks only; `attacks short` takes two minutes
#     scripts/soak.sh list                      their names
#
# Installs what is missing (scripts/deps.sh soak), builds with the release preset. Each script compares the output of
# the program with and without the recorder and inspects the recording. At the end one table has a row per name and round; the
# last line is "N passed, N failed, N skipped", and the exit status is 0 only if nothing failed. docs/soak.md has the results.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$PWD/build/release
programs=(pbzip2 xz zstd pigz sqlite3 python3 git rocksdb jemalloc tcmalloc openmp ffmpeg java node)
jobs=(scalapack lammps hpcc mpikills mpichtests)
servers=(redis memcached nginx postgresql mariadb)
attacks=(kills limits threads locks preloads commands faults costs fuzz)
short=

# run NAME: its status
run()
{
    local server attack job arguments=("$build/tests/sync" "$build/lib")
    case $1 in
    costs)
        bash tests/real/costs.sh "$build" ${short:+1} ${short:+sort make sqlite3}
        return
        ;;
    fuzz)
        scripts/fuzz.sh -t "$([ -n "$short" ] && echo 5 || echo 600)"
        return
        ;;
    esac
    for server in "${servers[@]}"; do
        if [ "$server" = "$1" ]; then
            bash "tests/real/$1.sh" "${arguments[@]}"
            return
        fi
    done
    for job in "${jobs[@]}"; do
        if [ "$job" = "$1" ]; then
            if [ "$1" = mpikills ]; then # 50 of each MPI
                bash tests/mpi/kill.sh "$PWD/tests/mpi" "$build/tools/upmu/upmu" openmpi 50 &&
                    bash tests/mpi/kill.sh "$PWD/tests/mpi" "$build/tools/upmu/upmu" mpich 50
            elif [ "$1" = mpichtests ] && [ ! -d "${MPICH_SOURCE-}" ]; then
                echo "skipped, because MPICH_SOURCE is not the path of MPICH's sources"
                return 77
            elif [ "$1" = mpichtests ]; then
                python3 tests/real/mpich_suite.py "$MPICH_SOURCE" "$build/tools/upmu/upmu" mpich &&
                    python3 tests/real/mpich_suite.py "$MPICH_SOURCE" "$build/tools/upmu/upmu" openmpi
            else
                bash tests/real/mpi.sh "$build/tools/upmu/upmu" "$1"
            fi
            return
        fi
    done
    for attack in "${attacks[@]}"; do
        if [ "$attack" = "$1" ]; then
            bash tests/real/attack.sh "$build" "$1" $short
            return
        fi
    done
    bash tests/real/program.sh "${arguments[@]}" "$1" "$build/tests/real/real_openmp"
}

main()
{
    local rounds=1 name round status result passed=0 failed=0 skipped=0
    local -a names=("${programs[@]}" "${servers[@]}" "${jobs[@]}" "${attacks[@]}") wanted=()
    local table=$build/soak-table log=$build/soak-log
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
        case $name in
            programs) wanted+=("${programs[@]}" "${servers[@]}") ;;
            attacks) wanted+=("${attacks[@]}") ;;
            short) short=short ;;
            *) wanted+=("$name") ;;
        esac
    done
    for name in "${wanted[@]}"; do
        if ! printf '%s\n' "${names[@]}" | grep -x -- "$name" >/dev/null; then
            echo "soak: there is no '$name'; scripts/soak.sh list names those there are" >&2
            exit 2
        fi
    done
    [ ${#wanted[@]} -eq 0 ] || names=("${wanted[@]}")

    scripts/deps.sh soak
    cmake --preset release -DUPMU_BUILD_TESTS=ON >/dev/null
    cmake --build "$build" >"$build/soak-build.log" 2>&1 || { cat "$build/soak-build.log"; exit 1; }
    : >"$table"
    for round in $(seq "$rounds"); do
        for name in "${names[@]}"; do
            printf '\n== %s, round %s of %s\n' "$name" "$round" "$rounds"
            status=0
            SECONDS=0
            { run "$name" || echo $? >"$log.status"; } 2>&1 | tee "$log"
            [ ! -e "$log.status" ] || status=$(cat "$log.status")
            rm -f "$log.status"
            case $status in
                0) passed=$((passed + 1)) result=passed ;;
                77) skipped=$((skipped + 1)) result=skipped ;;
                *) failed=$((failed + 1)) result=FAILED ;;
            esac
            printf '%-12s %-8s %6d s  %s\n' "$name" "$result" "$SECONDS" "$(grep -v '^$' "$log" | tail -1 | cut -c1-100)" >>"$table"
        done
    done
    printf '\n%-12s %-8s %8s  %s\n' NAME RESULT TIME "LAST LINE"
    cat "$table"
    printf '\n%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    [ $failed -eq 0 ]
}

main "$@"

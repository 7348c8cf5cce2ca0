#!/usr/bin/env bash
# Prints which lines of the library the tests execute, by folder of lib/, and which files have least.
#
#     scripts/coverage.sh [-R REGEX] [-l LEAST]
#
# Builds with gcc's --coverage in build/coverage and runs the tests of units, behaviors and scripts there (-R: those whose names
# match). A process that is killed leaves no counts. Exit status: 1 if core, region, trace, sync_trace, deadlock or analysis have
# fewer than LEAST percent (90) of their lines. An hour on two processors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/coverage regex=. least=90
while getopts R:l: option; do
    case $option in
    R) regex=$OPTARG ;;
    l) least=$OPTARG ;;
    *)
        sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 2
        ;;
    esac
done

# Not optimized, so that lines are lines; counts of threads are atomic, and written by _exit() only where the program calls exit().
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic -O1" \
    -DCMAKE_EXE_LINKER_FLAGS=--coverage -DCMAKE_SHARED_LINKER_FLAGS=--coverage -DCMAKE_MODULE_LINKER_FLAGS=--coverage \
    -DUPMU_BUILD_TESTS=ON -DUPMU_BUILD_BENCH=OFF >/dev/null
nice cmake --build $build --parallel "$(nproc)" >$build/build.log 2>&1 || { tail -20 $build/build.log >&2; exit 1; }
find $build -name '*.gcda' -delete
# Tests that fail here (sizes of code and costs differ) are the suite's business; their lines count.
nice ctest --test-dir $build -R "$regex" -LE 'slow|bench' -j "$(nproc)" --timeout 600 >$build/tests.log 2>&1 || true
tail -3 $build/tests.log
python3 scripts/coverage.py $build "$least"

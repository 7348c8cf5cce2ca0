#!/usr/bin/env bash
# The plugin in the real Qt Creator on a virtual screen: builds it, and drives a project with it from build to deadlock.
#
#     scripts/qtcreator.sh [--cost] [FOLDER]     screenshots and the log into FOLDER, by default build/qtcreator/proof-run
#
# --cost measures instead what the live window costs beside a million lock events a second: the program that is watched, and the IDE
# with its server (bench/watch/watch.py), on a machine with nothing else to do.
# Needs a build of upmu (UPMU, or build/release) and the packages of `scripts/deps.sh qtcreator`; takes about two minutes; with --cost three.
# Exit status: 0 passed, 1 failed, 77 skipped, with the reason.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source=$PWD/integrations/qtcreator-plugin
build=$PWD/build/qtcreator
cost=0
[ "${1-}" != --cost ] || { cost=1; shift; }
folder=${1:-$build/proof-run}
upmu=${UPMU:-$PWD/build/release/tools/upmu/upmu}
work=$(mktemp -d)
# shellcheck source=screen.sh
. scripts/screen.sh
trap 'kill "${screen_jobs[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

skip()
{
    echo "skipped, because $*"
    exit 77
}

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

check_tools()
{
    local tool
    for tool in qtcreator cmake c++ Xvfb openbox; do
        command -v "$tool" >/dev/null || skip "$tool is not installed (scripts/deps.sh qtcreator)"
    done
    [ -x "$upmu" ] || skip "there is no $upmu: build libupmu, or set UPMU"
}

build_plugin()
{
    local generator=()
    [ -e "$build/CMakeCache.txt" ] || ! command -v ninja >/dev/null || generator=(-G Ninja)
    cmake "${generator[@]}" -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DUPMU_WERROR=ON >"$work/log" 2>&1 ||
        skip "the plugin cannot be configured: $(tail -n 3 "$work/log" | tr '\n' ' ')"
    cmake --build "$build" --parallel 2 >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; fail "the plugin is not built"; }
    [ -e "$build/plugin/libUpmuConcurrency.so" ] || fail "CMake did not find Qt Creator's version"
}

# A project with a build of its own, and kits of the user's compiler and CMake.
make_project()
{
    mkdir -p "$work/till" "$work/settings" "$work/home" "$work/run"
    chmod 700 "$work/run"
    cp "$source/test/demo/till.c" "$work/till/"
    cat >"$work/till/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(till C)
set(CMAKE_BUILD_TYPE Debug)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR}/bin)
find_package(Threads REQUIRED)
add_executable(till till.c)
target_link_libraries(till Threads::Threads)
END
}

run_creator()
{
    local web=()
    ! ldd "$build/plugin/libUpmuConcurrency.so" | grep WebEngine >/dev/null || web=(UPMU_PROOF_WEB=1)
    [ $cost -eq 0 ] || web+=(UPMU_PROOF_LOAD="$work/locks")
    # The engine of the page has no sandbox for root, and no GPU here.
    env "${web[@]}" HOME="$work/home" XDG_RUNTIME_DIR="$work/run" XDG_CONFIG_HOME="$work/settings" LC_ALL=C.UTF-8 \
        LIBGL_ALWAYS_SOFTWARE=1 QTWEBENGINE_DISABLE_SANDBOX=1 QTWEBENGINE_CHROMIUM_FLAGS="--no-sandbox --disable-gpu" \
        PATH="$(dirname "$upmu"):$PATH" UPMU_PROOF_FOLDER="$folder" UPMU_PROOF_PROGRAM="$work/till/bin/till" \
        timeout 900 qtcreator -settingspath "$work/settings" -notour -no-crashcheck -pluginpath "$build/plugin" \
        -pluginpath "$build/proof" "$work/till/CMakeLists.txt" >"$folder/qtcreator.log" 2>&1
}

# Waits for the live window of the program, measures, then the driver of the plugin continues.
measure_cost()
{
    local creator program
    while [ ! -s "$folder/load" ]; do sleep 0.2; done
    read -r creator program <"$folder/load"
    # Many short spans: what a busy machine adds to one is a small part of them all.
    ROUNDS=${ROUNDS:-30} SECONDS_EACH=${SECONDS_EACH:-1} python3 bench/watch/watch.py --ide "$creator" "$program" "$folder/pairs" >"$folder/cost" 2>&1 || true
    : >"$folder/load.done"
}

check_tools
build_plugin
make_project
open_screen 1600x1000 || fail "there is no free display"
rm -rf "$folder"
mkdir -p "$folder"
status=0
if [ $cost -eq 1 ]; then
    gcc -g -O2 -pthread bench/watch/locks.c -o "$work/locks"
    measure_cost &
    screen_jobs+=($!)
fi
run_creator || status=$?
cat "$folder/proof.log" 2>/dev/null || true
if [ "$status" -ne 0 ]; then
    tail -n 20 "$folder/qtcreator.log" >&2
    fail "the steps above (see $folder/failure.png and $folder/qtcreator.log)"
fi
[ $cost -eq 0 ] || cat "$folder/cost"
echo "passed; the screenshots are in $folder"

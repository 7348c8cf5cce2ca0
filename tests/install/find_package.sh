#!/usr/bin/env bash
# A stranger finds libupmu with find_package(upmu): the four targets, in C and C++, with the version asked for.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$1
version=$(header_version "$tree")

# project VERSION: a project that wants that version, in $scratch/project
project()
{
    rm -rf "$scratch/project" "$scratch/build"
    mkdir "$scratch/project"
    cp "$here/stranger.c" "$here/reader.c" "$scratch/project"
    cp "$here/stranger.c" "$scratch/project/stranger.cpp"
    cat >"$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES C CXX)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 11)
find_package(upmu $1 REQUIRED)
add_executable(c_shared stranger.c)
target_link_libraries(c_shared PRIVATE upmu::upmu)
add_executable(c_static stranger.c)
target_link_libraries(c_static PRIVATE upmu::upmu_static)
add_executable(cxx_shared stranger.cpp)
target_link_libraries(cxx_shared PRIVATE upmu::upmu)
add_executable(cxx_static stranger.cpp)
target_link_libraries(cxx_static PRIVATE upmu::upmu_static)
add_executable(reader_shared reader.c)
target_link_libraries(reader_shared PRIVATE upmu::upmu_analysis)
add_executable(reader_static reader.c)
target_link_libraries(reader_static PRIVATE upmu::upmu_analysis_static)
END
}

configure()
{
    cmake -S "$scratch/project" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$tree" >"$scratch/log" 2>&1
}

project "$version"
configure || { cat "$scratch/log"; fail "find_package(upmu $version) found nothing"; }
cmake --build "$scratch/build" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "a target does not build"; }
for program in c_shared c_static cxx_shared cxx_static; do
    runs "$scratch/build/$program" "works for a stranger"
done
runs "$scratch/build/reader_shared" "refused: "
runs "$scratch/build/reader_static" "refused: "
for program in c_static cxx_static reader_static; do
    ! readelf -d "$scratch/build/$program" | grep -q 'NEEDED.*libupmu' || fail "$program needs a shared libupmu"
done

project 99.0
! configure || fail "find_package(upmu 99.0) was content with $version"

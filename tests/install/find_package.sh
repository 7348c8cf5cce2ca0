#!/usr/bin/env bash
# find_package(upmu): the imported targets in C and C++, versions, components.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$1
version=$(header_version "$tree")

# project ARGUMENTS: a project with find_package(upmu ARGUMENTS), in $scratch/project
project()
{
    rm -rf "$scratch/project" "$scratch/build"
    mkdir "$scratch/project"
    cp "$here/stranger.c" "$here/reader.c" "$scratch/project"
    cp "$here/stranger.c" "$scratch/project/stranger.cpp"
    cat >"$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
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
add_executable(sync_static stranger.c)
target_link_libraries(sync_static PRIVATE upmu::upmu_sync_static)
add_executable(sync_shared stranger.c)
target_link_libraries(sync_shared PRIVATE upmu::upmu_sync)
END
}

configure()
{
    cmake -S "$scratch/project" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$tree" >"$scratch/log" 2>&1
}

project "$version"
configure || { cat "$scratch/log"; fail "find_package(upmu $version) found nothing"; }
cmake --build "$scratch/build" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "a target does not build"; }
for program in c_shared c_static cxx_shared cxx_static sync_shared sync_static; do
    runs "$scratch/build/$program" "works for a stranger"
done
runs "$scratch/build/reader_shared" "refused: "
runs "$scratch/build/reader_static" "refused: "
for program in c_static cxx_static reader_static sync_static; do
    ! grep -q 'NEEDED.*libupmu' < <(readelf -d "$scratch/build/$program") || fail "$program needs a shared libupmu"
done

project 99.0
! configure || fail "find_package(upmu 99.0) was content with $version"

# configured REGEX CMAKE-CODE: a project with that code; what configuring it prints
configured()
{
    rm -rf "$scratch/build"
    printf 'cmake_minimum_required(VERSION 3.13)\nproject(stranger LANGUAGES C)\n%s\n' "$2" >"$scratch/project/CMakeLists.txt"
    configure || true
    grep -qE "$1" "$scratch/log" || { cat "$scratch/log"; fail "'$2' does not print '$1'"; }
}
has='foreach(t upmu upmu_sync upmu_func upmu_analysis upmu_analysis_static) if(TARGET upmu::${t}) list(APPEND has ${t}) endif() endforeach()'
has=${has// if/$'\n'if} has=${has// list/$'\n'list} has=${has// endif/$'\n'endif} has=${has// endforeach/$'\n'endforeach}
configured '^-- has: upmu;upmu_sync;upmu_func;upmu_analysis;upmu_analysis_static$' "find_package(upmu REQUIRED)
$has
message(STATUS \"has: \${has}\")"
configured '^-- has: upmu;upmu_sync$' "find_package(upmu $version COMPONENTS sync REQUIRED)
$has
message(STATUS \"has: \${has}\")"
configured 'has no component "analisys"; it has: core,' 'find_package(upmu COMPONENTS sync analisys REQUIRED)'
configured '^-- found: 0$' 'find_package(upmu QUIET COMPONENTS analisys)
message(STATUS "found: ${upmu_FOUND}")'
configured '^-- found: (1|TRUE) FALSE$' 'find_package(upmu QUIET COMPONENTS core OPTIONAL_COMPONENTS other)
message(STATUS "found: ${upmu_FOUND} ${upmu_other_FOUND}")'
# Without the development files of elfutils: the shared library is there, the static one lists what is missing.
hidden='set(CMAKE_DISABLE_FIND_PACKAGE_Elfutils ON)'
configured '^-- found: (1|TRUE)$' "$hidden
find_package(upmu COMPONENTS analysis REQUIRED)
message(STATUS \"found: \${upmu_FOUND}\")"
configured 'needs elfutils and zlib' "$hidden
find_package(upmu COMPONENTS analysis_static REQUIRED)"

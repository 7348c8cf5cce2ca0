#!/usr/bin/env bash
# libupmu as a part of another project (add_subdirectory): it builds its libraries and nothing else, sets nothing of that
# project, has no tests, and installs nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

source=$1
mkdir "$scratch/parent"
cp "$here/stranger.c" "$scratch/parent"
cat >"$scratch/parent/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(parent LANGUAGES C)
enable_testing()
# Names that a project may well have.
foreach(name event_tables tests check upmu record generator)
  add_custom_target(\${name})
endforeach()
set(UPMU_BUILD_ANALYSIS OFF)
set(UPMU_FOLDERS_AT_ONCE ON)
get_property(before DIRECTORY PROPERTY VARIABLES)
add_subdirectory($source libupmu EXCLUDE_FROM_ALL)
foreach(variable CMAKE_BUILD_TYPE CMAKE_C_STANDARD CMAKE_C_VISIBILITY_PRESET CMAKE_POSITION_INDEPENDENT_CODE
    CMAKE_MODULE_PATH CMAKE_CXX_COMPILER)
  if(NOT "\${\${variable}}" STREQUAL "")
    message(FATAL_ERROR "libupmu has set \${variable} to \${\${variable}}")
  endif()
endforeach()
get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
if(options)
  message(FATAL_ERROR "libupmu has set options: \${options}")
endif()
add_executable(shared stranger.c)
target_link_libraries(shared PRIVATE upmu::upmu)
add_executable(static stranger.c)
target_link_libraries(static PRIVATE upmu::upmu_static)
install(TARGETS shared DESTINATION bin)
END
cmake -S "$scratch/parent" -B "$scratch/build" -G Ninja >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "cannot be configured"; }
cmake --build "$scratch/build" --parallel "$(nproc)" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "does not build"; }
runs "$scratch/build/shared" "works for a stranger"
runs "$scratch/build/static" "works for a stranger"
grep -q '^Total Tests: 0' < <(cd "$scratch/build" && ctest -N) || fail "the project got tests of libupmu's"
cmake --install "$scratch/build" --prefix "$scratch/prefix" >/dev/null
[ "$(cd "$scratch/prefix" && find . -type f)" = ./bin/shared ] || fail "libupmu was installed: $(find "$scratch/prefix")"

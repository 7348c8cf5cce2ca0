# What libupmu needs of the system, checked before anything is built, with the remedy.
include(CheckCSourceCompiles)

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "libupmu needs Linux; this build is for ${CMAKE_SYSTEM_NAME}")
endif()
check_c_source_compiles("
#include <features.h>
#ifndef __GLIBC__
#error not glibc
#endif
int main(void) { return 0; }" UPMU_HAS_GLIBC)
if(NOT UPMU_HAS_GLIBC)
  message(FATAL_ERROR "libupmu needs the GNU C library. With musl, libupmu_sync cannot find the functions it wraps "
                      "(no dlvsym()), and waits inside the C library cannot be recorded. Build on or for a glibc system.")
endif()

set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)

if(UPMU_BUILD_ANALYSIS)
  list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  find_package(Elfutils QUIET)
  find_package(ZLIB QUIET)
  if(NOT Elfutils_FOUND OR NOT ZLIB_FOUND)
    message(FATAL_ERROR "libupmu_analysis needs elfutils (libdw, libelf) and zlib with their headers. Install them "
                        "(Debian: libdw-dev libelf-dev zlib1g-dev; Fedora, openEuler: elfutils-devel zlib-devel), or "
                        "configure with -DUPMU_BUILD_ANALYSIS=OFF, which leaves out libupmu_analysis and the upmu command.")
  endif()
elseif(UPMU_BUILD_TOOLS)
  message(STATUS "The upmu command is not built: it needs libupmu_analysis (UPMU_BUILD_ANALYSIS is off)")
  set(UPMU_BUILD_TOOLS OFF)
endif()

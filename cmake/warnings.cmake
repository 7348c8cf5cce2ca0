# One interface target carries warnings and sanitizers for everything built here; it is never installed.
add_library(upmu_build_flags INTERFACE)
target_compile_options(upmu_build_flags INTERFACE
  -Wall -Wextra -Wpointer-arith -Wundef -Wvla -fno-common
  $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>
  $<$<BOOL:${UPMU_WERROR}>:-Werror>)
target_compile_definitions(upmu_build_flags INTERFACE _GNU_SOURCE)
if(NOT (UPMU_SANITIZE OR UPMU_FOLDERS_AT_ONCE)) # there, the static names of a whole folder are in one file
  target_compile_options(upmu_build_flags INTERFACE -Wshadow)
endif()
if(UPMU_SANITIZE)
  target_compile_options(upmu_build_flags INTERFACE
    -fsanitize=${UPMU_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(upmu_build_flags INTERFACE -fsanitize=${UPMU_SANITIZE})
  # The libraries are preloaded into programs without the sanitizer: it comes with them, as gcc's does by itself.
  if(CMAKE_C_COMPILER_ID STREQUAL Clang AND UPMU_SANITIZE MATCHES address)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-runtime-dir OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    target_link_options(upmu_build_flags INTERFACE -shared-libasan -Wl,-rpath,${runtime})
  endif()
endif()

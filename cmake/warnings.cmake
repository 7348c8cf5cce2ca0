# One interface target carries warnings and sanitizers for everything built here; it is never installed.
add_library(upmu_build_flags INTERFACE)
target_compile_options(upmu_build_flags INTERFACE
  -Wall -Wextra -Wshadow -Wpointer-arith -Wundef -Wvla -fno-common
  $<$<COMPILE_LANGUAGE:C>:-Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>
  $<$<BOOL:${UPMU_WERROR}>:-Werror>)
target_compile_definitions(upmu_build_flags INTERFACE _GNU_SOURCE)
if(UPMU_SANITIZE)
  target_compile_options(upmu_build_flags INTERFACE
    -fsanitize=${UPMU_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(upmu_build_flags INTERFACE -fsanitize=${UPMU_SANITIZE})
endif()

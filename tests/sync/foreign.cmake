# Of sync tracing what an emulator of programs can run: programs linked with it, that read their own recordings, and others
# under the preload. Analysis is left out: it needs elfutils of the foreign instruction set. So is what is about mutexes of
# dead owners and about forked children: qemu has no lists of robust mutexes, and MADV_WIPEONFORK does nothing there.
add_library(sync_reader STATIC)
foreach(module base util containers func_format trace_format trace_reader trace_control)
  target_sources(sync_reader PRIVATE $<TARGET_OBJECTS:upmu_module_${module}>)
endforeach()
target_link_libraries(sync_reader PUBLIC upmu::upmu)

# Programs without unwind tables, whose code is scanned: as compilers for these instruction sets write them unasked.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(mips64|alpha)")
  foreach(level 0 1 2 s)
    upmu_behavior_test(sync.scanned.O${level} stacks/scanned.c LIBS upmu::upmu_sync sync_reader)
    target_compile_options(sync_scanned_O${level} PRIVATE
      -O${level} -fno-exceptions -fno-unwind-tables -fno-asynchronous-unwind-tables)
    target_link_options(sync_scanned_O${level} PRIVATE -Wl,--no-eh-frame-hdr) # Alpha's has tables in any case
  endforeach()
endif()

# The tables that stacks are walked by, which not every compiler writes unasked.
add_compile_options(-fasynchronous-unwind-tables)

foreach(name hard objects/shared objects/posts older_thread objects/alike objects/names)
  get_filename_component(topic ${name} NAME)
  upmu_behavior_test(sync.${topic} ${name}.c LIBS upmu::upmu_sync sync_reader)
endforeach()
upmu_behavior_test(sync.kill kill.c LIBS upmu::upmu_sync sync_reader ARGS 20 10)
target_include_directories(sync_hard PRIVATE ${PROJECT_SOURCE_DIR}/lib)

add_library(sync_plugin MODULE programs/plugin.c)
target_link_libraries(sync_plugin PRIVATE upmu_build_flags Threads::Threads)
upmu_behavior_test(sync.coverage_linked coverage.c LIBS upmu::upmu_sync ${CMAKE_DL_LIBS} ARGS $<TARGET_FILE:sync_plugin>
  ENV UPMU_SYNC=all UPMU_TRACE=${CMAKE_CURRENT_BINARY_DIR}/coverage-linked)

# Programs without any reference to libupmu, under LD_PRELOAD.
set(plain cancel memory/small_stacks main_first)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL loongarch64)
  list(REMOVE_ITEM plain cancel) # canceling a thread in a system call crashes without libupmu, too (qemu 10.0)
endif()
foreach(path ${plain})
  get_filename_component(name ${path} NAME)
  add_executable(sync_${name} programs/${path}.c)
  target_link_libraries(sync_${name} PRIVATE upmu_build_flags Threads::Threads)
  upmu_script_test(sync.same.${name} programs/same_foreign.sh
    ARGS $<TARGET_FILE:sync_${name}> $<TARGET_FILE:upmu_sync_shared> ${CMAKE_CROSSCOMPILING_EMULATOR})
endforeach()

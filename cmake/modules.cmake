# upmu_module(NAME FOLDER SOURCE...): an object library of the sources of one module of lib/modules.txt.
#
# A module is compiled once and goes into every library that needs it. Its include path is a folder of links in the build
# tree that holds what its row in lib/modules.txt allows, so that an include the architecture forbids does not compile.

set(UPMU_MODULES_FILE ${PROJECT_SOURCE_DIR}/lib/modules.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${UPMU_MODULES_FILE})

# Puts a link to lib/PATH, a folder or a header, at the same path below `view`.
function(upmu_link_into view path)
  string(REGEX REPLACE "/$" "" path ${path})
  get_filename_component(parent ${view}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  execute_process(COMMAND ${CMAKE_COMMAND} -E create_symlink ${PROJECT_SOURCE_DIR}/lib/${path} ${view}/${path}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cannot create the link ${view}/${path}: ${failed}")
  endif()
endfunction()

# Sets `out` to the include path of the module `folder`.
function(upmu_module_view folder out)
  string(REPLACE / _ view ${folder})
  set(view ${PROJECT_BINARY_DIR}/module_includes/${view})
  get_property(made GLOBAL PROPERTY UPMU_VIEW_OF_${folder})
  if(NOT made)
    file(STRINGS ${UPMU_MODULES_FILE} row REGEX "^${folder} ")
    if(NOT row)
      message(FATAL_ERROR "lib/${folder} has no row in lib/modules.txt")
    endif()
    file(REMOVE_RECURSE ${view})
    string(REGEX MATCHALL "[^ ]+" words "${row}")
    list(FILTER words EXCLUDE REGEX "^upmu/$|[<:]")
    list(REMOVE_AT words 0)
    foreach(path ${folder}/ ${words})
      if(EXISTS ${PROJECT_SOURCE_DIR}/lib/${path}) # "tools" has no folder here
        upmu_link_into(${view} ${path})
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY UPMU_VIEW_OF_${folder} TRUE)
  endif()
  set(${out} ${view} PARENT_SCOPE)
endfunction()

# No path of the building machine stands in what is built, so that the same source gives the same bytes anywhere. Debug
# builds keep them, for debuggers.
include(CheckCCompilerFlag)
check_c_compiler_flag(-ffile-prefix-map=/a=/b UPMU_HAS_FILE_PREFIX_MAP)
set(UPMU_PREFIX_MAP -fdebug-prefix-map)
if(UPMU_HAS_FILE_PREFIX_MAP)
  set(UPMU_PREFIX_MAP -ffile-prefix-map)
endif()

# Functions that jump to `__x86_return_thunk` in place of a return, see lib/sync_trace/libc/returns.h.
set(UPMU_RETURN_THUNK "")
if(CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # a program would need the thunk
  check_c_compiler_flag(-mfunction-return=thunk-extern UPMU_HAS_RETURN_THUNK) # gcc, clang 15; x86
  unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
  if(UPMU_HAS_RETURN_THUNK)
    set(UPMU_RETURN_THUNK -mfunction-return=thunk-extern)
  endif()
endif()

# Compiles the sources of TARGET that lie in one folder as one file, in a third of the time: in builds with sanitizers, which are for
# tests only, and with UPMU_FOLDERS_AT_ONCE.
function(upmu_compile_folders_at_once target)
  if(NOT (UPMU_SANITIZE OR UPMU_FOLDERS_AT_ONCE) OR CMAKE_VERSION VERSION_LESS 3.18)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^[^$].*\\.c$")
  foreach(source ${sources})
    get_filename_component(path ${source} ABSOLUTE)
    if(NOT path MATCHES "^${PROJECT_BINARY_DIR}")
      file(RELATIVE_PATH group ${PROJECT_SOURCE_DIR} ${path})
      get_filename_component(group ${group} DIRECTORY)
      string(MAKE_C_IDENTIFIER ${group} group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()

function(upmu_module name folder)
  upmu_module_view(${folder} view)
  list(TRANSFORM ARGN REPLACE "^([^/$].*)$" "${PROJECT_SOURCE_DIR}/lib/${folder}/\\1")
  add_library(upmu_module_${name} OBJECT ${ARGN})
  target_include_directories(upmu_module_${name} PRIVATE
    ${view} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(upmu_module_${name} PRIVATE upmu_build_flags Threads::Threads)
  # The libraries are compiled without link-time optimization, whatever the flags of the build are: it would drop the
  # versions that assembler directives give to symbols, and names of the static libraries could not be hidden.
  target_compile_options(upmu_module_${name} PRIVATE -fno-lto)
  set_target_properties(upmu_module_${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  upmu_compile_folders_at_once(upmu_module_${name})
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(upmu_module_${name} PRIVATE ${UPMU_PREFIX_MAP}=${PROJECT_SOURCE_DIR}=.
      ${UPMU_PREFIX_MAP}=${PROJECT_BINARY_DIR}=build ${UPMU_PREFIX_MAP}=${view}=lib)
  endif()
endfunction()

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
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lib/${path} ${view}/${path} SYMBOLIC)
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
      if(EXISTS ${PROJECT_SOURCE_DIR}/lib/${path}) # "outside" has no folder here
        upmu_link_into(${view} ${path})
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY UPMU_VIEW_OF_${folder} TRUE)
  endif()
  set(${out} ${view} PARENT_SCOPE)
endfunction()

function(upmu_module name folder)
  upmu_module_view(${folder} view)
  list(TRANSFORM ARGN REPLACE "^([^/$].*)$" "${PROJECT_SOURCE_DIR}/lib/${folder}/\\1")
  add_library(upmu_module_${name} OBJECT ${ARGN})
  target_include_directories(upmu_module_${name} PRIVATE
    ${view} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(upmu_module_${name} PRIVATE upmu_build_flags Threads::Threads)
endfunction()

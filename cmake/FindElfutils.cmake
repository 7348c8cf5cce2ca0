# Elfutils: the imported targets Elfutils::dw and Elfutils::elf. Installed beside upmuConfig.cmake, which uses it for the
# static libupmu_analysis.
find_path(Elfutils_INCLUDE_DIR elfutils/libdw.h)
find_library(Elfutils_DW_LIBRARY dw)
find_library(Elfutils_ELF_LIBRARY elf)
mark_as_advanced(Elfutils_INCLUDE_DIR Elfutils_DW_LIBRARY Elfutils_ELF_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Elfutils DEFAULT_MSG Elfutils_DW_LIBRARY Elfutils_ELF_LIBRARY Elfutils_INCLUDE_DIR)

if(Elfutils_FOUND AND NOT TARGET Elfutils::dw)
  add_library(Elfutils::elf UNKNOWN IMPORTED)
  set_target_properties(Elfutils::elf PROPERTIES
    IMPORTED_LOCATION "${Elfutils_ELF_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Elfutils_INCLUDE_DIR}")
  add_library(Elfutils::dw UNKNOWN IMPORTED)
  set_target_properties(Elfutils::dw PROPERTIES
    IMPORTED_LOCATION "${Elfutils_DW_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Elfutils_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Elfutils::elf)
endif()

# What `cmake --install` puts where: headers, both libraries (shared and static), the upmu command, pkg-config files
# and the CMake package. Nothing here runs when libupmu is a part of another project, unless that project asks.
option(UPMU_INSTALL "Install libupmu" ${PROJECT_IS_TOP_LEVEL})
if(NOT UPMU_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/upmu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/cpp/upmu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/include/upmu/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/upmu)

install(TARGETS upmu_shared upmu_static upmu_analysis_shared upmu_analysis_static upmu_sync_shared EXPORT upmuTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# libupmu_analysis and libupmu_sync find libupmu beside themselves, also in a prefix the dynamic linker does not know; so does
# the command.
set_target_properties(upmu_analysis_shared upmu_sync_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
if(TARGET upmu_command)
  file(RELATIVE_PATH upmu_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(upmu_command PROPERTIES INSTALL_RPATH "$ORIGIN/${upmu_bin_to_lib}")
  install(TARGETS upmu_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
file(GLOB upmu_man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
if(upmu_man_pages)
  install(FILES ${upmu_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# pkg-config finds the prefix from where its file lies, so that `cmake --install --prefix`, DESTDIR and a tree moved
# afterwards all work.
file(RELATIVE_PATH UPMU_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(dir INCLUDEDIR LIBDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(UPMU_PC_${dir} "${CMAKE_INSTALL_${dir}}")
  else()
    set(UPMU_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
foreach(pc upmu upmu-analysis upmu-sync)
  configure_file(cmake/${pc}.pc.in ${PROJECT_BINARY_DIR}/${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(upmu_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/upmu)
configure_package_config_file(cmake/upmuConfig.cmake.in ${PROJECT_BINARY_DIR}/upmuConfig.cmake
                              INSTALL_DESTINATION ${upmu_package_dir})
# Before 1.0 a new minor version may break what was built against an older one.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/upmuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/upmuConfig.cmake ${PROJECT_BINARY_DIR}/upmuConfigVersion.cmake
        DESTINATION ${upmu_package_dir})
install(EXPORT upmuTargets NAMESPACE upmu:: DESTINATION ${upmu_package_dir})

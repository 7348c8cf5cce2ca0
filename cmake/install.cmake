# Installs headers, libraries (shared and static), the upmu command, pkg-config files, the CMake package, the license and
# the guide.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/upmu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/cpp/upmu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/compat/upmu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/bindings/fortran/upmu.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/upmu/fortran)
install(FILES ${PROJECT_BINARY_DIR}/include/upmu/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/upmu)

# One export set per component of the CMake package. The static libupmu_analysis has its own, since only its users need
# elfutils and zlib.
set(upmu_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/upmu)
function(upmu_install_component component)
  install(TARGETS ${ARGN} EXPORT upmu_${component}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT upmu_${component} NAMESPACE upmu:: DESTINATION ${upmu_package_dir} FILE upmu-${component}.cmake)
endfunction()
upmu_install_component(core upmu_shared upmu_static)
upmu_install_component(sync upmu_sync_shared upmu_sync_static)
upmu_install_component(func upmu_func_shared upmu_func_static)
# libupmu_analysis, libupmu_sync, libupmu_func and the command find libupmu by a path relative to their own, also in a prefix that
# is no system folder.
set_target_properties(upmu_sync_shared upmu_func_shared upmu_mpi_shared upmu_omp_shared upmu_heap_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
# They are preloaded only: no program is linked with them.
install(TARGETS upmu_mpi_shared upmu_omp_shared upmu_heap_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
if(UPMU_BUILD_ANALYSIS)
  upmu_install_component(analysis upmu_analysis_shared)
  upmu_install_component(analysis_static upmu_analysis_static)
  set_target_properties(upmu_analysis_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS upmu_elfutils LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/upmu)
endif()
if(TARGET upmu_command)
  file(RELATIVE_PATH upmu_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(upmu_command PROPERTIES INSTALL_RPATH "$ORIGIN/${upmu_bin_to_lib}")
  install(TARGETS upmu_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET upmu_curses)
    install(TARGETS upmu_curses LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/upmu)
  endif()
  file(GLOB upmu_man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
  install(FILES ${upmu_man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/completion/upmu.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME upmu)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/completion/_upmu DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/completion/upmu.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# The manual of the C API is made of the headers' comments.
find_program(UPMU_PYTHON3 python3)
if(UPMU_PYTHON3)
  file(GLOB upmu_public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/upmu/*.h)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/man3/upmu_set.3
    COMMAND ${CMAKE_COMMAND} -E remove_directory ${PROJECT_BINARY_DIR}/man3
    COMMAND ${UPMU_PYTHON3} ${PROJECT_SOURCE_DIR}/man/man3.py ${PROJECT_BINARY_DIR}/man3
    DEPENDS ${PROJECT_SOURCE_DIR}/man/man3.py ${upmu_public_headers} VERBATIM)
  add_custom_target(upmu_man3 ALL DEPENDS ${PROJECT_BINARY_DIR}/man3/upmu_set.3)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/guide DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/zh DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "README.md" EXCLUDE)
foreach(file LICENSE CHANGELOG.md docs/guide.md docs/events.md docs/exports.md docs/format.md docs/protocol.md docs/protocol.schema.json
    docs/sync-coverage.md)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()

# The Python package, where a folder for it is given; `pip install bindings/python` is another way.
set(UPMU_PYTHON_DIR "" CACHE STRING "Folder of the Python package below the prefix (lib/python3/dist-packages); empty: not installed")
if(UPMU_PYTHON_DIR)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/upmu DESTINATION ${UPMU_PYTHON_DIR}
          FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()

# pkg-config finds the prefix from where its file lies, so that `cmake --install --prefix`, DESTDIR and a tree moved
# afterwards all work. Packages of a distribution, with the prefix /usr, name it: pkg-config leaves out folders that the
# compiler searches anyway only if it sees their plain names.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(UPMU_PC_PREFIX /usr)
else()
  file(RELATIVE_PATH upmu_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  set(UPMU_PC_PREFIX "\${pcfiledir}/${upmu_pc_to_prefix}")
endif()
foreach(dir INCLUDEDIR LIBDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(UPMU_PC_${dir} "${CMAKE_INSTALL_${dir}}")
  else()
    set(UPMU_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
set(upmu_pc_files upmu upmu-sync upmu-func)
if(UPMU_BUILD_ANALYSIS)
  list(APPEND upmu_pc_files upmu-analysis)
endif()
foreach(pc ${upmu_pc_files})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${pc}.pc.in ${PROJECT_BINARY_DIR}/${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/upmuConfig.cmake.in ${PROJECT_BINARY_DIR}/upmuConfig.cmake
                              INSTALL_DESTINATION ${upmu_package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may break what was built against an older one.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/upmuConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/upmuConfig.cmake ${PROJECT_BINARY_DIR}/upmuConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/FindElfutils.cmake DESTINATION ${upmu_package_dir})

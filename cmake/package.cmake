# Packages by CPack: an archive (TGZ), and one DEB or RPM with everything. Distributions use debian/ and packaging/.
set(CPACK_PACKAGE_NAME libupmu)
set(CPACK_PACKAGE_VENDOR "The libupmu maintainers")
set(CPACK_PACKAGE_CONTACT "The libupmu maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Performance counters, regions and lock tracing of multi-threaded programs")
set(CPACK_PACKAGE_DESCRIPTION "Libraries, headers, the upmu command, its manual and the guide.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_COMPRESSION_TYPE gzip)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_AUTOREQ ON)
# Folders of the system belong to other packages.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/man/man3 /usr/share/zsh
  /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/lib64/pkgconfig /usr/lib64/cmake)
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_IGNORE_FILES "/build/;/\\\\.git/")
include(CPack)

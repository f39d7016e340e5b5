# SPDX-License-Identifier: BSD-3-Clause
# What is installed, as the components lib (libnuice.so), c (what C and Fortran build with), cxx (what C++ builds with) and
# tools (the programs). The prefix may be moved: nothing in it says where it lies.
# The targets that find_package gives: NuiceLibrary.cmake and nuice-config.cmake.in.
include(CMakePackageConfigHelpers)
set(nuice_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nuice)

install(TARGETS ${nuice_installed} EXPORT nuice-targets ARCHIVE COMPONENT cxx)
install(EXPORT nuice-targets NAMESPACE nuice:: DESTINATION ${nuice_cmake_dir} COMPONENT cxx)
if(NUICE_BUILD_AM)
  install(TARGETS nuice_library_am EXPORT nuice-am-targets ARCHIVE COMPONENT cxx)
  install(EXPORT nuice-am-targets NAMESPACE nuice:: DESTINATION ${nuice_cmake_dir} COMPONENT cxx)
  install(DIRECTORY am/include/nuice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cxx)
endif()
install(TARGETS nuice_c EXPORT nuice-c-targets LIBRARY COMPONENT lib NAMELINK_COMPONENT c)
install(EXPORT nuice-c-targets NAMESPACE nuice:: DESTINATION ${nuice_cmake_dir} COMPONENT c)
install(DIRECTORY data/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/nuice COMPONENT tools)
install(FILES include/nuice/nuice.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nuice COMPONENT c)
install(DIRECTORY include/nuice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cxx PATTERN nuice.h EXCLUDE)
# As source: a .mod file belongs to one version of one compiler.
set(nuice_fortran_dir ${CMAKE_INSTALL_DATADIR}/nuice/fortran)
install(DIRECTORY src/fortran/ DESTINATION ${nuice_fortran_dir} COMPONENT c PATTERN *.in EXCLUDE)
install(FILES ${NUICE_FORTRAN_MODULE} DESTINATION ${nuice_fortran_dir} COMPONENT c)

configure_package_config_file(cmake/nuice-config.cmake.in ${PROJECT_BINARY_DIR}/nuice-config.cmake
  INSTALL_DESTINATION ${nuice_cmake_dir} PATH_VARS nuice_fortran_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nuice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nuice-config.cmake ${PROJECT_BINARY_DIR}/nuice-config-version.cmake
  DESTINATION ${nuice_cmake_dir} COMPONENT c)

# `module use PREFIX/share/modulefiles`, `module load nuice`.
set(nuice_module_dir ${CMAKE_INSTALL_DATADIR}/modulefiles/nuice)
file(RELATIVE_PATH nuice_prefix_from_module /${nuice_module_dir} /)
configure_file(cmake/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${nuice_module_dir} RENAME ${PROJECT_VERSION} COMPONENT c)

# pkg-config finds the prefix from where the file lies.
file(RELATIVE_PATH nuice_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(nuice_pc_prefix "\${pcfiledir}/${nuice_prefix_from_pc}")
set(nuice_pc_cflags "")
if(NOT NUICE_BUILD_MPI)
  set(nuice_pc_cflags "-DNUICE_NO_MPI")
endif()
get_property(nuice_pc_ucx GLOBAL PROPERTY NUICE_PC_UCX)
configure_file(cmake/nuice.pc.in ${PROJECT_BINARY_DIR}/nuice.pc @ONLY)
configure_file(cmake/nuice-cxx.pc.in ${PROJECT_BINARY_DIR}/nuice-cxx.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nuice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c)
install(FILES ${PROJECT_BINARY_DIR}/nuice-cxx.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT cxx)
if(NUICE_BUILD_AM)
  configure_file(cmake/nuice-am.pc.in ${PROJECT_BINARY_DIR}/nuice-am.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/nuice-am.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT cxx)
endif()

# SPDX-License-Identifier: BSD-3-Clause
# Headers, libraries and a package for find_package(nuice): targets nuice::nuice (no MPI) and nuice::mpi.
include(CMakePackageConfigHelpers)

get_property(nuice_layers GLOBAL PROPERTY NUICE_LAYERS)
install(TARGETS ${nuice_layers} nuice EXPORT nuice-targets)
install(EXPORT nuice-targets NAMESPACE nuice:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nuice)
install(DIRECTORY data/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/nuice)
install(DIRECTORY include/nuice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(cmake/nuice-config.cmake.in ${PROJECT_BINARY_DIR}/nuice-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nuice)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nuice-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nuice-config.cmake ${PROJECT_BINARY_DIR}/nuice-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nuice)

# SPDX-License-Identifier: BSD-3-Clause
# What folders of programs share (bench, papers). The files of a program in one compilation, as in tests/: headers of the command line
# and of JSON cost more than they say.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/NuiceMpi.cmake)
if(CMAKE_CXX_COMPILER MATCHES smpicxx)  # bench/run.py irregular_smpi; SimGrid's macro exit() does not go with CLI11
  add_compile_definitions(NUICE_SMPI SMPI_HELPERS_H)
endif()

# SPDX-License-Identifier: BSD-3-Clause
# Tests that run under mpiexec. Each is registered once per number of ranks, with a time-out: a hang is a failure.
#
#   nuice_mpi_test(NAME FILES file... RANKS n... [MORE_RANKS n...] [LINKS target...] [TIMEOUT seconds] [LABELS label...])
#       a GoogleTest program (tests/mpi/main.cpp is its main) as NAME, and tests NAME_n; those of MORE_RANKS only in make test-all
#   nuice_mpi_environment(TEST...)
#       what mpiexec needs to run as root and with more ranks than cores. For ctest they count as one processor: what starts ranks again and
#       again mostly waits for mpiexec. A test that measures sets RUN_SERIAL
#   nuice_loads_this_build(TARGET)
#       a program that is linked with libnuice.so takes that of this build, also by hand under mpiexec
#
# A NAME_n counts as n processors, so on a small machine nothing runs beside one with as many ranks as that has cores.
include(${PROJECT_SOURCE_DIR}/cmake/NuiceMpi.cmake)
find_package(GTest REQUIRED)

function(nuice_mpi_environment)
  # btl ^ofi and pml ob1, which is what it takes on one machine: Open MPI 5 otherwise looks for fabrics before every test, a second and
  # more than half of the processor time of starting. osc ^ucx: it otherwise complains about a component of its own whenever a
  # shared window is made. yield_when_idle: ranks that wait let others have the core, also where there are as many cores as ranks but other
  # work on them, as in make test.
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=^ofi OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
  if(NUICE_SANITIZE)
    # The patcher replaces code that the sanitizer has replaced.
    set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT
      OMPI_MCA_memory=^patcher LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0)
  endif()
endfunction()

# Open MPI's mpiexec puts the folder of its libraries into LD_LIBRARY_PATH, where an older libnuice may be installed. It is searched before a
# program's RUNPATH, which linkers write by default, but after its RPATH. Among the libraries, as the last such word counts and MPI's
# compiler has the other one among its options.
function(nuice_loads_this_build target)
  target_link_libraries(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()

function(nuice_mpi_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "FILES;RANKS;MORE_RANKS;LINKS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(NUICE_SANITIZE)
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")  # device_exchange_test_8 took 106 s of 120 with nothing else to do
  endif()
  add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/mpi/main.cpp ${arg_FILES})
  target_link_libraries(${name} PRIVATE nuice_mpi ${arg_LINKS} GTest::gtest MPI::MPI_CXX)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  nuice_compile_options(${name})
  nuice_compile_fast(${name})
  foreach(ranks IN LISTS arg_RANKS arg_MORE_RANKS)
    set(test ${name}_${ranks})
    add_test(NAME ${test} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${name}>)
    set_tests_properties(${test} PROPERTIES PROCESSORS ${ranks} TIMEOUT ${arg_TIMEOUT} LABELS "mpi;${arg_LABELS}")
    nuice_mpi_environment(${test})
    if(ranks IN_LIST arg_MORE_RANKS)
      set_property(TEST ${test} APPEND PROPERTY LABELS slow)
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT NUICE_LONG_TESTS=1)
    endif()
  endforeach()
endfunction()

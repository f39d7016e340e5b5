# SPDX-License-Identifier: BSD-3-Clause
# nuice_program_test(NAME PROGRAM [LONG]): NAME.py beside the caller, which runs the program as people do and compares with SciPy. LONG: also as
# NAME_long with NUICE_LONG_TESTS=1, only in make test-all.
# Needs a Python with NumPy and SciPy, as .venv has it; without one, or without the program, there is no test.
include(${CMAKE_CURRENT_LIST_DIR}/NuiceMpiTest.cmake)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import scipy" RESULT_VARIABLE nuice_no_scipy OUTPUT_QUIET ERROR_QUIET)
if(nuice_no_scipy)
  message(STATUS "The tests of the numerical programs are left out: ${Python3_EXECUTABLE} has no SciPy")
endif()

function(nuice_program_test name program)
  if(nuice_no_scipy OR NOT TARGET ${program})
    return()
  endif()
  set(tests ${name})
  if(ARGN STREQUAL LONG)
    list(APPEND tests ${name}_long)
  endif()
  foreach(test IN LISTS tests)
    add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py $<TARGET_FILE:${program}>
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
    set_tests_properties(${test} PROPERTIES TIMEOUT 180 LABELS mpi)
    nuice_mpi_environment(${test})
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support)
  endforeach()
  if(TEST ${name}_long)
    set_tests_properties(${name}_long PROPERTIES TIMEOUT 600)
    set_property(TEST ${name}_long APPEND PROPERTY LABELS slow)
    set_property(TEST ${name}_long APPEND PROPERTY ENVIRONMENT NUICE_LONG_TESTS=1)
  endif()
endfunction()

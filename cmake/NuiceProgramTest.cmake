# SPDX-License-Identifier: BSD-3-Clause
# nuice_program_test(NAME PROGRAM): NAME.py beside the caller, which runs the program as people do and compares with SciPy.
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
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py $<TARGET_FILE:${program}>
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
  set_tests_properties(${name} PROPERTIES TIMEOUT 180 LABELS mpi)
  nuice_mpi_environment(${name})
  # Ranks that wait let others have the core, also where there are as many cores as ranks but other work on them.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT OMPI_MCA_mpi_yield_when_idle=1
    PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support)
endfunction()

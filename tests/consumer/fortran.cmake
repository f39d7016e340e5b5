# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module with the MPI modules of the system's MPI, as the default MPI of this project, a wheel, has none: builds
# libnuice.so with that MPI (openmpi, or the one that MPI names), installs what C and Fortran need of it, moves the prefix, and
# runs there the module's tests with mpif.h, module mpi and module mpi_f08, and the heat equation in Fortran and C, by CMake and by
# one command each.
#   cmake -D SOURCE=... -D SCRATCH=... -D HEAT_SUM=... [-D MPI=mpich] -P fortran.cmake
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code WORKING_DIRECTORY ${SCRATCH})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${out}\n${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

if(NOT MPI)
  set(MPI openmpi)
endif()
find_program(MPIFORT NAMES mpifort.${MPI} mpifort PATHS /usr/bin NO_DEFAULT_PATH)
find_program(MPICC NAMES mpicc.${MPI} mpicc PATHS /usr/bin NO_DEFAULT_PATH)
find_program(MPICXX NAMES mpicxx.${MPI} mpicxx PATHS /usr/bin NO_DEFAULT_PATH)
find_program(MPIEXEC NAMES mpiexec.${MPI} mpiexec PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT MPIFORT OR NOT MPICC OR NOT MPICXX OR NOT MPIEXEC)
  message("no Fortran MPI in /usr/bin")
  return()
endif()

file(MAKE_DIRECTORY ${SCRATCH})
file(REMOVE_RECURSE ${SCRATCH}/prefix ${SCRATCH}/installed ${SCRATCH}/heat ${SCRATCH}/heat_c)
# Several files as one and not optimised: compiling is what takes long here, and GCC then warns of what is not so.
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
    -DCMAKE_UNITY_BUILD=ON -DNUICE_BUILD_MPI=ON -DNUICE_WERROR=OFF -DNUICE_BUILD_TESTS=OFF -DNUICE_BUILD_TOOLS=OFF -DNUICE_BUILD_AM=OFF
    -DMPI_CXX_COMPILER=${MPICXX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target nuice_c)
foreach(component lib c)
  run(${CMAKE_COMMAND} --install ${SCRATCH}/build --component ${component} --prefix ${SCRATCH}/installed)
endforeach()
file(RENAME ${SCRATCH}/installed ${SCRATCH}/prefix)

set(ENV{PKG_CONFIG_PATH} ${SCRATCH}/prefix/lib/pkgconfig)
set(use "$(pkg-config --variable=fortran nuice)")
set(link "$(pkg-config --libs nuice) -Wl,-rpath,${SCRATCH}/prefix/lib")
set(tests "${SOURCE}/tests/fortran/checks.f90 ${SOURCE}/tests/fortran/planner.f90 ${SOURCE}/tests/fortran/exchanges.F90")
foreach(way MPIF_H MPI MPI_F08)
  set(standard "-std=f2018 -fall-intrinsics")
  if(way STREQUAL MPIF_H)
    set(standard -std=gnu)  # MPICH's mpif.h has REAL*8
  endif()
  run(sh -c "${MPIFORT} ${standard} -w -DUSE_${way} ${use} ${tests} ${link} -o test_${way}")
  foreach(ranks 1 2 4)
    run(${MPIEXEC} -n ${ranks} ${SCRATCH}/test_${way})
  endforeach()
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE}/examples/heat/fortran -B ${SCRATCH}/heat -G Ninja -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DMPI_C_COMPILER=${MPICC} -DMPI_Fortran_COMPILER=${MPIFORT})
run(${CMAKE_COMMAND} --build ${SCRATCH}/heat)
run(sh -c "${MPIFORT} ${use} ${SOURCE}/examples/heat/fortran/grid.f90 ${SOURCE}/examples/heat/fortran/heat.f90 ${link} -o heat_by_hand")
run(sh -c "${MPICC} -std=c99 ${SOURCE}/examples/heat/c/heat.c $(pkg-config --cflags nuice) ${link} -o heat_c")
foreach(program heat/heat heat/heat_mpi heat_by_hand heat_c)
  foreach(ranks 1 4 6)
    run(${MPIEXEC} -n ${ranks} ${SCRATCH}/${program})
    if(NOT out MATCHES "sum after 200 steps: ${HEAT_SUM}")
      message(FATAL_ERROR "${program} on ${ranks} ranks printed:\n${out}")
    endif()
  endforeach()
endforeach()

run(sh -c "${MPIFORT} ${SOURCE}/examples/replace/mpi.f90 -o replace_mpi")
run(sh -c "${MPIFORT} ${use} ${SOURCE}/examples/replace/nuice.f90 ${link} -o replace_nuice")
run(${MPIEXEC} -n 4 ${SCRATCH}/replace_mpi)
set(digits "${out}")
run(${MPIEXEC} -n 4 ${SCRATCH}/replace_nuice)
if(NOT out MATCHES "sum after 50 steps: [1-9]" OR NOT out STREQUAL digits)
  message(FATAL_ERROR "examples/replace in Fortran printed:\n${out}\nnot:\n${digits}")
endif()

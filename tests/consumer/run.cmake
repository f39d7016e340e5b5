# SPDX-License-Identifier: BSD-3-Clause
# Installs this build into a scratch folder, builds the examples against it as outside projects, and runs them:
# first_exchange beside its plain MPI twin, where both must print the same sum, overlap, the two programs of docs/tutorial/planned-halo.md
# likewise, active_messages, import_export, and the heat equation in C and C++ (fortran.cmake has Fortran), in C++ also with
# libnuice.so.
#   cmake -D AM=ON|OFF -D BUILD=... -D SOURCE=... -D SCRATCH=... -D MPICXX=... -D MPICC=... -D MPIEXEC=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${out}\n${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/installed)
# The prefix must not know where it lies.
file(RENAME ${SCRATCH}/installed ${SCRATCH}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/first_exchange -B ${SCRATCH}/build -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DMPI_CXX_COMPILER=${MPICXX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
foreach(program first_exchange first_exchange_mpi)
  run(${MPIEXEC} -n 4 ${SCRATCH}/build/${program})
  string(REGEX MATCH "sum of all that was received: ([0-9]+)" sum "${out}")
  if(NOT CMAKE_MATCH_1 EQUAL 47905000)
    message(FATAL_ERROR "${program} printed:\n${out}")
  endif()
endforeach()

run(${MPIEXEC} -n 4 ${SCRATCH}/build/overlap 1 100)
if(NOT out MATCHES "3 messages of 1024 bytes a rank, phased: wait, then work")
  message(FATAL_ERROR "overlap printed:\n${out}")
endif()

run(${CMAKE_COMMAND} -S ${SOURCE}/examples/tutorial -B ${SCRATCH}/tutorial -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DMPI_CXX_COMPILER=${MPICXX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/tutorial)
foreach(program before after)
  execute_process(COMMAND ${MPIEXEC} -n 4 ${SCRATCH}/tutorial/${program} WORKING_DIRECTORY ${SCRATCH}
                  OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE code)
  string(REGEX MATCH "sum of squares: ([0-9.]+)" sum "${out}")
  if(NOT code EQUAL 0 OR NOT CMAKE_MATCH_1 STREQUAL "9134485.392500019")
    message(FATAL_ERROR "${program} ended with ${code} and printed:\n${out}\n${err}")
  endif()
endforeach()
if(NOT out MATCHES "12 messages in 3 phases, at least 3 are needed" OR NOT EXISTS ${SCRATCH}/network.mtx)
  message(FATAL_ERROR "the tutorial promises another plan than:\n${out}")
endif()
set(ENV{PKG_CONFIG_PATH} ${SCRATCH}/prefix/lib/pkgconfig)
if(AM)
  run(${CMAKE_COMMAND} -S ${SOURCE}/examples/active_messages -B ${SCRATCH}/build_am -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
      -DMPI_CXX_COMPILER=${MPICXX})
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build_am)
  run(sh -c "${MPICXX} -std=c++20 ${SOURCE}/examples/active_messages/main.cpp $(pkg-config --cflags --libs nuice-am) -o ${SCRATCH}/am_by_hand")
  foreach(program build_am/active_messages am_by_hand)
    run(${MPIEXEC} -n 4 ${SCRATCH}/${program})
    if(NOT out MATCHES "the farthest vertex from 1 is 4999 arcs away")
      message(FATAL_ERROR "${program} printed:\n${out}")
    endif()
  endforeach()
elseif(EXISTS ${SCRATCH}/prefix/include/nuice/am OR EXISTS ${SCRATCH}/prefix/lib/libnuice_am.a)
  message(FATAL_ERROR "active messages were installed")
endif()

# Import and export as Tpetra has them, by MPI alone and by plans: every digit the same.
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/import_export -B ${SCRATCH}/import_export -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DMPI_CXX_COMPILER=${MPICXX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/import_export)
run(${MPIEXEC} -n 3 ${SCRATCH}/import_export/import_export_mpi 40 3)
set(digits "${out}")
foreach(options "scheduler=auto" "scheduler=coloring executor=phased")
  set(ENV{NUICE_OPTIONS} "${options}")
  run(${MPIEXEC} -n 3 ${SCRATCH}/import_export/import_export 40 3)
  if(NOT out MATCHES "steps, sum of squares [1-9]" OR NOT out STREQUAL digits)
    message(FATAL_ERROR "import_export by ${options} printed:\n${out}\nwithout plans:\n${digits}")
  endif()
endforeach()
unset(ENV{NUICE_OPTIONS})

# Each beside its twin; C also by the one command that the page docs/how-to/languages.md has, C++ by that of docs/how-to/install.md.
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/heat/c -B ${SCRATCH}/heat_c -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DMPI_C_COMPILER=${MPICC})
run(${CMAKE_COMMAND} --build ${SCRATCH}/heat_c)
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/heat/cxx -B ${SCRATCH}/heat_cxx -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DMPI_CXX_COMPILER=${MPICXX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/heat_cxx)
file(WRITE ${SCRATCH}/shared/CMakeLists.txt "cmake_minimum_required(VERSION 3.20)\nproject(shared CXX)\n"
  "find_package(nuice REQUIRED COMPONENTS shared)\nadd_executable(heat ${SOURCE}/examples/heat/cxx/heat.cpp)\n"
  "target_link_libraries(heat PRIVATE nuice::shared)\n")
run(${CMAKE_COMMAND} -S ${SCRATCH}/shared -B ${SCRATCH}/shared -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DMPI_CXX_COMPILER=${MPICXX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/shared)
run(sh -c "${MPICC} -std=c99 ${SOURCE}/examples/heat/c/heat.c $(pkg-config --cflags --libs nuice) -o ${SCRATCH}/heat_by_hand -Wl,-rpath,${SCRATCH}/prefix/lib")
run(sh -c "${MPICXX} -std=c++20 ${SOURCE}/examples/heat/cxx/heat.cpp $(pkg-config --cflags --libs nuice-cxx) -o ${SCRATCH}/heat_cxx_by_hand")
run(sh -c "${MPICXX} -std=c++20 ${SOURCE}/examples/heat/cxx/heat.cpp $(pkg-config --cflags --libs nuice) -o ${SCRATCH}/heat_shared_by_hand -Wl,-rpath,${SCRATCH}/prefix/lib")
foreach(program heat_c/heat heat_c/heat_mpi heat_cxx/heat heat_cxx/heat_mpi shared/heat heat_by_hand heat_cxx_by_hand heat_shared_by_hand)
  run(${MPIEXEC} -n 4 ${SCRATCH}/${program})
  if(NOT out MATCHES "sum after 200 steps: ${HEAT_SUM}")
    message(FATAL_ERROR "${program} printed:\n${out}")
  endif()
endforeach()

# One call replaced by another: the same digits.
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/replace -B ${SCRATCH}/replace -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DMPI_C_COMPILER=${MPICC} -DMPI_CXX_COMPILER=${MPICXX})
run(${CMAKE_COMMAND} --build ${SCRATCH}/replace)
run(${MPIEXEC} -n 4 ${SCRATCH}/replace/c_mpi)
set(digits "${out}")
foreach(program c_nuice cxx_mpi cxx_nuice)
  run(${MPIEXEC} -n 4 ${SCRATCH}/replace/${program})
  if(NOT out MATCHES "sum after 50 steps: [1-9]" OR NOT out STREQUAL digits)
    message(FATAL_ERROR "${program} of examples/replace printed:\n${out}\nnot:\n${digits}")
  endif()
endforeach()

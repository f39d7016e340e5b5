# SPDX-License-Identifier: BSD-3-Clause
# What C++ programs link, made of the objects of all layers:
#   nuice::nuice   libnuice.a. A program takes out of it what it calls, so one that calls nothing of MPI needs no MPI
#   nuice::mpi     the same with MPI; nuice::halo is another name for it
#   nuice::am      libnuice_am.a: active messages and scheduling on the fly (am/), with nuice::mpi
# libnuice.so (src/capi) has the objects of nuice::mpi too.
function(nuice_archive name layers)
  get_property(layers GLOBAL PROPERTY ${layers})
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(${name} STATIC ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} INTERFACE cxx_std_20)
endfunction()

find_package(Threads REQUIRED)
nuice_archive(nuice_library NUICE_LAYERS)
set_target_properties(nuice_library PROPERTIES OUTPUT_NAME nuice EXPORT_NAME nuice)
set(nuice_whole nuice_library)
target_link_libraries(nuice_library PRIVATE ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
set(nuice_installed nuice_library)
if(NUICE_BUILD_MPI)
  include(${CMAKE_CURRENT_LIST_DIR}/NuiceMpi.cmake)
  foreach(part mpi halo)
    add_library(nuice_library_${part} INTERFACE)
    set_target_properties(nuice_library_${part} PROPERTIES EXPORT_NAME ${part})
    target_link_libraries(nuice_library_${part} INTERFACE nuice_library MPI::MPI_CXX)
    list(APPEND nuice_installed nuice_library_${part})
  endforeach()
  set(nuice_whole nuice_library_mpi)
endif()

if(NUICE_BUILD_AM)
  nuice_archive(nuice_library_am NUICE_AM_LAYERS)
  set_target_properties(nuice_library_am PROPERTIES OUTPUT_NAME nuice_am EXPORT_NAME am)
  target_link_libraries(nuice_library_am PUBLIC ${nuice_whole} PRIVATE Threads::Threads)
  if(TARGET nuice_am_ucx)
    get_property(ucx GLOBAL PROPERTY NUICE_UCX)
    target_link_libraries(nuice_library_am PRIVATE ${ucx})
  endif()
endif()

# SPDX-License-Identifier: BSD-3-Clause
# nuice_compile_options(TARGET): warnings and sanitizers, the same for all our targets.
function(nuice_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                         $<$<BOOL:${NUICE_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # false alarms on std::string + (GCC bug 105651)
  endif()
  if(NUICE_SANITIZE)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # false alarms on std::sort of a few numbers in an array, with -O2
      target_compile_options(${target} PRIVATE -Wno-array-bounds)
    endif()
    target_compile_options(${target} PRIVATE -fsanitize=${NUICE_SANITIZE} -fno-sanitize-recover=all
                           -fno-omit-frame-pointer)
    if(NUICE_SANITIZE MATCHES "address.*undefined")  # twice the compiling for what the address sanitizer sees as well
      target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size,vptr)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${NUICE_SANITIZE})
  endif()
endfunction()

# nuice_compile_fast(TARGET): of a test. With GCC 12 -Og compiles as fast as -O0, and the test, which fills and compares buffers byte by byte,
# then runs three times as fast: on 8 ranks mpi_exchange_test takes 18 s in place of 57.
function(nuice_compile_fast target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -Og)
  endif()
endfunction()

# nuice_layer(NAME [IN am] SOURCES file... LINKS target...): one folder of src/, or of am/src/, as the library nuice_NAME.
# The link list is the list of layers that it may include. What is installed has all layers of src/ in one library.
function(nuice_layer name)
  cmake_parse_arguments(arg "" "IN" "SOURCES;LINKS" ${ARGN})
  add_library(nuice_${name} STATIC ${arg_SOURCES})
  target_include_directories(nuice_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set(list NUICE_LAYERS)
  if(arg_IN STREQUAL "am")
    target_include_directories(nuice_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/am/include> PRIVATE ${PROJECT_SOURCE_DIR}/am/src)
    set(list NUICE_AM_LAYERS)
  endif()
  target_link_libraries(nuice_${name} PUBLIC ${arg_LINKS})
  target_compile_features(nuice_${name} PUBLIC cxx_std_20)
  nuice_compile_options(nuice_${name})
  if(NUICE_QUICK_MPI_LAYERS AND arg_LINKS MATCHES "MPI::MPI_CXX|nuice_mpi")  # half of the time to compile
    target_compile_options(nuice_${name} PRIVATE -O0 -fno-sanitize=undefined)
    set_target_properties(nuice_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  endif()
  set_property(GLOBAL APPEND PROPERTY ${list} nuice_${name})
endfunction()

# nuice_program(NAME SOURCES file... [LINKS target...]): a program on MPI, installed as a tool.
function(nuice_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE nuice_kit ${arg_LINKS})
  nuice_compile_options(${name})
  set_target_properties(${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH TRUE)  # finds the MPI it was built with
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()

# SPDX-License-Identifier: BSD-3-Clause
# nuice_fake_driver(target name folder): the driver of a GPU that tests take (tests/device/fake_driver.hpp), named as a vendor names its own,
# as the library looks for that name among what is loaded. Programs that link it find it by their RPATH, before a driver of this machine.
function(nuice_fake_driver target name folder)
  add_library(${target} SHARED ${PROJECT_SOURCE_DIR}/tests/device/fake_driver.cpp)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} PREFIX "" SUFFIX "" UNITY_BUILD OFF
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${folder})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE -Wl,-soname,${name})
  target_link_options(${target} INTERFACE -Wl,--no-as-needed)  # tests name it in weak references only
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PRIVATE Threads::Threads)
  nuice_compile_options(${target})
endfunction()

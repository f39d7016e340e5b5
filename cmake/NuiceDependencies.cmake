# SPDX-License-Identifier: BSD-3-Clause
# nlohmann-json and toml++: those installed, or else a download with a fixed hash, at configure time. Without access to the
# network: FETCHCONTENT_SOURCE_DIR_NUICE_JSON and _NUICE_TOML name unpacked copies. zlib must be installed.
find_package(ZLIB REQUIRED)

# Unpacks what is at one of the addresses; result becomes the folder that contains header. No FetchContent, whose error for a machine
# without a network is a page of text that does not name the way out.
function(nuice_fetch result name header file hash)
  set(sources ${FETCHCONTENT_SOURCE_DIR_${name}})
  if(NOT sources)
    set(archive ${PROJECT_BINARY_DIR}/_deps/${file})
    set(sources ${PROJECT_BINARY_DIR}/_deps/${name})
    set(problems "")
    foreach(address IN LISTS ARGN)
      if(EXISTS ${sources}/unpacked)
        break()
      endif()
      message(STATUS "${header}: not installed, so ${address} is fetched")
      file(DOWNLOAD ${address} ${archive} STATUS status INACTIVITY_TIMEOUT 20)
      list(GET status 0 failed)
      file(SHA256 ${archive} found)
      if(failed)
        list(GET status 1 problem)
      elseif(NOT found STREQUAL hash)
        set(problem "its SHA256 is ${found}, not ${hash}")
      else()
        file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${sources})
        file(TOUCH ${sources}/unpacked)
      endif()
      string(APPEND problems "\n  ${address}: ${problem}")
    endforeach()
    if(NOT EXISTS ${sources}/unpacked)
      message(FATAL_ERROR "${header} is not installed and cannot be fetched:${problems}\n"
        "Install it, or unpack its sources and name their folder with -DFETCHCONTENT_SOURCE_DIR_${name}=FOLDER.")
    endif()
  endif()
  # Released archives and the packages below have it in different places.
  file(GLOB folders ${sources}/include ${sources}/*/include ${sources}/*/*/include ${sources}/*/*/*/include)
  foreach(folder IN LISTS folders)
    if(EXISTS ${folder}/${header})
      set(${result} ${folder} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${sources} has no include/${header}")
endfunction()

find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)  # 3.12.0, as PyPI has it
  nuice_fetch(json NUICE_JSON nlohmann/json.hpp nlohmann_json.zip 5f6132720fb25d0d70bf0742f8397b49a540dcc193e7312a914f6aa49f054810
    https://files.pythonhosted.org/packages/51/69/a42fddc89a6de959b65b27a15d69de85e88d2f99884e00b1b02c12dce301/nlohmann_json-3.12.0-py3-none-any.whl)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${json})
endif()

find_path(NUICE_TOML_INCLUDE_DIR toml++/toml.h)
if(NOT NUICE_TOML_INCLUDE_DIR)  # 3.4.0, in the sources of a Python package that wraps it
  nuice_fetch(NUICE_TOML_INCLUDE_DIR NUICE_TOML toml++/toml.h pytomlpp-1.1.0.tar.gz 61a0f73e7ba2fe8bba4e99ce6d2701491885850b53aad8f3e46d03c4b31e594d
    https://files.pythonhosted.org/packages/10/fe/50ca1ac0c1a932d3e71311baff531c0395e546ec0cd42bc8a8a88c36e00b/pytomlpp-1.1.0.tar.gz)
endif()
add_library(nuice_toml INTERFACE)
target_include_directories(nuice_toml SYSTEM INTERFACE ${NUICE_TOML_INCLUDE_DIR})

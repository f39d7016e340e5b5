# SPDX-License-Identifier: BSD-3-Clause
# Makes nuice_c.f90, the Fortran interfaces of all functions of nuice.h but those that take MPI's handles of C.
#
#   int nuice_plan_sources(const nuice_plan* plan, int ranks[], int64_t bytes[]);
#
#   integer(c_int) function c_plan_sources(plan, ranks, bytes) bind(c, name="nuice_plan_sources")
#     import
#     type(c_ptr), value :: plan
#     integer(c_int), intent(inout), optional :: ranks(*)
#     integer(c_int64_t), intent(inout), optional :: bytes(*)
#   end function
#
# Sets NUICE_FORTRAN_MODULE to the sources of module nuice.

# Sets `declaration` to the declaration of a parameter of C in Fortran, and `name` to its name.
function(nuice_fortran_parameter parameter)
  string(REGEX MATCH "^(.+[ *])([a-z0-9_]+)(\\(\\*\\))?$" matched "${parameter}")
  set(type "${CMAKE_MATCH_1}")
  set(name ${CMAKE_MATCH_2})
  set(array "${CMAKE_MATCH_3}")
  string(REGEX MATCHALL "[*]" stars "${type}")
  list(LENGTH stars depth)  # how many pointers lead to the value
  if(type MATCHES "^const char\\* $")
    set(kind "character(kind=c_char)")
    set(array "(*)")
    set(depth 0)
  elseif(type MATCHES "nuice_blocks_f")
    set(kind "type(c_blocks)")
  elseif(type MATCHES "int64_t")
    set(kind "integer(c_int64_t)")
  elseif(type MATCHES "double")
    set(kind "real(c_double)")
  elseif(type MATCHES "(int|nuice_direction|nuice_wire) $" OR type MATCHES "^int\\*")
    set(kind "integer(c_int)")
  else()  # a pointer to a handle, to memory or to text
    set(kind "type(c_ptr)")
    math(EXPR depth "${depth} - 1")
  endif()
  if(array AND type MATCHES "^const char")
    set(pass "intent(in)")
  elseif(array AND type MATCHES "const")
    set(pass "intent(in), optional")
  elseif(array)
    set(pass "intent(inout), optional")
  elseif(depth EQUAL 0)
    set(pass "value")
  elseif(kind STREQUAL "type(c_blocks)")
    set(pass "intent(in)")
  else()  # written on success only
    set(pass "intent(inout)")
  endif()
  set(name ${name} PARENT_SCOPE)
  set(declaration "${kind}, ${pass} :: ${name}${array}" PARENT_SCOPE)
endfunction()

function(nuice_make_fortran_interfaces result_file)
  set(header ${PROJECT_SOURCE_DIR}/include/nuice/nuice.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  string(REPLACE "[]" "(*)" text "${text}")  # brackets are special in lists of CMake
  string(REPLACE "nuice_request" "nuice_exchange*" text "${text}")  # its definition
  string(REGEX MATCHALL "NUICE_API (int|const char\\*) nuice_[a-z0-9_]+\\([^;]*\\)" functions "${text}")
  set(NUICE_FORTRAN_INTERFACES "")
  foreach(function IN LISTS functions)
    string(REGEX REPLACE "[ \n]+" " " function "${function}")
    string(REGEX MATCH "^NUICE_API (.+) nuice_([a-z0-9_]+)\\((.*)\\)$" matched "${function}")
    set(result "${CMAKE_MATCH_1}")
    set(function ${CMAKE_MATCH_2})
    set(parameters "${CMAKE_MATCH_3}")
    if(parameters MATCHES "MPI_")
      continue()
    endif()
    string(REPLACE ", " ";" parameters "${parameters}")
    list(REMOVE_ITEM parameters void)
    set(names "")
    set(declarations "")
    foreach(parameter IN LISTS parameters)
      nuice_fortran_parameter("${parameter}")
      list(APPEND names ${name})
      string(APPEND declarations "      ${declaration}\n")
    endforeach()
    list(JOIN names ", " names)
    string(LENGTH "${names}" length)
    if(length GREATER 100)  # a line of Fortran has up to 132 characters
      string(REPLACE ", " ", &\n      " names "${names}")
    endif()
    string(REPLACE "const char*" "type(c_ptr)" result "${result}")
    string(REGEX REPLACE "^int$" "integer(c_int)" result "${result}")
    string(APPEND NUICE_FORTRAN_INTERFACES
      "    ${result} function c_${function}( &\n      ${names}) &\n      bind(c, name=\"nuice_${function}\")\n"
      "      import\n${declarations}    end function\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/src/fortran/nuice_c.f90.in ${result_file} @ONLY)
endfunction()

set(NUICE_FORTRAN_MODULE ${PROJECT_BINARY_DIR}/nuice_c.f90 ${PROJECT_SOURCE_DIR}/src/fortran/nuice.F90)
nuice_make_fortran_interfaces(${PROJECT_BINARY_DIR}/nuice_c.f90)

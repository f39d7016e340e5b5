// SPDX-License-Identifier: BSD-3-Clause
// Both as a shared object: c++ -std=c++20 -shared -fPIC shift.cpp
// patient.cpp rows.cpp -lnuice_core -o toy_rows.so
#include "nuice/plan/rows.hpp"

#include "toy.hpp"

extern "C" void nuice_add_rows(nuice::Rows& rows) {
  rows.add(nuice::toy::shift);
  rows.add(nuice::toy::patient);
}

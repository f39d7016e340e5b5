// SPDX-License-Identifier: BSD-3-Clause
// Prints the kernels as the drivers get them: print_kernels ptx|hip
#include <cstdio>
#include <string_view>

#include "device/kernels.hpp"

int main(int argc, char** argv) {
  const bool is_hip = argc > 1 && std::string_view(argv[1]) == "hip";
  std::fputs((is_hip ? nuice::device::hip_text() : nuice::device::ptx_text()).c_str(), stdout);
}

// SPDX-License-Identifier: BSD-3-Clause
// Meshes of nuice-euler.
#include "euler/mesh.hpp"
#include "driver/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  static fuzz::InputFile file("mesh");
  const std::string& path = file.hold(fuzz::text_of(data, size));
  return fuzz::expect_errors_only([&] { euler::load_mesh(path); });
}

// SPDX-License-Identifier: BSD-3-Clause
// A program without a GPU's driver opens none, and all its memory is the host's.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "device/driver.hpp"

namespace nuice {
namespace {

TEST(NoDevice, NothingIsLoaded) {
  int value = 0;
  EXPECT_FALSE(device::any_driver());
  EXPECT_FALSE(device::locate(&value).is_on_device());
  EXPECT_FALSE(device::locate(nullptr).is_on_device());
  EXPECT_EQ(device::Location().name(), "the host");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    for (const char* const name : {"libcuda", "libamdhip64", "libhiprtc"})
      EXPECT_EQ(line.find(name), std::string::npos) << line;
}

}  // namespace
}  // namespace nuice

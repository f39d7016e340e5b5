// SPDX-License-Identifier: BSD-3-Clause
// A program without a GPU's driver opens none, and all its memory is the host's.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "device/driver.hpp"
#include "nuice/core/error.hpp"
#include "support/throws.hpp"

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

/// As by a module of Python.
TEST(NoDevice, ADriverThatIsLoadedLaterIsFound) {
  int value = 0;
  EXPECT_FALSE(device::any_driver());
  ASSERT_NE(dlopen(NUICE_FAKE_DRIVER, RTLD_NOW), nullptr) << dlerror();
  EXPECT_TRUE(device::any_driver());
  EXPECT_FALSE(device::locate(&value).is_on_device());
}

TEST(NoDevice, ADriverWithoutAnEntryPointIsRefused) {
  int value = 0;
  ASSERT_NE(dlopen(NUICE_BROKEN_DRIVER, RTLD_NOW), nullptr) << dlerror();
  EXPECT_ERROR((void)device::locate(&value), ErrorCode::device,
               {NUICE_BROKEN_DRIVER " has no hipPointerGetAttribute: this driver cannot be used"});
}

}  // namespace
}  // namespace nuice

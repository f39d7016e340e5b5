// SPDX-License-Identifier: BSD-3-Clause
// Comparison with the files in tests/golden. NUICE_UPDATE_GOLDEN=1 rewrites them: read the diff.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace nuice::test {

inline void compare_with_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(NUICE_GOLDEN_DIR) + "/" + name;
  if (std::getenv("NUICE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

}  // namespace nuice::test

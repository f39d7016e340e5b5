// SPDX-License-Identifier: BSD-3-Clause
#include "core/support/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace nuice {
namespace {

constexpr const char* name = "NUICE_TEST_VALUE";

class Environment : public testing::Test {
 protected:
  ~Environment() override { unsetenv(name); }
  static void set(const char* text) { ASSERT_EQ(setenv(name, text, 1), 0); }
  core::Environment environment;
};

TEST_F(Environment, WhatIsNotSetOrEmptyIsTheOther) {
  unsetenv(name);
  EXPECT_EQ(environment.number(name, 0, 2.5), 2.5);
  set("");
  EXPECT_EQ(environment.whole(name, 0, 9, 7), 7);
  EXPECT_EQ(environment.word(name, {"off", "on"}), "off");
  EXPECT_TRUE(environment.complaints().empty());
}

TEST_F(Environment, ValuesAreRead) {
  set("0.5");
  EXPECT_EQ(environment.number(name, 0, 1), 0.5);
  set("64");
  EXPECT_EQ(environment.whole(name, 0, 64, 7), 64);
  EXPECT_EQ(environment.number(name, 0, 1), 64);
  set("on");
  EXPECT_EQ(environment.word(name, {"off", "on"}), "on");
  EXPECT_TRUE(environment.complaints().empty());
}

TEST_F(Environment, WhatIsNoValueIsTold) {
  for (const char* text : {"nan", "inf", "-5", "abc", "1e400", "5 s", " 5", "0x10"}) {
    set(text);
    core::Environment strict;
    EXPECT_EQ(strict.number(name, 0, 2.5), 2.5) << text;
    ASSERT_EQ(strict.complaints().size(), 1U) << text;
    EXPECT_EQ(strict.complaints()[0],
              std::string("NUICE_TEST_VALUE=\"") + text + "\" is not a number from 0 on; 2.5 is taken");
  }
  for (const char* text : {"abc", "-5", "1.5", "1e3", "10", "99999999999999999999", "7 "}) {
    set(text);
    core::Environment strict;
    EXPECT_EQ(strict.whole(name, 0, 9, 7), 7) << text;
    ASSERT_EQ(strict.complaints().size(), 1U) << text;
    EXPECT_EQ(strict.complaints()[0],
              std::string("NUICE_TEST_VALUE=\"") + text + "\" is not a whole number from 0 to 9; 7 is taken");
  }
  set("On\n");
  EXPECT_EQ(environment.word(name, {"off", "on"}), "off");
  ASSERT_EQ(environment.complaints().size(), 1U);
  EXPECT_EQ(environment.complaints()[0],
            "NUICE_TEST_VALUE=\"On\\x0a\" is not a word of off, on; off is taken");
}

}  // namespace
}  // namespace nuice

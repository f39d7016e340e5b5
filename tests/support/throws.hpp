// SPDX-License-Identifier: BSD-3-Clause
// EXPECT_ERROR(statement, code, part...): the statement throws nuice::Error with that code and a text with
// these parts.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>

#include "nuice/core/error.hpp"

namespace nuice::test {

inline void expect_error(const std::function<void()>& statement, ErrorCode code,
                         std::initializer_list<std::string> parts) {
  try {
    statement();
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "\"" << part << "\" is not in: " << error.what();
    }
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "more than one line";
    return;
  }
  ADD_FAILURE() << "no Error was thrown";
}

}  // namespace nuice::test

#define EXPECT_ERROR(statement, ...) nuice::test::expect_error([&] { statement; }, __VA_ARGS__)

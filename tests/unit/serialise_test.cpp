// SPDX-License-Identifier: BSD-3-Clause
// What goes through bytes comes out as it went in; and what a step throws becomes an Error of its rank.
#include "core/text/serialise.hpp"

#include <gtest/gtest.h>

#include <new>

#include "core/text/names.hpp"
#include "nuice/core/outcome.hpp"

namespace nuice {
namespace {

enum class Colour { red, green };

struct Plain {
  std::int32_t a = 0;
  double b = 0;
  friend bool operator==(const Plain&, const Plain&) = default;
};

struct Leaf {
  std::string name;
  std::vector<Plain> plain;
  friend bool operator==(const Leaf&, const Leaf&) = default;
};

struct Tree {
  bool flag = false;
  Colour colour = Colour::red;
  std::vector<Leaf> leaves;
  std::vector<std::string> texts;
  Leaf last;
  friend bool operator==(const Tree&, const Tree&) = default;
};

}  // namespace

template <>
struct core::Fields<Leaf> {
  static auto of(auto& leaf) {
    auto& [name, plain] = leaf;
    return std::tie(name, plain);
  }
};

template <>
struct core::Fields<Tree> {
  static auto of(auto& tree) {
    auto& [flag, colour, leaves, texts, last] = tree;
    return std::tie(flag, colour, leaves, texts, last);
  }
};

namespace {

TEST(Serialise, WhatGoesThroughBytesComesOutAsItWentIn) {
  const Tree tree{.flag = true,
                  .colour = Colour::green,
                  .leaves = {{"one", {{1, 0.5}, {-2, 1e300}}}, {"", {}}},
                  .texts = {std::string("a\0b", 3), ""},
                  .last = {"last", {{3, -0.0}}}};
  const std::string bytes = core::to_bytes(7, tree, std::string("end"));
  int seven = 0;
  Tree copy{
      .flag = false, .colour = Colour::red, .leaves = std::vector<Leaf>(5), .texts = {"gone"}, .last = {}};
  std::string end = "another";
  core::from_bytes(bytes, seven, copy, end);
  EXPECT_EQ(seven, 7);
  EXPECT_EQ(copy, tree);
  EXPECT_EQ(end, "end");
}

TEST(Serialise, ListsOfPlainValuesTakeTheirBytesAndALength) {
  const std::vector<std::int64_t> numbers(1000, 5);
  EXPECT_EQ(core::to_bytes(numbers).size(), sizeof(std::size_t) + 8000);
  EXPECT_EQ(core::to_bytes(std::vector<Plain>{}).size(), sizeof(std::size_t));
  EXPECT_EQ(core::to_bytes().size(), 0U);
}

TEST(Outcome, WhateverAStepThrowsIsAnErrorOfItsRank) {
  const auto expect = [](ErrorCode code, const std::string& text, auto exception) {
    const Outcome outcome = attempt(3, [&] { throw exception; });
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(error_code_name(outcome->code()), error_code_name(code));
    EXPECT_EQ(outcome->what(), text);
  };
  EXPECT_FALSE(attempt(3, [] {}).has_value());
  expect(ErrorCode::io, "as it is", Error(ErrorCode::io, "as it is"));
  expect(ErrorCode::limit, "rank 3 is out of memory", std::bad_alloc());
  expect(ErrorCode::limit, "rank 3 cannot hold arrays of this length", std::length_error("vector"));
  expect(ErrorCode::invalid_argument, "rank 3: oops", std::runtime_error("oops"));
  expect(ErrorCode::invalid_argument, "rank 3: an exception that is no std::exception", "text");
}

TEST(Names, ErrorsNameRanksAndPairsAlike) {
  EXPECT_EQ(rank_name(12), "rank 12");
  EXPECT_EQ(pair_name(0, 3), "rank 0 -> rank 3");
}

}  // namespace
}  // namespace nuice

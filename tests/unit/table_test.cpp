// SPDX-License-Identifier: BSD-3-Clause
// Tables of names: rows can be added, none can be taken twice, and an unknown name lists the known ones.
#include "core/support/table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>

#include "nuice/core/executor.hpp"
#include "support/throws.hpp"

namespace nuice {
namespace {

struct Fruit {
  explicit Fruit(std::string_view word) : name(word) {}  // rows need no default constructor
  std::string_view name;
};

const std::array fruits{Fruit("apple"), Fruit("pear")};

TEST(Table, FindsRowsByName) {
  const core::Table<Fruit> table("fruit", fruits);
  EXPECT_EQ(table.rows().size(), 2U);
  EXPECT_EQ(&table.find("pear"), &table.rows()[1]);
  EXPECT_EQ(core::row_named(table.rows(), "plum"), nullptr);
  EXPECT_ERROR(table.find("plum"), ErrorCode::invalid_argument,
               {"unknown fruit \"plum\"; known: apple, pear"});
}

TEST(Table, AddedRowsAreFoundAndOldOnesStayWhereTheyAre) {
  core::Table<Fruit> table("fruit", fruits);
  const Fruit& apple = table.find("apple");
  table.add(Fruit("plum"));
  EXPECT_EQ(table.find("plum").name, "plum");
  EXPECT_EQ(&table.find("apple"), &apple);
  EXPECT_ERROR(table.find("fig"), ErrorCode::invalid_argument, {"known: apple, pear, plum"});
}

TEST(Table, TakenAndEmptyNamesAreRefused) {
  core::Table<Fruit> table("fruit", fruits);
  EXPECT_ERROR(table.add(Fruit("pear")), ErrorCode::invalid_argument, {"there is a fruit \"pear\" already"});
  EXPECT_ERROR(table.add(Fruit("")), ErrorCode::invalid_argument, {"a fruit needs a name"});
  EXPECT_EQ(table.rows().size(), 2U);
}

std::string name_of(std::size_t number) { return "fruit" + std::to_string(number); }

TEST(Table, AFullOneSaysSo) {
  core::Table<Fruit> table("fruit", fruits);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < core::Table<Fruit>::capacity; ++i) names.push_back(name_of(i));
  for (std::size_t i = 2; i < core::Table<Fruit>::capacity; ++i) table.add(Fruit(names[i]));
  EXPECT_ERROR(table.add(Fruit("last")), ErrorCode::limit, {"the table of fruits is full", "128 rows"});
  EXPECT_EQ(table.rows().size(), core::Table<Fruit>::capacity);
}

TEST(Table, ThreadsReadWhileOthersAdd) {
  core::Table<Fruit> table("fruit", fruits);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 100; ++i) names.push_back(name_of(i));
  std::thread adder([&] {
    for (const std::string& name : names) table.add(Fruit(name));
  });
  while (table.rows().size() < 102) EXPECT_EQ(table.find("pear").name, "pear");
  adder.join();
  for (const std::string& name : names) EXPECT_EQ(table.find(name).name, name);
}

TEST(Executors, HaveUniqueNamesTextAndSource) {
  std::set<std::string_view> names;
  for (const Executor& row : executors()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty());
    EXPECT_FALSE(row.source.empty());
    EXPECT_TRUE(row.has_phases() || !row.carries_out(0)) << row.name << " would forward without phases";
  }
  EXPECT_ERROR(find_executor("fast"), ErrorCode::invalid_argument,
               {"unknown executor \"fast\"; known: async, phased, pairwise, depend"});
}

TEST(Executors, OnlyThoseWithPhasesForward) {
  EXPECT_TRUE(find_executor("phased").carries_out(one_port));
  EXPECT_FALSE(find_executor("async").carries_out(one_port));
  EXPECT_TRUE(find_executor("async").carries_out(direct | one_port));
  EXPECT_FALSE(find_executor("handshake").carries_out(direct | one_port));
}

TEST(Executors, ARowCanBeAdded) {
  add_executor({.name = "table_test",
                .summary = "of this test",
                .source = "none",
                .pace = Pace::phases,
                .needs = one_port,
                .on_mpi = false});
  EXPECT_EQ(find_executor("table_test").needs, one_port);
  EXPECT_ERROR(
      add_executor(
          {.name = "phased", .summary = "", .source = "", .pace = Pace::phases, .needs = 0, .on_mpi = true}),
      ErrorCode::invalid_argument, {"executor \"phased\" already"});
}

}  // namespace
}  // namespace nuice

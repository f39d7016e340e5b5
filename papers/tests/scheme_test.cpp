// SPDX-License-Identifier: BSD-3-Clause
// Tests that every scheme carries out the same searches: distances on a torus with walls (an ordered client)
// and reachable cells (a client without order). They are compared with a search by one rank. Several runs
// follow each other, so that items that leak into the next run are noticed.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <deque>
#include <map>

#include "irregular/stripes.hpp"
#include "irregular/with_scheme.hpp"
#include "nuice/core/random.hpp"
#include "support/throws.hpp"

namespace nuice::irregular {
namespace {

constexpr std::int64_t rows = 13;
constexpr std::int64_t columns = 29;
constexpr std::uint32_t unseen = UINT32_MAX;
constexpr std::uint32_t wall = UINT32_MAX - 1;

using Grid = std::vector<std::uint32_t>;

Grid walls(std::uint64_t seed) {
  Grid grid(rows * columns, unseen);
  for (std::size_t i = 1; i < grid.size(); ++i)
    if (mix64(seed * 10007 + i) % 10 < 3) grid[i] = wall;
  return grid;
}

std::array<std::int64_t, 4> beside(std::int64_t cell) {
  const std::int64_t r = cell / columns;
  const std::int64_t c = cell % columns;
  return {(r + 1) % rows * columns + c, (r + rows - 1) % rows * columns + c, r * columns + (c + 1) % columns,
          r * columns + (c + columns - 1) % columns};
}

Grid search(Grid grid) {
  std::deque<std::int64_t> queue = {0};
  grid[0] = 0;
  for (; !queue.empty(); queue.pop_front())
    for (const std::int64_t next : beside(queue.front()))
      if (grid[static_cast<std::size_t>(next)] == unseen) {
        grid[static_cast<std::size_t>(next)] = grid[static_cast<std::size_t>(queue.front())] + 1;
        queue.push_back(next);
      }
  return grid;
}

template <bool in_order>
struct Search {
  using Item = std::uint32_t;
  static constexpr bool ordered = in_order;

  explicit Search(const Stripes& s, Rank r) : stripes(s), rank(r) {}
  const Stripes& stripes;
  Rank rank;
  std::map<Rank, std::size_t> slot_of;
  Grid grid;
  std::vector<std::uint32_t> now, next;
  Level level = 0;
  std::uint32_t stop_at = unseen;
  bool found = false;

  void begin(Grid with_walls) {
    grid = std::move(with_walls);
    now.clear();
    next.clear();
    level = 0;
    found = false;
    if (stripes.owner(0) != rank) return;
    grid[0] = 0;
    now.push_back(0);
  }

  template <class Scheme>
  void expand(Scheme& scheme) {
    for (const std::uint32_t cell : now) {
      if (ordered && grid[cell] != level) continue;  // was corrected and expanded meanwhile
      for (const std::int64_t to : beside(cell)) look(scheme, static_cast<std::uint32_t>(to), level + 1);
      scheme.poll();
    }
    emit_late = [this, &scheme](std::uint32_t cell) {
      for (const std::int64_t to : beside(cell)) look(scheme, static_cast<std::uint32_t>(to), level + 1);
    };
  }
  template <class Scheme>
  void look(Scheme& scheme, std::uint32_t cell, Level distance) {
    const Rank owner = stripes.owner(cell % columns);
    if (owner != rank) {
      scheme.emit(slot_of.at(owner), cell);
    } else {
      mark(cell, distance);
    }
  }
  bool mark(std::uint32_t cell, Level distance) {
    if (grid[cell] == wall || (in_order ? grid[cell] <= distance : grid[cell] != unseen)) return false;
    grid[cell] = static_cast<std::uint32_t>(distance);
    found = found || cell == stop_at;
    if (!in_order || distance > level) next.push_back(cell);
    return true;
  }
  void absorb(std::span<const Item> items, Level from_level) {
    EXPECT_TRUE(!in_order || from_level <= level);
    for (const Item cell : items) {
      EXPECT_EQ(stripes.owner(cell % columns), rank);
      const bool lower = mark(cell, from_level + 1);
      if (in_order && lower && from_level < level) emit_late(cell);
    }
  }
  void next_level() {
    now.swap(next);
    next.clear();
    ++level;
  }
  Vote vote() const { return {now.empty() && next.empty(), found}; }

  std::function<void(std::uint32_t)> emit_late;
};

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

template <bool ordered>
void expect_same_as_alone(const SchemeOptions& options, std::int64_t delta, std::int64_t width) {
  const Stripes stripes(columns, width, size_of_world());
  Search<ordered> client(stripes, rank_of_world());
  const std::vector<Rank> neighbours = stripes.neighbours(client.rank, true);
  for (std::size_t i = 0; i < neighbours.size(); ++i) client.slot_of[neighbours[i]] = i;
  with_scheme(MPI_COMM_WORLD, options, neighbours, client, [&](auto& scheme) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Grid alone = search(walls(seed));
      client.begin(walls(seed));
      client.stop_at = seed == 2 ? columns * 6 + 14 : unseen;
      const Level levels = run(scheme, client, delta);
      EXPECT_TRUE(seed != 2 || levels <= rows + columns + static_cast<Level>(delta));
      for (std::size_t cell = 0; cell < alone.size(); ++cell) {
        if (stripes.owner(static_cast<std::int64_t>(cell) % columns) != client.rank) continue;
        const bool stopped_before = client.grid[cell] == unseen && seed == 2;
        const bool as_alone =
            ordered ? client.grid[cell] == alone[cell] : (client.grid[cell] < wall) == (alone[cell] < wall);
        EXPECT_TRUE(as_alone || stopped_before) << options.name << " seed " << seed << " cell " << cell;
      }
    }
    EXPECT_EQ(scheme.traffic().items.size(), neighbours.size());
  });
}

TEST(Schemes, CarryTheSameSearch) {
  for (const SchemeRow& row : schemes())
    for (const std::int64_t width :
         size_of_world() > 3 ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{1, 4})
      for (const Sync sync : {Sync::local, Sync::global, Sync::none})
        for (const std::int64_t delta : {0, 1, 3}) {
          if (sync == Sync::global && delta == 3) continue;
          const SchemeOptions options{
              .name = std::string(row.name), .sync = sync, .buffer_bytes = 16, .max_items = 1000};
          try {
            check(options, delta);
          } catch (const Error&) {
            continue;
          }
          SCOPED_TRACE(options.name + " " + std::string(name_of(sync)) + " delta " + std::to_string(delta));
          expect_same_as_alone<false>(options, delta, width);
          if (sync != Sync::none) expect_same_as_alone<true>(options, delta, width);
        }
}

TEST(Schemes, RefuseWhatDoesNotGoTogether) {
  EXPECT_ERROR(find_scheme("SSR"), ErrorCode::invalid_argument,
               {"there is no scheme SSR; there are SSR-C-NO"});
  EXPECT_ERROR(find_sync("often"), ErrorCode::invalid_argument, {"no synchronisation often"});
  EXPECT_ERROR(check({.name = "ASR-C-O", .sync = Sync::none}, 0), ErrorCode::invalid_argument,
               {"level by level"});
  EXPECT_ERROR(check({}, 0), ErrorCode::invalid_argument, {"delta 0"});
  EXPECT_ERROR(Stripes(8, 0, 1), ErrorCode::invalid_argument, {"stripes of width 0"});
  EXPECT_ERROR(Stripes(3, 1, 4), ErrorCode::invalid_argument, {"3 columns for 4 ranks"});
}

TEST(Stripes, DealColumnsCyclically) {
  const Stripes stripes(10, 3, 2);  // 0 0 0 1 1 1 0 0 0 1
  EXPECT_EQ(stripes.owner(8), 0);
  ASSERT_EQ(stripes.of(1).size(), 2U);
  EXPECT_EQ(stripes.of(1)[1].end, 10);
  const Stripes uneven(8, 1, 5);  // 0 1 2 3 4 0 1 2: the last stripe's rank is next to the first's
  EXPECT_EQ(uneven.neighbours(2, true), (std::vector<Rank>{0, 1, 3}));
  EXPECT_EQ(uneven.neighbours(2, false), (std::vector<Rank>{1, 3}));
  EXPECT_TRUE(Stripes(8, 8, 3).of(2).empty());
  EXPECT_TRUE(Stripes(8, 8, 3).neighbours(0, true).empty());
}

}  // namespace
}  // namespace nuice::irregular

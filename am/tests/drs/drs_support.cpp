// SPDX-License-Identifier: BSD-3-Clause
#include "drs/drs_support.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace nuice::test {

std::vector<NamedMatrix> drs_matrices(Rank n) {
  const auto matrix_of = [n](const std::vector<Message>& messages) {
    return CommMatrix::from_messages(n, messages);
  };
  std::vector<Message> hot;
  std::vector<Message> one_to_all;
  std::vector<Message> self;
  std::vector<Message> skewed;
  for (Rank r = 0; r < n; ++r) {
    hot.push_back({r, n / 2, 40'000 + r});
    one_to_all.push_back({n / 2, r, 5000 + r});
    self.push_back({r, r, Bytes{10} * r});
    for (Rank s = 0; s < n; ++s) skewed.push_back({r, s, (r + s) % 3 == 0 ? 70'000 + r : 1 + s});
  }
  return {{"empty", matrix_of({})},
          {"single message", matrix_of({{n - 1, 0, 33}})},
          {"hot receiver", matrix_of(hot)},
          {"one sender", matrix_of(one_to_all)},
          {"only to itself", matrix_of(self)},
          {"skewed, complete, with self", matrix_of(skewed)},
          {"one large", matrix_of({{0, n - 1, 600'000}})},
          {"regular", random_regular(n, (n - 1) / 2, {.unit_bytes = 256, .max_units = 1}, 5)},
          {"density 0.8, sizes 1 to 32", random_density(n, 0.8, {.unit_bytes = 700, .max_units = 32}, 2)}};
}

std::vector<Partner> drs_row(const CommMatrix& matrix, Rank rank) {
  std::vector<Partner> row;
  for (const Message& message : matrix.entries())
    if (message.src == rank) row.push_back({message.dst, message.bytes});
  return row;
}

std::vector<Partner> drs_column(const CommMatrix& matrix, Rank rank) {
  std::vector<Partner> column;
  for (const Message& message : matrix.entries())
    if (message.dst == rank) column.push_back({message.src, message.bytes});
  return column;
}

void BoundDrs::refill(unsigned round) {
  const Blocks fresh = payload_to_send(rank, destinations, round);
  for (std::size_t i = 0; i < send.size(); ++i) std::ranges::copy(fresh[i], send[i].begin());
  for (auto& block : receive) std::ranges::fill(block, poison);
}

void BoundDrs::expect_received(unsigned round) const {
  EXPECT_EQ(receive, payload_expected(rank, sources, round)) << "rank " << rank << ", round " << round;
}

void expect_counters(const drs::Counters& counters, std::uint64_t messages, const drs::Options& options) {
  EXPECT_EQ(counters.messages, messages);
  if (options.when_busy == drs::WhenBusy::list) {
    EXPECT_EQ(counters.inquiries, messages);
    EXPECT_LE(counters.refusals, messages);
  } else {
    EXPECT_EQ(counters.inquiries, messages + counters.refusals);
  }
}

/// Returns what every rank receives when the whole matrix is exchanged serially. It is made once per matrix,
/// because the ranks of a loop-back run are threads that all ask for it.
const std::vector<Blocks>& received_serially(const NamedMatrix& named) {
  static std::mutex mutex;
  static std::map<std::pair<Rank, std::string>, std::vector<Blocks>> known;
  const std::scoped_lock lock(mutex);
  const auto [found, is_new] = known.try_emplace({named.matrix.num_ranks(), named.name});
  if (is_new) {
    const auto tables = slice_all(named.matrix, make_schedule(named.matrix, "ac", 9));
    World world(tables);
    world.exchange(tables);
    found->second = std::move(world.receive);
  }
  return found->second;
}

void expect_as_serially(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options) {
  for (const NamedMatrix& named : drs_matrices(num_ranks)) {
    SCOPED_TRACE(named.name);
    BoundDrs bound(named.matrix, rank, bind, options);
    bound.exchange.start();
    bound.exchange.wait();
    EXPECT_EQ(bound.receive, received_serially(named)[static_cast<std::size_t>(rank)]);
    std::uint64_t others = 0;
    for (const Partner& to : bound.destinations) others += to.rank != rank ? 1 : 0;
    expect_counters(bound.exchange.counters(), others, options);
    bound.exchange.free();
  }
}

void expect_many_rounds(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options, int rounds,
                        bool testing) {
  const CommMatrix matrix = random_density(num_ranks, 0.7, {.unit_bytes = 500, .max_units = 8}, 4);
  BoundDrs bound(matrix, rank, bind, options);
  for (unsigned round = 0; std::cmp_less(round, rounds); ++round) {
    bound.refill(round);
    bound.exchange.start();
    if (testing) {
      while (!bound.exchange.test()) {
      }
    } else {
      bound.exchange.wait();
    }
    bound.expect_received(round);
  }
}

void expect_overlapping(Rank rank, Rank num_ranks, const Bind& bind, const drs::Options& options) {
  const CommMatrix matrix = drs_matrices(num_ranks).at(5).matrix;
  BoundDrs first(matrix, rank, bind, options);
  BoundDrs second(matrix, rank, bind, options);
  for (unsigned round = 0; round < 6; round += 2) {
    first.refill(round);
    second.refill(round + 1);
    BoundDrs& mine = rank % 2 == 0 ? first : second;
    BoundDrs& other = rank % 2 == 0 ? second : first;
    mine.exchange.start();
    other.exchange.start();
    (rank % 3 == 0 ? mine : other).exchange.wait();
    (rank % 3 == 0 ? other : mine).exchange.wait();
    first.expect_received(round);
    second.expect_received(round + 1);
  }
}

}  // namespace nuice::test

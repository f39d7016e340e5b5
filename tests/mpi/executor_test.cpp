// SPDX-License-Identifier: BSD-3-Clause
// Every scheduler with every executor on every matrix does what the serial executor does, byte for byte.
#include <memory>
#include <numeric>
#include <thread>

#include "exchange/exec/run.hpp"
#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

struct NamedMatrix {
  std::string name;
  CommMatrix matrix;
};

CommMatrix matrix_of(Rank n, const std::vector<Message>& messages) {
  return CommMatrix::from_messages(n, messages);
}

/// Extreme and random ones, for any number of ranks. Some messages are above every MPI's eager limit.
std::vector<NamedMatrix> matrices(Rank n) {
  std::vector<Message> hot;
  std::vector<Message> self;
  std::vector<Message> skewed;
  for (Rank r = 0; r < n; ++r) {
    hot.push_back({r, n / 2, 100 + r});
    self.push_back({r, r, 10 * r});
    for (Rank s = 0; s < n; ++s) skewed.push_back({r, s, (r + s) % 3 == 0 ? 70'000 + r : 1 + s});
  }
  return {{"empty", matrix_of(n, {})},
          {"single message", matrix_of(n, {{n - 1, 0, 33}})},
          {"hot receiver", matrix_of(n, hot)},
          {"only to itself", matrix_of(n, self)},
          {"skewed, complete, with self", matrix_of(n, skewed)},
          {"regular", random_regular(n, (n - 1) / 2, {.unit_bytes = 256, .max_units = 1}, 5)},
          {"density 0.3", random_density(n, 0.3, {.unit_bytes = 100, .max_units = 1}, 1)},
          {"density 0.8, sizes 1 to 32", random_density(n, 0.8, {.unit_bytes = 7, .max_units = 32}, 2)}};
}

struct Walk {
  std::string name;
  std::string options;
  bool is_setting = true;  // of a row that is there too
  std::size_t place = 0;   // in walks()
};

/// Every row of the table, those that tests add too, and settings of some.
const std::vector<Walk>& walks() {
  static const std::vector<Walk> all = [] {
    std::vector<Walk> some = {{"async_window_1", "executor=async async.max_sends=1"},
                              {"async_window_2", "executor=async async.max_sends=2"},
                              {"async_window_100", "executor=async async.max_sends=100"},
                              {"depend_for_every_byte", "executor=depend depend.early=1"},
                              {"depend_some_wait", "executor=depend depend.early=500"}};
    for (const mpi::RunnableExecutor& row : mpi::runnable_executors())
      some.push_back({std::string(row.name), "hosts=1 executor=" + std::string(row.name), false});
    for (std::size_t place = 0; place < some.size(); ++place) some[place].place = place;
    return some;
  }();
  return all;
}

class EveryExecutor : public testing::TestWithParam<Walk> {
 protected:
  /// For those that avoid link contention: all ranks in a row.
  static std::unique_ptr<const Topology> line() {
    return make_topology("mesh:" + std::to_string(test::world_size()));
  }
  static mpi::PlanOptions options_for(const std::string& scheduler) {
    return mpi::PlanOptions::parse(GetParam().options, {.scheduler = scheduler});
  }
  static bool can_forward() { return find_executor(options_for("lp").executor).has_phases(); }
  void expect_as_serially(const CommMatrix& matrix, std::string_view scheduler) {
    const auto network = line();
    const auto tables =
        slice_all(matrix, make_schedule({.matrix = matrix, .seed = 9, .topology = network.get()}, scheduler));
    test::World world(tables);
    world.exchange(tables);

    const Rank rank = test::world_rank();
    mpi::PlanOptions options = options_for(std::string(scheduler));
    options.seed = 9;
    options.topology = network->name();
    mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, rank), options);
    EXPECT_EQ(plan.table(), tables[static_cast<std::size_t>(rank)]);
    test::BoundPlan bound(plan);
    bound.exchange.start();
    bound.exchange.wait();
    EXPECT_EQ(bound.receive, world.receive[static_cast<std::size_t>(rank)]);
    expect_reverse_as_serially(plan, tables);
  }

  static void expect_reverse_as_serially(mpi::Plan& plan, std::vector<PhaseTable> tables) {
    for (PhaseTable& table : tables) table = reversed(table);
    test::World world(tables);
    world.exchange(tables);
    const test::Blocks send = test::payload_to_send(plan.table().rank, plan.sources());
    test::Blocks receive = test::poisoned(plan.destinations());
    auto exchange =
        plan.bind(test::send_buffers(send), test::receive_buffers(receive), mpi::Direction::backwards);
    exchange.start();
    exchange.wait();
    EXPECT_EQ(receive, world.receive[static_cast<std::size_t>(plan.table().rank)]);
  }
};

/// Every executor with every scheduler on one rank (and on 5, in make test-all), and on 2, 3 or 4; with a
/// sixth of them on 8. Settings of an executor with a fifth or a tenth, others for each. Every plan is a
/// dozen round trips, and each takes milliseconds where other programs compute on the same cores.
TEST_P(EveryExecutor, DoesWhatTheSerialOneDoes) {
  const bool has_all = test::world_size() == 1 || test::world_size() == 5;
  const std::size_t few = test::world_size() == 8 ? 2 : 1;
  const std::size_t stride = few * (GetParam().is_setting ? 5 : has_all ? 1 : 3);
  const auto part = static_cast<std::size_t>(test::world_size());  // 2, 3 and 4 leave different remainders
  for (const auto& [name, matrix] : matrices(test::world_size()))
    for (std::size_t i = (GetParam().place + part) % stride; i < schedulers().size(); i += stride) {
      const Scheduler& scheduler = schedulers()[i];
      SCOPED_TRACE(name + ", " + std::string(scheduler.name));
      const bool forwards = (scheduler.guarantees & direct) == 0;
      if (forwards && !can_forward()) continue;  // refused: error_test.cpp
      if (!scheduler.why_not({.matrix = matrix, .seed = 9, .topology = line().get()}).empty()) continue;
      expect_as_serially(matrix, scheduler.name);
    }
}

TEST_P(EveryExecutor, IsCompleteByTestingOnly) {
  const auto [name, matrix] = matrices(test::world_size()).at(4);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options_for("rs_n"));
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 3; ++round) {
    bound.refill(round);
    bound.exchange.start();
    while (!bound.exchange.test()) std::this_thread::yield();
    bound.expect_received(round);
  }
}

TEST_P(EveryExecutor, CarriesChangingDataManyTimes) {
  const CommMatrix matrix = random_density(test::world_size(), 0.7, {.unit_bytes = 50, .max_units = 8}, 4);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options_for("rs_n"));
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 50; ++round) {  // no barrier between the rounds: fast ranks run ahead
    bound.exchange_once(round);
  }
}

/// Short messages of several fields travel in one piece, long ones as they lie.
TEST_P(EveryExecutor, CarriesShortAndLongMessagesOfSeveralFields) {
  const Rank rank = test::world_rank();
  const auto elements = [](Rank src, Rank dst) {
    const Rank kind = (src + 2 * dst) % 4;
    return std::int64_t{kind == 3 ? 200 : kind};
  };
  const auto value = [](Rank src, Rank dst, std::int64_t k, int round) {
    return static_cast<int>(src * 1'000'000 + dst * 10'000 + k * 10 + round);
  };
  std::vector<Partner> destinations;
  for (Rank dst = 0; dst < test::world_size(); ++dst)
    if (elements(rank, dst) > 0) destinations.push_back({dst, 12 * elements(rank, dst)});
  mpi::Plan plan(MPI_COMM_WORLD, destinations, options_for("coloring"));
  std::vector<std::int64_t> to;
  std::vector<std::int64_t> from;
  for (const Partner& dst : plan.destinations()) to.push_back(elements(rank, dst.rank));
  for (const Partner& src : plan.sources()) from.push_back(elements(src.rank, rank));
  std::vector<double> out(static_cast<std::size_t>(std::accumulate(to.begin(), to.end(), std::int64_t{0})));
  std::vector<int> out_ints(out.size());
  std::vector<double> in(
      static_cast<std::size_t>(std::accumulate(from.begin(), from.end(), std::int64_t{0})));
  std::vector<int> in_ints(in.size());
  const std::vector<mpi::SendField> send = {{out.data(), MPI_DOUBLE, to}, {out_ints.data(), MPI_INT, to}};
  const std::vector<mpi::ReceiveField> receive = {{in.data(), MPI_DOUBLE, from},
                                                  {in_ints.data(), MPI_INT, from}};
  mpi::Exchange exchange = plan.bind(send, receive);
  for (int round = 0; round < 6; ++round) {
    std::size_t at = 0;
    for (const Partner& dst : plan.destinations())
      for (std::int64_t k = 0; k < elements(rank, dst.rank); ++k, ++at)
        out[at] = out_ints[at] = value(rank, dst.rank, k, round);
    std::ranges::fill(in, -1);
    std::ranges::fill(in_ints, -1);
    exchange.start();
    if (round % 2 == 0) {
      exchange.wait();
    } else {
      while (exchange.next()) {
      }
    }
    at = 0;
    for (const Partner& src : plan.sources())
      for (std::int64_t k = 0; k < elements(src.rank, rank); ++k, ++at) {
        EXPECT_EQ(in[at], value(src.rank, rank, k, round));
        EXPECT_EQ(in_ints[at], value(src.rank, rank, k, round));
      }
  }
}

TEST_P(EveryExecutor, RunsTwoExchangesOfOnePlanTogether) {
  const CommMatrix matrix = matrices(test::world_size()).at(4).matrix;
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options_for("coloring"));
  test::BoundPlan first(plan);
  test::BoundPlan second(plan);
  for (unsigned round = 0; round < 6; round += 2) {
    first.refill(round);
    second.refill(round + 1);
    // The order of starting and of completing differs between the ranks.
    test::BoundPlan& mine = test::world_rank() % 2 == 0 ? first : second;
    test::BoundPlan& other = test::world_rank() % 2 == 0 ? second : first;
    mine.exchange.start();
    other.exchange.start();
    bool mine_done = false;
    bool other_done = false;
    while (!mine_done || !other_done) {
      if (!mine_done) mine_done = mine.exchange.test();
      if (!other_done) other_done = other.exchange.test();
      std::this_thread::yield();
    }
    first.expect_received(round);
    second.expect_received(round + 1);
  }
  first.refill(7);
  second.refill(8);
  first.exchange.start();
  second.exchange.start();
  second.exchange.wait();
  first.exchange.wait();
  first.expect_received(7);
  second.expect_received(8);
}

TEST_P(EveryExecutor, ForwardsChangingDataManyTimes) {
  if (!can_forward()) GTEST_SKIP() << "does not forward";
  const CommMatrix matrix = random_density(test::world_size(), 0.7, {.unit_bytes = 50, .max_units = 999}, 4);
  mpi::Plan plan(MPI_COMM_WORLD, test::row_of(matrix, test::world_rank()), options_for("rex"));
  Bytes staged = staged_bytes(plan.table());
  MPI_Allreduce(MPI_IN_PLACE, &staged, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(plan.info().staged_bytes, staged);
  test::BoundPlan first(plan);
  test::BoundPlan second(plan);  // with a stage of its own
  const unsigned num_rounds = test::world_size() == 8 ? 8 : 20;
  for (unsigned round = 0; round < num_rounds; ++round) {
    first.refill(2 * round);
    second.refill(2 * round + 1);
    first.exchange.start();
    second.exchange.start();
    first.exchange.wait();
    while (!second.exchange.test()) std::this_thread::yield();
    first.expect_received(2 * round);
    second.expect_received(2 * round + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, EveryExecutor, testing::ValuesIn(walks()),
                         [](const auto& suite) { return suite.param.name; });

TEST(ExecutorNames, AreFoundAgain) {
  for (const Executor& row : executors()) {
    if (!row.on_mpi) continue;
    EXPECT_EQ(mpi::find_runnable_executor(row.name).name, row.name);
  }
  for (const mpi::RunnableExecutor& row : mpi::runnable_executors())
    EXPECT_TRUE(find_executor(row.name).on_mpi);
  test::expect_error(ErrorCode::invalid_argument,
                     "unknown executor on MPI \"fast\"; known: async, phased, pairwise, depend",
                     [] { mpi::find_runnable_executor("fast"); });
}

}  // namespace
}  // namespace nuice

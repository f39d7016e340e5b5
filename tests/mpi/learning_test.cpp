// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that try several methods: whatever is tried, every message is delivered, all ranks use
// the same, and what was tried is told.
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using test::world_rank;
using test::world_size;

CommMatrix some_matrix(Bytes unit_bytes) {
  return random_density(world_size(), 0.7, {.unit_bytes = unit_bytes, .max_units = 9}, 5);
}

/// hosts "1": every rank has a port, and many small messages may be forwarded. "2": two ranks share one, and
/// messages between hosts may be combined.
mpi::PlanOptions trying(const std::string& hosts) {
  mpi::PlanOptions options{.scheduler = "auto"};
  options.hosts = hosts;
  return options;
}

mpi::Plan plan_for(const CommMatrix& matrix, const mpi::PlanOptions& options) {
  return mpi::Plan(MPI_COMM_WORLD, test::row_of(matrix, world_rank()), options);
}

/// In every way that an exchange can be brought to its end; returns how many messages were
/// handed over, -1 where none was asked for.
int finish(mpi::Exchange& exchange, unsigned round) {
  int handed_over = 0;
  switch (round % 4) {
    case 0:
      exchange.wait();
      return -1;
    case 1:
      while (!exchange.test()) std::this_thread::yield();
      return -1;
    case 2:
      exchange.wait_each([&](Partner, std::span<std::byte>) { ++handed_over; });
      return handed_over;
    default:
      while (exchange.is_under_way())
        if (exchange.poll()) ++handed_over;
      return handed_over;
  }
}

void expect_same_on_all_ranks(const std::string& text) {
  EXPECT_EQ(text, mpi::text_of_rank_0(MPI_COMM_WORLD, text));
}

TEST(Learning, DeliversWhateverIsTried) {
  for (const char* const hosts : {"auto", "2"}) {
    if (world_size() == 8 && std::string_view(hosts) == "auto")
      continue;  // seconds, and the same on fewer ranks
    for (const Bytes unit : {Bytes{100}, Bytes{9'000}}) {
      SCOPED_TRACE(std::string(hosts) + ", " + std::to_string(unit));
      mpi::Plan plan = plan_for(some_matrix(unit), trying(hosts));
      test::BoundPlan bound(plan);
      const auto messages =
          std::ranges::count_if(plan.sources(), [](const Partner& p) { return p.bytes > 0; });
      const unsigned rounds = world_size() == 8 ? 40 : 90;  // with fewer blocks of trials: seconds
      for (unsigned round = 0; round < rounds; ++round) {
        bound.refill(round);
        bound.exchange.start();
        const int handed_over = finish(bound.exchange, round);
        EXPECT_TRUE(handed_over < 0 || handed_over == messages) << handed_over << ", round " << round;
        bound.expect_received(round);
      }
      const mpi::ExchangeInfo& info = bound.exchange.info();
      std::string all = info.scheduler + ":" + info.executor + " since " + std::to_string(info.used_since);
      for (const mpi::MethodTrial& method : info.methods)
        all += ", " + method.name + (method.is_in ? " in" : " out");
      expect_same_on_all_ranks(all);
    }
  }
}

/// Every rank to every rank, in sizes that differ a little.
CommMatrix small_messages(Bytes bytes) {
  std::vector<Message> messages;
  for (Rank src = 0; src < world_size(); ++src)
    for (Rank dst = 0; dst < world_size(); ++dst)
      if (src != dst) messages.push_back({src, dst, bytes + src});
  return CommMatrix::from_messages(world_size(), messages);
}

std::set<std::string> methods_of(const mpi::Exchange& exchange) {
  std::set<std::string> names;
  for (const mpi::MethodTrial& method : exchange.info().methods) names.insert(method.name);
  return names;
}

/// Twenty exchanges the other way, every byte compared.
std::set<std::string> methods_tried_backwards(mpi::Plan& plan) {
  test::Blocks send = test::payload_to_send(world_rank(), plan.sources());
  test::Blocks receive = test::poisoned(plan.destinations());
  mpi::Exchange exchange =
      plan.bind(test::send_buffers(send), test::receive_buffers(receive), mpi::Direction::backwards);
  for (int round = 0; round < 20; ++round) {
    for (auto& block : receive) std::ranges::fill(block, test::poison);
    exchange.start();
    exchange.wait();
    EXPECT_EQ(receive, test::payload_expected(world_rank(), plan.destinations()));
  }
  return methods_of(exchange);
}

TEST(Learning, TriesSeveralMethodsAndTellsWhatTheyTook) {
  if (world_size() < 3) GTEST_SKIP() << "needs two hosts";
  mpi::Plan plan = plan_for(small_messages(9'000), trying("2"));
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 12; ++round) bound.exchange_once(round);
  const mpi::ExchangeInfo& info = bound.exchange.info();
  for (const mpi::MethodTrial& method : info.methods) {
    EXPECT_GE(method.blocks, 1) << method.name;
    EXPECT_GT(method.mean_s, 0) << method.name;
  }
  const std::string chosen = plan.info().scheduler + ":async";
  EXPECT_EQ(methods_of(bound.exchange),
            (std::set<std::string>{chosen, chosen + "@combine=true combine.largest=32KiB"}));
  ASSERT_FALSE(info.methods.empty());
  EXPECT_EQ(info.methods.front().name, chosen);
}

TEST(Learning, TriesAScheduleThatForwardsWhereSmallMessagesAreMany) {
  if (world_size() < 4) GTEST_SKIP() << "needs four ranks";
  const bool is_tried = world_size() != 5;  // on five ranks it sends 15 messages instead of 20
  mpi::Plan plan = plan_for(small_messages(20), trying("1"));
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 60; ++round) {
    bound.refill(round);
    bound.exchange.start();
    finish(bound.exchange, round);
    bound.expect_received(round);
  }
  EXPECT_EQ(methods_of(bound.exchange).contains("bruck_kport:phased"), is_tried);
  expect_same_on_all_ranks(bound.exchange.info().scheduler);

  EXPECT_EQ(methods_tried_backwards(plan).contains("bruck_kport:phased"), is_tried);
}

/// Of three times as many bytes to every second rank: no rank in between could keep them without knowing.
TEST(Learning, TriesNoForwardingOfFields) {
  if (world_size() < 4) GTEST_SKIP() << "needs four ranks";
  mpi::Plan plan = plan_for(small_messages(24), trying("1"));
  const auto times = [](Rank src, Rank dst) { return (src + dst) % 2 == 0 ? 1 : 3; };
  std::vector<std::int64_t> send_counts, send_offsets, receive_counts, receive_offsets;
  std::int64_t num_sent = 0, num_received = 0;
  for (const Partner& to : plan.destinations()) {
    send_offsets.push_back(num_sent);
    send_counts.push_back(8 * times(world_rank(), to.rank));
    num_sent += send_counts.back();
  }
  for (const Partner& from : plan.sources()) {
    receive_offsets.push_back(num_received);
    receive_counts.push_back(8 * times(from.rank, world_rank()));
    num_received += receive_counts.back();
  }
  std::vector<std::int32_t> sent(static_cast<std::size_t>(num_sent), world_rank());
  std::vector<std::int32_t> received(static_cast<std::size_t>(num_received));
  const mpi::SendField from{sent.data(), MPI_INT32_T, send_counts, send_offsets};
  const mpi::ReceiveField into{received.data(), MPI_INT32_T, receive_counts, receive_offsets};
  mpi::Exchange exchange = plan.bind(std::span(&from, 1), std::span(&into, 1));
  for (int round = 0; round < 12; ++round) {
    std::ranges::fill(received, -1);
    exchange.start();
    exchange.wait();
    for (std::size_t i = 0; i < receive_counts.size(); ++i)
      for (std::int64_t k = 0; k < receive_counts[i]; ++k)
        ASSERT_EQ(received[static_cast<std::size_t>(receive_offsets[i] + k)], plan.sources()[i].rank);
  }
  EXPECT_FALSE(methods_of(exchange).contains("bruck_kport:phased"));
}

TEST(Learning, TriesNoForwardingOfLargeMessagesNorOnHostsThatShareAPort) {
  if (world_size() < 4) GTEST_SKIP() << "needs four ranks";
  mpi::PlanOptions two_on_each = trying("2");
  for (const auto& [matrix, options] :
       {std::pair(small_messages(600), trying("1")), std::pair(small_messages(20), two_on_each)}) {
    mpi::Plan plan = plan_for(matrix, options);
    test::BoundPlan bound(plan);
    for (unsigned round = 0; round < 12; ++round) bound.exchange_once(round);
    EXPECT_FALSE(methods_of(bound.exchange).contains("bruck_kport:phased"));
  }
}

TEST(Learning, TriesNothingWhereItMayNot) {
  mpi::PlanOptions options = trying("2");
  options.effort = mpi::Effort::estimate;
  setenv("XDG_CONFIG_HOME", "/nowhere", 1);  // where a calibrated machine may lie
  mpi::Plan plan = plan_for(some_matrix(9'000), options);
  unsetenv("XDG_CONFIG_HOME");
  if (world_size() > 1) {
    EXPECT_EQ(plan.info().executor, "async");
    EXPECT_FALSE(find_scheduler(plan.info().scheduler).needs_topology());
  }
  test::BoundPlan bound(plan);
  for (unsigned round = 0; round < 12; ++round) bound.exchange_once(round);
  EXPECT_TRUE(bound.exchange.info().methods.empty());
  EXPECT_EQ(bound.exchange.info().used_since, 1);
}

TEST(Learning, SeveralExchangesUnderWay) {
  mpi::Plan plan = plan_for(some_matrix(3'000), trying("2"));
  test::BoundPlan first(plan);
  test::BoundPlan second(plan);
  for (unsigned round = 0; round < 40; ++round) {
    first.refill(round);
    second.refill(round + 1);
    first.exchange.start();
    second.exchange.start();
    bool first_is_done = false;
    bool second_is_done = false;
    while (!first_is_done || !second_is_done) {
      first_is_done = first_is_done || first.exchange.test();
      second_is_done = second_is_done || second.exchange.test();
    }
    first.expect_received(round);
    second.expect_received(round + 1);
  }
}

TEST(Learning, Backwards) {
  mpi::Plan plan = plan_for(some_matrix(3'000), trying("2"));
  methods_tried_backwards(plan);
}

TEST(Learning, FreedWhileReportsAreUnderWay) {
  mpi::Plan plan = plan_for(some_matrix(2'000), trying("2"));
  for (const unsigned exchanges : {0U, 1U, 4U, 5U, 6U, 7U}) {
    test::BoundPlan bound(plan);
    for (unsigned round = 0; round < exchanges; ++round) bound.exchange_once(round);
    bound.exchange.free();
  }
}

/// What a late rank does not report is waited for inside wait(), and the watchdog names it.
TEST(Learning, ARankThatDoesNotComeIsAnError) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  mpi::PlanOptions options = trying("2");
  options.watchdog_s = 0.5;
  mpi::Plan plan = plan_for(some_matrix(2'000), options);
  if (plan.info().num_messages == 0) GTEST_SKIP() << "nothing to exchange";
  auto bound = std::make_unique<test::BoundPlan>(plan);
  const bool is_late = world_rank() == world_size() - 1;
  bool has_failed = false;
  for (unsigned round = 0; round < 9 && !has_failed; ++round) {
    if (is_late && round == 4) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    try {
      bound->exchange.start();
      bound->exchange.wait();
    } catch (const Error& error) {
      EXPECT_EQ(error_code_name(error.code()), error_code_name(ErrorCode::timeout)) << error.what();
      has_failed = true;
    }
  }
  EXPECT_TRUE(has_failed) << "rank " << world_rank();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace nuice

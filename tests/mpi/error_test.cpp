// SPDX-License-Identifier: BSD-3-Clause
// Bad input on one rank gives the same error on all ranks, and no rank hangs. Calls out of order are refused.
#include <array>

#include "mpi/mpi_support.hpp"
#include "nuice/nuice.hpp"

namespace nuice {
namespace {

using mpi::Plan;
using mpi::PlanOptions;

/// Rank r sends 64 bytes to rank r + 1.
std::vector<Partner> ring() { return {{(test::world_rank() + 1) % test::world_size(), 64}}; }

bool is_last_rank() { return test::world_rank() == test::world_size() - 1; }
std::string last_rank() { return "rank " + std::to_string(test::world_size() - 1); }

/// The destinations that the last rank gives; the others give a ring.
void expect_refused(ErrorCode code, const std::string& text, const std::vector<Partner>& by_last_rank) {
  const std::vector<Partner> mine = is_last_rank() ? by_last_rank : ring();
  test::expect_same_error(code, text, [&] { Plan(MPI_COMM_WORLD, mine); });
}

TEST(Errors, WrongDestinationsNameThePair) {
  const Rank n = test::world_size();
  expect_refused(ErrorCode::invalid_argument, last_rank() + " -> rank " + std::to_string(n), {{n, 1}});
  expect_refused(ErrorCode::invalid_argument, last_rank() + " -> rank -1", {{-1, 1}});
  expect_refused(ErrorCode::invalid_argument, last_rank() + " -> rank 0: the size is negative: -5",
                 {{0, -5}});
  expect_refused(ErrorCode::limit, last_rank() + " -> rank 0", {{0, max_bytes + 1}});
}

TEST(Errors, SumsBeyondTheLimitAreRefused) {
  const Rank n = test::world_size();
  if (n < 3) GTEST_SKIP() << "needs three ranks";
  // Each size is allowed, the sum of what rank 0 receives is not.
  const std::vector<Partner> to_0 = {{0, max_bytes / 2 + 1}};
  test::expect_same_error(ErrorCode::limit, "rank 0", [&] {
    Plan(MPI_COMM_WORLD, test::world_rank() == 0 ? std::vector<Partner>{} : to_0);
  });
  expect_refused(ErrorCode::limit, last_rank(), {{0, max_bytes / 2 + 1}, {1, max_bytes / 2 + 1}});
}

TEST(Errors, OptionsThatDifferNameTwoRanksAndBothValues) {
  if (test::world_size() < 2) return;  // one rank cannot differ
  for (const auto& [name, first, other] :
       std::vector<std::array<std::string, 3>>{{"scheduler", "auto", "lp"},
                                               {"scheduler", "auto", "unknown"},
                                               {"seed", "0", "18446744073709551615"},
                                               {"executor", "auto", "pairwise"},
                                               {"async.max_sends", "0", "3"},
                                               {"device.chunk", "262144", "16"},
                                               {"phase_cost", "16384", "7"},
                                               {"topology", "", "crossbar:64"},
                                               {"watchdog", "0", "1.5"},
                                               {"check", "true", "false"}})
    test::expect_same_error(
        ErrorCode::mismatch,
        "option " + name + " differs: " + first + " on rank 0, " + other + " on " + last_rank(),
        [&] { Plan(MPI_COMM_WORLD, ring(), PlanOptions::parse(is_last_rank() ? name + "=" + other : "")); });
}

TEST(Errors, WrongOptionsAreRefused) {
  const auto expect = [](const std::string& text, const PlanOptions& options) {
    test::expect_same_error(ErrorCode::invalid_argument, text,
                            [&] { Plan(MPI_COMM_WORLD, ring(), options); });
  };
  expect("unknown scheduler \"fastest\"; known: ac, lp", {.scheduler = "fastest"});
  expect("option async.max_sends is -1, below 0", {.executor = "async", .async = {.max_sends = -1}});
  expect("option async.max_sends is for executors that send all at once, as async does, not for auto",
         {.async = {.max_sends = 2}});
  expect("option device.chunk is 0, below 16", {.device = {.chunk_bytes = 0}});
  expect("option phase_cost is -1, below 0", {.phase_cost_bytes = -1});
  expect("option phase_cost is 4611686018427387905, above 4611686018427387904",
         {.phase_cost_bytes = max_bytes + 1});
  expect("option watchdog is -1, not a time of 0 or more", {.watchdog_s = -1});
  expect("unknown topology \"star\"", {.topology = "star:3"});
  expect("unknown executor \"fast\"; known: async, phased, pairwise", {.executor = "fast"});
  expect("the executor handshake does not run on MPI", {.executor = "handshake"});
  expect("option planning has the unknown value 17", {.planning = static_cast<mpi::Planning>(17)});
  expect("option combine needs to know which ranks share a host", {.hosts = "", .combine = true});
}

TEST(Errors, ASchedulerThatCannotIsRefused) {
  // Some rows say no to more messages than a test can have, so this only asks for agreement with why_not().
  const CommMatrix matrix = CommMatrix::from_messages(test::world_size(), std::vector<Message>{});
  for (const Scheduler& scheduler : schedulers()) {
    const PlanOptions options{.scheduler = std::string(scheduler.name)};
    const std::string reason = scheduler.why_not({matrix, 0});
    if (reason.empty()) {
      EXPECT_NO_THROW(Plan(MPI_COMM_WORLD, std::vector<Partner>{}, options));
    } else {
      test::expect_same_error(ErrorCode::not_applicable, reason,
                              [&] { Plan(MPI_COMM_WORLD, std::vector<Partner>{}, options); });
    }
  }
}

TEST(Errors, ASchedulerThatForwardsNeedsPhases) {
  test::expect_same_error(
      ErrorCode::not_applicable,
      "rex forwards messages through other ranks: use an executor with phases (phased, pairwise",
      [] { Plan(MPI_COMM_WORLD, ring(), {.scheduler = "rex", .executor = "async"}); });
}

constexpr std::span<const SendBuffer> no_buffers;
constexpr std::span<const ReceiveBuffer> no_room;
constexpr std::span<const mpi::SendField> no_fields;
constexpr std::span<const mpi::ReceiveField> no_fields_back;

TEST(Errors, AnotherPlanOnOneRankIsNoHang) {
  if (test::world_size() < 2) return;
  const Rank last = test::world_size() - 1;
  const bool is_last = test::world_rank() == last;
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  Plan a(mine, ring());
  Plan b(mine, ring());
  test::expect_same_error(
      ErrorCode::mismatch,
      "bind(buffers) of plan 1 on rank 0, bind(buffers) of plan 2 on rank " + std::to_string(last),
      [&] { test::BoundPlan(is_last ? b : a); });
  test::expect_same_error(
      ErrorCode::mismatch, "bind(array) of plan 2 on rank 0, bind(fields) of plan 1",
      [&] { is_last ? a.bind(no_fields, no_fields_back) : b.bind(mpi::SendArray{}, mpi::ReceiveArray{}); });
  MPI_Comm_free(&mine);  // the plans have duplicates of their own
  test::expect_same_error(ErrorCode::mismatch, "bind(buffers) of plan 2 on rank 0, bind(buffers) of plan 1",
                          [&] { test::BoundPlan(is_last ? a : b); });
  test::BoundPlan bound(a);
  a.free();
  bound.exchange.start();
  bound.exchange.wait();
  test::BoundPlan other(b);
}

TEST(Errors, MakingAPlanWhereOthersBindIsNoHang) {
  if (test::world_size() < 2) return;
  const Rank last = test::world_size() - 1;
  const bool is_last = test::world_rank() == last;
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  Plan first(mine, ring());
  const std::string who = " on rank " + std::to_string(last);
  const auto make = [&] { Plan second(mine, ring()); };
  const auto bind = [&] { test::BoundPlan bound(first); };
  test::expect_same_error(ErrorCode::mismatch,
                          "bind(buffers) of plan 1 on rank 0, the making of plan 2" + who,
                          [&] { is_last ? make() : bind(); });
  test::expect_same_error(ErrorCode::mismatch,
                          "the making of plan 2 on rank 0, bind(buffers) of plan 1" + who,
                          [&] { is_last ? bind() : make(); });
  first.free();  // on some rank it may live on: the others are met all the same
  Plan second(mine, ring());
  test::BoundPlan bound(second);
  MPI_Comm_free(&mine);
}

TEST(Errors, WrongCommunicatorsAreRefused) {
  test::expect_same_error(ErrorCode::invalid_argument, "MPI_COMM_NULL", [] { Plan(MPI_COMM_NULL, ring()); });
  if (test::world_size() < 2) return;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  const int side = test::world_rank() % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 1, &inter);
  test::expect_same_error(ErrorCode::invalid_argument, "intercommunicator", [&] { Plan(inter, ring()); });
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/// Buffers that fit the ring.
struct RingBuffers {
  std::vector<std::byte> out = std::vector<std::byte>(64);
  std::vector<std::byte> in = std::vector<std::byte>(64);
  std::vector<SendBuffer> send = {{out.data(), 64}};
  std::vector<ReceiveBuffer> receive = {{in.data(), 64}};
};

TEST(Errors, WrongBuffersNameThePair) {
  Plan plan(MPI_COMM_WORLD, ring());
  const auto expect = [&](const std::string& text, auto&& spoil, bool on_all = false) {
    RingBuffers buffers;
    if (is_last_rank() || on_all) spoil(buffers);
    test::expect_same_error(ErrorCode::invalid_argument, text,
                            [&] { plan.bind(buffers.send, buffers.receive); });
    test::BoundPlan(plan).exchange_once();  // the plan is as good as before
  };
  const std::string to_next = last_rank() + " -> rank 0: ";
  const std::string from_previous =
      "rank " + std::to_string(std::max(test::world_size() - 2, 0)) + " -> " + last_rank() + ": ";
  expect(to_next + "the send buffer is null", [](auto& b) { b.send[0].data = nullptr; });
  expect(to_next + "the send buffer has 63 bytes, the message has 64", [](auto& b) { b.send[0].bytes = 63; });
  expect(from_previous + "the receive buffer is null", [](auto& b) { b.receive[0].data = nullptr; });
  expect(from_previous + "the receive buffer has -1 bytes, the message has 64",
         [](auto& b) { b.receive[0].bytes = -1; });
  expect(last_rank() + " gives 0 send buffers for 1 partners", [](auto& b) { b.send.clear(); });
  expect(last_rank() + " gives 2 receive buffers for 1 partners",
         [](auto& b) { b.receive.push_back(b.receive[0]); });
  expect("rank 0 -> rank ", [](auto& b) { b.send[0].data = nullptr; }, true);  // the lowest rank
}

TEST(OutOfOrder, PlanAfterFree) {
  Plan plan(MPI_COMM_WORLD, ring());
  plan.free();
  plan.free();
  const auto expect = [&](auto&& use) { test::expect_error(ErrorCode::state, "the plan was freed", use); };
  expect([&] { plan.bind(no_buffers, no_room); });
  expect([&] { (void)plan.sources(); });
  expect([&] { (void)plan.destinations(); });
  expect([&] { (void)plan.table(); });
  expect([&] { (void)plan.info(); });
}

TEST(OutOfOrder, APlanThatOneRankHasFreedIsNoHang) {
  const Rank n = test::world_size();
  if (n < 2) return;
  for (const Rank who : {n - 1, Rank{0}}) {
    Plan plan(MPI_COMM_WORLD, ring());
    if (test::world_rank() == who) plan.free();
    const std::string rank = "rank " + std::to_string(who) + ": ";
    const auto expect = [&](const std::string& call, auto&& use) {
      test::expect_same_error(ErrorCode::state, rank + call + " of plan ", use);
    };
    expect("bind(buffers)", [&] { plan.bind(no_buffers, no_room); });
    expect("bind(buffers, backwards)", [&] { plan.bind(no_buffers, no_room, mpi::Direction::backwards); });
    expect("bind(array)", [&] { plan.bind(mpi::SendArray{}, mpi::ReceiveArray{}); });
    expect("bind(fields)", [&] { plan.bind(no_fields, no_fields_back); });
  }
}

TEST(OutOfOrder, ExchangeCalls) {
  Plan plan(MPI_COMM_WORLD, ring());
  test::BoundPlan bound(plan);
  mpi::Exchange& exchange = bound.exchange;
  const auto expect = [](const std::string& text, auto&& call) {
    test::expect_error(ErrorCode::state, text, call);
  };
  expect("wait(): the exchange was not started", [&] { exchange.wait(); });
  expect("test(): the exchange was not started", [&] { exchange.test(); });
  exchange.start();
  expect("start() before the previous exchange finished: call wait() first", [&] { exchange.start(); });
  expect("free(): the exchange is active", [&] { exchange.free(); });
  exchange.wait();
  bound.expect_received(0);
  expect("wait(): the exchange was not started", [&] { exchange.wait(); });
  exchange.free();
  exchange.free();
  expect("the exchange was freed", [&] { exchange.start(); });
  expect("the exchange was freed", [&] { exchange.test(); });
  expect("the exchange was freed", [&] { exchange.wait(); });
}

}  // namespace
}  // namespace nuice

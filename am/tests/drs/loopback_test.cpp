// SPDX-License-Identifier: BSD-3-Clause
// DRS_N and Generate_Recv on loop-back: many ranks in one process, also with delayed and refused messages.
#include <algorithm>
#include <mutex>
#include <tuple>

#include "drs/drs_support.hpp"
#include "nuice/am/loopback.hpp"
#include "support/throws.hpp"

namespace nuice::test {
namespace {

enum class Net { in_turn, chaos, concurrent };

/// The program of one rank: rank, number of ranks, exchanger.
using Program = std::function<void(Rank, Rank, drs::Exchanger&)>;

void run_ranks(Rank num_ranks, Net net, std::uint64_t seed, const Program& program) {
  const am::LoopbackOptions options{
      .num_ranks = num_ranks, .concurrent = net == Net::concurrent, .seed = seed, .ring_bytes = 1U << 14};
  am::run_loopback(options, [&](std::unique_ptr<am::Transport> transport) {
    if (net == Net::chaos) transport = am::with_chaos(std::move(transport), {.seed = seed});
    am::Endpoint endpoint(std::move(transport));
    drs::Exchanger exchanger(endpoint);
    endpoint.seal();
    program(endpoint.rank(), endpoint.num_ranks(), exchanger);
    endpoint.quiesce();
  });
}

Bind binder(drs::Exchanger& exchanger) {
  return [&exchanger](auto destinations, auto sources, auto send, auto receive, const drs::Options& options) {
    return exchanger.bind(destinations, sources, send, receive, options);
  };
}

struct Way {
  std::string name;
  drs::Options options;
  friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"refuse", {}},
      {"delayed", {.delay_us = 20}},
      {"list", {.when_busy = drs::WhenBusy::list}},
      {"early", {.when_busy = drs::WhenBusy::list, .early_bytes = 5000, .seed = 3}}};
  return all;
}

class Drs : public testing::TestWithParam<std::tuple<Net, Way, Rank>> {
 protected:
  static void run(const std::function<void(Rank, Rank, const Bind&, const drs::Options&)>& body) {
    const auto& [net, way, num_ranks] = GetParam();
    const drs::Options& options = way.options;
    run_ranks(num_ranks, net, 7, [&](Rank rank, Rank size, drs::Exchanger& exchanger) {
      body(rank, size, binder(exchanger), options);
    });
  }
};

TEST_P(Drs, DoesWhatTheSerialExecutorDoes) { run(expect_as_serially); }

TEST_P(Drs, CarriesChangingDataManyTimes) {
  run([](Rank rank, Rank size, const Bind& bind, const drs::Options& options) {
    expect_many_rounds(rank, size, bind, options, 10, false);
    expect_many_rounds(rank, size, bind, options, 5, true);
  });
}

TEST_P(Drs, RunsSeveralExchangesTogether) { run(expect_overlapping); }

std::string name_of(const testing::TestParamInfo<Drs::ParamType>& suite) {
  const auto& [net, way, num_ranks] = suite.param;
  const std::string nets[] = {"InTurn", "Chaos", "Concurrent"};
  return nets[static_cast<int>(net)] + "_" + way.name + "_" + std::to_string(num_ranks);
}

INSTANTIATE_TEST_SUITE_P(Loopback, Drs,
                         testing::Combine(testing::Values(Net::in_turn, Net::chaos, Net::concurrent),
                                          testing::ValuesIn(ways()), testing::Values(1, 3, 8)),
                         name_of);

/// Returns the maximum number of a rank's buffers that were partly filled at the same time, seen between two
/// steps.
std::size_t most_begun(const drs::Options& options, std::uint64_t seed) {
  const Rank n = 6;
  std::vector<Message> messages;
  for (Rank src = 1; src < n; ++src) messages.push_back({src, 0, 60'000 + src});
  const CommMatrix matrix = CommMatrix::from_messages(n, messages);
  std::size_t most = 0;
  run_ranks(n, Net::in_turn, seed, [&](Rank rank, Rank, drs::Exchanger& exchanger) {
    BoundDrs bound(matrix, rank, binder(exchanger), options);
    bound.exchange.start();
    while (!bound.exchange.test()) {
      std::size_t begun = 0;
      for (std::size_t i = 0; i < bound.receive.size(); ++i) {
        const auto filled = std::ranges::find(bound.receive[i], poison) - bound.receive[i].begin();
        begun += filled > 0 && filled < bound.sources[i].bytes ? 1 : 0;
      }
      most = std::max(most, begun);
    }
    bound.expect_received(0);
  });
  return most;
}

TEST(DrsGuarantee, OneMessageAtATime) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EXPECT_EQ(most_begun({}, seed), 1U);
    EXPECT_EQ(most_begun({.when_busy = drs::WhenBusy::list}, seed), 1U);
    // Granted without limit they do mix, which shows that the test above can fail.
    EXPECT_GT(most_begun({.when_busy = drs::WhenBusy::list, .early_bytes = 1 << 30}, seed), 1U);
  }
}

TEST(DrsCounters, AHotReceiverRefuses) {
  std::vector<Message> messages;
  for (Rank src = 1; src < 8; ++src) messages.push_back({src, 0, 100'000});
  const CommMatrix matrix = CommMatrix::from_messages(8, messages);
  for (const Way& way : ways()) {
    std::mutex mutex;
    drs::Counters sum;
    run_ranks(8, Net::in_turn, 1, [&](Rank rank, Rank, drs::Exchanger& exchanger) {
      BoundDrs bound(matrix, rank, binder(exchanger), way.options);
      for (int round = 0; round < 3; ++round) {
        bound.exchange.start();
        bound.exchange.wait();
      }
      const std::scoped_lock lock(mutex);
      const drs::Counters mine = bound.exchange.counters();
      sum.messages += mine.messages;
      sum.inquiries += mine.inquiries;
      sum.refusals += mine.refusals;
    });
    SCOPED_TRACE(way.name);
    expect_counters(sum, 21, way.options);
    EXPECT_GT(sum.refusals, 0U);
  }
}

TEST(DrsReceiveList, IsTheColumn) {
  for (const Net net : {Net::in_turn, Net::chaos, Net::concurrent})
    run_ranks(7, net, 5, [&](Rank rank, Rank size, drs::Exchanger& exchanger) {
      for (const auto& [name, matrix] : drs_matrices(size))
        EXPECT_EQ(exchanger.sources(drs_row(matrix, rank)), drs_column(matrix, rank)) << name;
    });
}

void expect_throws(ErrorCode code, const std::string& part, const std::function<void()>& step) {
  expect_error(step, code, {part});
}

using Partners = std::vector<Partner>;

TEST(DrsErrors, OfReceiveListsAreThoseOfAllRanks) {
  run_ranks(3, Net::in_turn, 2, [&](Rank rank, Rank, drs::Exchanger& exchanger) {
    const auto expect = [&](Rank at_fault, const Partners& wrong, ErrorCode code, const std::string& text) {
      expect_throws(code, text, [&] { exchanger.sources(rank == at_fault ? wrong : Partners{}); });
    };
    expect(2, {{3, 1}}, ErrorCode::invalid_argument, "rank 2 -> rank 3: there are 3 ranks");
    expect(1, {{0, -5}}, ErrorCode::invalid_argument, "rank 1 -> rank 0: the size is negative: -5");
    expect(0, {{1, 1}, {1, 2}}, ErrorCode::invalid_argument, "rank 0 -> rank 1: given twice");
    expect(1, {{2, max_bytes + 1}}, ErrorCode::limit, "rank 1 -> rank 2");
  });
}

/// Rank 0 has a message of 100 bytes for rank 1.
class Pair {
 public:
  Pair(Rank rank, drs::Exchanger& exchanger) : rank_(rank), exchanger_(exchanger), memory_(200) {}

  drs::Exchange bind(Bytes room, Bytes expected, const drs::Options& options = {}) {
    const Partners to = rank_ == 0 ? Partners{{1, 100}} : Partners{};
    const Partners from = rank_ == 1 && expected > 0 ? Partners{{0, expected}} : Partners{};
    const std::vector<SendBuffer> send(to.size(), SendBuffer{memory_.data(), room});
    const std::vector<ReceiveBuffer> receive(from.size(), ReceiveBuffer{memory_.data(), 100});
    return exchanger_.bind(to, from, send, receive, options);
  }

 private:
  Rank rank_;
  drs::Exchanger& exchanger_;
  std::vector<std::byte> memory_;
};

TEST(DrsErrors, OfBindAreThoseOfAllRanks) {
  run_ranks(3, Net::in_turn, 2, [&](Rank rank, Rank, drs::Exchanger& exchanger) {
    Pair pair(rank, exchanger);
    const auto expect = [&](ErrorCode code, const std::string& text, Bytes room, Bytes expected,
                            const drs::Options& options) {
      expect_throws(code, text, [&] { pair.bind(room, expected, options); });
    };
    expect(ErrorCode::invalid_argument, "rank 0 -> rank 1: the send buffer has 99 bytes", 99, 100, {});
    expect(ErrorCode::mismatch, "rank 0 -> rank 1: the receiver expects 60 bytes, the sender has 100", 100,
           60, {});
    expect(ErrorCode::mismatch, "rank 0 -> rank 1: the receiver expects 0 bytes, the sender has 100", 100, 0,
           {});
    expect(ErrorCode::mismatch, "those of rank 2", 100, 100, {.seed = rank == 2 ? 5U : 0U});
    expect(ErrorCode::invalid_argument, "delay_us", 100, 100, {.delay_us = -1});
    expect(ErrorCode::not_applicable, "needs MPI", 100, 100, {.lock = drs::Lock::rma});
    expect(ErrorCode::not_applicable, "cannot keep a list", 100, 100,
           {.lock = drs::Lock::rma, .when_busy = drs::WhenBusy::list});
    drs::Exchange works = pair.bind(100, 100);  // has the same number on all ranks after these failures
    works.start();
    works.wait();
  });
}

TEST(DrsErrors, CallsOutOfOrder) {
  run_ranks(2, Net::in_turn, 2, [&](Rank rank, Rank, drs::Exchanger& exchanger) {
    Pair pair(rank, exchanger);
    drs::Exchange exchange = pair.bind(100, 100);
    expect_throws(ErrorCode::state, "wait(): the exchange was not started", [&] { exchange.wait(); });
    exchange.start();
    expect_throws(ErrorCode::state, "call wait() first", [&] { exchange.start(); });
    expect_throws(ErrorCode::state, "wait for it first", [&] { exchange.free(); });
    exchange.wait();
    exchange.free();
    exchange.free();
    expect_throws(ErrorCode::state, "freed", [&] { exchange.test(); });
  });
}

}  // namespace
}  // namespace nuice::test

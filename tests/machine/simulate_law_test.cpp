// SPDX-License-Identifier: BSD-3-Clause
// Laws of the simulator that hold on every machine.
#include <gtest/gtest.h>

#include <numeric>

#include "machine/simulated.hpp"
#include "nuice/nuice.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice {
namespace {

using namespace test;

void every_byte_arrives_once(const Schedule& schedule, const Simulation& result) {
  for (MessageId id = 0; id < law_matrix().num_messages(); ++id)
    ASSERT_EQ(result.delivered[id], law_matrix().bytes(id)) << "message " << id;
  Bytes moved = 0;
  for (std::size_t i = 0; i < schedule.num_transfers(); ++i) moved += schedule.transfer(i).bytes();
  Bytes sent = 0;
  Bytes received = 0;
  for (const RankTimes& times : result.ranks) {
    sent += times.sent_bytes;
    received += times.received_bytes;
  }
  ASSERT_EQ(sent, moved);
  ASSERT_EQ(received, moved);
}

void a_rank_does_one_thing_at_a_time(const Simulation& result) {
  std::vector<double> processor_until(16, 0);
  for (const Interval& interval : result.timeline) {
    ASSERT_LT(interval.begin_s, interval.end_s);
    ASSERT_LE(interval.end_s, result.seconds * (1 + 1e-9));
    if (interval.activity != Activity::software && interval.activity != Activity::waiting) continue;
    double& until = processor_until[static_cast<std::size_t>(interval.rank)];
    ASSERT_GE(interval.begin_s, until * (1 - 1e-9)) << "rank " << interval.rank;
    until = interval.end_s;
  }
  for (const RankTimes& times : result.ranks) {
    ASSERT_GE(times.idle_s, -1e-12);
    ASSERT_LE(times.software_s + times.waiting_s, result.seconds * (1 + 1e-9));
  }
}

void expect_laws(const Machine& machine, const Schedule& schedule, bool is_direct,
                 const SimulationOptions& options) {
  const Simulation result = simulate(law_matrix(), schedule, machine, options);
  ASSERT_NO_FATAL_FAILURE(every_byte_arrives_once(schedule, result));
  ASSERT_NO_FATAL_FAILURE(a_rank_does_one_thing_at_a_time(result));
  ASSERT_GE(result.seconds, port_bound_s(law_matrix(), machine) * (1 - 1e-9));
  if (is_direct) {
    ASSERT_GE(result.seconds, link_bound_s(law_matrix(), machine) * (1 - 1e-9));
  }
  const Simulation second = simulate(law_matrix(), schedule, machine, options);
  ASSERT_EQ(result.seconds, second.seconds);
  ASSERT_EQ(result.timeline.size(), second.timeline.size());
  ASSERT_EQ(result.link_contention, second.link_contention);
}

TEST(SimulateLaw, AllHoldOnEveryMachine) {
  for (const std::string scheduler : {"ac", "coloring", "rex", "rs_nh"}) {
    const Schedule schedule = make_schedule(law_matrix(), scheduler);
    for (const auto& [name, machine] : all_cases())
      for (const char* const executor : {"async", "phased", "pairwise"}) {
        SCOPED_TRACE(name + " " + scheduler + " " + executor);
        ASSERT_NO_FATAL_FAILURE(expect_laws(machine, schedule, scheduler != "rex",
                                            {.executor = executor, .record_timeline = true}));
      }
  }
}

CommMatrix scaled(const CommMatrix& matrix, Bytes factor) {
  std::vector<Message> entries = matrix.entries();
  for (Message& entry : entries) entry.bytes *= factor;
  return CommMatrix::from_messages(matrix.num_ranks(), entries);
}

TEST(SimulateLaw, LargerMessagesTakeLonger) {
  for (const auto& [name, machine] : all_cases()) {
    if (machine.queue_senders > 0) continue;  // which message a full queue hits is a matter of luck
    SCOPED_TRACE(name);
    double before = 0;
    for (const Bytes factor : {1, 2, 4, 8, 16}) {
      const CommMatrix matrix = scaled(law_matrix(), factor);
      const double seconds = run(matrix, machine, "coloring", "pairwise").seconds;
      EXPECT_GT(seconds, before);
      before = seconds;
    }
  }
}

TEST(SimulateLaw, NamesOfRanksDoNotMatterOnACrossbar) {
  std::vector<Rank> names(16);
  std::iota(names.begin(), names.end(), 0);
  Random(5).shuffle(std::span(names));
  std::vector<Message> entries = law_matrix().entries();
  for (Message& entry : entries) {
    entry.src = names[static_cast<std::size_t>(entry.src)];
    entry.dst = names[static_cast<std::size_t>(entry.dst)];
  }
  const CommMatrix renamed = CommMatrix::from_messages(16, entries);
  const Schedule schedule = make_schedule(law_matrix(), "coloring");
  Schedule other(16);
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    other.begin_phase();
    for (const Transfer transfer : schedule.transfers(phase)) {
      other.add_whole(renamed, *renamed.find(names[static_cast<std::size_t>(transfer.src)],
                                             names[static_cast<std::size_t>(transfer.dst)]));
    }
  }
  for (const char* const executor : {"async", "phased", "pairwise"}) {
    for (const Duplex duplex : {Duplex::full, Duplex::half}) {
      Machine machine = plain("crossbar:16");
      machine.duplex = duplex;
      machine.loss_per_sender = 0.2;
      machine.loss_most = 1;
      const double seconds = simulate(law_matrix(), schedule, machine, {.executor = executor}).seconds;
      expect_close(simulate(renamed, other, machine, {.executor = executor}).seconds, seconds);
    }
  }
}

}  // namespace
}  // namespace nuice

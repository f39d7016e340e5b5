// SPDX-License-Identifier: BSD-3-Clause
// Calibration of simulated machines: what was put in must come out, and be read back from the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "nuice/core/networks.hpp"
#include "nuice/plan/simulate.hpp"
#include "nuice_calibrate/fit.hpp"
#include "nuice_calibrate/report.hpp"

namespace nuice::calibrate {
namespace {

/// A machine that the simulator stands for. Times waver a little, evenly to both sides.
class SimulatedLab : public Lab {
 public:
  SimulatedLab(Machine machine, Rank ranks) : machine_(std::move(machine)), ranks_(ranks) {
    machine_.topology = make_topology("crossbar:" + std::to_string(ranks));
  }
  Rank num_ranks() const override { return ranks_; }
  std::vector<Sample> run(const Probe& probe, int reps) override {
    const Simulation result = simulate(probe.matrix, probe.schedule, machine_,
                                       {.executor = std::string(probe.executor), .blocking_sends = false});
    std::vector<Sample> samples;
    for (const double factor : factors(reps))
      samples.push_back({result.seconds * factor, result.ranks[0].finished_s * factor});
    return samples;
  }
  std::vector<Sample> run_for(const Probe& probe, double /*seconds*/) override { return run(probe, 30); }
  bool leaves_early(Bytes bytes) override { return bytes <= machine_.eager_limit; }
  std::vector<double> barrier(Rank ranks, int reps) override {
    std::vector<double> times = factors(reps);
    for (double& time : times)
      time *= machine_.barrier_s + machine_.barrier_level_s * std::ceil(std::log2(ranks));
    return times;
  }
  std::vector<double> copy(int reps) override {
    std::vector<double> times = factors(reps);
    for (double& time : times) time *= 2e-10;
    return times;
  }

 private:
  static std::vector<double> factors(int reps) {
    std::vector<double> values;
    for (int rep = 0; rep < reps; ++rep) values.push_back(1 + 0.001 * (rep % 3 - 1));
    return values;
  }
  Machine machine_;
  Rank ranks_;
};

Calibration calibration_of(const Machine& machine, Rank ranks) {
  SimulatedLab lab(machine, ranks);
  return calibrate(lab, {.reps = 9, .topology = {}});
}

void expect_near(double found, double true_value, double tolerance, const char* what) {
  EXPECT_NEAR(found, true_value, tolerance * true_value + 1e-12) << what;
}

Machine modern() {
  Machine machine;
  machine.name = machine.summary = "modern";
  machine.topology = make_topology("crossbar:8");
  machine.latency_s = 2e-6;
  machine.send_overhead_s = 0.4e-6;
  machine.receive_overhead_s = 0.3e-6;
  machine.phase_s = 0.2e-6;
  machine.eager_limit = 12345;
  machine.handshake_s = 5e-6;
  machine.byte_s = 0.25e-9;
  machine.sends_at_once = 0;
  machine.barrier_s = 1e-6;
  machine.barrier_level_s = 2e-6;
  return machine;
}

/// A port with a token bucket: that many bytes in a row at full speed, the rest slower. It
/// is full again whenever the port rests.
class BucketLab : public SimulatedLab {
 public:
  BucketLab(const Machine& machine, Bytes bucket_bytes, double slower)
      : SimulatedLab(machine, 4), bucket_bytes_(bucket_bytes), extra_byte_s_((slower - 1) * machine.byte_s) {}
  std::vector<Sample> run_for(const Probe& probe, double seconds) override {
    std::vector<Sample> samples = SimulatedLab::run_for(probe, seconds);
    const Bytes each = probe.matrix.message(0).bytes;
    for (Sample& sample : samples) {
      sent_bytes_ += each;
      if (sent_bytes_ > bucket_bytes_) sample.last_s += static_cast<double>(each) * extra_byte_s_;
    }
    return samples;
  }

 private:
  Bytes bucket_bytes_;
  double extra_byte_s_;
  Bytes sent_bytes_ = 0;
};

TEST(Calibrate, FindsTheRateThatLasts) {
  for (const Bytes bucket : {Bytes{0}, Bytes{3} << 20, Bytes{40} << 20}) {
    const Machine machine = modern();
    BucketLab lab(machine, bucket, 1.7);
    const Calibration found = calibrate(lab, {.reps = 9, .topology = {}});
    expect_near(found.machine.byte_s, 1.7 * machine.byte_s, 0.02, "bandwidth");
    EXPECT_EQ(found.machine.duplex, Duplex::full);
  }
}

TEST(Calibrate, SaysWhenItsOwnChecksAreOff) {
  const Machine machine = modern();
  EXPECT_LT(calibration_of(machine, 4).machine.worst_check, 1.2);
  BucketLab lab(machine, 0,
                3);  // what exchanges is not slowed down here, so predictions are three times too long
  const Calibration found = calibrate(lab, {.reps = 9, .topology = {}});
  EXPECT_GT(found.machine.worst_check, largest_trusted_error);
  const auto remarks = notes(found, {4, 4, false, "a library"});
  EXPECT_TRUE(std::ranges::any_of(remarks, [](const MachineNote& note) {
    return note.text.find("only if it is named") != std::string::npos;
  }));
}

TEST(Calibrate, FindsWhatAMessageCosts) {
  for (const Rank ranks : {2, 8}) {
    const Machine machine = modern();
    const Machine found = calibration_of(machine, ranks).machine;
    expect_near(found.send_overhead_s, machine.send_overhead_s, 0.05, "send_overhead");
    expect_near(found.receive_overhead_s, machine.receive_overhead_s, 0.1, "receive_overhead");
    expect_near(found.phase_s, machine.phase_s, 0.05, "phase");
    expect_near(found.latency_s, machine.latency_s, 0.05, "latency");
    expect_near(found.byte_s, machine.byte_s, 0.02, "bandwidth");
    expect_near(found.handshake_s, machine.handshake_s, 0.1, "handshake");
    EXPECT_NEAR(static_cast<double>(found.eager_limit), 12345, 12345 / 50.0);
    EXPECT_EQ(found.duplex, Duplex::full);
    EXPECT_EQ(found.loss_per_sender, 0);
    EXPECT_EQ(found.queue_senders, 0);
    EXPECT_EQ(found.copy_byte_s, 2e-10);
    const double levels = std::ceil(std::log2(ranks));
    expect_near(found.barrier_s + levels * found.barrier_level_s,
                machine.barrier_s + levels * machine.barrier_level_s, 0.01, "barrier");
    if (ranks > 2) expect_near(found.barrier_level_s, machine.barrier_level_s, 0.05, "barrier_level");
  }
}

TEST(Calibrate, TellsKindsOfDuplexApart) {
  for (const Duplex duplex : {Duplex::full, Duplex::half}) {
    Machine machine = modern();
    machine.duplex = duplex;
    EXPECT_EQ(calibration_of(machine, 2).machine.duplex, duplex);
    EXPECT_EQ(calibration_of(machine, 4).machine.duplex, duplex);
  }
}

TEST(Calibrate, FindsLosses) {
  Machine machine = modern();
  machine.loss_per_sender = 0.1;
  machine.loss_most = 0.4;
  machine.loss_per_sender_sending = 0.2;
  machine.loss_most_sending = 0.9;
  const Machine found = calibration_of(machine, 9).machine;
  expect_near(found.loss_per_sender, 0.1, 0.1, "loss_per_sender");
  expect_near(found.loss_most, 0.4, 0.1, "loss_most");
  expect_near(found.loss_per_sender_sending, 0.2, 0.15, "loss_per_sender_sending");
  expect_near(found.loss_most_sending, 0.9, 0.15, "loss_most_sending");
}

TEST(Calibrate, FindsAShortQueue) {
  Machine machine = modern();
  machine.byte_s = 0.8e-9;
  machine.queue_senders = 4;
  machine.queue = 128 << 10;
  machine.timeout_s = 0.2;
  const Machine found = calibration_of(machine, 12).machine;
  EXPECT_GE(found.queue_senders, 4);
  EXPECT_LE(found.queue_senders, 6);
  EXPECT_GE(found.queue, 32 << 10);
  EXPECT_LE(found.queue, 128 << 10);
  expect_near(found.timeout_s, 0.2, 0.1, "timeout");
}

TEST(Calibrate, ReadsBackAndPredictsWhatItDidNotFit) {
  for (const ShippedMachine& shipped : shipped_machines()) {
    SCOPED_TRACE(shipped.name);
    const Calibration result = calibration_of(find_machine(shipped.name), 6);
    const Place place{6, 1, true, "an MPI\nwith two lines"};
    const std::string text = machine_text(result.machine, notes(result, place));
    EXPECT_EQ(machine_text(parse_machine(text, "again")), machine_text(result.machine)) << text;
    EXPECT_GE(result.checks.size(), 5U);
    EXPECT_NE(text.find("in the middle half of 9"), std::string::npos);
    EXPECT_NE(text.find("More ranks than cores"), std::string::npos);
  }
}

TEST(Calibrate, SaysWhatTwoRanksCannotTell) {
  const Calibration result = calibration_of(modern(), 2);
  const std::string text = machine_text(result.machine, notes(result, {2, 2, false, "MPI"}));
  EXPECT_NE(text.find("# loss_per_sender: not measured: it needs three ranks or more"), std::string::npos)
      << text;
  EXPECT_NE(text.find("with two ranks paired and full look alike"), std::string::npos) << text;
}

TEST(Calibrate, ChecksOfASimulatedMachineAreRight) {
  for (const Check& check : calibration_of(modern(), 6).checks)
    EXPECT_NEAR(check.measured_s.value / check.predicted_s, 1, 0.15) << check.name;
}

}  // namespace
}  // namespace nuice::calibrate

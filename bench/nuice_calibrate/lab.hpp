// SPDX-License-Identifier: BSD-3-Clause
// The measurements that calibration needs. mpi_lab.hpp measures the real machine; tests use a simulated
// machine and expect its description back.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::calibrate {

/// An exchange by one of NUICE's own executors, because the fit serves to predict their times.
struct Probe {
  CommMatrix matrix;
  Schedule schedule;
  std::string executor;
};

/// The times of one repetition, in seconds from a common start.
struct Sample {
  double last_s = 0;   ///< The time until the last rank has finished.
  double first_s = 0;  ///< The time until rank 0 has finished.
};

class Lab {
 public:
  virtual ~Lab() = default;
  virtual Rank num_ranks() const = 0;
  /// Runs a probe repeatedly. Returns `reps` samples. If this would take too long, returns fewer, but at
  /// least 3 (1 if the probe is very slow). The number is the same on all ranks, because later measurements
  /// depend on it.
  virtual std::vector<Sample> run(const Probe& probe, int reps) = 0;
  /// Runs a probe without pauses for this time, at least 9 times.
  virtual std::vector<Sample> run_for(const Probe& probe, double seconds) = 0;
  /// Returns whether a message of this size leaves its sender before the receiver has posted a receive.
  virtual bool leaves_early(Bytes bytes) = 0;
  /// Returns the seconds of a barrier of the first `ranks` ranks.
  virtual std::vector<double> barrier(Rank ranks, int reps) = 0;
  /// Returns the seconds per byte of a copy in memory.
  virtual std::vector<double> copy(int reps) = 0;
};

// All probes below are for `ranks` ranks; ranks that take no part are idle.

using Pairs = std::vector<std::pair<Rank, Rank>>;  // src, dst

/// Writes a probe. A matrix has one message per pair; its pieces are the probe's messages.
class Writer {
 public:
  Writer(Rank ranks, const std::vector<Message>& entries, Bytes piece_bytes, const std::string& executor)
      : probe_{CommMatrix::from_messages(ranks, entries), Schedule(ranks), executor},
        piece_bytes_(piece_bytes),
        next_(probe_.matrix.num_messages(), 0) {}

  void phase(const Pairs& pairs) {
    probe_.schedule.begin_phase();
    for (const auto& [src, dst] : pairs) {
      const MessageId id = *probe_.matrix.find(src, dst);
      const std::array<Piece, 1> piece = {{{id, next_[id], piece_bytes_}}};
      probe_.schedule.add(src, dst, piece);
      next_[id] += piece_bytes_;
    }
  }
  Probe take() { return std::move(probe_); }

 private:
  Probe probe_;
  Bytes piece_bytes_;
  std::vector<Bytes> next_;  // by message: the offset of its next piece
};

/// Returns `count` phases, in each of which every pair sends.
inline Probe repeated(Rank ranks, const Pairs& pairs, Bytes bytes, int count, const std::string& executor) {
  std::vector<Message> entries;
  for (const auto& [src, dst] : pairs) entries.push_back({src, dst, bytes * count});
  Writer writer(ranks, entries, bytes, executor);
  for (int i = 0; i < count; ++i) writer.phase(pairs);
  return writer.take();
}

/// Returns a ping-pong 0 -> 1, 1 -> 0, 0 -> 1, ... of 2 * rounds consecutive messages.
inline Probe ping_pong(Rank ranks, Bytes bytes, int rounds) {
  Writer writer(ranks, {{0, 1, bytes * rounds}, {1, 0, bytes * rounds}}, bytes, "phased");
  for (int round = 0; round < rounds; ++round) {
    writer.phase({{0, 1}});
    writer.phase({{1, 0}});
  }
  return writer.take();
}

/// Returns `count` messages 0 -> 1, one per phase.
inline Probe stream(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  return repeated(ranks, {{0, 1}}, bytes, count, executor);
}

/// Returns `count` phases with a message 0 -> 1 and a message 1 -> 0.
inline Probe both_ways(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  return repeated(ranks, {{0, 1}, {1, 0}}, bytes, count, executor);
}

/// Returns `count` phases in which each of the first `members` ranks sends to the next one, around a ring.
inline Probe ring(Rank ranks, Rank members, Bytes bytes, int count) {
  Pairs pairs;
  for (Rank rank = 0; rank < members; ++rank) pairs.emplace_back(rank, (rank + 1) % members);
  return repeated(ranks, pairs, bytes, count, "phased");
}

/// Returns messages of ranks 1 .. senders to rank 0, all at once. `and_out`: rank 0 also sends to each of
/// them.
inline Probe fan_in(Rank ranks, Rank senders, Bytes bytes, bool and_out) {
  Pairs pairs;
  for (Rank rank = 1; rank <= senders; ++rank) {
    pairs.emplace_back(rank, 0);
    if (and_out) pairs.emplace_back(0, rank);
  }
  return repeated(ranks, pairs, bytes, 1, "async");
}

}  // namespace nuice::calibrate

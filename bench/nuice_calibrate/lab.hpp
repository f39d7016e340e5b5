// SPDX-License-Identifier: BSD-3-Clause
// What calibration asks of a machine. The real one is mpi_lab.hpp; tests put a simulated machine in its place and expect
// to get its description back.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::calibrate {

/// An exchange that one of nuice's own executors carries out, as it is these whose times are to be predicted.
struct Probe {
  CommMatrix matrix;
  Schedule schedule;
  std::string executor;
};

/// One repetition, in seconds from a common start.
struct Sample {
  double last_s = 0;   ///< Until the last rank has finished.
  double first_s = 0;  ///< Until rank 0 has.
};

class Lab {
 public:
  virtual ~Lab() = default;
  virtual Rank num_ranks() const = 0;
  /// At least 3 samples (1 if that is very slow), and `reps` unless that takes too long; the same on all ranks, as what is measured next
  /// depends on them.
  virtual std::vector<Sample> run(const Probe& probe, int reps) = 0;
  /// One after the other, without a rest, for so long; at least 9.
  virtual std::vector<Sample> run_for(const Probe& probe, double seconds) = 0;
  /// Whether a message of that many bytes leaves its sender before the receiver has posted a receive.
  virtual bool leaves_early(Bytes bytes) = 0;
  /// Seconds of a barrier of the first that many ranks.
  virtual std::vector<double> barrier(Rank ranks, int reps) = 0;
  /// Seconds per byte of a copy in memory.
  virtual std::vector<double> copy(int reps) = 0;
};

// All probes are for `ranks` ranks; those not named are idle.

using Pairs = std::vector<std::pair<Rank, Rank>>;  // src, dst

/// A matrix has one message for a pair; its pieces are the messages of a probe.
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
  std::vector<Bytes> next_;  // by message: where its next piece begins
};

/// `count` phases, in each of which every pair sends.
inline Probe repeated(Rank ranks, const Pairs& pairs, Bytes bytes, int count, const std::string& executor) {
  std::vector<Message> entries;
  for (const auto& [src, dst] : pairs) entries.push_back({src, dst, bytes * count});
  Writer writer(ranks, entries, bytes, executor);
  for (int i = 0; i < count; ++i) writer.phase(pairs);
  return writer.take();
}

/// 0 -> 1, 1 -> 0, 0 -> 1, ...: 2 * rounds messages, one after the other.
inline Probe ping_pong(Rank ranks, Bytes bytes, int rounds) {
  Writer writer(ranks, {{0, 1, bytes * rounds}, {1, 0, bytes * rounds}}, bytes, "phased");
  for (int round = 0; round < rounds; ++round) {
    writer.phase({{0, 1}});
    writer.phase({{1, 0}});
  }
  return writer.take();
}

/// `count` messages 0 -> 1, a phase each.
inline Probe stream(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  return repeated(ranks, {{0, 1}}, bytes, count, executor);
}

/// `count` times 0 -> 1 and 1 -> 0 in the same phase.
inline Probe both_ways(Rank ranks, Bytes bytes, int count, const std::string& executor) {
  return repeated(ranks, {{0, 1}, {1, 0}}, bytes, count, executor);
}

/// `count` times each of the first `members` ranks to the next one, round in a ring, in the same phase.
inline Probe ring(Rank ranks, Rank members, Bytes bytes, int count) {
  Pairs pairs;
  for (Rank rank = 0; rank < members; ++rank) pairs.emplace_back(rank, (rank + 1) % members);
  return repeated(ranks, pairs, bytes, count, "phased");
}

/// Ranks 1 .. senders to rank 0, all at once; `and_out`: rank 0 to each of them as well.
inline Probe fan_in(Rank ranks, Rank senders, Bytes bytes, bool and_out) {
  Pairs pairs;
  for (Rank rank = 1; rank <= senders; ++rank) {
    pairs.emplace_back(rank, 0);
    if (and_out) pairs.emplace_back(0, rank);
  }
  return repeated(ranks, pairs, bytes, 1, "async");
}

}  // namespace nuice::calibrate

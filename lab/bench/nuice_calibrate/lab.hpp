// SPDX-License-Identifier: BSD-3-Clause
// What calibration asks of a machine. The real one is mpi_lab.hpp; tests put a simulated machine in its place and expect
// to get its description back.
#pragma once

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
  /// Whether a message of so many bytes leaves its sender before the receiver has posted a receive.
  virtual bool leaves_early(Bytes bytes) = 0;
  /// Seconds of a barrier of the first so many ranks.
  virtual std::vector<double> barrier(Rank ranks, int reps) = 0;
  /// Seconds per byte of a copy in memory.
  virtual std::vector<double> copy(int reps) = 0;
};

// All probes are for `ranks` ranks; those not named are idle.

/// 0 -> 1, 1 -> 0, 0 -> 1, ...: 2 * rounds messages, one after the other.
Probe ping_pong(Rank ranks, Bytes bytes, int rounds);
/// `count` messages 0 -> 1, a phase each.
Probe stream(Rank ranks, Bytes bytes, int count, const std::string& executor);
/// `count` times 0 -> 1 and 1 -> 0 in the same phase.
Probe both_ways(Rank ranks, Bytes bytes, int count, const std::string& executor);
/// `count` times each of the first `members` ranks to the next one, round in a ring, in the same phase.
Probe ring(Rank ranks, Rank members, Bytes bytes, int count);
/// Ranks 1 .. senders to rank 0, all at once; `and_out`: rank 0 to each of them as well.
Probe fan_in(Rank ranks, Rank senders, Bytes bytes, bool and_out);

}  // namespace nuice::calibrate

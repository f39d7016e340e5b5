// SPDX-License-Identifier: BSD-3-Clause
// The machine that the program runs on.
#pragma once

#include <mpi.h>

#include "nuice_calibrate/lab.hpp"

namespace nuice::calibrate {

/// All member functions are collective over MPI_COMM_WORLD.
class MpiLab : public Lab {
 public:
  /// A probe is repeated until it has taken `patience_s`.
  explicit MpiLab(double patience_s) : patience_s_(patience_s) {}

  Rank num_ranks() const override;
  std::vector<Sample> run(const Probe& probe, int reps) override;
  std::vector<Sample> run_for(const Probe& probe, double seconds) override;
  bool leaves_early(Bytes bytes) override;
  std::vector<double> barrier(Rank ranks, int reps) override;
  std::vector<double> copy(int reps) override;

 private:
  double patience_s_;
};

}  // namespace nuice::calibrate

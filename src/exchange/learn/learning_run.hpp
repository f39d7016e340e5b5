// SPDX-License-Identifier: BSD-3-Clause
// Holds several methods for one bound exchange, and finds the best from the exchanges themselves.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/bind/arrivals.hpp"
#include "exchange/exec/run.hpp"

namespace nuice::mpi {

/// A bound method. arrivals: the Arrivals with which its run was bound.
struct BoundMethod {
  std::string scheduler;
  std::string executor;
  std::string options;  ///< Options in addition to the plan's, as a string; usually empty.
  std::unique_ptr<Arrivals> arrivals;
  std::unique_ptr<Run> run;  // destroyed before the arrivals

  std::string name() const { return scheduler + ":" + executor + (options.empty() ? "" : "@" + options); }
};

/// Not collective. Returns a run that uses the methods. The first is the method that was chosen before the
/// exchanges. arrivals: the exchange's arrivals, which expect one piece from every source of `table`. comm,
/// tag: for reports among the ranks (reports.hpp).
std::unique_ptr<Run> learn_between(std::vector<BoundMethod> methods, const PhaseTable& table,
                                   Arrivals& arrivals, const std::shared_ptr<const Communicator>& comm,
                                   int tag);

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// The compared methods of exchanging. To add a method of MPI, write a class, and add it to the table in
// mpi_methods.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nuice/plan/advise.hpp"
#include "nuice_bench/options.hpp"
#include "nuice_bench/payload.hpp"

namespace nuice::bench {

/// The seconds that it took to make a method ready: the fastest of three trials, and the maximum over the
/// ranks. Only planned methods have the parts.
struct PlanningTime {
  double total_s = 0;
  std::optional<double> gather_s, choose_s, schedule_s, check_s, bind_s;
};

/// The choice and prediction of the scheduler "auto".
struct Choice {
  Advice advice;
  double predicted_s;
};

/// The properties of a method that is ready.
struct Preparation {
  PlanningTime planning;
  std::optional<PhaseId> num_phases;  // planned methods only
  std::optional<Bytes> phase_bytes;   // planned methods only
  std::optional<Rank> num_hosts;      // planned methods only: the number of hosts in the plan
  std::optional<Choice> choice;       // scheduler auto only
};

/// DRS_N's counts: means per message since the method was made (including the warm-up).
struct Asking {
  double inquiries;
  double refusals;
};

/// Carries the payload from the send to the receive buffers in each run.
class Method : public Preparation {
 public:
  virtual ~Method() = default;
  virtual void run() = 0;
  /// Collective. Returns DRS_N's counts; nothing for other methods.
  virtual std::optional<Asking> asking() const { return std::nullopt; }
  /// Returns the method that carried out the last exchange, if several methods are tried.
  virtual std::string carried_out_by() const { return {}; }
  virtual std::optional<mpi::ExchangeInfo> learnt() const { return std::nullopt; }
};

/// Collective. Makes a method. `payload` must outlive it. Throws Error, the same on all ranks: not_applicable
/// or limit if the method does not support this matrix.
std::unique_ptr<Method> make_method(const MethodSpec& spec, const Options& options, Payload& payload);

/// Makes a method of MPI, for make_method().
std::unique_ptr<Method> make_peer(const std::string& name, Payload& payload);

/// Returns whether this rank has the message at the end; true for the root.
inline bool is_member(const BroadcastProblem& problem, Rank rank) {
  return rank == problem.root || !problem.group ||
         std::ranges::find(*problem.group, rank) != problem.group->end();
}

}  // namespace nuice::bench

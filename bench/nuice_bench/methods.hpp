// SPDX-License-Identifier: BSD-3-Clause
// The ways of exchanging that are compared. To add one of MPI's: a class, and a row of the table in mpi_methods.cpp.
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

/// What making a method ready took, in seconds: maxima over the ranks, of the fastest of three trials. The
/// parts are for planned methods only.
struct PlanningTime {
  double total_s = 0;
  std::optional<double> gather_s, choose_s, schedule_s, check_s, bind_s;
};

/// What the scheduler "auto" has chosen and predicted.
struct Choice {
  Advice advice;
  double predicted_s;
};

/// What is known of a method when it is ready.
struct Preparation {
  PlanningTime planning;
  std::optional<PhaseId> num_phases;  // planned methods only
  std::optional<Bytes> phase_bytes;   // likewise
  std::optional<Rank> num_hosts;      // likewise: that were planned with
  std::optional<Choice> choice;       // scheduler auto only
};

/// DRS_N: means per message, since the method was made (warm-up included).
struct Asking {
  double inquiries;
  double refusals;
};

/// Carries the payload from the send to the receive buffers, as often as it is run.
class Method : public Preparation {
 public:
  virtual ~Method() = default;
  virtual void run() = 0;
  /// Collective. DRS_N only.
  virtual std::optional<Asking> asking() const { return std::nullopt; }
  /// Planned methods only: what carries it out, and what that has learnt.
  /// What carried out the last exchange, where several methods are tried.
  virtual std::string carried_out_by() const { return {}; }
  virtual std::optional<mpi::ExchangeInfo> learnt() const { return std::nullopt; }
};

/// Collective. Throws Error, the same on all ranks: not_applicable or limit where this method cannot carry
/// this matrix. `payload` must outlive the method.
std::unique_ptr<Method> make_method(const MethodSpec& spec, const Options& options, Payload& payload);

/// One of them, for make_method().
std::unique_ptr<Method> make_peer(const std::string& name, Payload& payload);

/// Whether this rank has the message in the end, the root included.
inline bool is_member(const BroadcastProblem& problem, Rank rank) {
  return rank == problem.root || !problem.group ||
         std::ranges::find(*problem.group, rank) != problem.group->end();
}

}  // namespace nuice::bench

// SPDX-License-Identifier: BSD-3-Clause
// Executor barrier: as phased, and no rank begins a phase before all have finished the one before (003 s.5 calls it global
// synchronization). All ranks go through all phases, those without messages too.
//
// No rank waits for ever: a barrier only waits for what steps.hpp shows to happen.
// Cost besides the phases: ceil(log2 ranks) empty messages one after the other at the end of every phase but the last.
#include <utility>

#include "exchange/exec/dissemination.hpp"
#include "exchange/exec/rows.hpp"
#include "exchange/exec/steps.hpp"
#include "mpi/failure.hpp"

namespace nuice::mpi {
namespace {

class Barriers : public Steps {
 public:
  Barriers(TableRequests requests, std::vector<RequestCount> ends, const Binding& binding)
      : Steps(std::move(requests), std::move(ends), binding.arrivals), all_(*binding.comm, binding.tag + 1) {}

  std::int64_t num_events() const override { return Steps::num_events() + all_.num_rounds_over(); }
  std::string waits_for() const override {
    if (!all_.is_under_way()) return Steps::waits_for();
    return names_of({all_.waits_for()}) + " at the end of step " + std::to_string(step());
  }
  void cancel() noexcept override {
    Steps::cancel();
    all_.cancel();
  }

 private:
  bool may_go_on(bool block) override { return all_.have_come(block); }
  bool is_held_up() const override { return all_.is_under_way(); }

  DisseminationBarrier all_;
};

}  // namespace

std::unique_ptr<Run> bind_barrier(const Binding& binding) {
  TableRequests requests = make_requests(binding, false);
  std::vector<RequestCount> ends = ends_of_phases(binding.table, requests.ends, true);
  return std::make_unique<Barriers>(std::move(requests), std::move(ends), binding);
}

}  // namespace nuice::mpi

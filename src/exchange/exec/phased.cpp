// SPDX-License-Identifier: BSD-3-Clause
// Executor phased: loosely synchronous (000 s.2.1, 003 s.5). A rank begins its next phase when its own send and receive of
// this one are done, whatever the others do; phases in which it has nothing to do take no time.
//
// With PhasedOptions::in_flight = K it is K phases at a time, as a window over phases: the sends of the first K leave at the
// start, and those of phase p + K when phase p is done. K = 1 has one sender at a port, where the schedule has one; more
// hide what it takes to notice that a phase is over. What forwards goes one phase at a time, since it must have arrived.
//
// Why no rank waits forever: sends only leave earlier than with K = 1, and no rank waits for more (steps.hpp).
#include <algorithm>
#include <utility>

#include "exchange/exec/rows.hpp"
#include "exchange/exec/steps.hpp"

namespace nuice::mpi {
namespace {

class Overlapped : public Steps {
 public:
  Overlapped(TableRequests requests, std::vector<RequestCount> ends, Arrivals& arrivals,
             std::size_t in_flight)
      : Steps(std::move(requests), std::move(ends), arrivals, false), in_flight_(in_flight) {}

 private:
  void begin_step() override {
    const std::size_t begin = step() == 0 ? 0 : end_of_sends_in(step() - 1);
    start_sends(begin, end_of_sends_in(step()));
  }

  /// Of those that are active while `step` is.
  std::size_t end_of_sends_in(std::size_t step) const {
    return sends_end(std::min(num_steps() - step, in_flight_) + step - 1);
  }

  std::size_t in_flight_;
};

}  // namespace

std::unique_ptr<Run> bind_phased(const Binding& binding) {
  TableRequests requests = make_requests(binding, false);
  std::vector<RequestCount> ends = ends_of_phases(binding.table, requests.ends);
  const auto in_flight = static_cast<std::size_t>(binding.settings.phases_in_flight);
  std::unique_ptr<Run> run;
  const bool forwards = !binding.table.parts.empty();
  if (in_flight > 1 && !forwards) {
    run = std::make_unique<Overlapped>(std::move(requests), std::move(ends), binding.arrivals, in_flight);
  } else {
    run = std::make_unique<Steps>(std::move(requests), std::move(ends), binding.arrivals);
  }
  return run;
}

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Executor phased: loosely synchronous (000 s.2.1, 003 s.5). A rank begins its next phase when its own send
// and receive of this phase are done, independently of other ranks. Phases in which it has no messages take
// no time.
#include <utility>

#include "exchange/exec/rows.hpp"
#include "exchange/exec/steps.hpp"

namespace nuice::mpi {

std::unique_ptr<Run> bind_phased(const Binding& binding) {
  TableRequests requests = make_requests(binding, false);
  std::vector<RequestCount> ends = ends_of_phases(binding.table, requests.ends);
  return std::make_unique<Steps>(std::move(requests), std::move(ends), binding.arrivals);
}

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// An executor from outside the library: one file, and a row in each of the two tables. The tests of every
// executor take it up by its name, without a line of theirs or of src changed.
#include <memory>
#include <utility>

#include "exchange/exec/steps.hpp"
#include "nuice/core/executor.hpp"

namespace nuice {
namespace {

/// As phased, but waits for the sends of a phase before it looks for its receives.
std::unique_ptr<mpi::Run> bind_toy(const mpi::Binding& binding) {
  mpi::TableRequests requests = mpi::make_requests(binding, false);
  std::vector<mpi::RequestCount> ends;
  for (const mpi::RequestCount& end : mpi::ends_of_phases(binding.table, requests.ends)) {
    ends.push_back({ends.empty() ? 0 : ends.back().receives, end.sends});
    ends.push_back(end);
  }
  return std::make_unique<mpi::Steps>(std::move(requests), std::move(ends), binding.arrivals);
}

const bool is_added = [] {
  add_executor({.name = "toy",
                .summary = "waits for its sends, then for its receives",
                .source = "a test",
                .pace = Pace::phases,
                .needs = 0,
                .on_mpi = true});
  mpi::add_runnable_executor({.name = "toy", .bind = bind_toy});
  return true;
}();

}  // namespace
}  // namespace nuice

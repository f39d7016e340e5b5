// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/learn/reports.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/call.hpp"
#include "nuice/core/error.hpp"

namespace nuice::mpi {
namespace {

struct Kept {
  std::mutex mutex;
  std::vector<std::unique_ptr<Reports>> reports;
};

/// Never destroyed: MPI may be gone by then.
Kept& kept() {
  static Kept* const all = new Kept;
  return *all;
}

}  // namespace

/// Goes on with what is owed, with nothing to say.
bool Reports::is_over() {
  while (advance()) {
    if (owed_ == 0) return true;
    const std::vector<double> nothing(reduction_.result().size(), -std::numeric_limits<double>::max());
    begin(nothing);
  }
  return false;
}

void Reports::leave(std::unique_ptr<Reports> reports) noexcept {
  if (is_finalized()) {
    (void)reports.release();
    return;
  }
  try {
    const std::scoped_lock lock(kept().mutex);
    auto& all = kept().reports;
    if (reports) all.push_back(std::move(reports));
    std::erase_if(all, [](const std::unique_ptr<Reports>& each) { return each->is_over(); });
  } catch (const std::exception&) {
    // A destructor cannot report an error; what is kept stays.
  }
}

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// What all ranks must agree on before a plan is made.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/support/option_table.hpp"
#include "mpi/agree.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/options.hpp"

namespace nuice::mpi {

/// What stands for a choice, of a scheduler and of an executor.
inline constexpr std::string_view auto_name = "auto";

/// The options with what rank 0's NUICE_OPTIONS says on top, and that text; on all ranks.
struct OverriddenOptions {
  PlanOptions options;
  std::string text;
};
/// Collective. Throws Error parse, on all ranks.
OverriddenOptions with_environment(const Communicator& comm, const PlanOptions& mine);

/// Collective. Throws Error mismatch, on all ranks, with the option, two ranks and both their values, if the
/// options of some rank are not those of rank 0.
void require_equal_options(const Communicator& comm, const PlanOptions& mine);

/// Not collective, but the same on all ranks once the options are equal. Does not look at the scheduler's
/// name.
/// Throws Error invalid_argument.
void check_options(const PlanOptions& options);

/// Values by name, in the same order on all ranks.
using NamedValues = std::vector<options::NamedValue>;

/// Collective. As require_equal_options(). They travel as text.
void require_equal_values(const Communicator& comm, const NamedValues& mine);

}  // namespace nuice::mpi

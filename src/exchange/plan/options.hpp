// SPDX-License-Identifier: BSD-3-Clause
// The options on which all ranks must agree before a plan is made.
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

/// The name by which a scheduler or an executor is chosen automatically.
inline constexpr std::string_view auto_name = "auto";

/// A program's options after rank 0's NUICE_OPTIONS has overridden some of them, and the text of
/// NUICE_OPTIONS. Both are the same on all ranks.
struct OverriddenOptions {
  PlanOptions options;
  std::string text;
};
/// Collective. Throws Error `parse` on all ranks.
OverriddenOptions with_environment(const Communicator& comm, const PlanOptions& mine);

/// Collective. If a rank's options differ from rank 0's options, throws Error `mismatch` on all ranks. The
/// error names the option, two ranks and both values.
void require_equal_options(const Communicator& comm, const PlanOptions& mine);

/// Not collective, but gives the same result on all ranks if their options are equal. Ignores the scheduler's
/// name. Throws Error `invalid_argument`.
void check_options(const PlanOptions& options);

/// Values by name, in the same order on all ranks.
using NamedValues = std::vector<options::NamedValue>;

/// Collective. Does for other values, which are sent as text, what require_equal_options() does for options.
void require_equal_values(const Communicator& comm, const NamedValues& mine);

}  // namespace nuice::mpi

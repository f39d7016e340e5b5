// SPDX-License-Identifier: BSD-3-Clause
// The options -sf_nuice_* of a star forest.
#pragma once

#include <petscsf.h>

#include <optional>
#include <string>

namespace nuice::petsc {

struct Options {
  std::string scheduler;    ///< -sf_nuice_scheduler; empty: auto.
  std::string executor;     ///< -sf_nuice_executor; empty: auto.
  std::string others;       ///< -sf_nuice_options, as docs/reference/options.md lists them.
  PetscInt planned_at = 3;  ///< -sf_nuice_plan_at: the use of a unit size that makes the plan.

  /// -sf_nuice_compare: whether basic and the plan are timed, and the faster one is kept. By default this is
  /// so unless the user names a scheduler, executor or option.
  std::optional<bool> comparison;

  /// Whether the user names a scheduler, executor or option. Plans are then used even if they are not faster.
  bool names_a_way() const { return !scheduler.empty() || !executor.empty() || !others.empty(); }
  bool compares() const { return comparison.value_or(!names_a_way()); }
  /// Returns the options as a string for nuice_plan_create().
  std::string text() const;
  /// Collective. Call it between PetscObjectOptionsBegin() and PetscOptionsEnd().
  PetscErrorCode read(PetscOptionItems* PetscOptionsObject);
};

}  // namespace nuice::petsc

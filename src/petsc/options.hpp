// SPDX-License-Identifier: BSD-3-Clause
// What -sf_nuice_* asked for.
#pragma once

#include <petscsf.h>

#include <optional>
#include <string>

namespace nuice::petsc {

struct Options {
  std::string scheduler;  ///< -sf_nuice_scheduler; empty: auto.
  std::string executor;   ///< -sf_nuice_executor; empty: auto.
  std::string others;     ///< -sf_nuice_options, as docs/reference/options.md lists them.
  PetscInt planned_at =
      3;  ///< -sf_nuice_plan_at: which use of a unit size makes the plan; earlier ones use basic.

  /// -sf_nuice_compare: basic and a plan are timed, and the faster one is kept. Where it is not given: unless a way is named.
  std::optional<bool> comparison;

  /// Then an exchange is what was asked for, even where nothing can be gained.
  bool names_a_way() const { return !scheduler.empty() || !executor.empty() || !others.empty(); }
  bool compares() const { return comparison.value_or(!names_a_way()); }
  /// For nuice_plan_create().
  std::string text() const;
  /// Within PetscObjectOptionsBegin() and PetscOptionsEnd(). Collective.
  PetscErrorCode read(PetscOptionItems* PetscOptionsObject);
};

}  // namespace nuice::petsc

// SPDX-License-Identifier: BSD-3-Clause
// The PetscSF type `nuice`: type basic, with broadcasts and reductions carried out by plans.
#pragma once

#include <petsc/private/sfimpl.h>

#include <memory>
#include <string>
#include <vector>

#include "petsc/forest.hpp"
#include "petsc/options.hpp"

namespace nuice::petsc {

constexpr const char* type_name = "nuice";

/// The state of a star forest of this type. sf->data keeps the state of type basic, which VecScatter and
/// others read.
struct TypeState {
  struct _PetscSFOps basic;  ///< The operations of type basic. They carry out exchanges left to basic.
  Options options;
  std::shared_ptr<Forest> forest = std::make_shared<Forest>();  ///< Shared by duplicates.
  std::string left_to_basic;  ///< Why basic carries out all exchanges; empty if plans are used.

  struct UnderWay {
    MPI_Datatype unit;
    const void* root_data;
    const void* leaf_data;
    PetscMemType to_memory = PETSC_MEMTYPE_HOST;  ///< Where data is received.
    Turn turn;
    double elapsed_s = 0;  ///< The time spent in Begin and End, if the turn is timed.
  };
  std::vector<UnderWay> under_way;  ///< Broadcasts and reductions that have begun on a lane, or are timed.
};

/// Not collective. PETSc keeps the state with the star forest.
PetscErrorCode state_of(PetscSF sf, TypeState** state);
/// For PetscSFRegister().
PetscErrorCode create(PetscSF sf);
/// Collective. Prints plan and reason for each unit size, for -sf_view and PetscSFView().
PetscErrorCode view_plans(PetscSF sf, const TypeState& state, PetscViewer viewer);
/// Collective. Calls view_plans() if -sf_view is given and the forest is set up.
PetscErrorCode view_from_options(PetscSF sf, const TypeState& state);

}  // namespace nuice::petsc

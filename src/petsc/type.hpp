// SPDX-License-Identifier: BSD-3-Clause
// The PetscSF type `nuice`: type basic, whose broadcasts and reductions are carried out by plans.
#pragma once

#include <petsc/private/sfimpl.h>

#include <memory>
#include <string>
#include <vector>

#include "petsc/forest.hpp"
#include "petsc/options.hpp"

namespace nuice::petsc {

constexpr const char* type_name = "nuice";

/// What a star forest of this type has in addition to what basic keeps in sf->data, which VecScatter and others look into.
struct TypeState {
  struct _PetscSFOps basic;  ///< Of the type basic, for what is left to it.
  Options options;
  std::shared_ptr<Forest> forest = std::make_shared<Forest>();  ///< Shared by duplicates.
  std::string left_to_basic;  ///< Why all exchanges go by basic; empty where plans are asked.

  struct UnderWay {
    MPI_Datatype unit;
    const void* root_data;
    const void* leaf_data;
    PetscMemType to_memory = PETSC_MEMTYPE_HOST;  ///< Of what is received.
    Turn turn;
    double elapsed_s = 0;  ///< Inside Begin and End, where the turn is timed.
  };
  std::vector<UnderWay> under_way;  ///< Broadcasts and reductions that have begun on a lane, or are timed.
};

/// Not collective. PETSc keeps it with the star forest.
PetscErrorCode state_of(PetscSF sf, TypeState** state);
/// For PetscSFRegister().
PetscErrorCode create(PetscSF sf);
/// -sf_view and PetscSFView(): for units of each size, plan and reason. Collective.
PetscErrorCode view_plans(PetscSF sf, const TypeState& state, PetscViewer viewer);
/// Where -sf_view is given, and there is something to tell. Collective.
PetscErrorCode view_from_options(PetscSF sf, const TypeState& state);

}  // namespace nuice::petsc

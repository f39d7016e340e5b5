// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/status.hpp"

#include <array>

namespace nuice::petsc {

PetscErrorCode error_code_of(int status) {
  struct Row {
    nuice_status status;
    PetscErrorCode code;
  };
  constexpr std::array rows{
      Row{NUICE_ERR_INVALID_ARGUMENT, PETSC_ERR_ARG_WRONG},
      Row{NUICE_ERR_PARSE, PETSC_ERR_ARG_WRONG},
      Row{NUICE_ERR_IO, PETSC_ERR_FILE_OPEN},
      Row{NUICE_ERR_NOT_APPLICABLE, PETSC_ERR_SUP},
      Row{NUICE_ERR_LIMIT, PETSC_ERR_ARG_OUTOFRANGE},
      Row{NUICE_ERR_MISMATCH, PETSC_ERR_ARG_INCOMP},
      Row{NUICE_ERR_STATE, PETSC_ERR_ARG_WRONGSTATE},
      Row{NUICE_ERR_MPI, PETSC_ERR_MPI},
      Row{NUICE_ERR_TIMEOUT, PETSC_ERR_LIB},
      Row{NUICE_ERR_DEVICE, PETSC_ERR_GPU},
  };
  for (const Row& row : rows)
    if (row.status == status) return row.code;
  return PETSC_ERR_LIB;
}

}  // namespace nuice::petsc

// SPDX-License-Identifier: BSD-3-Clause
// libnuice_petsc.so: `-dll_append PATH/libnuice_petsc.so -sf_type nuice`. Checks here, before any use, that
// the library fits this PETSc.
#include <petscversion.h>

#include <array>
#include <cstring>

#include "petsc/status.hpp"
#include "petsc/type.hpp"

namespace nuice::petsc {
namespace {

/// A part of the string by which an MPI library identifies itself, and the library's name in
/// nuice_mpi_name().
struct KnownMpi {
  const char* words;
  const char* name;
};
constexpr std::array known_mpis{
    KnownMpi{"Open MPI", "openmpi"},
    KnownMpi{"MPICH", "mpich"},
    KnownMpi{"Intel(R) MPI", "mpich"},
    KnownMpi{"MVAPICH", "mpich"},
};

/// This library's MPI calls reach PETSc's MPI, and crash if this is another MPI. So both must be of the same
/// kind.
PetscErrorCode require_same_mpi() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Get_library_version(text.data(), &length));
  text[std::strcspn(text.data(), ",\n")] = '\0';
  for (const KnownMpi& mpi : known_mpis)
    PetscCheck(
        std::strstr(text.data(), mpi.words) == nullptr || std::strcmp(mpi.name, nuice_mpi_name()) == 0,
        PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
        "PETSc runs with %s, libnuice.so was built with %s: build it with PETSc's (docs/how-to/petsc.md)",
        text.data(), nuice_mpi_name());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc's private headers define the layout of a star forest. They belong to one version and one size of
/// PetscInt.
PetscErrorCode require_same_petsc() {
  PetscInt major = 0, minor = 0, patch = 0, release = 0;
  size_t int_bytes = 0;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &int_bytes));
  PetscCheck(int_bytes == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "PETSc counts with %d bytes, libnuice_petsc.so was built for one that counts with %d",
             static_cast<int>(int_bytes), static_cast<int>(sizeof(PetscInt)));
  PetscCall(PetscGetVersionNumber(&major, &minor, &patch, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF,
             PETSC_ERR_ARG_INCOMP,
             "this is PETSc %" PetscInt_FMT ".%" PetscInt_FMT ", libnuice_petsc.so was built for %d.%d",
             major, minor, PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace
}  // namespace nuice::petsc

extern "C" NUICE_API PetscErrorCode PetscDLLibraryRegister_nuice_petsc();

/// PETSc calls this function after it has loaded the library. A program that links the library calls it after
/// PetscInitialize().
PetscErrorCode PetscDLLibraryRegister_nuice_petsc() {
  PetscFunctionBegin;
  PetscCall(nuice::petsc::require_same_mpi());
  PetscCall(nuice::petsc::require_same_petsc());
  PetscCall(PetscSFRegister(nuice::petsc::type_name, nuice::petsc::create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// SPDX-License-Identifier: BSD-3-Clause
// The PetscSF type nuice on data in the memory of the fake device: as basic does on the host's, bit for bit,
// wherever roots and leaves lie. PETSc's part is played by device_basic.hpp, as Debian's PETSc has no CUDA.
//
//   mpiexec -n N petsc_device_sf_test -dll_append PATH/libnuice_petsc.so [-sf_nuice_scheduler coloring ...]
//
// Prints "WRONG" with each case that failed, "all right" otherwise.
#include <petsc/private/sfimpl.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "device/device_memory.hpp"
#include "device_basic.hpp"
#include "forests.hpp"

namespace {

using nuice::test::DeviceArray;

constexpr const char* reference = "of_petsc";

enum class Where { host, device, roots_on_device, leaves_on_device, odd_ranks_on_device };

bool is_on_device(Where where, bool are_roots) {
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  switch (where) {
    case Where::host:
      return false;
    case Where::device:
      return true;
    case Where::roots_on_device:
      return are_roots;
    case Where::leaves_on_device:
      return !are_roots;
    case Where::odd_ranks_on_device:
      return rank % 2 == 1;
  }
  return false;
}

/// NUICE's buffers are in the memory that `where` says, basic's on the host.
PetscErrorCode compare(PetscSF ours, PetscSF basic, const Graph& graph, const Unit& unit,
                       const Operation& operation, bool reduces, Where where, const std::string& name) {
  constexpr PetscMemType host = PETSC_MEMTYPE_HOST, cuda = PETSC_MEMTYPE_CUDA;

  PetscFunctionBegin;
  Data mine(graph, unit, static_cast<unsigned>(where)), theirs = mine;
  const DeviceArray<unsigned char> roots(mine.roots), leaves(mine.leaves);
  const bool roots_there = is_on_device(where, true), leaves_there = is_on_device(where, false);
  void* const at_roots = roots_there ? roots.data() : mine.roots.data();
  void* const at_leaves = leaves_there ? leaves.data() : mine.leaves.data();
  const PetscMemType of_roots = roots_there ? cuda : host, of_leaves = leaves_there ? cuda : host;
  if (reduces) {
    PetscCall(PetscSFReduceWithMemTypeBegin(ours, unit.type, of_leaves, at_leaves, of_roots, at_roots,
                                            operation.op));
    PetscCall(PetscSFReduceEnd(ours, unit.type, at_leaves, at_roots, operation.op));
  } else {
    PetscCall(PetscSFBcastWithMemTypeBegin(ours, unit.type, of_roots, at_roots, of_leaves, at_leaves,
                                           operation.op));
    PetscCall(PetscSFBcastEnd(ours, unit.type, at_roots, at_leaves, operation.op));
  }
  PetscCall(begin(basic, unit, theirs, operation.op, reduces));
  PetscCall(end(basic, unit, theirs, operation.op, reduces));
  if (roots_there) mine.roots = roots.download();
  if (leaves_there) mine.leaves = leaves.download();
  PetscCall(expect(mine == theirs, name + ", " + unit.name + ", " + operation.name +
                                       (reduces ? ", reduce, " : ", bcast, ") +
                                       std::to_string(static_cast<int>(where))));
  PetscFunctionReturn(0);
}

/// Plans are bound where the data of the first exchange lies; later ones have it anywhere.
PetscErrorCode compare_from(Where first, const Graph& graph, const std::string& name) {
  PetscSF ours, basic;

  PetscFunctionBegin;
  PetscCall(make(graph, "nuice", &ours));
  PetscCall(make(graph, reference, &basic));
  const std::vector<Unit> all = units();
  for (const std::size_t i : {0U, 3U, 5U, 6U})
    for (const Operation& operation : all[i].operations)
      for (const bool reduces : {false, true})
        for (const Where where : {first, Where::device, Where::roots_on_device, Where::leaves_on_device,
                                  Where::odd_ranks_on_device, Where::host})
          PetscCall(compare(ours, basic, graph, all[i], operation, reduces, where, name));
  PetscCall(PetscSFDestroy(&ours));
  PetscCall(PetscSFDestroy(&basic));
  PetscFunctionReturn(0);
}

/// A PETSc that knows no device refuses before it touches the data.
PetscErrorCode expect_refused() {
  const Graph graph(Kind::halo, 1);
  const Unit unit = units()[0];
  Data data(graph, unit, 1);
  PetscSF sf;
  PetscMPIInt size = 1;
  PetscBool plans = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-sf_nuice_plan_at", &plans));
  if (size == 1 || !plans) PetscFunctionReturn(0);  // which are left to basic
  PetscCall(make(graph, "nuice", &sf));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const PetscErrorCode code =
      PetscSFBcastWithMemTypeBegin(sf, unit.type, PETSC_MEMTYPE_CUDA, data.roots.data(), PETSC_MEMTYPE_HOST,
                                   data.leaves.data(), MPI_REPLACE);
  PetscCall(PetscPopErrorHandler());
  PetscCall(expect(code == PETSC_ERR_SUP, "refused without a device"));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(0);
}

PetscErrorCode run() {
  PetscFunctionBegin;
  PetscCall(expect_refused());
  PetscCall(register_device_basic(reference));
  for (const Where first : {Where::device, Where::host, Where::odd_ranks_on_device}) {
    PetscCall(compare_from(first, Graph(Kind::scattered, 1), "scattered"));
    PetscCall(compare_from(first, Graph(Kind::sparse, 2), "with ranks without neighbours"));
  }
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) { return report(argc, argv, run); }

// SPDX-License-Identifier: BSD-3-Clause
#include "device_basic.hpp"

#include <list>
#include <utility>
#include <vector>

#include "device/device_memory.hpp"

namespace {

using nuice::test::TestDriver;
using Bytes = std::vector<std::byte>;

PetscErrorCode (*create_basic)(PetscSF) = nullptr;
_PetscSFOps real;

/// What PETSc's own routines work on instead of one side.
struct Shadow {
  void* users;
  bool is_on_device;
  Bytes bytes;

  Shadow(PetscMemType memory, const void* data, std::size_t size)
      : users(const_cast<void*>(data)), is_on_device(!PetscMemTypeHost(memory)) {
    if (!is_on_device) return;
    bytes.resize(size);
    if (size > 0) TestDriver::get().copy(bytes.data(), users, size, nullptr);
    TestDriver::get().synchronize(nullptr);
  }
  void* data() { return is_on_device ? bytes.data() : users; }
};

struct UnderWay {
  Shadow from, to;
  bool is_over = false;
};
std::list<UnderWay> all;  // to the end of the program: the device may still read them

PetscErrorCode sizes_of(PetscSF sf, MPI_Datatype unit, std::size_t* roots, std::size_t* leaves) {
  PetscInt num_roots = 0, last_leaf = -1;
  MPI_Aint low = 0, extent = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_get_extent(unit, &low, &extent));
  PetscCall(PetscSFGetGraph(sf, &num_roots, nullptr, nullptr, nullptr));
  PetscCall(PetscSFGetLeafRange(sf, nullptr, &last_leaf));
  *roots = static_cast<std::size_t>(num_roots * extent);
  *leaves = static_cast<std::size_t>((last_leaf + 1) * extent);
  PetscFunctionReturn(0);
}

template <bool to_leaves>
PetscErrorCode begin(PetscSF sf, MPI_Datatype unit, PetscMemType from_memory, const void* from,
                     PetscMemType to_memory, void* to, MPI_Op op) {
  std::size_t roots = 0, leaves = 0;

  PetscFunctionBegin;
  PetscCall(sizes_of(sf, unit, &roots, &leaves));
  UnderWay& one = all.emplace_back(UnderWay{Shadow(from_memory, from, to_leaves ? roots : leaves),
                                            Shadow(to_memory, to, to_leaves ? leaves : roots)});
  PetscCall((to_leaves ? real.BcastBegin : real.ReduceBegin)(sf, unit, PETSC_MEMTYPE_HOST, one.from.data(),
                                                             PETSC_MEMTYPE_HOST, one.to.data(), op));
  PetscFunctionReturn(0);
}

template <bool to_leaves>
PetscErrorCode end(PetscSF sf, MPI_Datatype unit, const void* from, void* to, MPI_Op op) {
  PetscFunctionBegin;
  for (UnderWay& one : all) {
    if (one.is_over || one.from.users != from || one.to.users != to) continue;
    one.is_over = true;
    PetscCall((to_leaves ? real.BcastEnd : real.ReduceEnd)(sf, unit, one.from.data(), one.to.data(), op));
    if (one.to.is_on_device && !one.to.bytes.empty())
      TestDriver::get().copy(to, one.to.bytes.data(), one.to.bytes.size(), nullptr);
    break;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode allocate(PetscMemType, std::size_t bytes, void** memory) {
  PetscFunctionBegin;
  *memory = TestDriver::get().allocate(bytes);
  PetscFunctionReturn(0);
}

PetscErrorCode release(PetscMemType, void* memory) {
  PetscFunctionBegin;
  TestDriver::get().release(memory);
  PetscFunctionReturn(0);
}

PetscErrorCode create(PetscSF sf) {
  PetscFunctionBegin;
  PetscCall(create_basic(sf));
  real = *sf->ops;
  sf->ops->BcastBegin = begin<true>;
  sf->ops->BcastEnd = end<true>;
  sf->ops->ReduceBegin = begin<false>;
  sf->ops->ReduceEnd = end<false>;
  sf->ops->Malloc = allocate;
  sf->ops->Free = release;
  PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode register_device_basic(const char* reference) {
  PetscSF any;  // the first forest fills PETSc's table of types

  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PETSC_COMM_SELF, &any));
  PetscCall(PetscSFDestroy(&any));
  PetscCall(PetscFunctionListFind(PetscSFList, PETSCSFBASIC, &create_basic));
  PetscCall(PetscSFRegister(reference, create_basic));
  PetscCall(PetscSFRegister(PETSCSFBASIC, create));
  PetscFunctionReturn(0);
}

// SPDX-License-Identifier: BSD-3-Clause
// PetscSF, PETSc's star forest (Zhang et al., IEEE TPDS 33(4), 2022). Every message is a sequence of roots at
// its sender that become leaves at its receiver, by PetscSFBcast. Built only with -DNUICE_BENCH_PETSC=ON,
// because PETSc must use the same MPI.
#pragma once

#include <petscsf.h>

#include <algorithm>
#include <climits>
#include <numeric>

#include "nuice/core/error.hpp"
#include "nuice/mpi/agree.hpp"
#include "nuice_bench/methods.hpp"

namespace nuice::bench {

inline void must(PetscErrorCode code) {
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Initializes PETSc at its first use; PETSc stays initialized until the program ends.
inline void begin_petsc() {
  static const bool begun = [] {
    must(PetscInitializeNoArguments());
    return true;
  }();
  (void)begun;
}

/// Returns the largest number of bytes that divides all messages of all ranks: the size of a root or leaf.
inline Bytes common_unit(const Payload& payload) {
  Bytes mine = 0;
  for (const Partner& partner : payload.send.partners) mine = std::gcd(mine, partner.bytes);
  std::vector<Bytes> all(static_cast<std::size_t>(mpi::world_size()));
  MPI_Allgather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  for (const Bytes other : all) mine = std::gcd(mine, other);
  return std::max<Bytes>(mine, 1);
}

/// Returns the position of the message for this rank at each source, in units.
inline std::vector<PetscInt> remote_offsets(const Payload& payload, Bytes unit) {
  const auto size = static_cast<std::size_t>(mpi::world_size());
  std::vector<std::int64_t> mine(size, 0);
  std::vector<std::int64_t> theirs(size, 0);
  for (std::size_t i = 0; i < payload.send.partners.size(); ++i)
    mine[static_cast<std::size_t>(payload.send.partners[i].rank)] =
        static_cast<std::int64_t>(payload.send.offsets[i]) / unit;
  MPI_Alltoall(mine.data(), 1, MPI_INT64_T, theirs.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  return {theirs.begin(), theirs.end()};
}

class PetscMethod : public Method {
 public:
  explicit PetscMethod(Payload& payload) : payload_(payload) {
    begin_petsc();
    const Bytes unit = common_unit(payload);
    mpi::all_or_none(MPI_COMM_WORLD, [&] {
      const auto bytes = std::max(payload.send.memory.size(), payload.receive.memory.size());
      if (unit > INT_MAX || static_cast<Bytes>(bytes) / unit > PETSC_MAX_INT)
        throw Error(ErrorCode::limit, "more roots than PetscInt counts");
    });
    const double begin_s = MPI_Wtime();
    const std::vector<PetscInt> begins = remote_offsets(payload, unit);
    MPI_Type_contiguous(static_cast<int>(unit), MPI_BYTE, &unit_);
    MPI_Type_commit(&unit_);
    std::vector<PetscSFNode> leaves;
    for (const Partner& source : payload.receive.partners)
      for (PetscInt i = 0; i < static_cast<PetscInt>(source.bytes / unit); ++i)
        leaves.push_back({source.rank, begins[static_cast<std::size_t>(source.rank)] + i});
    must(PetscSFCreate(MPI_COMM_WORLD, &forest_));
    must(PetscSFSetGraph(
        forest_, static_cast<PetscInt>(static_cast<Bytes>(payload.send.memory.size()) / unit),
        static_cast<PetscInt>(leaves.size()), nullptr, PETSC_COPY_VALUES, leaves.data(), PETSC_COPY_VALUES));
    must(PetscSFSetUp(forest_));
    planning.total_s = mpi::max_over_ranks(MPI_Wtime() - begin_s);
  }
  PetscMethod(const PetscMethod&) = delete;
  PetscMethod& operator=(const PetscMethod&) = delete;
  ~PetscMethod() override {
    must(PetscSFDestroy(&forest_));
    MPI_Type_free(&unit_);
  }

  void run() override {
    const void* const from = payload_.send.memory.data();
    void* const to = payload_.receive.memory.data();
    must(PetscSFBcastBegin(forest_, unit_, from, to, MPI_REPLACE));
    must(PetscSFBcastEnd(forest_, unit_, from, to, MPI_REPLACE));
  }

 private:
  Payload& payload_;
  PetscSF forest_ = nullptr;
  MPI_Datatype unit_ = MPI_DATATYPE_NULL;
};

}  // namespace nuice::bench

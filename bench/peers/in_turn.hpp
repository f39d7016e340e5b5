// SPDX-License-Identifier: BSD-3-Clause
// Writes a distributed vector to a file with one number per line.
#pragma once

#include <cstdio>

#include "nuice/mpi/agree.hpp"

/// Collective. Calls write() on one rank after the other.
template <typename Write>
void in_turn(Write&& write) {
  for (int turn = 0; turn < nuice::mpi::world_size(); ++turn) {
    if (turn == nuice::mpi::world_rank()) write();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

inline void write_lines(const char* path, const double* values, int count) {
  in_turn([&] {
    std::FILE* const out = std::fopen(path, nuice::mpi::world_rank() == 0 ? "w" : "a");
    if (out == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < count; ++i) std::fprintf(out, "%.17g\n", values[i]);
    std::fclose(out);
  });
}

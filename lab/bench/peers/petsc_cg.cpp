// SPDX-License-Identifier: BSD-3-Clause
// PETSc's conjugate gradients, for lab/bench/peers.py: the same matrix, the same rows on each rank as nuice-cg, b all
// ones, x = 0 at first, no preconditioner, until |r| <= rtol |b|.
//
//   mpiexec -n N petsc_cg MATRIX ROWS_FILE SOLUTION RTOL REPS
//
// MATRIX is in PETSc's binary form, ROWS_FILE has the number of rows of each rank. Writes x, one number a line. Prints
// one JSON object: iterations, median seconds of a solution, and of the exchange of ghosts alone.
#include <petscksp.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "kit/timing.hpp"
#include "nuice/mpi/agree.hpp"

namespace {

Mat load(const std::string& path, PetscInt num_rows) {
  Mat matrix;
  PetscViewer viewer;
  PetscCallAbort(PETSC_COMM_WORLD,
                 PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_READ, &viewer));
  PetscCallAbort(PETSC_COMM_WORLD, MatCreate(PETSC_COMM_WORLD, &matrix));
  PetscCallAbort(PETSC_COMM_WORLD, MatSetType(matrix, MATMPIAIJ));
  PetscCallAbort(PETSC_COMM_WORLD, MatSetSizes(matrix, num_rows, num_rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCallAbort(PETSC_COMM_WORLD, MatLoad(matrix, viewer));
  PetscCallAbort(PETSC_COMM_WORLD, PetscViewerDestroy(&viewer));
  return matrix;
}

KSP make_solver(Mat matrix, double rtol) {
  KSP solver;
  PC preconditioner;
  PetscCallAbort(PETSC_COMM_WORLD, KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCallAbort(PETSC_COMM_WORLD, KSPSetOperators(solver, matrix, matrix));
  PetscCallAbort(PETSC_COMM_WORLD, KSPSetType(solver, KSPCG));
  PetscCallAbort(PETSC_COMM_WORLD, KSPGetPC(solver, &preconditioner));
  PetscCallAbort(PETSC_COMM_WORLD, PCSetType(preconditioner, PCNONE));
  PetscCallAbort(PETSC_COMM_WORLD, KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
  PetscCallAbort(PETSC_COMM_WORLD, KSPSetTolerances(solver, rtol, 1e-300, 1e300, 100000));
  return solver;
}

/// Like the one that the product makes for itself.
VecScatter scatter_of(Mat matrix, Vec x, Vec& ghosts) {
  Mat diagonal, rest;
  const PetscInt* columns;  // of the rest, global
  PetscInt count;
  IS needed;
  VecScatter scatter;
  PetscCallAbort(PETSC_COMM_WORLD, MatMPIAIJGetSeqAIJ(matrix, &diagonal, &rest, &columns));
  PetscCallAbort(PETSC_COMM_WORLD, MatGetSize(rest, nullptr, &count));
  PetscCallAbort(PETSC_COMM_WORLD, VecCreateSeq(PETSC_COMM_SELF, count, &ghosts));
  PetscCallAbort(PETSC_COMM_WORLD,
                 ISCreateGeneral(PETSC_COMM_SELF, count, columns, PETSC_COPY_VALUES, &needed));
  PetscCallAbort(PETSC_COMM_WORLD, VecScatterCreate(x, needed, ghosts, nullptr, &scatter));
  PetscCallAbort(PETSC_COMM_WORLD, ISDestroy(&needed));
  return scatter;
}

/// Ranks write one after the other.
void write(const std::string& path, Vec x) {
  const PetscScalar* values;
  PetscInt count;
  PetscCallAbort(PETSC_COMM_WORLD, VecGetArrayRead(x, &values));
  PetscCallAbort(PETSC_COMM_WORLD, VecGetLocalSize(x, &count));
  for (int turn = 0; turn < nuice::mpi::world_size(); ++turn) {
    if (turn == nuice::mpi::world_rank()) {
      std::FILE* const out = std::fopen(path.c_str(), turn == 0 ? "w" : "a");
      if (out == nullptr) MPI_Abort(PETSC_COMM_WORLD, 2);
      for (PetscInt i = 0; i < count; ++i) std::fprintf(out, "%.17g\n", values[i]);
      std::fclose(out);
    }
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArrayRead(x, &values));
}

void run(char** argv) {
  std::ifstream rows(argv[2]);
  PetscInt num_rows = 0;
  for (int rank = 0; rank <= nuice::mpi::world_rank(); ++rank) rows >> num_rows;
  Mat matrix = load(argv[1], num_rows);
  KSP solver = make_solver(matrix, std::atof(argv[4]));
  Vec x, b, ghosts;
  PetscCallAbort(PETSC_COMM_WORLD, MatCreateVecs(matrix, &x, &b));
  PetscCallAbort(PETSC_COMM_WORLD, VecSet(b, 1));
  VecScatter scatter = scatter_of(matrix, x, ghosts);
  const auto solve = [&] { PetscCallAbort(PETSC_COMM_WORLD, KSPSolve(solver, b, x)); };
  const auto exchange = [&] {
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterBegin(scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscCallAbort(PETSC_COMM_WORLD, VecScatterEnd(scatter, x, ghosts, INSERT_VALUES, SCATTER_FORWARD));
  };
  solve();
  PetscInt iterations;
  KSPConvergedReason reason;
  PetscCallAbort(PETSC_COMM_WORLD, KSPGetIterationNumber(solver, &iterations));
  PetscCallAbort(PETSC_COMM_WORLD, KSPGetConvergedReason(solver, &reason));
  write(argv[3], x);
  const int reps = std::atoi(argv[5]);
  const double solve_s = nuice::apps::time_in_turns({{"solve", solve}}, 5).front().median_s;
  const double exchange_s = nuice::apps::time_in_turns({{"exchange", exchange}}, reps).front().median_s;
  PetscCallAbort(
      PETSC_COMM_WORLD,
      PetscPrintf(PETSC_COMM_WORLD,
                  "{\"iterations\": %d, \"converged\": %s, \"solve_seconds\": %.9g, "
                  "\"exchange_seconds_median\": %.9g}\n",
                  static_cast<int>(iterations), reason > 0 ? "true" : "false", solve_s, exchange_s));
  PetscCallAbort(PETSC_COMM_WORLD, VecScatterDestroy(&scatter));
  PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(&ghosts));
  PetscCallAbort(PETSC_COMM_WORLD, KSPDestroy(&solver));
  PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(&x));
  PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(&b));
  PetscCallAbort(PETSC_COMM_WORLD, MatDestroy(&matrix));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 6) MPI_Abort(MPI_COMM_WORLD, 2);
  PetscCall(PetscInitializeNoArguments());
  run(argv);
  PetscCall(PetscFinalize());
  MPI_Finalize();
  return 0;
}
